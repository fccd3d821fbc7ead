"""Growth by a criterion that is any function of the class shares: exactly, in Python, with a call for each side of each cut."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trees.store import MISSING_LEFT, NODE, TreeStore

Impurity = Callable[[FloatArray], Any]
Rows = npt.NDArray[np.intp]

_SAME_VALUE = 1e-7  # as in the kernels: values that differ by no more count as one
_ROUNDING = float(np.finfo(np.float64).eps)


class Limits(NamedTuple):
    """When to stop, and what a split must leave on each side, in the order of the kernels' limits."""

    max_depth: int
    min_rows_split: int
    min_rows_leaf: int
    min_weight_leaf: float
    min_gain: float
    max_leaves: int  # 0: as many as there come; else the split of largest gain is made first


@dataclass
class _Split:
    feature: int
    threshold: float
    is_missing_left: bool
    has_missing: bool
    impurity: float  # of both sides together, each times its weight


@dataclass
class _Node:
    """Rows that came together, and what became of them."""

    rows: Rows
    counts: FloatArray  # the weight of each class, of shape (n_outputs, n_classes)
    depth: int
    impurity: float
    split: _Split | None = None
    children: tuple[_Node, _Node] | None = None

    @property
    def weight(self) -> float:
        return float(self.counts[0].sum())


