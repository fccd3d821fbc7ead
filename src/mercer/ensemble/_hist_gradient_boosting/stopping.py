"""Early stopping: scores after every round, on rows held out or on the training rows, and when to stop by them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._patience import WindowPatience
from mercer._trace import Record
from mercer.ensemble._hist_gradient_boosting.objectives import Objective

N_SCORED = 10_000  # training rows that a scorer is asked about


@dataclass(frozen=True)
class Data:
    """Rows as the rounds take them: y is numeric (codes of classes among others)."""

    X: FloatArray
    y: FloatArray
    weights: FloatArray | None

    def rows(self, index: Any) -> Data:
        return Data(self.X[index], self.y[index], None if self.weights is None else self.weights[index])


@dataclass(frozen=True)
class Split:
    """Rows to grow trees from, and rows to judge them by (None: the same)."""

    train: Data
    test: Data | None


@dataclass
class HeldOut:
    """Rows that no tree is grown from, with their raw predictions, a line for each row."""

    X: FloatArray
    raw: FloatArray
    objective: Objective

    def add(self, trees: Any, n_threads: int) -> None:
        kernels.add_leaf_values(trees, 0, self.raw.shape[1], self.X, self.raw, n_threads)

    def loss(self, n_threads: int) -> float:
        raw = np.ascontiguousarray(self.raw.T)
        hessian = None if self.objective.has_constant_hessian else np.empty_like(raw)
        return self.objective.evaluate(raw, np.empty_like(raw), hessian, n_threads)


class Scorer:
    """A scorer of scikit-learn's kind, asked about raw predictions that are at hand.

    It sees a copy of the estimator that knows the raw predictions of the very rows it is asked about.
    """

    def __init__(
        self, estimator: Any, fixed: dict[str, Any], score: Any, data: Data, names: Callable[[FloatArray], npt.NDArray[Any]]
    ) -> None:
        self._model = copy.copy(estimator)
        vars(self._model).update(fixed)
        self._score, self._data, self._y = score, data, names(data.y)

    def __call__(self, raw: FloatArray) -> float:
        data = self._data
        self._model._known_raw = (data.X, raw)
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        return float(self._score(self._model, data.X, self._y, **weights))


class Monitor:
    """Keeps the scores of the rounds; higher is better. Done when none of the last `n_iter_no_change` exceeds the one before
    them by more than `tol`.

    Parameters
    ----------
    held_out : HeldOut or None
        The rows to judge by; None: the training rows.
    scored : array of int
        The training rows that `score_train` is asked about.
    score_train, score_held_out : callable or None
        Give a score from raw predictions, a line for each row; None: minus the mean loss.
    """

    def __init__(
        self,
        held_out: HeldOut | None,
        scored: npt.NDArray[np.intp],
        score_train: Scorer | None,
        score_held_out: Scorer | None,
        *,
        tol: float,
        n_iter_no_change: int,
        n_threads: int,
    ) -> None:
        self._held_out, self._scored = held_out, scored
        self._score_train, self._score_held_out = score_train, score_held_out
        self._patience, self._n_threads = WindowPatience(n_iter_no_change, tol), n_threads
        self.train: list[float] = []
        self.validation: list[float] = []

    def recall(self, train: list[float], validation: list[float]) -> None:
        """Go on from the scores of an earlier fit."""
        self.train, self.validation = list(train), list(validation)
        for score in self.scores:
            self._patience.see(-score)

    def observe(self, trees: Any, raw: FloatArray, loss: float) -> Record:
        """Score the predictions after a round that grew `trees` (None: before the first)."""
        if self._held_out is not None and trees is not None:
            self._held_out.add(trees, self._n_threads)
        self.train.append(-loss if self._score_train is None else self._score_train(raw[:, self._scored].T))
        record = {"train_score": self.train[-1]}
        if self._held_out is not None:
            score = self._score_held_out
            value = -self._held_out.loss(self._n_threads) if score is None else score(self._held_out.raw)
            self.validation.append(value)
            record["validation_score"] = value
        self._patience.see(-self.scores[-1])
        return record

    @property
    def scores(self) -> list[float]:
        """Those that decide."""
        return self.train if self._held_out is None else self.validation

    @property
    def improvement(self) -> float:
        """By how much the best of the last rounds exceeds the score before them; infinity while there are too few rounds."""
        return self._patience.gain

    @property
    def is_done(self) -> bool:
        return self._patience.is_over

    @property
    def best_n_iter(self) -> int:
        """The number of rounds with the best score, the first where several have it; at least one."""
        return max(1, int(np.argmax(self.scores)))
