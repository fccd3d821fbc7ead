"""Mutual information of single columns and a target, from distances to nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import digamma
from sklearn.preprocessing import scale

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._labels import code_labels
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, InvalidParameterError, NumberOfJobs, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.feature_selection._given import given_labels, given_targets
from mercer.neighbors._search import Search

Codes = npt.NDArray[np.intp]


def mutual_info_regression(
    X: Any,
    y: Any,
    *,
    discrete_features: Any = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    r"""Mutual information of each column and a target that is a number, in nats.

    For two continuous variables (Kraskov et al.), with the Chebyshev distance :math:`r_i` of row i to its k-th nearest and the
    numbers :math:`n_x(i), n_y(i)` of other rows nearer than that in one variable alone,

    .. math:: I = \psi(n) + \psi(k) - \frac1n \sum_i \bigl(\psi(n_x(i) + 1) + \psi(n_y(i) + 1)\bigr) ,

    and 0 where that is negative. Discrete columns are measured as by `mutual_info_classif`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    discrete_features : "auto", bool or array-like, default="auto"
        Which columns are discrete: a mask, or their numbers. "auto" means none of dense and all of sparse X.
    n_neighbors : int, default=3
        The number k: more neighbours have less variance and more bias.
    copy : bool, default=True
        X is never changed, whatever this says.
    random_state : int, RandomState or None, default=None
        Draws the noise that keeps equal values of continuous variables apart.
    n_jobs : int or None, default=None
        How many columns are measured at a time; None means one, unless a `joblib.parallel_config` says otherwise. The result
        does not depend on it.

    Returns
    -------
    mi : array of shape (n_features,)

    Notes
    -----
    The estimator, the noise and the draws are scikit-learn's, and so are the numbers. Neighbours in one variable are found by
    sorting, O(n log n) a column; those in two in a k-d tree.

    References
    ----------
    A. Kraskov, H. Stögbauer, P. Grassberger, "Estimating mutual information", Physical Review E 69 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.feature_selection import mutual_info_regression
    >>> X = np.random.RandomState(0).randn(500, 2)
    >>> information = mutual_info_regression(X, np.abs(X[:, 0]), random_state=0)
    >>> bool(information[0] > 1), bool(information[1] < 0.1)
    (True, True)
    """
    X, y = given_targets(mutual_info_regression, X, y)
    asked = _Asked(mutual_info_regression, discrete_features, n_neighbors, copy, random_state, n_jobs, X)
    columns = asked.columns()  # whose noise is drawn before that of the target
    y = scale(y, with_mean=False)
    y = y + 1e-10 * max(1.0, np.mean(np.abs(y))) * asked.random.standard_normal(size=len(y))
    order = np.argsort(y)
    return asked.measured(columns, partial(_with_numbers, order, y[order], asked.k), partial(_numbers_by_codes, y, asked.k))


def mutual_info_classif(
    X: Any,
    y: Any,
    *,
    discrete_features: Any = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    r"""Mutual information of each column and a target of classes, in nats.

    For a continuous column (Ross), with the distance :math:`r_i` of row i to its k-th nearest within its class, which has
    :math:`n_i` rows, and the number :math:`m_i` of rows of all classes nearer than that,

    .. math:: I = \psi(n) + \frac1n \sum_i \bigl(\psi(k_i) - \psi(n_i) - \psi(m_i)\bigr) ,

    and 0 where that is negative. For a discrete column, the mutual information of the table of counts.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels of any type.
    discrete_features : "auto", bool or array-like, default="auto"
        Which columns are discrete: a mask, or their numbers. "auto" means none of dense and all of sparse X.
    n_neighbors : int, default=3
        The number k: more neighbours have less variance and more bias. Of a class of no more rows it is one fewer than these.
    copy : bool, default=True
        X is never changed, whatever this says.
    random_state : int, RandomState or None, default=None
        Draws the noise that keeps equal values of continuous columns apart.
    n_jobs : int or None, default=None
        How many columns are measured at a time; None means one, unless a `joblib.parallel_config` says otherwise. The result
        does not depend on it.

    Returns
    -------
    mi : array of shape (n_features,)

    Notes
    -----
    The estimator, the noise and the draws are scikit-learn's, and so are the numbers. Neighbours are found by sorting, O(n log
    n) a column.

    References
    ----------
    B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9 (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.feature_selection import mutual_info_classif
    >>> mutual_info_classif(*load_iris(return_X_y=True), random_state=0).round(1)
    array([0.5, 0.3, 1. , 1. ])
    """
    X, _, codes = given_labels(mutual_info_classif, X, y)
    asked = _Asked(mutual_info_classif, discrete_features, n_neighbors, copy, random_state, n_jobs, X)
    return asked.measured(
        asked.columns(), partial(_with_codes, codes, asked.k), partial(_counted, codes), partial(_counted_sparse, codes)
    )


class _Asked:
    """The checked arguments, and X by columns."""

    def __init__(
        self,
        owner: Callable[..., Any],
        discrete_features: Any,
        n_neighbors: Any,
        copy: Any,
        random_state: Any,
        n_jobs: Any,
        X: Any,
    ) -> None:
        name = owner.__name__
        self.k: int = check_value(name, "n_neighbors", n_neighbors, Integer(1))
        check_value(name, "copy", copy, Bool())
        self.random = as_random_state(check_value(name, "random_state", random_state, RandomState()))
        self._n_jobs: int | None = check_value(name, "n_jobs", n_jobs, NumberOfJobs())
        self.is_discrete = _discrete_mask(name, discrete_features, X)
        self._X = X.tocsc() if sp.issparse(X) else X
        if sp.issparse(X) and not self.is_discrete.all():
            raise ValueError(
                f"{name}: Sparse matrix `X` can't have continuous features: its zeros are equal values. Make X dense, or say "
                "discrete_features=True."
            )

    def columns(self) -> Iterator[Any]:
        """The columns of X in turn: those that are continuous, scaled and with noise; sparse ones as values and rows."""
        if sp.issparse(self._X):
            X = self._X
            parts = [slice(*X.indptr[j : j + 2]) for j in range(X.shape[1])]
            return iter([(X.data[part], X.indices[part]) for part in parts])
        is_continuous = ~self.is_discrete
        X = np.array(self._X, dtype=np.float64, order="F")
        if is_continuous.any():
            values = scale(X[:, is_continuous], with_mean=False, copy=False)
            sizes = np.maximum(1, np.mean(np.abs(values), axis=0))
            values += 1e-10 * sizes * self.random.standard_normal(size=values.shape)
            X[:, is_continuous] = values
        return iter(X.T)

    def measured(
        self,
        columns: Iterator[Any],
        of_continuous: Callable[[Any], float],
        of_discrete: Callable[[Any], float],
        of_sparse: Callable[[Any], float] | None = None,
    ) -> FloatArray:
        """The measure of each column."""
        n_rows = self._X.shape[0]
        if sp.issparse(self._X) and of_sparse is None:
            of_discrete = partial(_spread_out, of_discrete, n_rows)
        elif sp.issparse(self._X) and of_sparse is not None:
            of_discrete = of_sparse
        pairs = zip(columns, self.is_discrete, strict=True)
        jobs = [partial(of_discrete if is_discrete else of_continuous, column) for column, is_discrete in pairs]
        with run_jobs(jobs, self._n_jobs, in_threads=True) as results:
            return np.array([max(0.0, value) for value in results])


def _discrete_mask(owner: str, discrete_features: Any, X: Any) -> npt.NDArray[np.bool_]:
    n_features = X.shape[1]
    given = check_value(owner, "discrete_features", discrete_features, OneOf("auto") | Bool() | ArrayLike())
    if isinstance(given, (str, bool)):
        return np.full(n_features, sp.issparse(X) if isinstance(given, str) else given)
    named = np.asarray(given)
    if named.dtype == bool:
        if named.shape != (n_features,):
            raise InvalidParameterError(
                f"{owner}: discrete_features={discrete_features!r} is not valid; as a mask it must have {n_features} values, "
                "one a column."
            )
        return named
    is_discrete = np.zeros(n_features, dtype=bool)
    try:
        is_discrete[named.astype(np.intp, casting="same_kind") if named.size else named.astype(np.intp)] = True
    except (TypeError, IndexError) as error:
        raise InvalidParameterError(
            f"{owner}: discrete_features={discrete_features!r} is not valid; it must be 'auto', a bool, a mask or numbers of "
            f"columns below {n_features}."
        ) from error
    return is_discrete


# ---- one column and the target


def _with_numbers(order: Codes, y: FloatArray, k: int, x: FloatArray) -> float:
    """Kraskov's estimate for two continuous variables, the target sorted and the order that sorts it."""
    x = x[order]
    n_threads = effective_threads(None)
    search = Search.of(np.column_stack([x, y]), metric="chebyshev", algorithm="kd_tree", k=k, n_threads=n_threads)
    distances, _ = search.nearest(None, k, leave_out_self=True, n_threads=n_threads)
    radius = np.nextafter(distances[:, -1], 0)
    by_x = np.argsort(x)
    counts = _count_within(x[by_x], radius[by_x]), _count_within(y, radius)  # a row itself makes n + 1
    return float(digamma(len(x)) + digamma(k) - sum(digamma(count).mean() for count in counts))


def _with_codes(codes: Codes, k: int, x: FloatArray) -> float:
    """Ross's estimate for a continuous and a discrete variable; rows that are alone in their class are left out."""
    order = np.argsort(x)
    x, codes = x[order], codes[order]
    n_of_class = np.bincount(codes)
    is_kept = n_of_class[codes] > 1
    x, codes = x[is_kept], codes[is_kept]
    if len(x) == 0:
        return 0.0
    radius, k_of_class = np.empty(len(x)), np.minimum(k, n_of_class - 1)
    by_class = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.where(n_of_class > 1, n_of_class, 0))
    for code in np.flatnonzero(n_of_class > 1):
        members = by_class[ends[code] - n_of_class[code] : ends[code]]
        radius[members] = _distance_of_nearest(x[members], int(k_of_class[code]))
    counts = _count_within(x, np.nextafter(radius, 0))
    shares = digamma(k_of_class[codes]).mean() - digamma(n_of_class[codes]).mean() - digamma(counts).mean()
    return float(digamma(len(x)) + shares)


