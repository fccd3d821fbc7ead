"""Trees with a branch for every value of an attribute, grown level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._saved import saved
from mercer._trees.store import IntArray

_ROUNDING = 1e-12  # gains that differ by less are equal


@saved("MultiwayTree")
@dataclass(frozen=True)
class MultiwayTree:
    """A fitted tree. Nodes are numbered level by level; the branches of a node lie side by side in the order of their codes."""

    feature: IntArray  # what a node splits on; -1 in a leaf
    parent: IntArray  # -1 for the root
    code: IntArray  # the value that leads from the parent to the node; -1 for the root
    n_rows: IntArray
    counts: FloatArray  # the weight of every class, of shape (n_nodes, n_classes)
    gain: FloatArray  # bits that the split gains; 0 in a leaf

    def __post_init__(self) -> None:
        """Refuse what is no tree: a walk along its branches could otherwise go on for ever."""
        lengths = {np.shape(part)[:1] for part in (self.feature, self.parent, self.code, self.n_rows, self.counts, self.gain)}
        n = len(self.parent)
        is_tree = (
            lengths == {(n,)}
            and n > 0
            and self.parent[0] == -1
            and bool(np.all((self.parent[1:] >= 0) & (self.parent[1:] < np.arange(1, n))))
            and bool(np.all(np.diff(self.parent) >= 0))
        )
        if not is_tree:
            raise ValueError(
                "The nodes are no tree: each but the first must have a parent before it, and parents come in order."
            )

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @lazy_property
    def weight(self) -> FloatArray:
        return np.asarray(self.counts.sum(axis=1))

    @lazy_property
    def depths(self) -> IntArray:
        depths, at = np.zeros(self.node_count, dtype=np.int64), self.parent
        while (moving := at >= 0).any():
            depths += moving
            at = np.where(moving, self.parent[at], -1)
        return depths

    @lazy_property
    def _first_child(self) -> IntArray:
        """Where the branches of every node begin: parents come in order."""
        return np.searchsorted(self.parent, np.arange(self.node_count + 1)).astype(np.int64)

    def children(self, node: int) -> range:
        return range(int(self._first_child[node]), int(self._first_child[node + 1]))

    @lazy_property
    def _heaviest(self) -> IntArray:
        """The branch of largest weight of every split, the first of equal ones; -1 in a leaf."""
        out = np.full(self.node_count, -1)
        order = np.lexsort((-np.arange(self.node_count), self.weight))
        order = order[self.parent[order] >= 0]
        out[self.parent[order]] = order  # the last one written is the heaviest
        return out

    def apply(self, codes: IntArray, other: int) -> IntArray:
        """The node where each row ends: a leaf, or a split without a branch for the row's value.

        A code of `other` goes with the heaviest branch of every split.
        """
        base = int(max(codes.max(initial=0), self.code.max())) + 1
        keys = self.parent[1:] * base + self.code[1:]  # ascending
        at = np.zeros(len(codes), dtype=np.int64)
        rows = np.flatnonzero(self.feature[at] >= 0)
        while len(rows):
            value = codes[rows, self.feature[at[rows]]]
            key = at[rows] * base + value
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            child = np.where(keys[place] == key, place + 1, -1)
            child = np.where(value == other, self._heaviest[at[rows]], child)
            rows, child = rows[child >= 0], child[child >= 0]
            at[rows] = child
            rows = rows[self.feature[child] >= 0]
        return at


@dataclass(frozen=True)
class MultiwayGrowth:
    """How a tree is grown: by ID3, one level at a time. O(d n log n) a level, and a path splits on a feature at most once."""

    criterion: str
    max_depth: float
    min_samples_split: int
    min_gain: float

    def grow(self, codes: IntArray, y: npt.NDArray[np.intp], n_classes: int, weights: FloatArray) -> MultiwayTree:
        """The tree of rows with these codes (n_rows, n_features), classes and positive weights."""
        parts: list[dict[str, Any]] = []
        rows, node = (
            np.arange(len(y)),
            np.zeros(len(y), dtype=np.int64),
        )  # rows in nodes that may split, their node in the level
        level: dict[str, Any] = {"parent": np.array([-1]), "code": np.array([-1])}
        n_before = 0
        for depth in range(codes.shape[1] + 1):
            n_nodes = len(level["parent"])
            counts = np.bincount(node * n_classes + y[rows], weights[rows], n_nodes * n_classes).reshape(n_nodes, n_classes)
            n_rows = np.bincount(node, minlength=n_nodes)
            level |= {"counts": counts, "n_rows": n_rows, "feature": np.full(n_nodes, -1), "gain": np.zeros(n_nodes)}
            parts.append(level)
            is_open = (n_rows >= self.min_samples_split) & ((counts > 0).sum(axis=1) > 1)
            if depth >= self.max_depth or not is_open.any():
                break
            kept = is_open[node]
            rows, node = rows[kept], node[kept]
            feature, gain = self._choose(codes, rows, node, y, weights, counts, n_classes)
            level |= {"feature": np.where(is_open, feature, -1), "gain": np.where(is_open, gain, 0.0)}
            kept = level["feature"][node] >= 0
            rows, node = rows[kept], node[kept]
            if not len(rows):
                break
            base = int(codes.max()) + 1
            branches, node = np.unique(node * base + codes[rows, level["feature"][node]], return_inverse=True)
            level = {"parent": branches // base + n_before, "code": branches % base}
            n_before += n_nodes
        return MultiwayTree(**{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

    def _choose(
        self,
        codes: IntArray,
        rows: IntArray,
        node: IntArray,
        y: npt.NDArray[np.intp],
        weights: FloatArray,
        counts: FloatArray,
        n_classes: int,
    ) -> tuple[IntArray, FloatArray]:
        """The feature that each node splits on (-1: none is worth it), and its gain."""
        n_nodes, d = len(counts), codes.shape[1]
        gains, infos = np.zeros((d, n_nodes)), np.zeros((d, n_nodes))
        total = counts.sum(axis=1)
        own = _xlogx(total) - _xlogx(counts).sum(axis=1)  # weight times entropy
        for feature in range(d):
            base = int(codes[:, feature].max()) + 1
            key = (node * base + codes[rows, feature]) * n_classes + y[rows]
            cells, cell_weights = _add_up(key, weights[rows], n_nodes * base * n_classes)
            starts = np.flatnonzero(np.diff(cells // n_classes, prepend=-1))
            branch_weights = np.add.reduceat(cell_weights, starts)
            inside = _xlogx(branch_weights) - np.add.reduceat(_xlogx(cell_weights), starts)
            of_node = cells[starts] // n_classes // base
            left = np.bincount(of_node, inside, n_nodes)
            gains[feature] = (own - left) / total
            infos[feature] = (_xlogx(total) - np.bincount(of_node, _xlogx(branch_weights), n_nodes)) / total
        return self._best(gains, infos)

    def _best(self, gains: FloatArray, infos: FloatArray) -> tuple[IntArray, FloatArray]:
        is_useful = (gains > _ROUNDING) & (infos > _ROUNDING) & (gains >= self.min_gain - _ROUNDING)
        scores = np.where(is_useful, gains, -np.inf)
        if self.criterion == "gain_ratio":  # among the attributes of at least average gain, as Quinlan has it
            average = np.where(is_useful, gains, 0).sum(axis=0) / np.maximum(is_useful.sum(axis=0), 1)
            ratio = gains / np.where(is_useful, infos, 1)
            scores = np.where(is_useful & (gains >= average - _ROUNDING), ratio, -np.inf)
        best = (scores >= scores.max(axis=0) - _ROUNDING).argmax(axis=0)  # the first of equal ones
        is_found = is_useful.any(axis=0)
        chosen = gains[best, np.arange(gains.shape[1])]
        return np.where(is_found, best, -1), np.where(is_found, chosen, 0.0)


def _add_up(keys: IntArray, weights: FloatArray, n_keys: int) -> tuple[IntArray, FloatArray]:
    """The keys that occur, in order, and the sums of their positive weights; dense keys are counted, others sorted."""
    if n_keys <= 8 * len(keys):
        sums = np.bincount(keys, weights, n_keys)
        cells = np.flatnonzero(sums)
        return cells, sums[cells]
    cells, places = np.unique(keys, return_inverse=True)
    return cells, np.bincount(places, weights)


def _xlogx(x: FloatArray) -> FloatArray:
    """x log2 x, 0 at 0."""
    return np.asarray(x * np.log2(np.where(x > 0, x, 1)))
