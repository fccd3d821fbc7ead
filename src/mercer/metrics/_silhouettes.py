"""Measures of a labeling by the distances of the rows: silhouettes, Davies-Bouldin, Calinski-Harabasz, Dunn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_X_y

from mercer._arrays import FLOATS, FloatArray
from mercer._labels import code_labels
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, Null, RandomState, check_value
from mercer._random import as_random_state
from mercer.metrics._pairwise.dispatch import pairwise_distances

Codes = npt.NDArray[np.intp]

# Metrics whose distances a kernel adds up as it measures them.
STREAMED = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
}
BLOCK = 1 << 21  # distances, or values of rows by clusters, that are held at a time


class Labeled:
    """Rows, or distances between them, and their clusters as numbers from 0 on."""

    def __init__(self, X: Any, labels: Any, metric: Any, options: Mapping[str, Any]) -> None:
        dtype = None if isinstance(metric, str) and metric == "precomputed" else FLOATS
        if callable(metric):
            dtype = None
        self.X, labels = check_X_y(X, labels, accept_sparse=["csr"], dtype=dtype)
        _, codes = code_labels(np.asarray(labels))
        self.codes: Codes = np.ascontiguousarray(codes, dtype=np.int64)
        self.metric, self.options = metric, dict(options)
        self.sizes = np.bincount(self.codes)
        self.n_rows, self.n_clusters = len(self.codes), len(self.sizes)
        if not 1 < self.n_clusters < self.n_rows:
            raise ValueError(f"Number of labels is {self.n_clusters}. Valid values are 2 to n_samples - 1 (inclusive)")

    def kept(self, *names: str) -> Iterator[tuple[Codes, list[FloatArray]]]:
        """Some rows at a time: their numbers, and the "sum", "least" or "greatest" of their distances to each cluster."""
        if isinstance(self.metric, str) and self.metric in STREAMED and not self.options and not sp.issparse(self.X):
            yield from self._streamed(names)
        else:
            yield from self._by_blocks(names)

    def _streamed(self, names: tuple[str, ...]) -> Iterator[tuple[Codes, list[FloatArray]]]:
        order = np.argsort(self.codes, kind="stable")
        rows = np.ascontiguousarray(self.X[order], dtype=np.float64)
        rows -= rows.mean(axis=0)  # whatever is taken off, distances are the same; but for their rounding
        ends = np.cumsum(self.sizes).astype(np.int64)
        step = max(64, BLOCK // self.n_clusters)
        for begin in range(0, self.n_rows, step):
            shape = (min(step, self.n_rows - begin), self.n_clusters)
            found = [np.empty(shape) for _ in names]
            for name, out in zip(names, found, strict=True):
                kernels.measure_clusters(name, STREAMED[self.metric], rows, begin, ends, out, effective_threads(None))
            yield order[begin : begin + shape[0]], found

    def _by_blocks(self, names: tuple[str, ...]) -> Iterator[tuple[Codes, list[FloatArray]]]:
        step = max(1, BLOCK // max(self.n_rows, self.n_clusters))
        is_given = isinstance(self.metric, str) and self.metric == "precomputed"
        X = self.X if is_given or callable(self.metric) else self.X.astype(np.float64, copy=False)
        for begin in range(0, self.n_rows, step):
            some = X[begin : begin + step]
            block: Any = some if is_given else pairwise_distances(some, X, metric=self.metric, **self.options)
            block = np.ascontiguousarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
            if not is_given and isinstance(self.metric, str):
                block[np.arange(len(block)), begin + np.arange(len(block))] = 0
            found = [np.empty((len(block), self.n_clusters)) for _ in names]
            for name, out in zip(names, found, strict=True):
                kernels.gather_clusters(name, block, self.codes, out, effective_threads(None))
            yield np.arange(begin, begin + len(block)), found


def _require_zero_diagonal(X: Any) -> None:
    diagonal = X.diagonal()
    tol = np.finfo(X.dtype).eps * 100 if X.dtype.kind == "f" else 0
    if (np.abs(diagonal) > tol).any():
        raise ValueError(
            "The precomputed distance matrix contains non-zero elements on the diagonal. Use np.fill_diagonal(X, 0)."
        )


def silhouette_samples(X: Any, labels: Any, *, metric: Any = "euclidean", **kwds: Any) -> FloatArray:
    """How much nearer each row is to its own cluster than to the next one: (b - a) / max(a, b).

    a is the mean distance to the other rows of its cluster, b the least of the mean distances to the rows of another.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : str or callable, default="euclidean"
        As of :func:`pairwise_distances`; "precomputed": X holds distances, whose diagonal is zero.
    **kwds
        Parameters of the metric.

    Returns
    -------
    values : ndarray of shape (n_samples,)
        From -1 (in the wrong cluster) to 1; 0 for a row that is alone in its cluster.

    Notes
    -----
    O(n^2 d) time. Distances are added up as they are measured, and never kept: O(n k) memory. Sums are in double precision.

    References
    ----------
    P. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", 1987.

    Examples
    --------
    >>> from mercer.metrics import silhouette_samples
    >>> silhouette_samples([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).round(3)
    array([0.895, 0.882, 0.882, 0.895])
    """
    data = Labeled(X, labels, metric, kwds)
    if isinstance(metric, str) and metric == "precomputed":
        _require_zero_diagonal(data.X)
    values = np.empty(data.n_rows)
    for rows, (sums,) in data.kept("sum"):
        own, place = data.codes[rows], np.arange(len(rows))
        with np.errstate(divide="ignore", invalid="ignore"):
            within = sums[place, own] / (data.sizes[own] - 1)
            sums /= data.sizes
            sums[place, own] = np.inf
            nearest = sums.min(axis=1)
            values[rows] = np.nan_to_num((nearest - within) / np.maximum(within, nearest))
    values[data.sizes[data.codes] == 1] = 0.0
    return values


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    **kwds: Any,
) -> float:
    """The mean of :func:`silhouette_samples`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : str or callable, default="euclidean"
        As of :func:`silhouette_samples`.
    sample_size : int or None, default=None
        So many rows, drawn at random, stand for all; None takes all.
    random_state : int, RandomState or None, default=None
        Draws the sample.
    **kwds
        Parameters of the metric.

    Returns
    -------
    score : float
        From -1 to 1; the greater, the better.

    Examples
    --------
    >>> from mercer.metrics import silhouette_score
    >>> round(silhouette_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.889
    """
    sample_size = check_value("silhouette_score", "sample_size", sample_size, Null() | Integer(1))
    check_value("silhouette_score", "random_state", random_state, RandomState())
    if sample_size is not None:
        X, labels = check_X_y(X, labels, accept_sparse=["csc", "csr"])
        rows = as_random_state(random_state).permutation(X.shape[0])[:sample_size]
        is_given = isinstance(metric, str) and metric == "precomputed"
        X, labels = (X[rows].T[rows].T if is_given else X[rows]), labels[rows]
    return float(np.mean(silhouette_samples(X, labels, metric=metric, **kwds)))


def dunn_index(X: Any, labels: Any, *, metric: Any = "euclidean", **kwds: Any) -> float:
    """The least distance between rows of two clusters over the greatest within one.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : str or callable, default="euclidean"
        As of :func:`silhouette_samples`.
    **kwds
        Parameters of the metric.

    Returns
    -------
    index : float
        The greater, the better; above 1 clusters are farther apart than they are wide. Infinite where all rows of every cluster
        are equal and no two clusters share any, 0 where two clusters share a row.

    References
    ----------
    J. Dunn, "Well-separated clusters and optimal fuzzy partitions", Journal of Cybernetics, 1974.

    Examples
    --------
    >>> from mercer.metrics import dunn_index
    >>> dunn_index([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    8.0
    """
    data = Labeled(X, labels, metric, kwds)
    apart, wide = np.inf, 0.0
    for rows, (least, greatest) in data.kept("least", "greatest"):
        own, place = data.codes[rows], np.arange(len(rows))
        wide = max(wide, float(greatest[place, own].max()))
        least[place, own] = np.inf
        apart = min(apart, float(least.min()))
    if wide == 0:
        return 0.0 if apart == 0 else np.inf
    return apart / wide


class _Centred:
    """Rows about their mean, and the means of clusters among them."""

    def __init__(self, X: Any, labels: Any) -> None:
        X, labels = check_X_y(X, labels)
        _, codes = code_labels(np.asarray(labels))
        self.codes, self.sizes = codes, np.bincount(codes)
        self.n_rows, self.n_clusters = X.shape[0], len(self.sizes)
        if not 1 < self.n_clusters < self.n_rows:
            raise ValueError(f"Number of labels is {self.n_clusters}. Valid values are 2 to n_samples - 1 (inclusive)")
        rows = np.array(X, dtype=np.float64)
        rows -= rows.mean(axis=0)
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.means = np.add.reduceat(rows[order], starts, axis=0) / self.sizes[:, None]
        rows -= self.means[codes]
        self.squares = np.einsum("ij,ij->i", rows, rows)  # squared distances of rows to the means of their clusters


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """The variance between clusters over that within: (B / (k - 1)) / (W / (n - k)).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row.

    Returns
    -------
    score : float
        The greater, the better; 1 where nothing varies within clusters.

    Examples
    --------
    >>> from mercer.metrics import calinski_harabasz_score
    >>> round(calinski_harabasz_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    162.0
    """
    data = _Centred(X, labels)
    between = float(data.sizes @ np.einsum("ij,ij->i", data.means, data.means))
    within = float(data.squares.sum())
    if within == 0:
        return 1.0
    return float(between * (data.n_rows - data.n_clusters) / (within * (data.n_clusters - 1)))


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """How alike each cluster is to the one most like it, on average: mean_i max_j (s_i + s_j) / |c_i - c_j|.

    s is the mean distance of a cluster's rows to their mean c.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row.

    Returns
    -------
    score : float
        0 or more; the less, the better.

    References
    ----------
    D. Davies, D. Bouldin, "A cluster separation measure", IEEE PAMI, 1979.

    Examples
    --------
    >>> from mercer.metrics import davies_bouldin_score
    >>> round(davies_bouldin_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 4)
    0.1111
    """
    data = _Centred(X, labels)
    spread = np.bincount(data.codes, np.sqrt(data.squares)) / data.sizes
    apart = pairwise_distances(data.means)
    if np.allclose(spread, 0) or np.allclose(apart, 0):
        return 0.0
    apart[apart == 0] = np.inf
    return float(np.mean(np.max((spread[:, None] + spread) / apart, axis=1)))
