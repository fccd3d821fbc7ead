"""Standard scores."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray, check_weights, check_X, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Rule, check_params
from mercer._statistics import ColumnMoments
from mercer.preprocessing._scaler import DIVIDE, MULTIPLY, Scaler

ROWS_TOGETHER = 128  # in the kernel of moments, at most


class StandardScaler(Scaler):
    r"""Standard scores: each column minus its mean, divided by its standard deviation.

    A value becomes :math:`z = (x - \mu) / \sigma`, with :math:`\mu = \sum_i w_i x_i / W`,
    :math:`\sigma^2 = \sum_i w_i (x_i - \mu)^2 / (W - \mathrm{ddof})` and :math:`W = \sum_i w_i`, which is the number of rows
    unless there are weights. NaN means missing: the sums leave it out, column by column, and `transform` keeps it.

    Parameters
    ----------
    copy : bool, default=True
        False scales a float array in place where it can be written to.
    with_mean : bool, default=True
        Subtract the mean. Must be False for sparse X.
    with_std : bool, default=True
        Divide by the standard deviation.
    ddof : int, default=0
        What is subtracted from the number of rows in the variance: 0 for the variance of the rows themselves, 1 for the
        unbiased estimate of the variance they were drawn from. Sample weights count as repetitions.

    Attributes
    ----------
    mean_ : float64 array of shape (n_features,) or None
        None where neither mean nor deviation is asked for.
    var_ : float64 array of shape (n_features,) or None
        None with `with_std=False`.
    scale_ : float64 array of shape (n_features,) or None
        The standard deviation, or 1 for a column that is constant up to rounding. None with `with_std=False`.
    n_samples_seen_ : int or array of shape (n_features,)
        The number of values seen, as an array where columns differ because of missing values; with sample weights, the sum
        of the weights, a float.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    One pass over X to fit and one to transform, on all threads, without copies of X beyond the result; X may have any memory
    order, and the result has the same. The sums are taken in float64, about local means, and have the same bits for any
    number of threads. float32 gives float32.

    Differences from scikit-learn: `ddof`. A sum that overflows is an error. Negative weights are an error. A constant column
    is recognised with small weights too. float16 becomes float64. `n_samples_seen_` is always an integer without weights.

    References
    ----------
    T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance", The American Statistician 37
    (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import StandardScaler
    >>> X = np.array([[0.3], [-0.1], [0.2], [0.3]])
    >>> StandardScaler(ddof=1).fit_transform(X).round(2).ravel().tolist()
    [0.66, -1.45, 0.13, 0.66]
    """

    _takes_parts = True
    _sparse_formats = ("csr",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {"copy": Bool(), "with_mean": Bool(), "with_std": Bool(), "ddof": Integer(0)}

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True, ddof: int = 0) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std
        self.ddof = ddof

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StandardScaler:
        """Find mean and deviation of each column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight, None)

    @fit_method
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StandardScaler:
        """Add rows to those seen so far; in pieces or at once comes to the same. Parameters as in `fit`."""
        return self._fit(X, sample_weight, getattr(self, "_moments", None))

    def _fit(self, X: Any, sample_weight: Any, seen: tuple[FloatArray, ...] | None) -> StandardScaler:
        params = check_params(self)
        X = check_X(self, X, sparse=("csr", "csc"), finite="deferred", reset=seen is None)
        self._check_dense_or_uncentred(X, "center")
        weights = check_weights(sample_weight, X.shape[0], X.dtype)
        task = FitTask.start(self, X)
        moments = ColumnMoments.of(X, weights, n_threads=effective_threads(None))
        has_weights = weights is not None
        if seen is not None:
            moments = ColumnMoments(*seen).merge(moments)
            has_weights = has_weights or np.asarray(self.n_samples_seen_).dtype.kind == "f"
        if not _are_finite(moments, with_deviation=params.with_std):
            require_no_overflow(self, X, "the sums of squares of its columns", allow_nan=True)
        attributes = _attributes(moments, params, has_weights)
        return self._finish(task, attributes)

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """The standard scores of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        copy : bool or None, default=None
            Overrides the parameter of the same name.

        Returns
        -------
        {array, sparse matrix} of shape (n_samples, n_features)
        """
        self._check_dense_or_uncentred(X, "center")
        return self._scale(X, DIVIDE, copy=self.copy if copy is None else copy)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """The values that have the standard scores X. Parameters as in `transform`."""
        self._check_dense_or_uncentred(X, "uncenter")
        return self._scale_back(X, MULTIPLY, copy=self.copy if copy is None else copy)

    def _shift_and_scale(self) -> tuple[FloatArray | None, FloatArray | None]:
        return self.mean_ if self.with_mean else None, self.scale_ if self.with_std else None

    def _check_dense_or_uncentred(self, X: Any, verb: str) -> None:
        if self.with_mean and sp.issparse(X):
            raise ValueError(f"Cannot {verb} sparse matrices: pass `with_mean=False` instead, which keeps their zeros.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags


def _are_finite(moments: ColumnMoments, *, with_deviation: bool) -> bool:
    return bool(np.isfinite(moments.mean).all() and (not with_deviation or np.isfinite(moments.deviation).all()))


def _variances(moments: ColumnMoments, ddof: int) -> FloatArray:
    """Squared deviation over weight less ddof, NaN where nothing is present."""
    weight, mean, deviation = moments
    is_scarce = (weight > 0) & (weight <= ddof)
    if is_scarce.any():
        column = int(np.argmax(is_scarce))
        raise ValueError(
            f"StandardScaler: ddof={ddof} needs more than {ddof} row(s) in every column, and column {column} has "
            f"{weight[column]:g} (the sum of the sample weights, where given). Give more rows, or set ddof=0."
        )
    variance: FloatArray = np.full_like(mean, np.nan)
    np.divide(deviation, weight - ddof, out=variance, where=weight > 0)
    # What is left of a constant column: its mean is rounded once for each of the rows that are summed together.
    rounding = np.finfo(np.float64).eps * np.clip(weight, 1, ROWS_TOGETHER) * mean
    return np.where(variance <= rounding**2, 0.0, variance)


def _attributes(moments: ColumnMoments, params: SimpleNamespace, has_weights: bool) -> dict[str, Any]:
    """The fitted attributes for these moments."""
    weight = moments.weight
    count = weight if has_weights else weight.astype(np.int64)
    mean = np.where(weight > 0, moments.mean, np.nan)
    variance = _variances(moments, params.ddof) if params.with_std else None
    return {
        "_moments": tuple(moments),
        "n_samples_seen_": count[0] if (weight == weight[0]).all() else count,
        "mean_": mean if params.with_mean or params.with_std else None,
        "var_": variance,
        "scale_": None if variance is None else _deviations(variance, mean, weight, has_weights),
    }


def _deviations(variance: FloatArray, mean: FloatArray, weight: FloatArray, has_weights: bool) -> FloatArray:
    """Standard deviations, with 1 where the variance is within the rounding error of a constant column (Chan et al.)."""
    # The error grows with the number of rows. Weights that sum to less say nothing about that; within a block of the kernel
    # there are at most 128.
    n = np.maximum(weight, 128.0) if has_weights else weight
    eps = np.finfo(np.float64).eps
    with np.errstate(over="ignore"):
        is_constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    return np.where(is_constant, 1.0, np.sqrt(variance))
