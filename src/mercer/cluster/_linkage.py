"""From rows to a hierarchy: which kernel merges them, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._hierarchy import Hierarchy
from mercer._memory import free_memory
from mercer._native import kernels
from mercer.cluster._connectivity import connect
from mercer.cluster._density import AXIAL_NAMES, RowDistances
from mercer.cluster._dissimilarities import EUCLIDEAN, FEW_FEATURES, Dissimilarities, Metric, require_directions
from mercer.cluster._spanning import SpanningTree
from mercer.neighbors._measures import METRICS as SEARCH_METRICS, find_measure

LINKAGES = ("ward", "complete", "average", "single", "weighted", "centroid", "median")
OF_MEANS = ("centroid", "median")  # squared distances of means, of which merges may bring others nearer
# What is read off a Euclidean length: the tree that spans rows is the same.
READINGS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "euclidean": lambda length: length,
    "squared": lambda length: length**2,
    "half_squared": lambda length: length**2 / 2,
    "arc": lambda length: 2 * np.arcsin(np.minimum(length / 2, 1.0)),
}


def build(
    owner: str, X: FloatArray, *, linkage: str, metric: Metric, connectivity: Any = None, n_merges: int, n_threads: int
) -> tuple[Hierarchy, int]:
    """The hierarchy, and in how many pieces the connectivity graph was. It ends after `n_merges` merges along a graph."""
    require_metric(owner, linkage, metric)
    if connectivity is not None:
        distances = Dissimilarities(owner, X, metric, n_threads=n_threads)
        graph, n_components = connect(owner, connectivity, distances)
        return _along(owner, graph, distances, linkage, n_merges), n_components
    if linkage == "single" and isinstance(metric, str) and metric != "precomputed":
        return _by_spanning_tree(owner, X, metric, n_threads), 1
    distances = Dissimilarities(owner, X, metric, n_threads=n_threads)
    if linkage == "ward" and _is_without_matrix(distances):
        tree = _made(distances, partial(_call, kernels.merge_by_ward, distances.X, n_threads=n_threads))
    else:
        is_squared = linkage in ("ward", *OF_MEANS)
        values = distances.condensed(f"linkage={linkage!r}", is_squared=is_squared)
        tree = _made(distances, partial(_call, kernels.merge_matrix, linkage, values, distances.n_rows, n_threads=n_threads))
    return tree, 1


def require_metric(owner: str, linkage: str, metric: Metric) -> None:
    """Refuse a metric that a linkage makes nothing of."""
    is_euclidean = isinstance(metric, str) and metric in EUCLIDEAN
    if linkage == "ward" and not is_euclidean:
        raise ValueError(
            f"{owner}: {metric} was provided as metric. Ward can only work with euclidean distances: metric must be "
            "'euclidean' or 'l2', or linkage another one."
        )
    if linkage in OF_MEANS and not (is_euclidean or (isinstance(metric, str) and metric == "precomputed")):
        raise ValueError(
            f"{owner}: metric={metric!r} is not valid with linkage={linkage!r}, which is made of the means of clusters; it "
            "must be 'euclidean', or 'precomputed' with Euclidean distances."
        )


def _call(kernel: Any, *given: Any, n_threads: int) -> Any:
    *inputs, children, heights, sizes = given
    return kernel(*inputs, children, heights, sizes, n_threads)


def _made(distances: Dissimilarities, write: Any) -> Hierarchy:
    n = distances.n_rows
    tree = Hierarchy.made(n, n - 1, write)
    return _scaled(tree, distances.scale)


def _scaled(tree: Hierarchy, scale: float) -> Hierarchy:
    return tree if scale == 1.0 else Hierarchy(tree.children, tree.heights * scale, tree.sizes, tree.n_leaves)


def _is_without_matrix(distances: Dissimilarities) -> bool:
    """Whether Ward's linkage had better measure clusters anew: few features, or no room for distances."""
    return distances.X.shape[1] <= FEW_FEATURES or 4.0 * distances.n_rows**2 > free_memory()


def _by_spanning_tree(owner: str, X: FloatArray, metric: Metric, n_threads: int) -> Hierarchy:
    """Single linkage: the edges of a minimum spanning tree from the lightest on."""
    require_directions(owner, X, metric)
    read, scale = READINGS["euclidean"], 1.0
    if isinstance(metric, str) and metric in SEARCH_METRICS:
        measure = find_measure(metric, p=2, metric_params=None, X=X)
        if measure.formula in READINGS:
            read, X, metric = READINGS[measure.formula], measure.mapped(X, n_threads), "euclidean"
            if measure.row_map is None and measure.formula == "euclidean":
                distances = Dissimilarities(owner, X, metric, n_threads=n_threads)
                X, scale = distances.X, distances.scale
    if metric in AXIAL_NAMES:
        tree = SpanningTree.of(X, min_samples=1, metric=metric, n_threads=n_threads)
    else:
        tree = SpanningTree.by_rows(RowDistances(X, metric=metric), min_samples=1)
    merged = Hierarchy.made(len(X), len(X) - 1, partial(kernels.single_linkage, tree.start, tree.end, read(tree.weights)))
    return _scaled(merged, scale)


def _along(owner: str, graph: Any, distances: Dissimilarities, linkage: str, n_merges: int) -> Hierarchy:
    """Merges along the edges of a graph."""
    if linkage in OF_MEANS:
        raise ValueError(f"{owner}: connectivity is not for linkage={linkage!r}; it must be None, or linkage another one.")
    columns, starts = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    if linkage == "ward":
        unknown = np.zeros(len(columns))

        def write(*out: Any) -> Any:
            return kernels.merge_graph_by_ward(distances.X, columns, starts, *out, unknown)
    else:
        rows = np.repeat(np.arange(distances.n_rows), np.diff(starts))
        lengths = distances.of_pairs(rows, columns.astype(np.int64))
        write = partial(kernels.merge_graph, linkage, lengths, columns, starts)
    return _scaled(Hierarchy.made(distances.n_rows, n_merges, write), distances.scale)