def _numbers_by_codes(y: FloatArray, k: int, x: FloatArray) -> float:
    """A discrete column and a target of numbers."""
    return _with_codes(code_labels(x)[1], k, y)


def _counted(codes: Codes, x: FloatArray) -> float:
    """The mutual information of two discrete variables, from their table of counts."""
    return _of_table(_table(x, codes, int(codes.max()) + 1)[1])


def _counted_sparse(codes: Codes, entries: tuple[FloatArray, Codes]) -> float:
    """The same for a sparse column: all rows without an entry have one value."""
    data, rows = entries
    n_classes = int(codes.max()) + 1
    values, table = _table(data, codes[rows], n_classes)
    rest = np.bincount(codes, minlength=n_classes) - table.sum(axis=0)
    if (is_zero := values == 0).any():  # an entry that says zero
        table[is_zero] += rest
        return _of_table(table)
    return _of_table(np.vstack([table, rest]))


def _table(x: FloatArray, codes: Codes, n_classes: int) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """The values of a column, and how often each meets each class."""
    values, places = code_labels(x)
    counts = np.bincount(places * n_classes + codes, minlength=len(values) * n_classes)
    return values, counts.reshape(len(values), n_classes)


def _of_table(counts: npt.NDArray[np.intp]) -> float:
    n = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    here = counts > 0
    return float((counts[here] / n * (np.log(counts[here]) + np.log(n) - np.log(expected[here]))).sum())


