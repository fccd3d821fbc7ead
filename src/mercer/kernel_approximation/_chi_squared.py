"""Features of chi-squared kernels: `AdditiveChi2Sampler` and `SkewedChi2Sampler`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, validate
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._params import Integer, InvalidParameterError, Null, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer.kernel_approximation._measured import approximation_error, fourier_features
from mercer.metrics.pairwise import additive_chi2_kernel

# The intervals of Vedaldi and Zisserman's figure 2 c), by the number of steps.
_INTERVALS = {1: 0.8, 2: 0.5, 3: 0.4}


class AdditiveChi2Sampler(TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Features whose inner products come close to the additive chi-squared kernel, without draws.

    :math:`k(x, y) = \sum_j 2 x_j y_j / (x_j + y_j)`, of values that are not negative. It is the Fourier transform of
    :math:`1 / \cosh(\pi t)` in the difference of logarithms, of which each feature has `sample_steps` samples.

    Parameters
    ----------
    sample_steps : int, default=2
        How many samples: a feature becomes 2 sample_steps - 1.
    sample_interval : float or None, default=None
        How far apart; None takes the best for 1, 2 and 3 steps, and must be a number for more.

    Attributes
    ----------
    approximation_error_ : float
        :math:`\|ZZ^\top - K\|_F / \|K\|_F` of up to 256 rows of the fit.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    Nothing is learnt: `transform` needs no fit. Sparse rows stay sparse.

    References
    ----------
    Vedaldi and Zisserman (2011), Efficient additive kernels via explicit feature maps.

    Examples
    --------
    >>> from mercer.kernel_approximation import AdditiveChi2Sampler
    >>> AdditiveChi2Sampler(sample_steps=1).fit_transform([[0.0, 1.25]])
    array([[0., 1.]])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "sample_steps": Integer(1),
        "sample_interval": Real(above=0) | Null(),
    }
    _input_tags = ("sparse", "positive_only")

    def __init__(self, *, sample_steps: int = 2, sample_interval: float | None = None) -> None:
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and X, and measure the error.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        n_steps, interval = self._steps()
        X = validate(self, X, sparse="csr", ensure_non_negative=True)
        task = FitTask.start(self, X)

        def kernel(rows: Any) -> FloatArray:
            # 2 x y / (x + y) = (x + y) / 2 - (x - y)^2 / (2 (x + y)).
            rows = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
            halves = rows.sum(axis=1) / 2
            return halves[:, None] + halves + additive_chi2_kernel(rows) / 2

        error = approximation_error(kernel, lambda rows: _samples(rows, n_steps, interval), X)
        return self._finish(task, {"approximation_error_": error})

    def transform(self, X: Any) -> Any:
        """The features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        features : {ndarray, sparse matrix} of shape (n_samples, n_features (2 sample_steps - 1))
        """
        n_steps, interval = self._steps()
        is_fitted = hasattr(self, "n_features_in_")
        X = validate(
            self if is_fitted else AdditiveChi2Sampler(), X, sparse="csr", reset=not is_fitted, ensure_non_negative=True
        )
        return _samples(X, n_steps, interval)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            The names of the columns of X; None takes those of the fit.

        Returns
        -------
        names : ndarray of str objects
        """
        check_is_fitted(self, attributes="n_features_in_")
        names = _input_names(self, input_features)
        own = type(self).__name__.lower()
        found = [f"{own}_{name}_sqrt" for name in names]
        for step in range(1, self.sample_steps):
            found += [f"{own}_{name}_{wave}{step}" for wave in ("cos", "sin") for name in names]
        return np.asarray(found, dtype=object)

    def _steps(self) -> tuple[int, float]:
        params = check_params(self)
        interval = _INTERVALS.get(params.sample_steps) if params.sample_interval is None else params.sample_interval
        if interval is None:
            raise InvalidParameterError(
                f"AdditiveChi2Sampler: sample_steps={params.sample_steps} is not valid alone. If sample_steps is not in "
                "[1, 2, 3], you need to provide sample_interval."
            )
        return params.sample_steps, float(interval)


