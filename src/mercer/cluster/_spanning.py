"""Minimum spanning trees of mutual reachability: by a k-d tree, by tiles of products, by rows of distances, or of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer.cluster._density import PointTree, RowDistances, is_for_products
from mercer.neighbors._search import ProductIndex

Rows = npt.NDArray[np.int64]
ALMOST_ZERO = np.nextafter(0.0, 1.0)


@dataclass(frozen=True)
class SpanningTree:
    """The n - 1 edges between n rows."""

    start: Rows
    end: Rows
    weights: FloatArray

    @classmethod
    def of(cls, X: Any, *, min_samples: int, alpha: float = 1.0, n_threads: int = 1, **options: Any) -> SpanningTree:
        """That of reach(a, b) = max(core(a), core(b), distance(a, b) / alpha), exact, in O(n) memory.

        The core distance of a row is that of its `min_samples`-th nearest, itself included; with 1, reach is the distance. The
        options are metric, metric_params, p and leaf_size.
        """
        n = X.shape[0]
        made = cls(np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1))
        asked = (min_samples, alpha, made.start, made.end, made.weights, n_threads)
        if is_for_products(X, k=min_samples, **options):
            is_spanned = kernels.product_spanning_tree(ProductIndex(X, n_threads=n_threads).points, *asked)
        elif (tree := PointTree.of(X, n_threads=n_threads, **options)) is not None:
            is_spanned = kernels.spanning_tree(*tree, *asked)
        else:
            options.pop("leaf_size", None)
            return cls.by_rows(RowDistances(X, **options), min_samples=min_samples, alpha=alpha)
        if not is_spanned:
            raise OverflowError("some rows are infinitely far from all others: their distances overflow.")
        return made

    @classmethod
    def by_rows(cls, distances: RowDistances, *, min_samples: int, alpha: float = 1.0) -> SpanningTree:
        """The same by Prim's method, with the distances of one row at a time. O(n^2) time."""
        n = distances.n_rows
        core = np.zeros(n) if min_samples == 1 else distances.kth_smallest(min_samples)  # a row is its own nearest
        reach, sources, left, current = np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.arange(1, n), 0
        start, end, weights = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
        for edge in range(n - 1):
            measured = np.maximum(np.maximum(distances.row(current)[left] / alpha, core[left]), core[current])
            is_nearer = measured < reach[left]
            reach[left[is_nearer]], sources[left[is_nearer]] = measured[is_nearer], current
            i = int(np.argmin(reach[left]))
            current = int(left[i])
            start[edge], end[edge], weights[edge] = sources[current], current, reach[current]
            left = np.delete(left, i)
        return cls(start, end, weights)

    @classmethod
    def of_graph(cls, graph: Any, *, min_samples: int, alpha: float = 1.0, max_distance: float = 0.0) -> SpanningTree:
        """That of the stored distances of a symmetric sparse matrix; what is not stored is no edge."""
        graph = graph.tocsr().astype(np.float64)
        counts = np.diff(graph.indptr)
        if (counts < min_samples).any():
            raise ValueError(
                f"There exists points with fewer than {min_samples} neighbors. Ensure your distance matrix has non-zero values "
                f"for at least `min_sample`={min_samples} neighbors for each points (i.e. K-nn graph), or lower min_samples."
            )
        _raise_to_reach(graph, min_samples, alpha, max_distance)
        n_parts = csgraph.connected_components(graph, directed=False, return_labels=False)
        if n_parts > 1:
            raise ValueError(
                f"Sparse mutual reachability matrix has {n_parts} connected components. HDBSCAN cannot be performed on a "
                "disconnected graph. Ensure that the sparse distance matrix has only one connected component."
            )
        graph.data[graph.data == 0] = ALMOST_ZERO  # a stored zero is an edge, which SciPy would pass over
        edges = csgraph.minimum_spanning_tree(graph).tocoo()
        weights = np.where(edges.data == ALMOST_ZERO, 0.0, edges.data)
        return cls(edges.row.astype(np.int64), edges.col.astype(np.int64), weights)

    @classmethod
    def from_table(cls, table: FloatArray) -> SpanningTree:
        """Of what `table` gave."""
        rows = np.ascontiguousarray(table[:, :2].T.astype(np.int64))
        return cls(rows[0], rows[1], np.ascontiguousarray(table[:, 2]))

    @property
    def table(self) -> FloatArray:
        """One line an edge, from the lightest on: two rows and the weight."""
        order = np.argsort(self.weights, kind="stable")
        return np.column_stack([self.start[order], self.end[order], self.weights[order]])

    def labels(self, options: Mapping[str, Any]) -> tuple[Rows, FloatArray]:
        """Clusters of the condensed tree and how firmly rows are in them."""
        n = len(self.weights) + 1
        labels, probabilities = np.empty(n, dtype=np.int64), np.empty(n)
        most = n + 1 if options["max_cluster_size"] is None else options["max_cluster_size"]
        kernels.condensed_labels(
            self.start,
            self.end,
            self.weights,
            options["min_cluster_size"],
            most,
            options["cluster_selection_method"] == "leaf",
            options["allow_single_cluster"],
            options["cluster_selection_epsilon"],
            labels,
            probabilities,
        )
        return labels, probabilities

    def cut(self, distance: float, min_cluster_size: int) -> Rows:
        """What edges lighter than a distance hold together; -1 for fewer rows than `min_cluster_size`."""
        labels = np.empty(len(self.weights) + 1, dtype=np.int64)
        kernels.cut_tree(self.start, self.end, self.weights, distance, min_cluster_size, labels)
        return labels


def _raise_to_reach(graph: Any, min_samples: int, alpha: float, max_distance: float) -> None:
    """Make stored distances mutual reachabilities, in place."""
    bounds = zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    core = np.array([np.partition(graph.data[begin:end], min_samples - 1)[min_samples - 1] for begin, end in bounds])
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    reach = np.maximum(np.maximum(graph.data / alpha, core[rows]), core[graph.indices])
    graph.data[:] = np.where(np.isinf(reach) & (max_distance > 0), max_distance, reach)
