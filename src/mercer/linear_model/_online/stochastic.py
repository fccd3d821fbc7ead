"""Stochastic descent on linear models: the rule of a step, the data in the form the kernels take, and passes as a solver.

The objective, which no pass evaluates and every step goes down by a row's share of it, is
(1/n) sum_i s_i loss(y_i, x_i w + b) + alpha penalty(w), added over outputs (one-vs-rest classes); s_i are weights of rows
times weights of classes, and n counts the rows of positive weight.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray, require_finite
from mercer._lazy import lazy_property
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._patience import Patience
from mercer._saved import saved
from mercer._trace import Record

# Names of losses, with the peer's, as the kernels know them.
ALIASES = {"log_loss": "logistic", "squared_error": "squared", "quantile": "pinball"}
MARGIN_LOSSES = ("hinge", "log_loss", "logistic", "modified_huber", "squared_hinge", "perceptron", "exponential")
RESIDUAL_LOSSES = (
    "squared_error", "squared", "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "absolute", "log_cosh",
    "pinball", "quantile",
)  # fmt: skip
LOG_LINK_LOSSES = ("poisson", "gamma")
SCHEDULES = {"constant": 0, "adaptive": 0, "optimal": 1, "invscaling": 2, "pa1": 3, "pa2": 4}

# The columns of the kernels' state: what a pass goes on from, and the sums over a pass.
INTERCEPT, AVERAGE_INTERCEPT, TIME, ETA, TAX, LOSS, PENALTY, STEPS, MISTAKES, UPDATES = range(10)
LEAST_ETA = 1e-6  # below which the adaptive rate is not lowered any more
# Of a step that the intercept takes where X is sparse, as in the peer: each row moves it, but only now and then a coefficient.
SPARSE_INTERCEPT_SHARE = 0.01


@dataclass(frozen=True)
class Settings:
    """A checked fit: the objective, the steps, and when to stop."""

    loss: str  # as the kernels know it
    parameter: float
    penalty: str | None
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    learning_rate: str
    eta0: float
    power_t: float
    average: int
    shuffle: bool
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    random_state: Any
    verbose: int
    n_threads: int
    bounds: tuple[float, float] | None = None
    p: float = 0.5
    stops_without_mistakes: bool = False

    @property
    def is_passive_aggressive(self) -> bool:
        return self.learning_rate in ("pa1", "pa2")

    @property
    def l2(self) -> float:
        return self.alpha * {"l2": 1.0, "elasticnet": 1 - self.l1_ratio}.get(self.penalty or "", 0.0)

    @property
    def l1(self) -> float:
        return self.alpha * {"l1": 1.0, "elasticnet": self.l1_ratio}.get(self.penalty or "", 0.0)

    @property
    def lp(self) -> float:
        return self.alpha if self.penalty == "lp" else 0.0

    def rule(self, intercept_share: float) -> Any:
        """The kernels' rule of a step."""
        low, high = self.bounds if self.penalty == "box" and self.bounds is not None else (0.0, 0.0)
        # The optimal rate starts at a typical size of the weights, Bottou's choice: 1 / (alpha * start) = alpha ** -0.25.
        start = self.alpha**-0.75 if self.learning_rate == "optimal" else 0.0
        return kernels.StochasticRule(
            self.loss, self.parameter, SCHEDULES[self.learning_rate], self.eta0, self.power_t, start, self.alpha,
            self.l2, self.l1, self.lp, self.p, low, high, intercept_share * self.fit_intercept, float(self.average),
        )  # fmt: skip


# Where a fit with averages keeps the iterate itself, beside the averages that predict.
AVERAGING = ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept")


