"""Scores of single columns by tests: analysis of variance, correlation, chi-squared."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special

from mercer._arrays import FloatArray, require_no_overflow
from mercer._labels import require_two_classes
from mercer._matrix import DenseMatrix, SparseMatrix
from mercer._parallel import effective_threads
from mercer._params import Bool, check_value
from mercer._statistics import ROUNDING, ColumnMoments, GroupMoments, GroupSums
from mercer._trace import warn
from mercer.feature_selection._given import given_labels, given_labels_of_rows, given_targets, given_X

# ---- analysis of variance


def f_oneway(*args: Any) -> tuple[FloatArray, FloatArray]:
    r"""Analysis of variance of one factor: whether the means of groups differ, for each column.

    With K groups of :math:`n_k` rows, means :math:`\bar x_k` and n rows in all,

    .. math:: F = \frac{\sum_k n_k (\bar x_k - \bar x)^2 / (K - 1)}{\sum_k \sum_{i \in k} (x_i - \bar x_k)^2 / (n - K)} .

    Parameters
    ----------
    *args : {array-like, sparse matrix} of shape (n_k, n_features)
        The rows of each group.

    Returns
    -------
    f_statistic : array of shape (n_features,)
    p_value : array of shape (n_features,)
        The probability of a larger value where all means are equal, under normal errors of one variance.

    Notes
    -----
    Squares are summed about the means, in double precision: columns far from zero keep their digits.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import f_oneway
    >>> f, p = f_oneway(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [3.0], [4.0]]))
    >>> f, p.round(4)
    (array([1.5]), array([0.2879]))
    """
    if len(args) == 0:
        raise ValueError("f_oneway: there are no groups; give the rows of two at least.")
    groups = [given_X(f_oneway, _as_columns(rows)) for rows in args]
    n_threads = effective_threads(None)
    found = _one_way([ColumnMoments.of(rows, None, n_threads=n_threads) for rows in groups])
    if np.isnan(found[0]).any():
        for rows in groups:
            if not np.isfinite(ColumnMoments.of(rows, None, n_threads=n_threads).deviation).all():
                require_no_overflow(f_oneway, rows, "squares of its columns")
    return found


def f_classif(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """Analysis of variance of each column over the classes (`f_oneway`).

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels of any type, of two classes or more.

    Returns
    -------
    f_statistic : array of shape (n_features,)
    p_values : array of shape (n_features,)

    Notes
    -----
    Two passes over X at most. O(n d).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import f_classif
    >>> f_classif(*load_iris(return_X_y=True))[0].round(2)
    array([ 119.26,   49.16, 1180.16,  960.01])
    """
    X, classes, codes = given_labels(f_classif, X, y)
    require_two_classes("f_classif", classes)
    n_threads = effective_threads(None)
    if sp.issparse(X):
        X = X.tocsr()
        groups = [ColumnMoments.of(X[codes == k], None, n_threads=n_threads) for k in range(len(classes))]
    else:
        moments = GroupMoments.of(X, codes, len(classes), None, n_threads=n_threads)
        groups = [ColumnMoments(*lines) for lines in zip(*moments, strict=True)]
    if not all(np.isfinite(group.deviation).all() for group in groups):
        require_no_overflow(f_classif, X, "squares of its columns")
    f, p = _one_way(groups)
    if np.isnan(f).any():
        require_no_overflow(f_classif, X, "squares of its columns")
    return f, p


def _as_columns(rows: Any) -> Any:
    """A plain sequence of numbers as one column."""
    return rows if sp.issparse(rows) or np.ndim(rows) != 1 else np.asarray(rows)[:, None]


def _one_way(groups: list[ColumnMoments]) -> tuple[FloatArray, FloatArray]:
    total = groups[0].merge(*groups[1:])
    within = sum(group.deviation for group in groups)
    with np.errstate(over="ignore", invalid="ignore"):  # who calls looks at the result
        between = sum(group.weight * (group.mean - total.mean) ** 2 for group in groups)
    if not (np.isfinite(within).all() and np.isfinite(between).all()):
        return np.full_like(total.mean, np.nan), np.full_like(total.mean, np.nan)
    # What rounding alone leaves of the squares of a constant column is none.
    noise = total.weight * (np.abs(total.mean) * ROUNDING) ** 2
    within, between = (np.where(squares <= noise, 0.0, squares) for squares in (within, between))
    is_constant = (within == 0) & (between == 0)
    if is_constant.any():
        warn(f"Features {np.flatnonzero(is_constant)} are constant.")
    n_groups, n_rows = len(groups), float(total.weight[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.divide(between, n_groups - 1.0) / np.divide(within, n_rows - n_groups)
    p = special.fdtrc(n_groups - 1, n_rows - n_groups, f)
    return np.where(is_constant, 0.0, f), np.where(is_constant, 1.0, p)


# ---- correlation


def r_regression(X: Any, y: Any, *, center: bool = True, force_finite: bool = True) -> FloatArray:
    r"""Pearson's correlation of each column with the target.

    .. math:: r_j = \frac{\sum_i (x_{ij} - \bar x_j)(y_i - \bar y)}{\|x_j - \bar x_j\| \, \|y - \bar y\|}

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    center : bool, default=True
        Whether the means are taken off; without, the cosine between column and target.
    force_finite : bool, default=True
        Whether the correlation with a constant, which is not defined, is 0; NaN otherwise.

    Returns
    -------
    correlation_coefficient : array of shape (n_features,)

    Notes
    -----
    Two passes over X, O(n d), in double precision; squares are summed about the means.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import r_regression
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> r_regression(X, [0.0, 1.0, 2.0, 3.0]).round(4)
    array([ 1.    , -0.2582])
    """
    is_centred = check_value("r_regression", "center", center, Bool())
    is_forced = check_value("r_regression", "force_finite", force_finite, Bool())
    X, y = given_targets(r_regression, X, y)
    return _correlations(X, y, is_centred=is_centred, is_forced=is_forced)


def _correlations(X: Any, y: FloatArray, *, is_centred: bool, is_forced: bool) -> FloatArray:
    n_threads, n_rows = effective_threads(None), len(y)
    moments = ColumnMoments.of(X, None, n_threads=n_threads)
    y_mean = y.mean() if is_centred else 0.0
    y_norm = float(np.linalg.norm(y - y_mean))
    if is_centred and y_norm <= np.sqrt(n_rows) * abs(y_mean) * ROUNDING:
        y_norm = 0.0
    y = y - y_mean
    if sp.issparse(X):
        products = SparseMatrix(X, n_threads=n_threads).column_sums(y)
    else:
        matrix = DenseMatrix(X, is_shifted=is_centred, n_threads=n_threads)  # a shift changes nothing that it should not:
        products = matrix.slope_sums(y)[:-1]  # centred targets sum to zero
    squares = moments.deviation if is_centred else moments.deviation + n_rows * moments.mean**2
    noise = n_rows * (moments.mean * ROUNDING) ** 2 if is_centred else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(squares <= noise, np.nan, products / (np.sqrt(squares) * y_norm))
    r = np.where(np.isfinite(r), r, np.nan)
    r = np.where(np.abs(r) > 1 - ROUNDING, np.sign(r), r)  # rounding alone is in the way of a perfect correlation
    return np.where(np.isnan(r), 0.0, r) if is_forced else r


def f_regression(X: Any, y: Any, *, center: bool = True, force_finite: bool = True) -> tuple[FloatArray, FloatArray]:
    r"""The test of a regression of the target on each single column.

    With Pearson's correlation r (`r_regression`) and m = n - 2 degrees of freedom (n - 1 if not `center`),

    .. math:: F = \frac{r^2}{1 - r^2} \, m .

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    center : bool, default=True
        Whether the regressions have an intercept.
    force_finite : bool, default=True
        Whether F of a constant is 0 with the p-value 1, and F of a perfect correlation the largest finite number. NaN and
        infinity otherwise.

    Returns
    -------
    f_statistic : array of shape (n_features,)
    p_values : array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import f_regression
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    >>> f, p = f_regression(X, [0.0, 1.0, 2.0, 4.0])
    >>> f.round(3), p.round(3)
    (array([56.333,  0.593]), array([0.017, 0.522]))
    """
    is_centred = check_value("f_regression", "center", center, Bool())
    is_forced = check_value("f_regression", "force_finite", force_finite, Bool())
    X, y = given_targets(f_regression, X, y)
    r = _correlations(X, y, is_centred=is_centred, is_forced=is_forced)
    n_free = len(y) - (2 if is_centred else 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = r**2 / (1 - r**2) * n_free
    p = special.fdtrc(1, n_free, f)
    if is_forced:
        p = np.where(np.isnan(f), 1.0, p)
        f = np.where(np.isnan(f), 0.0, np.minimum(f, np.finfo(np.float64).max))
    return f, p


# ---- chi-squared


def chi2(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    r"""The chi-squared test of counts against classes, for each column.

    With the sums :math:`o_{kj}` of column j over the rows of class k, and :math:`e_{kj}` what the shares of the classes let
    expect of the sum of the column,

    .. math:: \chi^2_j = \sum_k \frac{(o_{kj} - e_{kj})^2}{e_{kj}} ,

    of K - 1 degrees of freedom.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Counts, frequencies or truths: values that are not negative.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Labels of any type, or a column of zeros and ones for each of several labels that a row may have.

    Returns
    -------
    chi2 : array of shape (n_features,)
        NaN for a column of zeros.
    p_values : array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import chi2
    >>> X = np.array([[1, 1, 3], [0, 1, 5], [5, 4, 1], [6, 6, 2], [1, 4, 0], [0, 0, 0]])
    >>> chi2(X, [1, 1, 0, 0, 2, 2])[0].round(2)
    array([15.38,  6.5 ,  8.91])
    """
    if is_indicator := (np.ndim(y) == 2 and np.shape(y)[1] > 1):
        X, y = given_labels_of_rows(chi2, X, y)
    else:
        X, classes, codes = given_labels(chi2, X, y)
    values = X.data if sp.issparse(X) else X
    if values.size and values.min() < 0:
        raise ValueError(f"chi2: Input X must be non-negative; the least value is {values.min():g}. Counts are what it tests.")
    if is_indicator:
        observed, weights = np.asarray((X.T @ y).T, dtype=np.float64), y.sum(axis=0)
        totals = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    else:
        groups = GroupSums.of(X, codes, len(classes))
        observed, weights, totals = groups.sums, groups.weights, groups.sums.sum(axis=0)
    expected = np.outer(weights / X.shape[0], totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = ((observed - expected) ** 2 / expected).sum(axis=0)
    return statistic, special.chdtrc(len(weights) - 1, statistic)
