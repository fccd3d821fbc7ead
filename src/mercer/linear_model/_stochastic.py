"""Stochastic descent on linear models: the rule of a step, the data in the form the kernels take, and passes as a solver.

The objective, which no pass evaluates and every step goes down by a row's share of it, is
(1/n) sum_i s_i loss(y_i, x_i w + b) + alpha penalty(w), added over outputs (one-vs-rest classes); s_i are weights of rows
times weights of classes, and n counts the rows of positive weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray, require_finite
from mercer._native import kernels
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

    def rule(self) -> Any:
        """The kernels' rule of a step."""
        low, high = self.bounds if self.penalty == "box" and self.bounds is not None else (0.0, 0.0)
        # The optimal rate starts at a typical size of the weights, Bottou's choice: 1 / (alpha * start) = alpha ** -0.25.
        start = self.alpha**-0.75 if self.learning_rate == "optimal" else 0.0
        return kernels.StochasticRule(
            self.loss, self.parameter, SCHEDULES[self.learning_rate], self.eta0, self.power_t, start, self.alpha,
            self.l2, self.l1, self.lp, self.p, low, high, self.fit_intercept, float(self.average),
        )  # fmt: skip


@dataclass
class Iterate:
    """Where descent is: the coefficients (outputs x features), their averages where asked for, and the number of the next step."""

    coef: FloatArray
    intercept: FloatArray
    average_coef: FloatArray | None
    average_intercept: FloatArray | None
    time: float = 1.0

    @classmethod
    def at(cls, coef: FloatArray, intercept: FloatArray, *, is_averaged: bool) -> Iterate:
        averages = (np.zeros_like(coef), np.zeros_like(intercept)) if is_averaged else (None, None)
        return cls(coef, intercept, *averages)

    def chosen(self, average: int) -> tuple[FloatArray, FloatArray]:
        """The averages once averaging has begun, the last iterate before."""
        if self.average_coef is not None and self.average_intercept is not None and 0 < average <= self.time - 1:
            return self.average_coef, self.average_intercept
        return self.coef, self.intercept


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

    def without(self, is_left_out: npt.NDArray[np.bool_]) -> Problem:
        """The same problem with some rows absent."""
        weights = np.ones(len(self.y), dtype=self.X.dtype) if self.weights is None else self.weights.copy()
        weights[is_left_out] = 0
        return Problem(self.X, self.y, self.positives, weights, self.class_weights)

    def call(self, name: str, *args: Any) -> None:
        """Call a kernel on the rows."""
        X = self.X
        rows, prefix = ((X.data, X.indices, X.indptr), "sparse_") if sp.issparse(X) else ((X,), "")
        getattr(kernels, prefix + name)(*rows, self.y, self.positives, self.weights, self.class_weights, *args)


Score = Callable[[FloatArray, float, int], float]


class Descent:
    """Passes over all rows; each output stops by itself, as the peer's do.

    Without a validation score, an output stops when its objective, summed over a pass as it goes, has not come `tol` below the
    best one in `n_iter_no_change` passes; with one, when the score has not risen by `tol`. The adaptive rate is then divided by
    five first, down to 1e-6. Where asked for, an output also stops after a pass in which no row was misclassified.
    """

    def __init__(
        self, owner: Any, problem: Problem, settings: Settings, start: Iterate, seeds: npt.NDArray[np.int64], score: Score | None
    ) -> None:
        n, k = problem.X.shape[0], problem.n_outputs
        self._owner, self._problem, self._settings, self._seeds, self._score = owner, problem, settings, seeds, score
        self.rule = settings.rule()
        self.iterate = start
        has_taxes = settings.l1 > 0 or settings.lp > 0
        self._taxes = np.zeros_like(start.coef) if has_taxes else None
        self._order = np.tile(np.arange(n, dtype=np.int32), (k, 1))
        self._state = np.zeros((k, 10))
        self._state[:, INTERCEPT] = start.intercept
        if start.average_intercept is not None:
            self._state[:, AVERAGE_INTERCEPT] = start.average_intercept
        self._state[:, TIME], self._state[:, ETA] = start.time, settings.eta0
        self._active = np.arange(k, dtype=np.int32)
        self._best = np.full(k, np.inf)  # of the objective, or of the score with its sign turned
        self._last, self.gains = np.zeros(k), np.zeros(k)
        self._n_bad = np.zeros(k, dtype=np.int64)
        self.n_mistakes = 0

    @property
    def is_done(self) -> bool:
        return not len(self._active)

    @property
    def improvement(self) -> float:
        """By how much the last pass bettered the best before it, over outputs; after the first, the objective itself."""
        return float(self.gains.max())

    def step(self) -> Record:
        state, active = self._state, self._active
        self._problem.call(
            "stochastic_descent", self.rule, self._seeds, self._order, self.iterate.coef, self.iterate.average_coef,
            self._taxes, state, active, self._settings.n_threads,
        )  # fmt: skip
        steps = np.maximum(state[:, STEPS], 1)
        losses, objectives = state[:, LOSS] / steps, (state[:, LOSS] + state[:, PENALTY]) / steps
        if not (np.isfinite(objectives).all() and np.isfinite(state[:, INTERCEPT]).all()):
            self._refuse_overflow()
        self._carry_on()
        self.n_mistakes += int(state[active, MISTAKES].sum())
        record = {
            "objective": float(objectives.sum()),
            "loss": float(losses.sum()),
            "n_updates": int(state[active, UPDATES].sum()),
        }
        if self._problem.positives is not None:
            record["n_mistakes"] = int(state[active, MISTAKES].sum())
        if self._score is None:
            self._last[active] = (losses if self._settings.is_passive_aggressive else objectives)[active]
        else:
            for output in active:
                self._last[output] = -self._score(self.iterate.coef[output], state[output, INTERCEPT], output)
            record["score"] = float(-self._last.mean())
        self._stop_outputs()
        return record

    def _carry_on(self) -> None:
        iterate, state = self.iterate, self._state
        iterate.intercept = state[:, INTERCEPT].astype(iterate.coef.dtype)
        if iterate.average_coef is not None:
            iterate.average_intercept = state[:, AVERAGE_INTERCEPT].astype(iterate.coef.dtype)
        iterate.time = float(state[:, TIME].max())

    def _stop_outputs(self) -> None:
        active, settings = self._active, self._settings
        last, best = self._last[active], self._best[active]
        self.gains[active] = np.where(np.isinf(best), np.abs(last), np.maximum(best - last, 0))
        if settings.tol is not None:
            self._n_bad[active] = np.where(last > best - settings.tol, self._n_bad[active] + 1, 0)
        self._best[active] = np.minimum(best, last)
        is_over = self._n_bad[active] >= settings.n_iter_no_change
        if settings.learning_rate == "adaptive":
            can_slow = is_over & (self._state[active, ETA] > LEAST_ETA)
            self._state[active[can_slow], ETA] /= 5
            self._n_bad[active[can_slow]] = 0
            is_over &= ~can_slow
        if settings.stops_without_mistakes:
            is_over |= self._state[active, MISTAKES] == 0
        self._active = active[~is_over]

    def _refuse_overflow(self) -> None:
        X = self._problem.X
        require_finite(self._owner, X)
        largest = np.abs(X.data if sp.issparse(X) else X).max(initial=0)
        raise ValueError(
            f"{type(self._owner).__name__}: floating-point overflow in the steps of descent; values of X are as large as {largest:.3g}. Scale X, "
            f"for instance by StandardScaler, or take smaller steps (learning_rate={self._settings.learning_rate!r}, "
            f"eta0={self._settings.eta0:g})."
        )