class FunctionGrower:
    """Grows one tree of classes.

    Parameters
    ----------
    criterion : callable
        Takes the shares of the classes, an array of sum one, and gives the impurity, any finite number.
    X : ndarray of shape (n_rows, n_features)
        NaN is a missing value.
    codes : ndarray of int of shape (n_rows, n_outputs)
    n_classes : int
    weights : ndarray of shape (n_rows,) or None
        Rows of weight zero are left out.
    limits : Limits
    max_features : int
    is_random : bool
        Whether a feature is cut at one random place instead of the best.
    seed : int
    """

    def __init__(
        self,
        criterion: Impurity,
        X: FloatArray,
        codes: npt.NDArray[Any],
        n_classes: int,
        weights: FloatArray | None,
        limits: Limits,
        max_features: int,
        is_random: bool,
        seed: int,
    ) -> None:
        self._criterion, self._X, self._limits = criterion, X, limits
        self._max_features, self._is_random = max_features, is_random
        self._random = np.random.Generator(np.random.Philox(seed))
        weights = np.ones(len(X)) if weights is None else weights
        self._rows: Rows = np.flatnonzero(weights > 0)
        self._counts = (codes[:, :, None] == np.arange(n_classes)) * weights[:, None, None]
        self._total = float(weights.sum())
        self._number = itertools.count()  # the order of nodes of equal gain

    def grow(self) -> TreeStore:
        root = self._node(self._rows, 0)
        waiting, n_leaves = list[tuple[float, int, _Node]](), 1
        self._add(waiting, root)
        while waiting and n_leaves != self._limits.max_leaves:
            *_, node = heapq.heappop(waiting)
            node.children = self._divide(node)
            n_leaves += 1
            for child in node.children:
                self._add(waiting, child)
        return self._store(root)

    def _add(self, waiting: list[tuple[float, int, _Node]], node: _Node) -> None:
        """Put a node that is to be split in its place: by its gain where leaves are counted; else the order does not matter."""
        if node.split is not None:
            gain = self._gain(node) if self._limits.max_leaves else 0.0
            heapq.heappush(waiting, (-gain, next(self._number), node))

    # ---- nodes

    def _node(self, rows: Rows, depth: int) -> _Node:
        counts = self._counts[rows].sum(axis=0)
        node = _Node(rows, counts, depth, self._impurity(counts))
        limits, is_pure = self._limits, (np.count_nonzero(counts, axis=1) == 1).all()
        is_small = len(rows) < max(limits.min_rows_split, 2 * limits.min_rows_leaf) or node.weight < 2 * limits.min_weight_leaf
        if depth < limits.max_depth and not is_small and not is_pure:
            node.split = self._best_split(node)
            if node.split is not None and self._gain(node) + _ROUNDING < limits.min_gain:
                node.split = None
        return node

    def _gain(self, node: _Node) -> float:
        """How much the weighted impurity falls by a node's split."""
        assert node.split is not None
        return (node.weight * node.impurity - node.split.impurity) / self._total

    def _divide(self, node: _Node) -> tuple[_Node, _Node]:
        split = node.split
        assert split is not None
        values = self._X[node.rows, split.feature]
        is_left = (values <= split.threshold) | (np.isnan(values) & split.is_missing_left)
        if not split.has_missing:  # rows that training says nothing about go with the larger side
            split.is_missing_left = 2 * int(is_left.sum()) > len(values)
        return self._node(node.rows[is_left], node.depth + 1), self._node(node.rows[~is_left], node.depth + 1)

    def _impurity(self, counts: FloatArray) -> float:
        """The mean over the outputs of what the criterion says of their shares."""
        total = 0.0
        for weights in counts:
            shares = weights / weights.sum()
            value = float(self._criterion(shares))
            if not np.isfinite(value):
                raise ValueError(
                    f"criterion gave {value} for the class shares {shares.tolist()}; it must give a finite number."
                )
            total += value
        return total / len(counts)

    # ---- splits

    def _best_split(self, node: _Node) -> _Split | None:
        """The split of least impurity; of equally good ones that of the feature that was looked at first."""
        n_features = self._X.shape[1]
        features = self._random.permutation(n_features) if self._max_features < n_features else np.arange(n_features)
        best, n_looked_at = None, 0
        for feature in features.tolist():
            if n_looked_at >= self._max_features and best is not None:
                break
            has_varied = False
            for split in self._splits(node, feature):
                has_varied = True
                if best is None or split.impurity < best.impurity - _ROUNDING * self._total:
                    best = split
            n_looked_at += has_varied
        return best

    def _splits(self, node: _Node, feature: int) -> Iterator[_Split]:
        """The allowed splits on a feature."""
        values = self._X[node.rows, feature]
        order = np.argsort(values, kind="stable")  # what is missing comes last
        n_known = len(values) - int(np.isnan(values).sum())
        has_missing = n_known < len(values)
        values, counts = values[order], np.cumsum(self._counts[node.rows[order]], axis=0)
        missing = counts[-1] - counts[n_known - 1] if has_missing and n_known else np.zeros_like(counts[-1])
        for n_left, threshold in self._cuts(values[:n_known], has_missing):
            for is_missing_left in (False, True) if has_missing and n_left < n_known else (False,):
                left = counts[n_left - 1] + missing if is_missing_left else counts[n_left - 1]
                n_rows = n_left + (len(values) - n_known if is_missing_left else 0)
                if self._is_allowed(n_rows, len(values), left, counts[-1] - left):
                    impurity = sum(side[0].sum() * self._impurity(side) for side in (left, counts[-1] - left))
                    yield _Split(feature, threshold, is_missing_left, has_missing, float(impurity))

    def _cuts(self, values: FloatArray, has_missing: bool) -> Iterator[tuple[int, float]]:
        """Where sorted values may be cut: how many go left, and the threshold; infinite where only the missing go right."""
        if len(values) and values[-1] > values[0] + _SAME_VALUE:
            if self._is_random:
                threshold = self._random.uniform(values[0], values[-1])
                threshold = threshold if values[0] <= threshold < values[-1] else values[0]
                yield int(np.searchsorted(values, threshold, side="right")), float(threshold)
                return
            for n_left in (np.flatnonzero(values[1:] > values[:-1] + _SAME_VALUE) + 1).tolist():
                low, high = float(values[n_left - 1]), float(values[n_left])
                middle = low / 2 + high / 2
                yield n_left, middle if low <= middle < high else low
        if len(values) and has_missing:
            yield len(values), np.inf

    def _is_allowed(self, n_left: int, n: int, left: FloatArray, right: FloatArray) -> bool:
        least_rows, least_weight = max(self._limits.min_rows_leaf, 1), self._limits.min_weight_leaf
        return min(n_left, n - n_left) >= least_rows and min(left[0].sum(), right[0].sum()) >= least_weight

    # ---- the tree

    def _store(self, root: _Node) -> TreeStore:
        """The nodes in the order of the store: parents first, left before right."""
        nodes, places, waiting = list[_Node](), dict[int, int](), [root]
        while waiting:
            node = waiting.pop()
            places[id(node)] = len(nodes)
            nodes.append(node)
            waiting += [] if node.children is None else [node.children[1], node.children[0]]
        entries = np.zeros(len(nodes), dtype=NODE)
        values = np.stack([node.counts / node.counts.sum(axis=1, keepdims=True) for node in nodes])
        for place, node in enumerate(nodes):
            if node.children is None:
                entries[place] = (values[place].ravel()[-1], 0, 0)
            else:
                assert node.split is not None
                tag = node.split.feature | (MISSING_LEFT if node.split.is_missing_left else 0)
                entries[place] = (node.split.threshold, tag, places[id(node.children[1])])
        trees = kernels.Trees(
            entries.view(np.uint8).reshape(-1, NODE.itemsize),
            np.empty(0, dtype=np.uint32),
            np.array([len(nodes)]),
            np.array([0]),
            self._X.shape[1],
        )
        impurity, weight = (np.array([getattr(node, name) for node in nodes]) for name in ("impurity", "weight"))
        return TreeStore(trees, impurity, np.array([len(node.rows) for node in nodes]), weight, values)