def _spread_out(of_dense: Callable[[Any], float], n_rows: int, entries: tuple[FloatArray, Codes]) -> float:
    column = np.zeros(n_rows)
    column[entries[1]] = entries[0]
    return of_dense(column)


# ---- neighbours in one dimension


def _distance_of_nearest(x: FloatArray, k: int) -> FloatArray:
    """The distance of each of sorted values to its k-th nearest: of the runs of k + 1 values with it, the shortest."""
    n = len(x)
    nearest = np.full(n, np.inf)
    for before in range(k + 1):
        first, last = before, n - (k - before)  # the rows that have so many before and k - `before` after them
        here = x[first:last]
        reach = np.maximum(here - x[first - before : last - before], x[first + k - before : last + k - before] - here)
        np.minimum(nearest[first:last], reach, out=nearest[first:last])
    return nearest


def _count_within(x: FloatArray, radius: FloatArray) -> Codes:
    """How many of sorted values are no further from each than its radius, itself among them.

    What counts is the rounded difference of two values: a bound x + radius is rounded too, and only near enough to begin at.
    """
    end = np.searchsorted(x, x + radius, side="right")
    start = np.searchsorted(x, x - radius, side="left")
    padded = np.concatenate([[-np.inf], x, [np.inf]])  # x[j] is padded[j + 1]
    while (move := padded[end] - x > radius).any():
        end = end - move
    while (move := padded[end + 1] - x <= radius).any():
        end = end + move
    while (move := x - padded[start + 1] > radius).any():
        start = start + move
    while (move := x - padded[start] <= radius).any():
        start = start - move
    counts: Codes = end - start
    return counts
