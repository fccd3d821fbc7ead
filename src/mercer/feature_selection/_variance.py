"""Columns that hardly vary leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Real, Rule, check_params
from mercer._statistics import ColumnMoments, ColumnRanges
from mercer.feature_selection._selector import Mask, Selector


class VarianceThreshold(Selector):
    r"""The columns whose variance is above a threshold.

    .. math:: \frac1n \sum_i (x_{ij} - \bar x_j)^2 > t

    Parameters
    ----------
    threshold : float, default=0
        The variance t, in the squared units of the columns; 0 takes away columns that are constant.

    Attributes
    ----------
    variances_ : array of shape (n_features,)
        Those of the values that are there; NaN for a column without any.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over X, O(n d), in double precision and about the means. NaN is left out. A constant column has variance zero,
    whatever rounding leaves. y plays no part.

    Examples
    --------
    >>> from mercer.feature_selection import VarianceThreshold
    >>> X = [[0, 2, 0, 3], [0, 1, 4, 3], [0, 1, 1, 3]]
    >>> VarianceThreshold().fit_transform(X)
    array([[2, 0],
           [1, 4],
           [1, 1]])
    """

    _input_tags = ("allow_nan", "sparse")
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"threshold": Real(least=0)}

    variances_: FloatArray

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    @fit_method
    def fit(self, X: Any, y: Any = None) -> VarianceThreshold:
        """Measure the variances.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse=("csr", "csc"), finite="allow-nan")
        task = FitTask.start(self, X, y)
        n_threads = effective_threads(None)
        moments = ColumnMoments.of(X, None, n_threads=n_threads)
        if np.isinf(moments.deviation).any() or np.isnan(moments.deviation).any():
            require_no_overflow(self, X, "squares of its columns", allow_nan=True)
        ranges = ColumnRanges.of(X, n_threads=n_threads)
        with np.errstate(invalid="ignore"):
            variances = np.where(ranges.low == ranges.high, 0.0, moments.deviation / moments.weight)
        if not (variances > params.threshold).any():
            few = " (X contains only one sample, n_samples=1)" if X.shape[0] == 1 else ""
            raise ValueError(
                f"VarianceThreshold: No feature in X meets the variance threshold {params.threshold:.5f}{few}; the largest "
                f"variance is {np.fmax.reduce(variances, initial=0):.3g}. Lower the threshold."
            )
        return self._finish(task, {"variances_": variances})

    def transform(self, X: Any) -> Any:
        """The columns that stay; NaN passes, infinity is refused as in a fit."""
        check_is_fitted(self)
        check_X(self, X, sparse=("csr", "csc"), finite="allow-nan", reset=False)
        return super().transform(X)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask: Mask = self.variances_ > check_params(self).threshold
        return mask
