"""Hierarchies as functions: in SciPy's format and in scikit-learn's, and where to cut them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray
from mercer._hierarchy import hierarchy_of
from mercer._parallel import effective_threads
from mercer._params import Bool, Function, Integer, Null, NumberOfJobs, OneOf, Real, check_value
from mercer._trace import warn
from mercer.cluster._dissimilarities import METRICS, Metric
from mercer.cluster._linkage import LINKAGES, build

Labels = npt.NDArray[np.int64]


def _checked(name: str, X: Any) -> FloatArray:
    rows: FloatArray = check_array(X, dtype=FLOATS, ensure_min_samples=2, estimator=name, input_name="X")
    return rows


def linkage(X: Any, method: str = "single", metric: Metric = "euclidean", *, n_jobs: int | None = None) -> FloatArray:
    """The hierarchy of the rows of X in SciPy's format.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    method : {"single", "complete", "average", "weighted", "centroid", "median", "ward"}, default="single"
        The linkage, as of :class:`AgglomerativeClustering`.
    metric : str or callable, default="euclidean"
        As of :class:`AgglomerativeClustering`; "precomputed" is the square matrix, which SciPy takes condensed.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use.

    Returns
    -------
    Z : ndarray of shape (n_samples - 1, 4)
        For each merge two nodes, their distance, and how many rows are under it. Node n_samples + i is merge i.

    Examples
    --------
    >>> from mercer.cluster import linkage
    >>> linkage([[0.0], [1.0], [5.0]], "average")
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 4.5, 3. ]])
    """
    check_value("linkage", "method", method, OneOf(*LINKAGES))
    check_value("linkage", "metric", metric, OneOf(*METRICS) | Function())
    n_threads = effective_threads(check_value("linkage", "n_jobs", n_jobs, NumberOfJobs()))
    rows = _checked("linkage", X)
    tree, _ = build("linkage", rows, linkage=method, metric=metric, n_merges=len(rows) - 1, n_threads=n_threads)
    return tree.matrix


def linkage_tree(
    X: Any,
    connectivity: Any = None,
    n_clusters: int | None = None,
    linkage: str = "complete",
    affinity: Metric = "euclidean",
    return_distance: bool = False,
) -> tuple[Any, ...]:
    """The hierarchy of the rows of X as scikit-learn's function of that name returns it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples) or None, default=None
        A graph: only clusters that it connects are merged.
    n_clusters : int or None, default=None
        With connectivity: how many clusters to leave. None merges all.
    linkage : {"complete", "average", "single", "ward", "weighted", "centroid", "median"}, default="complete"
    affinity : str or callable, default="euclidean"
        The metric, as of :class:`AgglomerativeClustering`.
    return_distance : bool, default=False
        Whether to return the distances of merges too.

    Returns
    -------
    children : ndarray of shape (n_merges, 2)
    n_connected_components : int
    n_leaves : int
    parents : ndarray of shape (n_nodes,) or None
        The node above each, itself for the last; None without connectivity.
    distances : ndarray of shape (n_merges,)
        With `return_distance`.

    Notes
    -----
    :func:`linkage` returns the same in SciPy's format.

    Examples
    --------
    >>> from mercer.cluster import linkage_tree
    >>> children, *_ = linkage_tree([[0.0], [1.0], [5.0]], linkage="average")
    >>> children
    array([[0, 1],
           [2, 3]])
    """
    check_value("linkage_tree", "linkage", linkage, OneOf(*LINKAGES))
    check_value("linkage_tree", "affinity", affinity, OneOf(*METRICS) | Function())
    return _peer_tree("linkage_tree", X, connectivity, n_clusters, linkage, affinity, return_distance)


def ward_tree(
    X: Any, *, connectivity: Any = None, n_clusters: int | None = None, return_distance: bool = False
) -> tuple[Any, ...]:
    """The hierarchy of the rows of X by Ward's linkage, as scikit-learn's function of that name returns it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples) or None, default=None
        A graph: only clusters that it connects are merged.
    n_clusters : int or None, default=None
        With connectivity: how many clusters to leave. None merges all.
    return_distance : bool, default=False
        Whether to return the distances of merges too.

    Returns
    -------
    children, n_connected_components, n_leaves, parents, distances
        As of :func:`linkage_tree`.

    Examples
    --------
    >>> from mercer.cluster import ward_tree
    >>> ward_tree([[0.0], [1.0], [5.0]], return_distance=True)[-1].round(3)
    array([1.   , 5.196])
    """
    return _peer_tree("ward_tree", X, connectivity, n_clusters, "ward", "euclidean", return_distance)


def _peer_tree(
    name: str, X: Any, connectivity: Any, n_clusters: int | None, linkage: str, metric: Metric, return_distance: bool
) -> tuple[Any, ...]:
    n_clusters = check_value(name, "n_clusters", n_clusters, Null() | Integer(1))
    check_value(name, "return_distance", return_distance, Bool())
    rows = np.asarray(X)
    if rows.ndim == 1:
        rows = rows.reshape(-1, 1)
    rows = _checked(name, rows)
    n = len(rows)
    if n_clusters is not None and n_clusters > n:
        raise ValueError(f"{name}: Cannot provide more clusters than samples. n_clusters={n_clusters} was asked, of {n} rows.")
    if connectivity is None and n_clusters is not None:
        warn(
            f"{name}: Partial build of the tree is implemented only for structured clustering (i.e. with explicit "
            "connectivity). The algorithm will build the full tree and only retain the lower branches required for the "
            "specified number of clusters."
        )
    n_merges = n - 1 if connectivity is None or n_clusters is None else n - n_clusters
    tree, n_components = build(
        name,
        rows,
        linkage=linkage,
        metric=metric,
        connectivity=connectivity,
        n_merges=n_merges,
        n_threads=effective_threads(None),
    )
    parents = None if connectivity is None else tree.parents
    found = (tree.children, n_components, n, parents)
    return (*found, tree.heights) if return_distance else found


def cut_linkage(tree: Any, n_clusters: int | None = None, *, height: float | None = None) -> Labels:
    """Cut a hierarchy anew, by the number of clusters or by height.

    Parameters
    ----------
    tree : fitted AgglomerativeClustering or DivisiveClustering, or array of shape (n_samples - 1, 4)
        The hierarchy, also as a linkage matrix in SciPy's format.
    n_clusters : int or None, default=None
        How many clusters to leave.
    height : float or None, default=None
        Merges at or above it are undone, and what is above them. Exactly one of the two must be given.

    Returns
    -------
    labels : int ndarray of shape (n_samples,)

    Examples
    --------
    >>> from mercer.cluster import cut_linkage, linkage
    >>> Z = linkage([[0.0], [1.0], [5.0], [9.0]])
    >>> cut_linkage(Z, 2), cut_linkage(Z, height=2.0)
    (array([0, 0, 0, 1]), array([0, 0, 2, 1]))
    """
    if (n_clusters is None) == (height is None):
        raise TypeError("cut_linkage: exactly one of n_clusters and height must be given.")
    hierarchy = hierarchy_of(tree)
    if n_clusters is not None:
        return hierarchy.cut(check_value("cut_linkage", "n_clusters", n_clusters, Integer(1)))
    return hierarchy.cut_at(check_value("cut_linkage", "height", height, Real(least=0)))


def suggest_n_clusters(tree: Any, *, max_clusters: int | None = None) -> int:
    """The number of clusters at the longest gap between the heights of successive merges.

    Parameters
    ----------
    tree : fitted AgglomerativeClustering or DivisiveClustering, or array of shape (n_samples - 1, 4)
        The hierarchy, also as a linkage matrix in SciPy's format.
    max_clusters : int or None, default=None
        The most that may be suggested; None allows any number.

    Returns
    -------
    n_clusters : int
        Two or more, the fewest of equal gaps; one where all heights are equal, which shows no clusters.

    Notes
    -----
    In the dendrogram it is where a level line may be moved farthest without meeting a merge.

    Examples
    --------
    >>> from mercer.cluster import AgglomerativeClustering, suggest_n_clusters
    >>> X = [[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]
    >>> suggest_n_clusters(AgglomerativeClustering(linkage="average").fit(X))
    3
    """
    hierarchy = hierarchy_of(tree)
    most = check_value("suggest_n_clusters", "max_clusters", max_clusters, Null() | Integer(2))
    heights = np.concatenate([[0.0], np.sort(hierarchy.reach)])
    gaps = np.diff(heights)[1:][::-1]  # from the one that leaves two clusters on
    if most is not None:
        gaps = gaps[: most - 1]
    if len(gaps) == 0 or not gaps.max() > 0:
        return 1
    return int(np.argmax(gaps)) + 2
