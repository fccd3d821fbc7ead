"""The rounds of gradient boosting: trees on the residuals of a loss, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._patience import RecentPatience
from mercer._trace import Certificate, Record, Status
from mercer._trees.growth import Targets
from mercer._trees.store import IntArray, TreeStore
from mercer.ensemble._boosting.certificate import FALL, IMPROVEMENT, boosting_certificate
from mercer.ensemble._boosting.learners import draw_seed
from mercer.ensemble._boosting.tree_source import TreeSource
from mercer.ensemble._gradient_boosting.leaves import Leaves
from mercer.ensemble._gradient_boosting.objectives import Objective

_LEAST_CORRELATION = 1e-6  # of a tree with the residuals: less is rounding


@dataclass
class Part:
    """Rows with their targets and what the model makes of them so far."""

    X: FloatArray
    y: FloatArray
    weights: FloatArray | None
    raw: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def score(self, objective: Objective, mask: npt.NDArray[np.bool_] | None = None) -> float:
        """The mean loss, of the masked rows if there is a mask."""
        if mask is None:
            return objective.score(self.y, self.raw, self.weights)
        weights = None if self.weights is None else self.weights[mask]
        if not mask.any() or (weights is not None and not weights.any()):
            return float("nan")  # no row that counts
        return objective.score(self.y[mask], self.raw[mask], weights)


@dataclass
class Scores:
    """What is written down of every round."""

    train: list[float] = field(default_factory=list)
    left_out: list[float] = field(default_factory=list)
    improvement: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, attributes: dict[str, Any]) -> Scores:
        """Those of an earlier fit."""
        return cls(*(list(attributes.get(name, ())) for name in ("train_score_", "oob_scores_", "oob_improvement_")))

    def attributes(self) -> dict[str, Any]:
        out: dict[str, Any] = {"train_score_": np.array(self.train)}
        if self.left_out:
            out |= {"oob_scores_": np.array(self.left_out), "oob_improvement_": np.array(self.improvement)}
            out["oob_score_"] = self.left_out[-1]
        return out


class GradientRounds:
    """Each step grows a tree for every output.

    Parameters
    ----------
    objective : Objective
    source : TreeSource
        Grows regression trees on the rows of `train`.
    train : Part
    held_out : Part or None
        Rows whose loss says when to stop.
    params : namespace
        `learning_rate`, `subsample`, `line_search`, `n_iter_no_change` and `tol`.
    random : RandomState
    before : TreeStore or None
        Trees of an earlier fit, which `train.raw` and `held_out.raw` already hold.
    scores : Scores
        Those of the earlier fit.
    """

    def __init__(
        self,
        objective: Objective,
        source: TreeSource,
        train: Part,
        held_out: Part | None,
        params: SimpleNamespace,
        random: np.random.RandomState,
        before: TreeStore | None,
        scores: Scores,
    ) -> None:
        self.objective, self._source, self._train, self._held_out = objective, source, train, held_out
        self._rate, self._subsample, self._tol = params.learning_rate, params.subsample, params.tol
        self._has_one_step = params.line_search == "learner"
        self.random, self._before, self.scores = random, before, scores
        self._stores, self.seeds = list[TreeStore](), list[int]()
        self._patience = None if held_out is None else RecentPatience(params.n_iter_no_change, params.tol)
        self.is_done = self._is_exhausted = False

    def step(self) -> Record:
        mask = self._draw() if self._subsample < 1 else None
        if mask is not None and not self.scores.left_out:
            self._initial = self._train.score(self.objective, ~mask)
        if not self._grow(mask):
            self.is_done = self._is_exhausted = True
            return {"train_loss": self._train.score(self.objective, mask)}
        record = {"train_loss": self._train.score(self.objective, mask)}
        self.scores.train.append(record["train_loss"])
        if mask is not None:
            record["oob_improvement"] = self._score_left_out(~mask)
        if self._held_out is not None:
            record["validation_loss"] = self._held_out.score(self.objective)
            assert self._patience is not None
            self.is_done = self._patience.see(record["validation_loss"])
        return record

    def _draw(self) -> npt.NDArray[np.bool_]:
        """Which rows take part in a round."""
        n_rows = len(self._train.y)
        mask = np.zeros(n_rows, dtype=bool)
        mask[self.random.permutation(n_rows)[: max(1, int(self._subsample * n_rows))]] = True
        return mask

    def _grow(self, mask: npt.NDArray[np.bool_] | None) -> bool:
        """Grow the trees of a round and add them to the predictions; False, and none is kept, where nothing is gained."""
        train, objective = self._train, self.objective
        weights = train.weights
        if mask is not None:
            weights = mask.astype(np.float64) if weights is None else weights * mask
            if not weights.any():  # only rows of weight zero were drawn
                weights = train.weights
        objective.adapt(train.y, train.raw, train.weights)
        residuals = objective.residuals(train.y, train.raw)
        has_gain = not self._has_one_step
        for output in range(objective.n_outputs):
            column = np.ascontiguousarray(residuals[:, output])
            self.seeds.append(draw_seed(self.random))
            store = self._source.grow(Targets(column[:, None]), weights, self.seeds[-1])
            at = self._source.leaves(store)
            if self._has_one_step:
                step = self._one_step(store, at, column, output, weights)
                has_gain |= step > 0
                store = _scaled(store, step)
            else:
                values = objective.leaf_values(Leaves(at, len(store.n_rows), weights), train.y, train.raw, column, output)
                store = store if values is None else store.with_leaf_values(values)
            assert store.values is not None
            train.raw[:, output] += self._rate * store.values[:, 0, 0][at]
            if self._held_out is not None:
                held = self._held_out
                held.raw[:, output] += self._rate * store.sum_leaves(held.X, n_threads=self._source.n_threads)[:, 0]
            self._stores.append(store)
        if not has_gain:
            del self._stores[-objective.n_outputs :], self.seeds[-objective.n_outputs :]
        return has_gain

    def _one_step(
        self, store: TreeStore, at: IntArray, residuals: FloatArray, output: int, weights: FloatArray | None
    ) -> float:
        """How far to go along a tree as it is; 0 where it has no positive correlation with the residuals (AnyBoost's rule)."""
        assert store.values is not None
        h = store.values[:, 0, 0][at]
        rows = np.ones(len(h)) if weights is None else weights
        sizes = np.sqrt((rows @ residuals**2) * (rows @ h**2))
        if not rows @ (residuals * h) > _LEAST_CORRELATION * sizes:
            return 0.0
        return self.objective.line(self._train.y, self._train.raw, h, output, weights).minimum()

    def _score_left_out(self, mask: npt.NDArray[np.bool_]) -> float:
        before = self.scores.left_out[-1] if self.scores.left_out else self._initial
        without = [0.0] * (len(self.scores.train) - 1 - len(self.scores.left_out))  # rounds of a warm start that left none out
        self.scores.left_out.extend(without)
        self.scores.improvement.extend(without)
        self.scores.left_out.append(self._train.score(self.objective, mask))
        self.scores.improvement.append(before - self.scores.left_out[-1])
        return self.scores.improvement[-1]

    def certificate(self, status: Status) -> Certificate:
        """Where early stopping ended, or how fast the loss still fell: not at all where no tree gained anything."""
        losses, condition = self.scores.train, FALL
        gain = losses[-2] - losses[-1] if len(losses) > 1 else math.inf
        if self._is_exhausted:
            gain = 0.0
        elif self._patience is not None:
            condition, gain = IMPROVEMENT, self._patience.gain
        loss = losses[-1] if losses else self._train.score(self.objective)
        return boosting_certificate("gradient boosting of trees", status, loss, condition, gain, self._tol)

    def trees(self) -> TreeStore:
        """All trees so far, those of one round side by side."""
        stores: Sequence[TreeStore] = self._stores if self._before is None else [self._before, *self._stores]
        return TreeStore.join(stores) if stores else TreeStore.empty(self._source.n_features)


def _scaled(store: TreeStore, factor: float) -> TreeStore:
    """A tree whose values are so many times as large."""
    assert store.values is not None
    return store.with_leaf_values(factor * store.values[:, 0, 0])
