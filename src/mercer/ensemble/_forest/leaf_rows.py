"""The training rows in the leaves of a forest: what turns its mean into a whole distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._rows import with_own_structure
from mercer._saved import saved
from mercer._trees.rows import Rows
from mercer._trees.store import IntArray, TreeStore
from mercer.ensemble._forest.bags import Bags
from mercer.ensemble._forest.out_of_bag import leaves_by_tree

_ROWS_AT_ONCE = 4096


@saved("LeafRows")
class LeafRows:
    """The rows of every leaf, one leaf after another, as often as they were drawn: four bytes each.

    Parameters
    ----------
    rows : ndarray of uint32
        The rows, numbered through the data of all fits that the forest was grown in.
    sizes : ndarray of shape (n_nodes,)
        How many of them each node holds: none where it is split.
    y : ndarray of shape (n_rows, n_outputs)
    weights : ndarray of shape (n_rows,) or None
        What a row in a leaf weighs.
    """

    def __init__(
        self, rows: npt.NDArray[np.uint32], sizes: npt.NDArray[np.int32], y: FloatArray, weights: FloatArray | None
    ) -> None:
        self.rows, self.sizes, self.y, self.weights = rows, sizes, y, weights
        self._targets: list[Any] | None = None

    @classmethod
    def find(cls, store: TreeStore, bags: Bags, X: Rows, y: FloatArray, weights: FloatArray | None, n_threads: int) -> LeafRows:
        """The rows of X in the leaves of the trees that were grown on them."""
        parts, sizes = [], []
        for tree, leaves in leaves_by_tree(store, X, n_threads):
            rows = bags.rows(tree)
            if not bags.n_draws and weights is not None:
                rows = rows[weights > 0]
            keys = leaves[rows].astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64)
            keys.sort()
            parts.append(keys.astype(np.uint32))
            sizes.append(np.bincount(leaves[rows], minlength=store[tree].node_count).astype(np.int32))
        return cls(np.concatenate(parts), np.concatenate(sizes), y, None if bags.n_draws else weights)

    def first(self, n_nodes: int) -> LeafRows:
        """Those of some nodes from the beginning."""
        sizes = self.sizes[:n_nodes]
        return LeafRows(self.rows[: int(sizes.sum())], sizes, self.y, self.weights)

    def joined(self, later: LeafRows) -> LeafRows:
        """These and those of trees that were grown later, maybe on other data."""
        shift = np.uint32(len(self.y))
        weights = None
        if self.weights is not None or later.weights is not None:
            weights = np.concatenate([np.ones(len(part.y)) if part.weights is None else part.weights for part in (self, later)])
        return LeafRows(
            np.concatenate([self.rows, later.rows + shift]),
            np.concatenate([self.sizes, later.sizes]),
            np.concatenate([self.y, later.y]),
            weights,
        )

    def quantiles(
        self, store: TreeStore, X: Rows, quantiles: FloatArray, tree_weights: FloatArray | None, n_threads: int
    ) -> FloatArray:
        """The quantiles of each row and output, of shape (n_rows, n_outputs, n_quantiles)."""
        X = with_own_structure(X)  # SciPy takes parts of it
        out = np.empty((self.y.shape[1], X.shape[0], len(quantiles)))
        for begin in range(0, X.shape[0], _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            leaves = store.apply(X[part], n_threads=n_threads) + store.starts[:-1]
            for output, targets in enumerate(self._sorted_targets()):
                kernels.leaf_quantiles(targets, leaves, tree_weights, quantiles, out[output, part], n_threads)
        return np.moveaxis(out, 0, 1)

    def _sorted_targets(self) -> list[Any]:
        """The targets of each output as the kernel takes them; made when quantiles are first asked for."""
        if self._targets is None:
            starts = np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])
            self._targets = [self._sort(starts, y) for y in self.y.T]
        return self._targets

    def _sort(self, starts: IntArray, y: FloatArray) -> Any:
        order = np.argsort(y, kind="stable")
        places = np.empty(len(y), dtype=np.uint32)
        places[order] = np.arange(len(y), dtype=np.uint32)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[order])
        return kernels.LeafTargets(starts, places[self.rows], np.ascontiguousarray(y[order]), weights)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_targets": None}