def _input_names(estimator: Any, given: Any) -> Any:
    """The names of the columns of the fit, which those given must be."""
    known = getattr(estimator, "feature_names_in_", None)
    if given is None:
        return known if known is not None else [f"x{place}" for place in range(estimator.n_features_in_)]
    names = np.asarray(given, dtype=object)
    if known is not None and not np.array_equal(known, names):
        raise ValueError("input_features is not equal to feature_names_in_")
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            f"input_features should have length equal to number of features ({estimator.n_features_in_}), got {len(names)}"
        )
    return names


def _samples(X: Any, n_steps: int, interval: float) -> Any:
    """Samples of each value's wave; zeros stay zeros."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(divide="ignore"):
        angles = interval * np.log(values)
    parts = [np.sqrt(values * interval)]
    for step in range(1, n_steps):
        size = np.sqrt(2 * values * interval / np.cosh(np.pi * step * interval))
        with np.errstate(invalid="ignore"):
            parts += [np.where(values > 0, size * wave(step * angles), 0) for wave in (np.cos, np.sin)]
    parts = [part.astype(X.dtype, copy=False) for part in parts]
    if not sp.issparse(X):
        return np.hstack(parts)
    return sp.hstack([type(X)((part, X.indices, X.indptr), shape=X.shape) for part in parts], format="csr")


class SkewedChi2Sampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Random features whose inner products have the skewed chi-squared kernel as their mean.

    :math:`k(x, y) = \prod_j 2 \sqrt{x_j + c} \sqrt{y_j + c} / (x_j + y_j + 2c)`, of values above :math:`-c`: a function of the
    differences of logarithms, whose Fourier transform the directions are drawn from.

    Parameters
    ----------
    skewedness : float, default=1.0
        The constant c.
    n_components : int, default=100
        The number of features.
    random_state : int, RandomState or None, default=None
        Draws are those of scikit-learn.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
    random_offset_ : ndarray of shape (n_components,)
    approximation_error_ : float
        :math:`\|ZZ^\top - K\|_F / \|K\|_F` of up to 256 rows of the fit; NaN where a value is not above :math:`-c`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    References
    ----------
    Li, Ionescu and Sminchisescu (2010), Random Fourier approximations for skewed multiplicative histogram kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_approximation import SkewedChi2Sampler
    >>> X = np.random.RandomState(0).rand(100, 3)
    >>> SkewedChi2Sampler(n_components=500, random_state=0).fit(X).approximation_error_ < 0.1
    True
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "skewedness": Real(),
        "n_components": Integer(1),
        "random_state": RandomState(),
    }

    def __init__(self, *, skewedness: float = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.skewedness = skewedness
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X)
        random = as_random_state(params.random_state)
        uniform = random.uniform(size=(X.shape[1], params.n_components))
        # The inverse of the distribution function of 1 / cosh.
        weights = (1.0 / np.pi * np.log(np.tan(np.pi / 2.0 * uniform))).astype(X.dtype, copy=False)
        offsets = random.uniform(0, 2 * np.pi, size=params.n_components).astype(X.dtype, copy=False)
        task = FitTask.start(self, X)

        def kernel(rows: FloatArray) -> FloatArray:
            logs = np.log(rows.astype(np.float64) + params.skewedness)
            # 2 sqrt(a b) / (a + b) = 1 / cosh((log a - log b) / 2).
            return np.array([np.prod(1 / np.cosh((logs - line) / 2), axis=1) for line in logs])

        def features(rows: FloatArray) -> FloatArray:
            return fourier_features(np.log(rows + rows.dtype.type(params.skewedness)), weights, offsets)

        is_possible = bool((-params.skewedness < X).all())
        attributes = {
            "random_weights_": weights,
            "random_offset_": offsets,
            "approximation_error_": approximation_error(kernel, features, X) if is_possible else np.nan,
            "_n_features_out": params.n_components,
        }
        return self._finish(task, attributes)

    def transform(self, X: Any) -> FloatArray:
        """The features of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Every value must be above `-skewedness`.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        if (-self.skewedness >= X).any():
            raise ValueError(
                f"X may not contain entries smaller than -skewedness: the least is {X.min():g}, and skewedness is "
                f"{self.skewedness:g}."
            )
        logs = np.log(np.ascontiguousarray(X) + X.dtype.type(self.skewedness))
        return fourier_features(logs, self.random_weights_, self.random_offset_)
