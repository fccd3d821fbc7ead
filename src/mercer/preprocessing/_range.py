"""Scaling by the extreme values of each column."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_X, require_finite, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Interval, Rule, check_params
from mercer._statistics import ColumnRanges
from mercer.preprocessing._scaler import DIVIDE, MULTIPLY, Scaler, without_zeros


class MinMaxScaler(Scaler):
    r"""Each column moved and stretched to a given interval.

    A value becomes :math:`a + (x - \min) (b - a) / (\max - \min)`, with the least and greatest value of its column in the rows
    of the fit and the interval :math:`[a, b]`. NaN means missing: the fit leaves it out, and `transform` keeps it.

    Parameters
    ----------
    feature_range : pair of float, default=(0, 1)
        The interval.
    copy : bool, default=True
        False scales a float array in place where it can be written to.
    clip : bool, default=False
        Cut values of later rows to the interval.

    Attributes
    ----------
    min_ : array of shape (n_features,)
        What is added after scaling: `a - data_min_ * scale_`.
    scale_ : array of shape (n_features,)
        `(b - a) / data_range_`, or `b - a` for a column that is constant up to rounding.
    data_min_, data_max_, data_range_ : array of shape (n_features,)
        The least and greatest value seen, and their difference.
    n_samples_seen_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over X to fit and one to transform, on all threads, without copies of X beyond the result; X may have any memory
    order, and the result has the same. The attributes are of the type of X, float32 or float64.

    Differences from scikit-learn: a range that overflows is an error. In `partial_fit`, a column without values in one batch
    keeps what it had from the others. `feature_range` may be a list. float16 becomes float64.

    References
    ----------
    J. Han, J. Pei, M. Kamber, "Data Mining: Concepts and Techniques", section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import MinMaxScaler
    >>> X = np.array([[0.3], [-0.1], [0.2], [0.3]])
    >>> MinMaxScaler().fit_transform(X).round(2).ravel().tolist()
    [1.0, 0.0, 0.75, 1.0]
    """

    _sparse_formats = None
    _takes_parts = True
    _parameter_rules: ClassVar[dict[str, Rule]] = {"feature_range": Interval(), "copy": Bool(), "clip": Bool()}

    def __init__(self, feature_range: tuple[float, float] = (0, 1), *, copy: bool = True, clip: bool = False) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip

    @fit_method
    def fit(self, X: Any, y: Any = None) -> MinMaxScaler:
        """Find the least and greatest value of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X, is_first=True)

    @fit_method
    def partial_fit(self, X: Any, y: Any = None) -> MinMaxScaler:
        """Add rows to those seen so far; in pieces or at once comes to the same. Parameters as in `fit`."""
        return self._fit(X, is_first=not hasattr(self, "n_samples_seen_"))

    def _fit(self, X: Any, *, is_first: bool) -> MinMaxScaler:
        params = check_params(self)
        if sp.issparse(X):
            raise TypeError("MinMaxScaler does not support sparse input. Consider using MaxAbsScaler instead.")
        X = check_X(self, X, finite="deferred", reset=is_first)
        task = FitTask.start(self, X)
        ranges, n_seen = _column_ranges(self, X), X.shape[0]
        if not is_first:
            ranges, n_seen = ColumnRanges(self.data_min_, self.data_max_).merge(ranges), n_seen + self.n_samples_seen_
        low, high = ranges
        with np.errstate(over="ignore"):
            extent = high - low
        if np.isinf(extent).any():
            require_no_overflow(self, X, "the ranges of its columns", allow_nan=True)
        attributes = {**_min_max_attributes(low, high, extent, params), "n_samples_seen_": n_seen}
        return self._finish(task, attributes)

    def transform(self, X: Any) -> FloatArray:
        """X, scaled to the interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        limits = tuple(self.feature_range) if self.clip else (-np.inf, np.inf)
        return self._scale(X, MULTIPLY, copy=self.copy, limits=limits)  # type: ignore[no-any-return]

    def inverse_transform(self, X: Any) -> FloatArray:
        """The values that scale to X, if they were not clipped. Parameters as in `transform`."""
        return self._scale_back(X, DIVIDE, copy=self.copy)  # type: ignore[no-any-return]

    def _shift_and_scale(self) -> tuple[FloatArray | None, FloatArray | None]:
        return self.min_, self.scale_


def _min_max_attributes(low: FloatArray, high: FloatArray, extent: FloatArray, params: SimpleNamespace) -> dict[str, Any]:
    a, b = (low.dtype.type(end) for end in params.feature_range)
    with np.errstate(over="ignore"):
        scale = (b - a) / without_zeros(extent)
        shift = a - low * scale
    if np.isinf(scale).any() or np.isinf(shift).any():
        raise ValueError(
            f"MinMaxScaler: feature_range={params.feature_range} makes scales that overflow {low.dtype}; narrow it."
        )
    return {"scale_": scale, "min_": shift, "data_min_": low, "data_max_": high, "data_range_": extent}


class MaxAbsScaler(Scaler):
    r"""Each column divided by its largest absolute value.

    A value becomes :math:`x / \max_i |x_i|`, so that zero stays zero and sparse X stays sparse. NaN means missing: the fit
    leaves it out, and `transform` keeps it.

    Parameters
    ----------
    copy : bool, default=True
        False scales a float array or CSR or CSC matrix in place where it can be written to.
    clip : bool, default=False
        Cut values of later rows to [-1, 1].

    Attributes
    ----------
    max_abs_ : array of shape (n_features,)
    scale_ : array of shape (n_features,)
        `max_abs_`, or 1 where that is zero up to rounding.
    n_samples_seen_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over X to fit and one to transform, on all threads, without copies of X beyond the result; X may have any memory
    order, and the result has the same. The attributes are of the type of X, float32 or float64.

    Differences from scikit-learn: in `partial_fit`, a column without values in one batch keeps what it had from the others.
    `clip` is there whatever scikit-learn's version. float16 becomes float64.

    References
    ----------
    J. Han, J. Pei, M. Kamber, "Data Mining: Concepts and Techniques", section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import MaxAbsScaler
    >>> MaxAbsScaler().fit_transform(np.array([[1.0, -1], [2, 0], [0, 4]])).tolist()
    [[0.5, -0.25], [1.0, 0.0], [0.0, 1.0]]
    """

    _takes_parts = True
    _parameter_rules: ClassVar[dict[str, Rule]] = {"copy": Bool(), "clip": Bool()}

    def __init__(self, *, copy: bool = True, clip: bool = False) -> None:
        self.copy = copy
        self.clip = clip

    @fit_method
    def fit(self, X: Any, y: Any = None) -> MaxAbsScaler:
        """Find the largest absolute value of each column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return self._fit(X, is_first=True)

    @fit_method
    def partial_fit(self, X: Any, y: Any = None) -> MaxAbsScaler:
        """Add rows to those seen so far; in pieces or at once comes to the same. Parameters as in `fit`."""
        return self._fit(X, is_first=not hasattr(self, "n_samples_seen_"))

    def _fit(self, X: Any, *, is_first: bool) -> MaxAbsScaler:
        check_params(self)
        X = check_X(self, X, sparse=self._sparse_formats, finite="deferred", reset=is_first)
        task = FitTask.start(self, X)
        ranges, n_seen = _column_ranges(self, X), X.shape[0]
        if not is_first:
            ranges, n_seen = ColumnRanges(-self.max_abs_, self.max_abs_).merge(ranges), n_seen + self.n_samples_seen_
        largest = np.maximum(np.abs(ranges.low), np.abs(ranges.high))
        attributes = {"max_abs_": largest, "scale_": without_zeros(largest), "n_samples_seen_": n_seen}
        return self._finish(task, attributes)

    def transform(self, X: Any) -> Any:
        """X, scaled.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        {array, sparse matrix} of shape (n_samples, n_features)
        """
        limits = (-1.0, 1.0) if self.clip else (-np.inf, np.inf)
        return self._scale(X, DIVIDE, copy=self.copy, limits=limits)

    def inverse_transform(self, X: Any) -> Any:
        """The values that scale to X, if they were not clipped. Parameters as in `transform`."""
        return self._scale_back(X, MULTIPLY, copy=self.copy)

    def _shift_and_scale(self) -> tuple[FloatArray | None, FloatArray | None]:
        return None, self.scale_


def _column_ranges(estimator: Any, X: Any) -> ColumnRanges:
    """The least and greatest value of each column, NaN where there is none; infinity in X is an error."""
    if sp.issparse(X):
        require_finite(estimator, X, allow_nan=True)
    ranges = ColumnRanges.of(X, n_threads=effective_threads(None))
    if np.isinf(ranges.low).any() or np.isinf(ranges.high).any():
        require_finite(estimator, X, allow_nan=True)
    return ranges
