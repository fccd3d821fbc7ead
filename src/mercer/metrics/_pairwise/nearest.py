"""The nearest row of Y for every row of X, without the matrix of distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import Integer, Mapped, Null, check_value
from mercer.metrics._pairwise.dispatch import pairwise_distances_chunked
from mercer.metrics._pairwise.tiles import Pairs
from mercer.neighbors._search import Search

SEARCHED = ("euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev")  # by the engine, where rows are dense

Rows = npt.NDArray[np.int64]


def pairwise_distances_argmin(
    X: Any, Y: Any, *, axis: int = 1, metric: Any = "euclidean", metric_kwargs: Mapping[str, Any] | None = None
) -> Rows:
    """The number of the row of Y nearest to each row of X.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features)
    axis : {0, 1}, default=1
        With 0, the nearest row of X for each row of Y.
    metric : str or callable, default="euclidean"
        As in `pairwise_distances`.
    metric_kwargs : dict, default=None
        Parameters of the metric.

    Returns
    -------
    nearest : ndarray of shape (n_samples_X,)
        The first of equally near ones.

    Examples
    --------
    >>> from mercer.metrics.pairwise import pairwise_distances_argmin
    >>> pairwise_distances_argmin([[0.0], [2.0]], [[1.9], [0.5]])
    array([1, 0])
    """
    nearest, _ = _nearest("pairwise_distances_argmin", X, Y, axis, metric, metric_kwargs)
    return nearest


def pairwise_distances_argmin_min(
    X: Any, Y: Any, *, axis: int = 1, metric: Any = "euclidean", metric_kwargs: Mapping[str, Any] | None = None
) -> tuple[Rows, FloatArray]:
    """The number of the row of Y nearest to each row of X, and its distance.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features)
    axis : {0, 1}, default=1
        With 0, the nearest row of X for each row of Y.
    metric : str or callable, default="euclidean"
        As in `pairwise_distances`.
    metric_kwargs : dict, default=None
        Parameters of the metric.

    Returns
    -------
    nearest : ndarray of shape (n_samples_X,)
        The first of equally near ones.
    distances : ndarray of shape (n_samples_X,)

    Examples
    --------
    >>> from mercer.metrics.pairwise import pairwise_distances_argmin_min
    >>> pairwise_distances_argmin_min([[0.0], [2.0]], [[1.5], [0.5]])
    (array([1, 0]), array([0.5, 0.5]))
    """
    return _nearest("pairwise_distances_argmin_min", X, Y, axis, metric, metric_kwargs)


def _nearest(owner: str, X: Any, Y: Any, axis: int, metric: Any, kwargs: Any) -> tuple[Rows, FloatArray]:
    if check_value(owner, "axis", axis, Integer(0, most=1)) == 0:
        X, Y = Y, X
    kwargs = dict(check_value(owner, "metric_kwargs", kwargs, Mapped() | Null()) or {})
    if isinstance(metric, str) and metric in SEARCHED and not kwargs:
        pairs = Pairs.of(X, Y)
        if not pairs.is_sparse:
            search = Search.of(pairs.Y, metric=metric, k=1, n_threads=pairs.n_threads)
            distances, rows = search.nearest(pairs.X, 1, n_threads=effective_threads(None))
            return rows[:, 0], distances[:, 0]
    chunks = list(pairwise_distances_chunked(X, Y, reduce_func=_least, metric=metric, **kwargs))
    rows, distances = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    return rows, distances


def _least(chunk: FloatArray, start: int) -> tuple[Rows, FloatArray]:
    nearest = chunk.argmin(axis=1)
    return nearest, chunk[np.arange(len(chunk)), nearest]
