"""The graph that structured hierarchies merge along: symmetric, without loops, and in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph
from sklearn.utils import check_array

from mercer._trace import warn
from mercer.cluster._dissimilarities import Dissimilarities

BLOCK = 1 << 21  # distances between two components that are held at a time


def connect(owner: str, connectivity: Any, distances: Dissimilarities) -> tuple[Any, int]:
    """The graph, completed where it is in several pieces; and in how many it was."""
    n = distances.n_rows
    graph = sp.csr_array(check_array(connectivity, accept_sparse=["csr", "coo", "lil"]), dtype=np.float64)
    if graph.shape != (n, n):
        raise ValueError(
            f"{owner}: Wrong shape for connectivity matrix: {graph.shape} when X has {n} rows; it must be {(n, n)}."
        )
    pattern = graph != 0
    graph = sp.csr_array(pattern + pattern.T)
    n_components, labels = csgraph.connected_components(graph, directed=False)
    if n_components > 1:
        warn(
            f"{owner}: the number of connected components of the connectivity matrix is {n_components} > 1. Completing it to "
            "avoid stopping the tree early: the nearest rows of each two components are connected."
        )
        graph = graph + _bridges(distances, labels, n_components)
    graph = sp.coo_array(graph)
    is_edge = graph.row != graph.col
    edges = (graph.row[is_edge], graph.col[is_edge])
    graph = sp.csr_array((np.ones(len(edges[0])), edges), shape=(n, n))
    graph.sum_duplicates()
    graph.sort_indices()
    return graph, int(n_components)


def _bridges(distances: Dissimilarities, labels: npt.NDArray[Any], n_components: int) -> Any:
    """An edge between the nearest rows of each two components."""
    members = [np.flatnonzero(labels == label) for label in range(n_components)]
    ends = [_nearest(distances, members[i], members[j]) for i in range(n_components) for j in range(i)]
    rows, columns = np.array(ends).T
    n = distances.n_rows
    return sp.csr_array((np.ones(2 * len(ends)), (np.r_[rows, columns], np.r_[columns, rows])), shape=(n, n))


def _nearest(distances: Dissimilarities, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> tuple[int, int]:
    best, ends = np.inf, (int(left[0]), int(right[0]))
    step = max(1, BLOCK // len(right))
    for begin in range(0, len(left), step):
        block = distances.between(left[begin : begin + step], right)
        place = int(np.argmin(block))
        if block.flat[place] < best:
            best = float(block.flat[place])
            ends = int(left[begin + place // len(right)]), int(right[place % len(right)])
    return ends
