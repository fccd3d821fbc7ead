"""Trees of other packages, written as Mercer's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trees.store import CATEGORICAL, MISSING_LEFT, NODE, IntArray, TreeStore


@dataclass(frozen=True)
class ForeignTree:
    """A tree by arrays with a place for each node; the root is node 0, and a leaf has no left child (-1).

    `x <= threshold` goes left, on categories those that `lefts` has for the node; every other category goes right.
    """

    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_left: npt.NDArray[np.bool_]
    cover: FloatArray
    values: FloatArray
    lefts: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def in_order(self) -> tuple[npt.NDArray[Any], IntArray, npt.NDArray[np.uint32]]:
        """The nodes as Mercer has them, where each of them stands here, and the words of the sets of categories."""
        order = self._order()
        place = np.empty(len(self.left), dtype=np.int64)
        place[order] = np.arange(len(order))
        is_split = self.left[order] >= 0
        nodes = np.zeros(len(order), dtype=NODE)
        nodes["threshold"] = np.where(is_split, self.threshold[order], 0.0)
        tags = self.feature[order].astype(np.int64) | np.where(self.missing_left[order], MISSING_LEFT, 0)
        nodes["tag"] = np.where(is_split, tags, 0)
        nodes["right"][is_split] = place[self.right[order][is_split]]
        words: list[int] = []
        for node, categories in sorted(self.lefts.items()):
            nodes["threshold"][place[node]] = len(words)
            nodes["tag"][place[node]] |= np.uint32(CATEGORICAL)
            words += _set_of(categories)
        return nodes, order, np.array(words, dtype=np.uint32)

    def _order(self) -> IntArray:
        """The nodes with parents first and left before right."""
        splits = np.flatnonzero(self.left >= 0)
        n_nodes = 2 * len(splits) + 1
        if len(self.left) == n_nodes and np.array_equal(self.left[splits], splits + 1):
            return np.arange(n_nodes)
        order, open_ = [], [0]
        left, right = self.left.tolist(), self.right.tolist()
        while open_:
            node = open_.pop()
            order.append(node)
            if len(order) > len(left):
                raise ValueError("The nodes of a tree name one another in a circle.")
            if left[node] >= 0:
                open_ += (right[node], left[node])
        return np.array(order, dtype=np.int64)


def _set_of(categories: Sequence[int]) -> list[int]:
    """A set of categories in words: their number, then 32 categories a word."""
    known = [category for category in categories if category >= 0]
    words = [0] * (max(known, default=-1) // 32 + 1)
    for category in known:
        words[category // 32] |= 1 << (category % 32)
    return [len(words), *words]


def store_of(trees: Sequence[ForeignTree], n_features: int) -> tuple[TreeStore, FloatArray]:
    """The trees in one store, whose weights are their covers, and the values of its nodes."""
    parts = [tree.in_order() for tree in trees]
    nodes = np.concatenate([part[0] for part in parts])
    native = kernels.Trees(
        np.ascontiguousarray(nodes).view(np.uint8).reshape(-1, NODE.itemsize),
        np.concatenate([part[2] for part in parts]),
        np.array([len(part[0]) for part in parts], dtype=np.int64),
        np.array([len(part[2]) for part in parts], dtype=np.int64),
        n_features,
    )
    cover = np.concatenate([tree.cover[part[1]] for tree, part in zip(trees, parts, strict=True)]).astype(np.float64)
    values = np.concatenate([tree.values[part[1]] for tree, part in zip(trees, parts, strict=True)])
    store = TreeStore(native, np.zeros(len(cover)), np.zeros(len(cover), dtype=np.int64), cover)
    return store, values