@saved("OnlineIterate")
@dataclass
class Iterate:
    """Where descent is: the coefficients (outputs x features), their averages if asked for, and the number of the next step."""

    coef: FloatArray
    intercept: FloatArray
    average_coef: FloatArray | None
    average_intercept: FloatArray | None
    time: float = 1.0

    @classmethod
    def at(cls, coef: FloatArray, intercept: FloatArray, *, is_averaged: bool) -> Iterate:
        averages = (np.zeros_like(coef), np.zeros_like(intercept)) if is_averaged else (None, None)
        return cls(coef, intercept, *averages)

    @classmethod
    def of_averaging(cls, estimator: Any) -> Iterate:
        """A copy of what a fit with averages kept."""
        if not hasattr(estimator, "_average_coef"):  # a file of version 0.1.0
            return copy.deepcopy(estimator._averaging)  # type: ignore[no-any-return]
        coef, intercept, average_coef, average_intercept = (getattr(estimator, name).copy() for name in AVERAGING)
        return cls(coef, intercept, average_coef, average_intercept, estimator.t_)

    def averaging(self) -> dict[str, FloatArray | None]:
        """What a fit with averages keeps."""
        return dict(zip(AVERAGING, (self.coef, self.intercept, self.average_coef, self.average_intercept), strict=True))

    def chosen(self, average: int) -> tuple[FloatArray, FloatArray]:
        """The averages once averaging has begun, the last iterate before."""
        if self.average_coef is not None and self.average_intercept is not None and 0 < average <= self.time - 1:
            return self.average_coef, self.average_intercept
        return self.coef, self.intercept


def has_averaging(estimator: Any) -> bool:
    """Whether the passes behind a fit kept averages."""
    return hasattr(estimator, "_average_coef") or getattr(estimator, "_averaging", None) is not None


@dataclass(frozen=True)
class Problem:
    """Rows and what they are to be fitted to. With `positives`, y holds codes, and output k is for the class positives[k]."""

    X: Any
    y: FloatArray
    positives: npt.NDArray[np.int32] | None
    weights: FloatArray | None
    class_weights: FloatArray  # outputs x (weight of other classes, of its own)

    @classmethod
    def of(
        cls,
        X: Any,
        y: npt.NDArray[Any],
        weights: FloatArray | None,
        positives: npt.NDArray[np.int32] | None = None,
        class_weights: FloatArray | None = None,
    ) -> Problem:
        """The kernels read contiguous rows: X in another memory order is copied once."""
        if not sp.issparse(X) and X.strides[1] != X.itemsize:
            X = np.ascontiguousarray(X)
        if class_weights is None:
            class_weights = np.ones((1 if positives is None else len(positives), 2))
        return cls(X, np.ascontiguousarray(y, dtype=X.dtype), positives, weights, class_weights)

    @property
    def n_outputs(self) -> int:
        return len(self.class_weights)

    @property
    def intercept_share(self) -> float:
        return SPARSE_INTERCEPT_SHARE if sp.issparse(self.X) else 1.0

    def without(self, is_left_out: npt.NDArray[np.bool_]) -> Problem:
        """The same problem with some rows absent."""
        weights = np.ones(len(self.y), dtype=self.X.dtype) if self.weights is None else self.weights.copy()
        weights[is_left_out] = 0
        return Problem(self.X, self.y, self.positives, weights, self.class_weights)

    @lazy_property
    def _rows(self) -> Any:
        """X as the kernels have it."""
        return native_rows(self.X)

    def call(self, name: str, *args: Any) -> None:
        """Call a kernel on the rows."""
        getattr(kernels, name)(self._rows, self.y, self.positives, self.weights, self.class_weights, *args)


Score = Callable[[FloatArray, float, int], float]


