"""Distances between all rows of two matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from mercer._arrays import FloatArray
from mercer.metrics._pairwise.tiles import Pairs


def euclidean_distances(
    X: Any, Y: Any = None, *, Y_norm_squared: Any = None, squared: bool = False, X_norm_squared: Any = None
) -> FloatArray:
    """The Euclidean distance of every row of X and every row of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    Y_norm_squared, X_norm_squared : array-like of shape (n_samples,), (n_samples, 1) or (1, n_samples), default=None
        Squared norms of the rows, which scikit-learn's function saves the time to compute. Here their shape is checked, and
        they are not needed: norms of the rows about their mean are summed while the rows are read.
    squared : bool, default=False
        Whether to give squared distances.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        float32 where X and Y are.

    Notes
    -----
    Distances come from inner products where there are more than a few features, and are measured again from the differences
    where digits would be lost: distances of near-duplicates far from zero are right to the last digits, and those of equal rows
    are zero.

    Examples
    --------
    >>> from mercer.metrics.pairwise import euclidean_distances
    >>> euclidean_distances([[0.0, 3.0]], [[4.0, 0.0], [0.0, 3.0]])
    array([[5., 0.]])
    """
    pairs = Pairs.of(X, Y)
    _check_norms("X_norm_squared", X_norm_squared, pairs.X.shape[0])
    _check_norms("Y_norm_squared", Y_norm_squared, pairs.Y.shape[0])
    return pairs.squared("scaled") if squared else pairs.squared("root")


def _check_norms(name: str, norms: Any, n_rows: int) -> None:
    if norms is None:
        return
    norms = check_array(norms, ensure_2d=False)
    side = name[0]
    if norms.shape not in ((n_rows,), (n_rows, 1), (1, n_rows)):
        raise ValueError(
            f"Incompatible dimensions for {side} of {n_rows} rows and {name} of shape {norms.shape}; there must be one number "
            "for each row."
        )


def manhattan_distances(X: Any, Y: Any = None) -> FloatArray:
    """The sum of absolute differences of every row of X and every row of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        float32 where X and Y are.

    Examples
    --------
    >>> from mercer.metrics.pairwise import manhattan_distances
    >>> manhattan_distances([[1.0, 2.0]], [[1.0, 2.0], [0.0, 3.0]])
    array([[0., 2.]])
    """
    return Pairs.of(X, Y).manhattan()


def chebyshev_distances(X: Any, Y: Any = None) -> FloatArray:
    """The largest absolute difference of every row of X and every row of Y, which are dense."""
    return Pairs.of(X, Y, sparse=False).by_features("chebyshev")


def cosine_distances(X: Any, Y: Any = None) -> FloatArray:
    """One minus the cosine of the angle between every row of X and every row of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        One for a row of zeros, which has no direction.

    Notes
    -----
    Computed as half the squared distance of the normalised rows, which keeps its digits where rows are almost parallel.

    Examples
    --------
    >>> from mercer.metrics.pairwise import cosine_distances
    >>> cosine_distances([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    array([[0., 1., 2.]])
    """
    pairs = _normalised(X, Y)
    values = np.clip(pairs.squared("scaled", 0.5), 0, 2)
    values[_is_zero(pairs.X)] = 1
    values[:, _is_zero(pairs.Y)] = 1
    if pairs.is_same:
        np.fill_diagonal(values, 0)
    return values


def cosine_similarity(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """The cosine of the angle between every row of X and every row of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    dense_output : bool, default=True
        Whether the result is dense where both are sparse.

    Returns
    -------
    similarities : {ndarray, sparse matrix} of shape (n_samples_X, n_samples_Y)
        Zero for a row of zeros.

    Examples
    --------
    >>> from mercer.metrics.pairwise import cosine_similarity
    >>> cosine_similarity([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]])
    array([[1., 0.]])
    """
    is_sparse = sp.issparse(X) and (Y is None or sp.issparse(Y))
    pairs = _normalised(X, Y)
    return pairs.products() if dense_output or not is_sparse else pairs.X @ pairs.Y.T


def _normalised(X: Any, Y: Any) -> Pairs:
    given = Pairs.of(X, Y)
    rows = normalize(given.X)
    return Pairs(rows, rows if given.is_same else normalize(given.Y), given.is_same, given.n_threads)


def _is_zero(X: Any) -> Any:
    """Which rows hold zeros alone."""
    return np.asarray(abs(X).max(axis=1).todense()).ravel() == 0 if sp.issparse(X) else ~X.any(axis=1)


def nan_euclidean_distances(
    X: Any, Y: Any = None, *, squared: bool = False, missing_values: float = np.nan, copy: bool = True
) -> FloatArray:
    """The Euclidean distance of every row of X and every row of Y over the features that both have.

    The squared distance is scaled by the number of features over the number that both have; NaN where they share none.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
    Y : array-like of shape (n_samples_Y, n_features), default=None
        X itself if None.
    squared : bool, default=False
        Whether to give squared distances.
    missing_values : np.nan, float or int, default=np.nan
        What stands for a missing value.
    copy : bool, default=True
        Whether X and Y must be left as they are where `missing_values` is a number; False writes NaN into them.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.metrics.pairwise import nan_euclidean_distances
    >>> nan_euclidean_distances([[3.0, np.nan, 0.0]], [[0.0, 1.0, 0.0]]).round(3)
    array([[3.674]])
    """
    pairs = Pairs.of(X, Y, sparse=False, finite="allow-nan" if np.isnan(missing_values) else True)
    if not np.isnan(missing_values):
        X = _with_nan(pairs.X, missing_values, is_own=pairs.X is not X, copy=copy)
        Y = X if pairs.is_same else _with_nan(pairs.Y, missing_values, is_own=pairs.Y is not Y, copy=copy)
        pairs = Pairs(X, Y, pairs.is_same, pairs.n_threads)
    n_present = pairs.by_features("count_of_present")
    values = pairs.by_features("squared_of_present")
    with np.errstate(divide="ignore", invalid="ignore"):
        values /= n_present
    values *= pairs.n_features
    return values if squared else np.sqrt(values, out=values)


def _with_nan(X: FloatArray, missing: float, *, is_own: bool, copy: bool) -> FloatArray:
    if copy and not is_own:
        X = X.copy()
    X[missing == X] = np.nan
    return X
