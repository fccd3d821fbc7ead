"""A hierarchy of clusters: its merges, what is under them, and its cuts."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hierarchy:
    """Merge i makes node n_leaves + i of two earlier nodes; rows are the nodes below n_leaves.

    A hierarchy that ended early has fewer merges than n_leaves - 1, and several nodes that nothing is above.
    """

    children: Nodes  # of shape (n_merges, 2), the lower node first
    heights: FloatArray
    sizes: Nodes  # rows under each merge
    n_leaves: int

    @classmethod
    def made(cls, n_leaves: int, n_merges: int, write: Callable[[Nodes, FloatArray, Nodes], int | None]) -> Hierarchy:
        """What a kernel writes, which may say that there were fewer merges."""
        children, heights, sizes = (
            np.empty((n_merges, 2), dtype=np.int64),
            np.empty(n_merges),
            np.empty(n_merges, dtype=np.int64),
        )
        n_made = write(children, heights, sizes)
        return cls(children[:n_made], heights[:n_made], sizes[:n_made], n_leaves)

    @classmethod
    def of_matrix(cls, matrix: Any) -> Hierarchy:
        """That of a matrix in SciPy's format, checked."""
        table = np.asarray(matrix, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 4 or table.shape[0] == 0:
            raise ValueError(f"a linkage matrix has a line of four values for each merge; this one has shape {table.shape}.")
        n, children = len(table) + 1, table[:, :2].astype(np.int64)
        nodes = np.sort(children, axis=None)
        is_later = (children >= n + np.arange(n - 1)[:, None]).any()
        if not np.isfinite(table).all() or is_later or not np.array_equal(nodes, np.arange(2 * n - 2)):
            raise ValueError("this is no linkage matrix: every node but the last must be merged once, after it was made.")
        return cls(np.sort(children, axis=1), table[:, 2].copy(), table[:, 3].astype(np.int64), n)

    @property
    def n_merges(self) -> int:
        return len(self.heights)

    @property
    def matrix(self) -> FloatArray:
        """The merges in SciPy's format: two nodes, the height, and the number of rows under it."""
        return np.column_stack([self.children, self.heights, self.sizes])

    @property
    def parents(self) -> Nodes:
        """The node above each; a node that nothing is above is its own."""
        parents = np.arange(self.n_leaves + self.n_merges)
        parents[self.children] = self.n_leaves + np.arange(self.n_merges)[:, None]
        return parents

    @property
    def reach(self) -> FloatArray:
        """The height of the highest merge in each, itself included: where there are inversions, more than its own height."""
        reach = self.heights.copy()
        if not (self.inversion > 0):
            return reach
        of_node = np.concatenate([np.full(self.n_leaves, -np.inf), reach])
        for i, (left, right) in enumerate(self.children):
            of_node[self.n_leaves + i] = max(reach[i], of_node[left], of_node[right])
        return of_node[self.n_leaves :]

    @property
    def inversion(self) -> float:
        """How far a merge is at most below one that it is made of."""
        of_node = np.concatenate([np.full(self.n_leaves, -np.inf), self.heights])
        return float(np.max(of_node[self.children].max(axis=1, initial=-np.inf) - self.heights, initial=0.0))

    def count_above(self, height: float) -> int:
        """The number of clusters that merges below a height leave."""
        return int(np.count_nonzero(self.reach >= height)) + self.n_leaves - self.n_merges

    def cut(self, n_clusters: int) -> Nodes:
        """The cluster of each row, where the last merges are undone."""
        if n_clusters > self.n_leaves:
            raise ValueError(
                f"Cannot extract more clusters than samples: n_clusters={n_clusters} was given for a tree with "
                f"{self.n_leaves} leaves."
            )
        nodes = [-(self.n_leaves + self.n_merges - 1)]
        for _ in range(n_clusters - 1):
            low, high = self.children[-nodes[0] - self.n_leaves]
            heapq.heappush(nodes, -int(low))
            heapq.heappushpop(nodes, -int(high))
        return self._labels([-node for node in nodes])

    def cut_at(self, height: float) -> Nodes:
        """The cluster of each row, where merges at or above a height are undone, and all that is above them."""
        is_undone = self.reach >= height
        n_undone = int(np.count_nonzero(is_undone))
        if self.n_merges == self.n_leaves - 1 and is_undone[self.n_merges - n_undone :].all():
            return self.cut(n_undone + 1)
        is_whole = np.concatenate([np.ones(self.n_leaves, dtype=bool), ~is_undone])
        parents = self.parents
        is_top = (parents == np.arange(len(parents))) | ~is_whole[parents]
        return self._labels(np.flatnonzero(is_whole & is_top)[::-1].tolist())

    def tops(self) -> Nodes:
        """The cluster of each row by the nodes that nothing is above."""
        parents = self.parents
        return self._labels(np.flatnonzero(parents == np.arange(len(parents))).tolist())

    def _labels(self, nodes: list[int]) -> Nodes:
        labels = np.full(self.n_leaves + self.n_merges, -1, dtype=np.int64)
        labels[nodes] = np.arange(len(nodes))
        kernels.label_leaves(np.ascontiguousarray(self.children), labels)
        return labels[: self.n_leaves].copy()


def hierarchy_of(tree: Any) -> Hierarchy:
    """That of a fitted model, or of a linkage matrix."""
    matrix = getattr(tree, "linkage_matrix_", None)
    if matrix is None and hasattr(tree, "fit"):
        raise TypeError(f"a fitted model comes first, or a linkage matrix; this {type(tree).__name__} has no linkage_matrix_.")
    if matrix is not None and len(matrix) < tree.n_leaves_ - 1:
        raise ValueError("the hierarchy ended early; fit with compute_full_tree=True.")
    return Hierarchy.of_matrix(tree if matrix is None else matrix)