class Descent:
    """Passes over all rows; each output stops by itself, as the peer's do.

    Without a validation score, an output stops when its objective, summed over a pass as it goes, has not come `tol` below the
    best one in `n_iter_no_change` passes; with one, when the score has not risen by `tol`. The adaptive rate is then divided by
    five first, down to 1e-6. Where asked for, an output also stops after a pass in which no row was misclassified, if none
    is now.
    """

    def __init__(
        self,
        owner: Any,
        problem: Problem,
        settings: Settings,
        start: Iterate,
        seeds: npt.NDArray[np.int64],
        score: Score | None,
    ) -> None:
        n, k = problem.X.shape[0], problem.n_outputs
        self._owner, self._problem, self._settings, self._seeds, self._score = owner, problem, settings, seeds, score
        self.rule = settings.rule(problem.intercept_share)
        self._iterate = start
        has_taxes = settings.l1 > 0 or settings.lp > 0
        self._taxes = np.zeros_like(start.coef) if has_taxes else None
        self._order = np.tile(np.arange(n, dtype=np.int32), (k, 1))
        self._state = np.zeros((k, 10))
        self._state[:, INTERCEPT] = start.intercept
        if start.average_intercept is not None:
            self._state[:, AVERAGE_INTERCEPT] = start.average_intercept
        self._state[:, TIME], self._state[:, ETA] = start.time, settings.eta0
        self._is_done = np.zeros(k, dtype=np.int32)
        self._active = list(range(k))
        self._patience = [Patience(settings.n_iter_no_change, settings.tol) for _ in range(k)]
        self._scores = [0.0] * k
        self.n_mistakes = 0

    @property
    def is_done(self) -> bool:
        return not self._active

    @property
    def improvement(self) -> float:
        """By how much the last pass bettered the best before it, the most of any output; after one pass, the value itself."""
        return max(patience.gain for patience in self._patience)

    @property
    def iterate(self) -> Iterate:
        iterate, state = self._iterate, self._state
        iterate.intercept = state[:, INTERCEPT].astype(iterate.coef.dtype)
        if iterate.average_coef is not None:
            iterate.average_intercept = state[:, AVERAGE_INTERCEPT].astype(iterate.coef.dtype)
        iterate.time = float(state[:, TIME].max())
        return iterate

    def step(self) -> Record:
        self._problem.call(
            "stochastic_descent", self.rule, self._seeds, self._order, self._iterate.coef, self._iterate.average_coef,
            self._taxes, self._state, self._is_done, self._settings.n_threads,
        )  # fmt: skip
        # Plain numbers from here on: on small data a pass takes a few microseconds, and so does one operation on an array.
        outputs, active = self._state.tolist(), self._active
        losses = [output[LOSS] / max(output[STEPS], 1) for output in outputs]
        penalties = [output[PENALTY] / max(output[STEPS], 1) for output in outputs]
        if not all(
            math.isfinite(output[INTERCEPT] + loss + p) for output, loss, p in zip(outputs, losses, penalties, strict=True)
        ):
            self._refuse_overflow()
        n_mistakes = int(sum(outputs[k][MISTAKES] for k in active))
        self.n_mistakes += n_mistakes
        record = {
            "objective": sum(losses) + sum(penalties),
            "loss": sum(losses),
            "n_updates": int(sum(outputs[k][UPDATES] for k in active)),
        }
        if self._problem.positives is not None:
            record["n_mistakes"] = n_mistakes
        values = {k: losses[k] if self._settings.is_passive_aggressive else losses[k] + penalties[k] for k in active}
        if self._score is not None:
            for k in active:
                self._scores[k] = self._score(self._iterate.coef[k], outputs[k][INTERCEPT], k)
                values[k] = -self._scores[k]
            record["score"] = sum(self._scores) / len(outputs)
        self._active = [k for k in active if not self._is_over(k, values[k], outputs[k])]
        if len(self._active) < len(active):
            self._is_done[:] = [k not in self._active for k in range(len(outputs))]
        return record

    def _is_over(self, k: int, value: float, output: list[float]) -> bool:
        """Whether output k is done, after a pass that ended at this value; it may go on at a lower rate instead."""
        is_over = self._patience[k].see(value)
        if is_over and self._settings.learning_rate == "adaptive" and output[ETA] > LEAST_ETA:
            self._state[k, ETA] /= 5
            self._patience[k].renew()
            is_over = False
        return is_over or (self._settings.stops_without_mistakes and output[MISTAKES] == 0 and self._is_separating(k, output))

    def _is_separating(self, k: int, output: list[float]) -> bool:
        """Whether output k has every row on its side, also where steps after a row's turn have moved it."""
        problem = self._problem
        if output[UPDATES] == 0 or problem.positives is None:
            return True
        values = problem.X @ self._iterate.coef[k] + output[INTERCEPT]
        is_right = np.where(problem.y == problem.positives[k], values > 0, values < 0)
        return bool(is_right.all() if problem.weights is None else is_right[problem.weights > 0].all())

    def _refuse_overflow(self) -> None:
        X = self._problem.X
        require_finite(self._owner, X)
        largest = np.abs(X.data if sp.issparse(X) else X).max(initial=0)
        raise ValueError(
            f"{type(self._owner).__name__}: floating-point overflow in the steps of descent; values of X are as large "
            f"as {largest:.3g}. Scale X, for instance by StandardScaler, or take smaller steps "
            f"(learning_rate={self._settings.learning_rate!r}, eta0={self._settings.eta0:g})."
        )
