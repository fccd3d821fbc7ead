"""Imputation by the rows that are nearest in what they have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Finite, FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import _REFUSED, Bool, Function, Integer, Null, NumberOfJobs, OneOf, Real, Rule, check_params

MOST_ENTRIES = 1 << 20  # donors and distances that are held at a time

Indices = npt.NDArray[np.int64]


class _Marker(Rule):
    """What stands for a missing value: a number, NaN, or a missing value of pandas."""

    def accept(self, value: Any) -> Any:
        is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
        return math.nan if is_nan or value is None or type(value).__name__ == "NAType" else Real().accept(value)

    def describe(self) -> str:
        return "a number or NaN"


class KNNImputer(OneToOneFeatureMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Missing values by the mean of the nearest rows that have one.

    Rows are as far apart as what both have says. With the columns :math:`J` that are missing in neither of x and z, of d,

    .. math:: \mathrm{dist}(x, z)^2 = \frac{d}{|J|} \sum_{j \in J} (x_j - z_j)^2.

    A missing value is the mean of its column over the k nearest rows that have a value there.

    Parameters
    ----------
    missing_values : number, NaN or None, default=NaN
        What stands for a missing value.
    n_neighbors : int, default=5
        The number k of donors; all where there are fewer.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        How much each counts: one; one over its distance (where a distance is zero, only such rows count); or what a function
        gives for an array of distances, of the same shape, in which NaN is a donor that is not there. None is "uniform".
    metric : "nan_euclidean" or callable, default="nan_euclidean"
        The distance; a function of two rows, and of `missing_values` by name, gives NaN where it is not defined.
    copy : bool, default=True
        Whether `transform` leaves X alone; without, it writes to X where that is an array of floats.
    add_indicator : bool, default=False
        Whether columns are added that tell which values were missing.
    keep_empty_features : bool, default=False
        Whether columns without any value in `fit` are kept, as zeros; else they are left out.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Results do not depend on it.

    Attributes
    ----------
    indicator_ : MissingIndicator or None
        What tells which values were missing.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(r n d) for r rows with missing values and n training rows. Distances are never held but for the nearest donors; they are
    sums of squared differences, not differences of products, and donors of equal distance are taken in the order of the rows. A
    value that no donor has a distance to is the mean of its column.

    References
    ----------
    O. Troyanskaya and others: Missing value estimation methods for DNA microarrays. Bioinformatics 17, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.impute import KNNImputer
    >>> X = [[1, 2, np.nan], [3, 4, 3], [np.nan, 6, 5], [8, 8, 7]]
    >>> KNNImputer(n_neighbors=2).fit_transform(X)
    array([[1. , 2. , 4. ],
           [3. , 4. , 3. ],
           [5.5, 6. , 5. ],
           [8. , 8. , 7. ]])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "missing_values": _Marker(),
        "n_neighbors": Integer(1),
        "weights": OneOf("uniform", "distance") | Function() | Null(),
        "metric": OneOf("nan_euclidean") | Function(),
        "copy": Bool(),
        "add_indicator": Bool(),
        "keep_empty_features": Bool(),
        "n_jobs": NumberOfJobs(),
    }

    _rows: FloatArray
    _has_values: npt.NDArray[np.bool_]

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        n_neighbors: int = 5,
        weights: str | Callable[[Any], Any] | None = "uniform",
        metric: Any = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.missing_values = missing_values
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        rows = self._marked(X, params, reset=True)
        task = FitTask.start(self, rows)
        indicator = None
        if params.add_indicator:
            indicator = sklearn.impute.MissingIndicator(missing_values=np.nan, error_on_new=False).fit(rows)
        has_values = ~np.isnan(rows).all(axis=0)
        return self._finish(task, {"_rows": rows, "_has_values": has_values, "indicator_": indicator})

    def transform(self, X: Any) -> FloatArray:
        """Fill in the missing values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        X : array of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        params = check_params(self)
        marked = self._marked(X, params, reset=False)
        flags = None if self.indicator_ is None else self.indicator_.transform(marked)
        filled = self._target(X, marked, params)
        for rows, columns, values in self._imputed(marked, params):
            filled[rows, columns] = values
        if params.keep_empty_features:
            filled[:, ~self._has_values] = 0
        elif not self._has_values.all():
            filled = filled[:, self._has_values]
        return filled if flags is None else np.hstack([filled, flags.astype(filled.dtype)])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X, where it had none in `fit`.

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        names: npt.NDArray[np.object_] = super().get_feature_names_out(input_features)
        kept = names if self.keep_empty_features else names[self._has_values]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        marker = _Marker().accept(self.missing_values)
        tags.input_tags.allow_nan = marker is not _REFUSED and math.isnan(marker)
        return tags

    def _marked(self, X: Any, params: SimpleNamespace, *, reset: bool) -> FloatArray:
        """A copy of X, checked, in which NaN stands for missing values."""
        is_nan = math.isnan(params.missing_values)
        finite: Finite = "allow-nan" if is_nan else "check"
        rows = np.array(check_X(self, X, finite=finite, reset=reset), order="C")
        if not is_nan:
            rows[rows == params.missing_values] = np.nan
        return rows

    def _target(self, X: Any, marked: FloatArray, params: SimpleNamespace) -> FloatArray:
        """What values are filled into."""
        is_own = not params.copy and isinstance(X, np.ndarray) and X.dtype == marked.dtype and X.flags.writeable
        return X if is_own else marked.copy()

    def _imputed(self, marked: FloatArray, params: SimpleNamespace) -> Iterator[tuple[Indices, Indices, FloatArray]]:
        """The cells to fill, some at a time: their rows, columns and values."""
        is_missing = np.isnan(marked) & self._has_values
        receivers = np.flatnonzero(is_missing.any(axis=1))
        if len(receivers) == 0:
            return
        n_donors = min(params.n_neighbors, len(self._rows))
        n_entries = np.cumsum(is_missing[receivers].sum(axis=1)) * n_donors
        search = self._measured if callable(params.metric) else self._search(params)
        for part in np.split(receivers, np.searchsorted(n_entries, np.arange(MOST_ENTRIES, n_entries[-1], MOST_ENTRIES))):
            if len(part) == 0:
                continue
            places, columns = map(np.ascontiguousarray, np.nonzero(is_missing[part]))
            starts = np.searchsorted(places, np.arange(len(part) + 1))
            distances, donors = search(marked[part], starts, columns, n_donors, params)
            yield part[places], columns, self._values(distances, donors, columns, params)

    def _search(self, params: SimpleNamespace) -> Callable[..., tuple[FloatArray, Indices]]:
        """The native search, on rows that are arranged for it once."""
        n_threads = effective_threads(params.n_jobs)
        blocks = (kernels.DonorBlocks32 if self._rows.dtype == np.float32 else kernels.DonorBlocks64)(self._rows, n_threads)

        def search(
            receivers: FloatArray, starts: Indices, columns: Indices, n_donors: int, params: SimpleNamespace
        ) -> tuple[FloatArray, Indices]:
            distances = np.empty((len(columns), n_donors), dtype=self._rows.dtype)
            donors = np.empty((len(columns), n_donors), dtype=np.int64)
            receivers = np.ascontiguousarray(receivers, dtype=self._rows.dtype)
            kernels.nearest_donors(blocks, receivers, starts, columns, distances, donors, n_threads)
            return distances, donors

        return search

    def _measured(
        self, receivers: FloatArray, starts: Indices, columns: Indices, n_donors: int, params: SimpleNamespace
    ) -> tuple[FloatArray, Indices]:
        """The same, by a function of two rows."""
        options = {"missing_values": np.nan, "ensure_all_finite": "allow-nan"}
        measured = sklearn.metrics.pairwise_distances(receivers, self._rows, metric=params.metric, **options)
        of_cell = np.repeat(measured, np.diff(starts), axis=0)
        of_cell = np.where(np.isnan(of_cell) | np.isnan(self._rows[:, columns].T), np.inf, of_cell)
        donors = np.argsort(of_cell, axis=1, kind="stable")[:, :n_donors]
        distances = np.take_along_axis(of_cell, donors, axis=1)
        return distances, np.where(np.isinf(distances), -1, donors)

    def _values(self, distances: FloatArray, donors: Indices, columns: Indices, params: SimpleNamespace) -> FloatArray:
        """The weighted mean of the donors' values; that of the column where there is no donor."""
        is_there = donors >= 0
        weights = np.where(is_there, _weights(np.where(is_there, distances, np.nan), params.weights), 0.0)
        given = np.where(is_there, self._rows[donors, columns[:, None]], 0.0)
        total = weights.sum(axis=1)
        values: FloatArray = np.divide((weights * given).sum(axis=1), total, out=np.zeros(len(total)), where=total != 0)
        if (is_alone := total == 0).any():
            of_column = {column: np.nanmean(self._rows[:, column]) for column in np.unique(columns[is_alone])}
            values[is_alone] = [of_column[column] for column in columns[is_alone]]
        return values


def _weights(distances: FloatArray, weights: Any) -> FloatArray:
    """The weights of donors at these distances; NaN stands for one that there is not."""
    given = weights(distances) if callable(weights) else weights
    if given is None or (isinstance(given, str) and given == "uniform"):
        return np.ones_like(distances)
    if callable(weights):
        return np.nan_to_num(np.asarray(given, dtype=np.float64), nan=0.0, posinf=np.inf)
    with np.errstate(divide="ignore"):
        inverse = 1 / distances
    is_infinite = np.isinf(inverse)
    return np.where(is_infinite.any(axis=1, keepdims=True), is_infinite, inverse)
