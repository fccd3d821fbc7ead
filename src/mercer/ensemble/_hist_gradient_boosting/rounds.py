"""The rounds of boosting, as a solver: each grows a tree for every output and adds it to the predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trace import Record
from mercer._trees.store import TreeStore
from mercer.ensemble._hist_gradient_boosting.constraints import Groups
from mercer.ensemble._hist_gradient_boosting.objectives import Objective
from mercer.ensemble._hist_gradient_boosting.stopping import Monitor


@dataclass
class GrownTrees:
    """Trees as they come out of the grower, an array each."""

    n_features: int
    nodes: list[npt.NDArray[Any]] = field(default_factory=list)
    words: list[npt.NDArray[Any]] = field(default_factory=list)
    change: list[FloatArray] = field(default_factory=list)
    hessian: list[FloatArray] = field(default_factory=list)
    n_rows: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def add(self, grower: Any) -> None:
        for name in ("nodes", "words", "change", "hessian", "n_rows"):
            getattr(self, name).append(getattr(grower, name))

    def native(self, first: int = 0) -> Any:
        """The trees from the given one on, ready to predict."""
        nodes, words = self.nodes[first:], self.words[first:]
        return kernels.Trees(
            np.concatenate(nodes) if nodes else np.empty((0, 16), dtype=np.uint8),
            np.concatenate(words) if words else np.empty(0, dtype=np.uint32),
            np.array([len(part) for part in nodes], dtype=np.int64),
            np.array([len(part) for part in words], dtype=np.int64),
            self.n_features,
        )

    def store(self) -> TreeStore:
        """All trees. A node's impurity is what it changes the loss by, were it a leaf, for each unit of its Hessian."""
        if not self.nodes:
            return TreeStore.empty(self.n_features)
        change, hessian = np.concatenate(self.change), np.concatenate(self.hessian)
        impurity = np.divide(change, hessian, out=np.zeros_like(change), where=hessian > 0)
        return TreeStore(self.native(), impurity, np.concatenate(self.n_rows), hessian)


class Rounds:
    """Boosting of one objective over binned rows, from given predictions on.

    Every array of raw predictions or derivatives has a line for each output (one, or one a class) and a column for each row.
    """

    def __init__(
        self,
        binned: Any,
        objective: Objective,
        raw: FloatArray,
        params: SimpleNamespace,
        *,
        directions: npt.NDArray[np.int8] | None,
        groups: Groups | None,
        seed: int,
        n_features: int,
        n_done: int,
        monitor: Monitor | None,
        n_threads: int,
    ) -> None:
        self.objective, self.raw, self.monitor = objective, raw, monitor
        self.trees = GrownTrees(n_features)
        self._n_done, self._n_threads = n_done, n_threads
        self._grower = _make_grower(binned, objective, params, directions, groups, seed)
        self._gradient = np.empty_like(raw)
        self._hessian = None if objective.has_constant_hessian else np.empty_like(raw)
        self.loss = self._evaluate()
        self.fall = np.inf  # of the loss in the last round

    def _evaluate(self) -> float:
        loss = self.objective.evaluate(self.raw, self._gradient, self._hessian, self._n_threads)
        if self.objective.has_value and not np.isfinite(loss):
            raise ValueError(
                f"The loss overflows after {self._n_done} rounds: y or the raw predictions, as large as "
                f"{np.abs(self.raw).max():.3g}, are too large. Scale y to moderate values, or lower learning_rate."
            )
        return loss

    def step(self) -> Record:
        n_leaves, gain = 0, 0.0
        first = len(self.trees.nodes)
        for k in range(self.objective.n_outputs):
            self._grow(k)
            n_leaves += self._grower.n_leaves
            gain += self._grower.gain
        self._n_done += 1
        before, self.loss = self.loss, self._evaluate()
        self.fall = before - self.loss
        record = {"n_leaves": float(n_leaves), "gain": gain}
        if self.objective.has_value:
            record["loss"] = self.loss
        if self.monitor is not None:
            record |= self.monitor.observe(self.trees.native(first), self.raw, self.loss)
        return record

    def _grow(self, k: int) -> None:
        """Grow the tree of one output and add it to the predictions."""
        grower, objective, n_threads = self._grower, self.objective, self._n_threads
        number = self._n_done * objective.n_outputs + k
        grower.grow(self._gradient[k], None if self._hessian is None else self._hessian[k], number, n_threads)
        if objective.leaf_quantile is not None:
            rows: Any = objective
            grower.renew_leaves(rows.y, self.raw[k], rows.weights, objective.leaf_quantile, n_threads)
        grower.add_leaf_values(self.raw[k], n_threads)
        self.trees.add(grower)

    @property
    def is_done(self) -> bool:
        return self.monitor is not None and self.monitor.is_done


def _make_grower(
    binned: Any,
    objective: Objective,
    params: SimpleNamespace,
    directions: npt.NDArray[np.int8] | None,
    groups: Groups | None,
    seed: int,
) -> Any:
    kind = kernels.CountGrower if objective.has_constant_hessian else kernels.HessianGrower
    weights = getattr(objective, "weights", None)
    used = None if weights is None or (weights > 0).all() else np.flatnonzero(weights > 0)
    return kind(
        binned,
        used,
        params.l2_regularization,
        params.min_gain_to_split,
        params.min_samples_leaf,
        params.learning_rate,
        params.max_leaf_nodes or 0,
        params.max_depth or 0,
        params.grow_policy == "depth_wise",
        params.max_features,
        seed,
        directions,
        None if groups is None else groups.ids,
        None if groups is None else groups.members,
    )
