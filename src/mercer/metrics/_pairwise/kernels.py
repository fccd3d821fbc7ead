"""Kernels between all rows of two matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import Null, Real, check_value
from mercer.metrics._pairwise.tiles import Pairs

GAMMA = Real(least=0) | Null()


def _gamma(owner: str, gamma: Any, pairs: Pairs) -> float:
    checked = check_value(owner, "gamma", gamma, GAMMA)
    return 1.0 / pairs.n_features if checked is None else float(checked)


def linear_kernel(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """The inner product of every row of X and every row of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    dense_output : bool, default=True
        Whether the result is dense where both are sparse.

    Returns
    -------
    kernel : {ndarray, sparse matrix} of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import linear_kernel
    >>> linear_kernel([[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]])
    array([[0., 0.],
           [1., 2.]])
    """
    is_sparse = sp.issparse(X) and (Y is None or sp.issparse(Y))
    pairs = Pairs.of(X, Y)
    return pairs.products() if dense_output or not is_sparse else pairs.X @ pairs.Y.T


def polynomial_kernel(X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1) -> FloatArray:
    """(gamma x . y + coef0)^degree of every row x of X and every row y of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    degree : float, default=3
        At least 1.
    gamma : float, default=None
        One over the number of features if None.
    coef0 : float, default=1

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import polynomial_kernel
    >>> polynomial_kernel([[1.0, 2.0]], [[3.0, -1.0]], degree=2, gamma=1, coef0=2)
    array([[9.]])
    """
    pairs = Pairs.of(X, Y)
    degree = check_value("polynomial_kernel", "degree", degree, Real(least=1))
    coef0 = check_value("polynomial_kernel", "coef0", coef0, Real())
    return pairs.products("polynomial", _gamma("polynomial_kernel", gamma, pairs), coef0, degree)


def sigmoid_kernel(X: Any, Y: Any = None, gamma: float | None = None, coef0: float = 1) -> FloatArray:
    """tanh(gamma x . y + coef0) of every row x of X and every row y of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    gamma : float, default=None
        One over the number of features if None.
    coef0 : float, default=1

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import sigmoid_kernel
    >>> sigmoid_kernel([[0.0, 0.0]], [[3.0, -1.0]]).round(3)
    array([[0.762]])
    """
    pairs = Pairs.of(X, Y)
    coef0 = check_value("sigmoid_kernel", "coef0", coef0, Real())
    return pairs.products("sigmoid", _gamma("sigmoid_kernel", gamma, pairs), coef0)


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> FloatArray:
    """exp(-gamma |x - y|^2) of every row x of X and every row y of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    gamma : float, default=None
        One over the number of features if None.

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Notes
    -----
    The squared distance is as exact as that of `euclidean_distances`, so that a large `gamma` multiplies no rounding.

    Examples
    --------
    >>> from mercer.metrics.pairwise import rbf_kernel
    >>> rbf_kernel([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], gamma=1).round(3)
    array([[0.368, 0.135]])
    """
    pairs = Pairs.of(X, Y)
    return pairs.squared("exponential", -_gamma("rbf_kernel", gamma, pairs))


def laplacian_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> FloatArray:
    """exp(-gamma |x - y|_1) of every row x of X and every row y of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        X itself if None.
    gamma : float, default=None
        One over the number of features if None.

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import laplacian_kernel
    >>> laplacian_kernel([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], gamma=1).round(3)
    array([[0.368, 0.135]])
    """
    pairs = Pairs.of(X, Y)
    gamma = _gamma("laplacian_kernel", gamma, pairs)
    if gamma == 0:
        return np.ones((pairs.X.shape[0], pairs.Y.shape[0]), dtype=pairs.X.dtype)
    return pairs.manhattan(-gamma)


def additive_chi2_kernel(X: Any, Y: Any = None) -> FloatArray:
    """Minus the sum of (x - y)^2 / (x + y) over the features of every row x of X and every row y of Y; no value is negative.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
    Y : array-like of shape (n_samples_Y, n_features), default=None
        X itself if None.

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)
        A feature that is zero in both rows adds nothing.

    Examples
    --------
    >>> from mercer.metrics.pairwise import additive_chi2_kernel
    >>> additive_chi2_kernel([[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]])
    array([[-1., -2.],
           [-2., -1.]])
    """
    return _counts(X, Y).by_features("additive_chi2")


def chi2_kernel(X: Any, Y: Any = None, gamma: float = 1.0) -> FloatArray:
    """exp(-gamma sum (x - y)^2 / (x + y)) of every row x of X and every row y of Y; no value is negative.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
    Y : array-like of shape (n_samples_Y, n_features), default=None
        X itself if None.
    gamma : float, default=1

    Returns
    -------
    kernel : ndarray of shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> from mercer.metrics.pairwise import chi2_kernel
    >>> chi2_kernel([[0, 0, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0]]).round(2)
    array([[0.37, 0.14],
           [0.14, 0.37]])
    """
    gamma = check_value("chi2_kernel", "gamma", gamma, Real(least=0))
    return _counts(X, Y).by_features("chi2", -gamma)


def _counts(X: Any, Y: Any) -> Pairs:
    pairs = Pairs.of(X, Y, sparse=False)
    for name, values in (("X", pairs.X), ("Y", pairs.Y)):
        if (values < 0).any():
            raise ValueError(
                f"{name} contains negative values: the least is {values.min():g}; a chi-squared kernel takes none."
            )
    return pairs
