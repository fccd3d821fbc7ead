"""Distances and kernels by name, all at once or chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.metrics.pairwise import (
    haversine_distances,
    pairwise_distances as peer_distances,
    pairwise_kernels as peer_kernels,
)
from sklearn.utils import check_array, gen_batches

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads, thread_share
from mercer._params import NumberOfJobs, check_value
from mercer._rows import count_rows
from mercer.metrics._pairwise import kernels as own_kernels
from mercer.metrics._pairwise.distances import (
    chebyshev_distances,
    cosine_distances,
    cosine_similarity,
    euclidean_distances,
    manhattan_distances,
    nan_euclidean_distances,
)

Values = Callable[..., Any]

DISTANCES: Mapping[str, Values] = {
    "cityblock": manhattan_distances,
    "cosine": cosine_distances,
    "euclidean": euclidean_distances,
    "haversine": haversine_distances,
    "l1": manhattan_distances,
    "l2": euclidean_distances,
    "manhattan": manhattan_distances,
    "nan_euclidean": nan_euclidean_distances,
}
KERNELS: Mapping[str, Values] = {
    "additive_chi2": own_kernels.additive_chi2_kernel,
    "chi2": own_kernels.chi2_kernel,
    "cosine": cosine_similarity,
    "laplacian": own_kernels.laplacian_kernel,
    "linear": own_kernels.linear_kernel,
    "poly": own_kernels.polynomial_kernel,
    "polynomial": own_kernels.polynomial_kernel,
    "rbf": own_kernels.rbf_kernel,
    "sigmoid": own_kernels.sigmoid_kernel,
}
KERNEL_PARAMS: Mapping[str, frozenset[str]] = {
    "chi2": frozenset(["gamma"]),
    "laplacian": frozenset(["gamma"]),
    "poly": frozenset(["gamma", "degree", "coef0"]),
    "polynomial": frozenset(["gamma", "degree", "coef0"]),
    "rbf": frozenset(["gamma"]),
    "sigmoid": frozenset(["gamma", "coef0"]),
}


def distance_metrics() -> dict[str, Values | None]:
    """The metrics that `pairwise_distances` has functions for, by name; "precomputed" has none."""
    return {**DISTANCES, "precomputed": None}


def kernel_metrics() -> dict[str, Values]:
    """The kernels that `pairwise_kernels` has functions for, by name."""
    return dict(KERNELS)


def pairwise_distances(
    X: Any,
    Y: Any = None,
    metric: Any = "euclidean",
    *,
    n_jobs: int | None = None,
    ensure_all_finite: Any = True,
    **kwds: Any,
) -> FloatArray:
    """The distance of every row of X and every row of Y by a metric's name, or by a function of two rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        The distances themselves where `metric="precomputed"`.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    metric : str or callable, default="euclidean"
        A name of `distance_metrics`, of SciPy's distances (dense rows), "precomputed", or a function of two rows.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. For metrics that Mercer does not have it is scikit-learn's.
    ensure_all_finite : bool or "allow-nan", default=True
        Whether NaN and infinity are refused, for metrics that are not in `distance_metrics`.
    **kwds
        Parameters of the metric.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import pairwise_distances
    >>> pairwise_distances([[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]], metric="manhattan")
    array([[1., 2.],
           [2., 1.]])
    """
    own = DISTANCES.get(metric) if isinstance(metric, str) else None
    if own is None and metric == "chebyshev" and not kwds and ensure_all_finite is True:
        own = chebyshev_distances
    values: FloatArray
    if own is None:
        values = peer_distances(X, Y, metric, n_jobs=n_jobs, ensure_all_finite=ensure_all_finite, **kwds)
    else:
        values = _by_threads(own, X, Y, n_jobs, kwds)
    return values


def pairwise_kernels(
    X: Any, Y: Any = None, metric: Any = "linear", *, filter_params: bool = False, n_jobs: int | None = None, **kwds: Any
) -> Any:
    """The kernel of every row of X and every row of Y by its name, or by a function of two rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        The kernel matrix itself where `metric="precomputed"`.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    metric : str or callable, default="linear"
        A name of `kernel_metrics`, "precomputed", a kernel of `gaussian_process`, or a function of two rows.
    filter_params : bool, default=False
        Whether parameters that the kernel does not have are passed over.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. For functions of two rows it is scikit-learn's.
    **kwds
        Parameters of the kernel.

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import pairwise_kernels
    >>> pairwise_kernels([[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]], metric="linear")
    array([[0., 0.],
           [1., 2.]])
    """
    if not isinstance(metric, str) or metric not in KERNELS:
        return peer_kernels(X, Y, metric, filter_params=filter_params, n_jobs=n_jobs, **kwds)
    if filter_params:
        kwds = {name: value for name, value in kwds.items() if name in KERNEL_PARAMS.get(metric, ())}
    return _by_threads(KERNELS[metric], X, Y, n_jobs, kwds)


def _by_threads(function: Values, X: Any, Y: Any, n_jobs: int | None, kwds: Mapping[str, Any]) -> Any:
    n_jobs = check_value(function.__name__, "n_jobs", n_jobs, NumberOfJobs())
    with thread_share(effective_threads(n_jobs)):
        return function(X, Y, **kwds)


def pairwise_distances_chunked(
    X: Any,
    Y: Any = None,
    *,
    reduce_func: Callable[[Any, int], Any] | None = None,
    metric: Any = "euclidean",
    n_jobs: int | None = None,
    working_memory: float | None = None,
    **kwds: Any,
) -> Iterator[Any]:
    """The matrix of distances in chunks of whole rows, or what a function makes of each chunk.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    reduce_func : callable, default=None
        Called with a chunk and the number of its first row; gives None, or something with as many entries as the chunk has rows
        (an array, a list, a sparse matrix), or a tuple of such.
    metric, n_jobs, **kwds
        As in `pairwise_distances`.
    working_memory : float, default=None
        The size of a chunk in MiB; None takes scikit-learn's setting.

    Yields
    ------
    chunk : ndarray, or what `reduce_func` returned

    Examples
    --------
    >>> from mercer.metrics.pairwise import pairwise_distances_chunked
    >>> chunks = pairwise_distances_chunked([[0.0], [3.0], [4.0]], reduce_func=lambda D, start: D.max(axis=1))
    >>> next(chunks)
    array([4., 3., 4.])
    """
    n_rows = count_rows(X)
    if isinstance(metric, str) and metric == "precomputed":
        slices = [slice(0, n_rows)]
    else:
        if isinstance(X, list):
            X = check_array(X, dtype=None, accept_sparse="csr", ensure_all_finite=False)
        size = _rows_at_a_time(n_rows, n_rows if Y is None else count_rows(Y), working_memory)
        slices = list(gen_batches(n_rows, size))
        if len(slices) > 1:
            kwds |= _shared_params(X, Y, metric, kwds)
    for rows in slices:
        is_whole = rows.start == 0 and rows.stop == n_rows
        part, other = (X, Y) if is_whole else (X[rows], X if Y is None else Y)
        chunk = pairwise_distances(part, other, metric=metric, n_jobs=n_jobs, **kwds)
        if Y is None and isinstance(metric, str) and metric in ("euclidean", "l2", "cosine"):
            chunk.flat[rows.start :: n_rows + 1] = 0
        if reduce_func is not None:
            n_expected = chunk.shape[0]
            chunk = reduce_func(chunk, rows.start)
            _check_reduced(chunk, n_expected)
        yield chunk


def _rows_at_a_time(n_rows: int, n_columns: int, working_memory: float | None) -> int:
    memory = get_config()["working_memory"] if working_memory is None else working_memory
    fitting = int(memory * 2**20 // max(8 * n_columns, 1))
    return max(1, min(fitting, n_rows))


def _shared_params(X: Any, Y: Any, metric: Any, kwds: Mapping[str, Any]) -> dict[str, Any]:
    """What all chunks must agree on: the scales that SciPy's metrics otherwise take from the rows at hand."""
    if metric not in ("seuclidean", "mahalanobis") or "V" in kwds or "VI" in kwds:
        return {}
    rows = np.asarray(X, dtype=np.float64) if Y is None else np.vstack([X, Y])
    if Y is not None:
        wanted = "V" if metric == "seuclidean" else "VI"
        raise ValueError(f"The '{wanted}' parameter is required for the {metric} metric when Y is passed.")
    if metric == "seuclidean":
        return {"V": np.var(rows, axis=0, ddof=1)}
    return {"VI": np.linalg.inv(np.cov(rows.T)).T}


def _check_reduced(reduced: Any, n_rows: int) -> None:
    """Refuse what `reduce_func` returned if it has not one entry a row."""
    if reduced is None:
        return
    parts = reduced if isinstance(reduced, tuple) else (reduced,)
    if any(isinstance(part, tuple) or not hasattr(part, "__iter__") for part in parts):
        raise TypeError(f"reduce_func returned {reduced!r}. Expected sequence(s) of length {n_rows}.")
    sizes = tuple(count_rows(part) for part in parts)
    if any(size != n_rows for size in sizes):
        found = sizes if isinstance(reduced, tuple) else sizes[0]
        raise ValueError(f"reduce_func returned object of length {found}. Expected same length as input: {n_rows}.")
