"""Scaling by quantiles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from mercer._arrays import FloatArray, check_X, require_finite, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Interval, InvalidParameterError, Rule, check_params
from mercer.preprocessing._scaler import DIVIDE, MULTIPLY, Scaler, without_zeros


class RobustScaler(Scaler):
    r"""Each column minus its median, divided by the distance between two of its quantiles.

    A value becomes :math:`(x - q_{50}) / (q_\mathrm{high} - q_\mathrm{low})`: outliers change neither number. NaN means
    missing: the fit leaves it out, column by column, and `transform` keeps it.

    Parameters
    ----------
    with_centering : bool, default=True
        Subtract the median. Must be False for sparse X.
    with_scaling : bool, default=True
        Divide by the distance of the quantiles.
    quantile_range : pair of float, default=(25.0, 75.0)
        The two quantiles in per cent, 0 <= low < high <= 100. The default is the interquartile range.
    copy : bool, default=True
        False scales a float array or CSR or CSC matrix in place where it can be written to.
    unit_variance : bool, default=False
        Also divide the scale by the distance that the quantiles have in a standard normal distribution, so that normal
        columns get variance 1. `quantile_range` must then be within 0 and 100, without these two.

    Attributes
    ----------
    center_ : array of shape (n_features,) or None
        The medians, of the type of X.
    scale_ : float64 array of shape (n_features,) or None
        The distances, or 1 where that is zero up to rounding.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A fit takes O(n d) on average, without sorting, on all threads; scratch memory for each thread is a column, or as many
    columns as share a cache line of a row-major X. Quantiles are interpolated as in `numpy.quantile`. X may have any memory
    order, and the result has the same. float32 gives float32.

    Differences from scikit-learn: sparse X is an error wherever it would have to be centred, in `transform` too. A distance
    that overflows is an error, and so are two equal numbers in `quantile_range`. float16 becomes float64.

    References
    ----------
    P. J. Huber, "Robust Statistics", Wiley 1981.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocessing import RobustScaler
    >>> RobustScaler().fit_transform(np.array([[1.0, -2], [-2, 1], [4, 1]])).tolist()
    [[0.0, -2.0], [-1.0, 0.0], [1.0, 0.0]]
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "with_centering": Bool(),
        "with_scaling": Bool(),
        "quantile_range": Interval(least=0, most=100),
        "copy": Bool(),
        "unit_variance": Bool(),
    }

    def __init__(
        self,
        *,
        with_centering: bool = True,
        with_scaling: bool = True,
        quantile_range: tuple[float, float] = (25.0, 75.0),
        copy: bool = True,
        unit_variance: bool = False,
    ) -> None:
        self.with_centering = with_centering
        self.with_scaling = with_scaling
        self.quantile_range = quantile_range
        self.copy = copy
        self.unit_variance = unit_variance

    @fit_method
    def fit(self, X: Any, y: Any = None) -> RobustScaler:
        """Find median and quantiles of each column.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = _check_params(self)
        X = check_X(self, X, sparse="csc", finite="deferred")
        self._check_dense_or_uncentred(X)
        task = FitTask.start(self, X)
        low, middle, high = _column_quantiles(self, X, (params.quantile_range[0], 50.0, params.quantile_range[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            distance = high - low
        if np.isinf([low, middle, high, distance]).any():
            require_no_overflow(self, X, "the distances between its quantiles", allow_nan=True)
        attributes = {
            "center_": middle.astype(X.dtype) if params.with_centering else None,
            "scale_": without_zeros(distance) / params.normal_distance if params.with_scaling else None,
        }
        return self._finish(task, attributes)

    def transform(self, X: Any) -> Any:
        """X, centred and scaled.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        {array, sparse matrix} of shape (n_samples, n_features)
        """
        self._check_dense_or_uncentred(X)
        return self._scale(X, DIVIDE, copy=self.copy)

    def inverse_transform(self, X: Any) -> Any:
        """The values that scale to X. Parameters as in `transform`."""
        self._check_dense_or_uncentred(X)
        return self._scale_back(X, MULTIPLY, copy=self.copy)

    def _shift_and_scale(self) -> tuple[FloatArray | None, FloatArray | None]:
        return self.center_ if self.with_centering else None, self.scale_ if self.with_scaling else None

    def _check_dense_or_uncentred(self, X: Any) -> None:
        if self.with_centering and sp.issparse(X):
            raise ValueError("Cannot center sparse matrices: use `with_centering=False` instead, which keeps their zeros.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_centering
        return tags


def _check_params(estimator: RobustScaler) -> SimpleNamespace:
    """The checked parameters, and the distance that the quantiles have in a normal distribution where that is wanted."""
    params = check_params(estimator)
    low, high = params.quantile_range
    params.normal_distance = float(ndtri(high / 100) - ndtri(low / 100)) if params.unit_variance else 1.0
    if not np.isfinite(params.normal_distance):
        raise InvalidParameterError(
            f"RobustScaler: quantile_range={estimator.quantile_range!r} is not valid with unit_variance=True; it must be "
            "within 0 and 100 and hold neither, for a normal distribution has no least and no greatest value."
        )
    return params


def _column_quantiles(estimator: Any, X: Any, percents: tuple[float, ...]) -> FloatArray:
    """The quantiles of each column, one row each, NaN where a column is empty; infinity in X is an error."""
    q = np.array(percents) / 100
    quantiles = np.empty((len(q), X.shape[1]))
    if sp.issparse(X):
        has_infinity = kernels.sparse_column_quantiles(X.data, X.indptr, X.shape[0], q, quantiles, effective_threads(None))
    else:
        has_infinity = kernels.column_quantiles(X, q, quantiles, effective_threads(None))
    if has_infinity:
        require_finite(estimator, X, allow_nan=True)
    return quantiles
