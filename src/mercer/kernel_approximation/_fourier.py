"""`RBFSampler`: random Fourier features of the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._params import Integer, OneOf, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer.kernel_approximation._measured import approximation_error, fourier_features
from mercer.kernels import RBF


class RBFSampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Random features whose inner products have the Gaussian kernel as their mean.

    :math:`z(x) = \sqrt{2/D} \, \cos(W^\top x + b)`, where the directions :math:`W` are normal with variance :math:`2\gamma`
    and the offsets :math:`b` uniform, so that :math:`E[z(x)^\top z(y)] = \exp(-\gamma \|x - y\|^2)`.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        Of the kernel; "scale" is 1 / (n_features X.var()).
    n_components : int, default=100
        The number D of features; the error falls as one over its root.
    random_state : int, RandomState or None, default=None
        Draws are those of scikit-learn.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
    random_offset_ : ndarray of shape (n_components,)
    approximation_error_ : float
        :math:`\|ZZ^\top - K\|_F / \|K\|_F` of up to 256 rows of the fit.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    O(n d D): the cosine is taken of tiles of the product while they are in the cache.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_approximation import RBFSampler
    >>> X = np.random.RandomState(0).randn(200, 3)
    >>> sampler = RBFSampler(gamma=0.1, n_components=400, random_state=0).fit(X)
    >>> sampler.transform(X).shape, sampler.approximation_error_ < 0.1
    ((200, 400), True)
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "gamma": OneOf("scale") | Real(least=0),
        "n_components": Integer(1),
        "random_state": RandomState(),
    }
    _input_tags = ("sparse",)

    def __init__(self, *, gamma: float | str = 1.0, n_components: int = 100, random_state: Any = None) -> None:
        self.gamma = gamma
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr")
        random = as_random_state(params.random_state)
        kernel = RBF(params.gamma).resolved(X)
        weights = (2.0 * kernel.get_params()["gamma"]) ** 0.5 * random.normal(size=(X.shape[1], params.n_components))
        offsets = random.uniform(0, 2 * np.pi, size=params.n_components)
        weights, offsets = weights.astype(X.dtype, copy=False), offsets.astype(X.dtype, copy=False)
        task = FitTask.start(self, X)
        attributes = {
            "random_weights_": weights,
            "random_offset_": offsets,
            "approximation_error_": approximation_error(kernel, lambda rows: _features(rows, weights, offsets), X),
            "_n_features_out": params.n_components,
        }
        return self._finish(task, attributes)

    def transform(self, X: Any) -> FloatArray:
        """The features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        return _features(X, self.random_weights_, self.random_offset_)


def _features(X: Any, weights: FloatArray, offsets: FloatArray) -> FloatArray:
    if not sp.issparse(X):
        return fourier_features(np.ascontiguousarray(X), weights, offsets)
    projection = np.asarray(X @ weights)
    projection += offsets
    np.cos(projection, out=projection)
    projection *= (2.0 / len(offsets)) ** 0.5
    return projection
