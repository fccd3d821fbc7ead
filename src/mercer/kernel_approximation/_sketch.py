"""`PolynomialCountSketch`: polynomial kernels by sketches of tensor products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.fft
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._parallel import effective_threads
from mercer._params import Integer, RandomState, Real, Rule, check_params
from mercer._random import as_random_state
from mercer.kernel_approximation._measured import approximation_error
from mercer.kernels import Polynomial


class PolynomialCountSketch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Features whose inner products have the polynomial kernel as their mean: a tensor sketch.

    A count sketch adds each feature, with a random sign, to one of D places. The sketch of the tensor product
    :math:`x \otimes \cdots \otimes x` is the convolution of `degree` sketches of :math:`x`, which Fourier transforms multiply.

    Parameters
    ----------
    gamma : float, default=1.0
    degree : int, default=2
    coef0 : float, default=0.0
        Of the kernel :math:`(\gamma x^\top y + c_0)^p`; not below 0.
    n_components : int, default=100
        The number D of features.
    random_state : int, RandomState or None, default=None
        Draws are those of scikit-learn.

    Attributes
    ----------
    indexHash_ : ndarray of shape (degree, n_features)
        The place of each feature in each sketch; there is one feature more where `coef0` is not 0.
    bitHash_ : ndarray of shape (degree, n_features)
        Its signs.
    approximation_error_ : float
        :math:`\|ZZ^\top - K\|_F / \|K\|_F` of up to 256 rows of the fit.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    O(n degree (d + D log D)). Sketches are products with sparse matrices of signs, and transforms those of real numbers.

    References
    ----------
    Pham and Pagh (2013), Fast and scalable polynomial kernels via explicit feature maps.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_approximation import PolynomialCountSketch
    >>> X = np.random.RandomState(0).rand(100, 4)
    >>> PolynomialCountSketch(degree=2, n_components=300, random_state=0).fit(X).approximation_error_ < 0.2
    True
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "gamma": Real(least=0),
        "degree": Integer(1),
        "coef0": Real(least=0),
        "n_components": Integer(1),
        "random_state": RandomState(),
    }
    _input_tags = ("sparse",)

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 0.0,
        n_components: int = 100,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the places and signs.

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
        size = (params.degree, X.shape[1] + (params.coef0 != 0))
        places = random.randint(0, high=params.n_components, size=size)
        signs = random.choice(a=[-1, 1], size=size)
        task = FitTask.start(self, X)

        def features(rows: Any) -> FloatArray:
            return _sketch(rows, places, signs, params.gamma, params.coef0, params.n_components)

        kernel = Polynomial(params.degree, params.gamma, params.coef0)
        attributes = {
            "indexHash_": places,
            "bitHash_": signs,
            "approximation_error_": approximation_error(self, kernel, features, X),
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
        return _sketch(X, self.indexHash_, self.bitHash_, self.gamma, self.coef0, self.n_components)


def _sketch(X: Any, places: Any, signs: Any, gamma: float, coef0: float, n_components: int) -> FloatArray:
    """The tensor sketches of rows, some at a time."""
    places = np.asarray(places)
    if places.dtype.kind not in "iu" or not ((places >= 0) & (places < n_components)).all():
        raise ValueError(  # SciPy would write there
            "PolynomialCountSketch: indexHash_ must hold whole numbers from 0 to n_components - 1 = "
            f"{n_components - 1}; fit again."
        )
    maps = []
    for place, sign in zip(places, signs, strict=True):
        counts = (sign.astype(X.dtype), place, np.arange(len(place) + 1))
        maps.append(sp.csr_array(counts, shape=(len(place), n_components)))
    out = np.empty((X.shape[0], n_components), dtype=X.dtype)
    step = max(64, (1 << 20) // n_components)
    for begin in range(0, X.shape[0], step):
        rows = X[begin : begin + step]
        with np.errstate(over="ignore", invalid="ignore"):
            found = _convolved(rows, maps, gamma, coef0**0.5)
            is_huge = ~np.isfinite(found).all(axis=1)
            if is_huge.any():  # the sketch of x / c times c^degree: infinite, and never NaN
                huge = rows[np.flatnonzero(is_huge)]
                sizes = abs(huge).max(axis=1)
                largest = np.asarray(sizes.toarray() if sp.issparse(sizes) else sizes).reshape(-1, 1)
                over = sp.diags_array((1 / largest).ravel()) @ huge if sp.issparse(huge) else huge / largest
                small = _convolved(over.astype(X.dtype), maps, gamma, coef0**0.5 / largest)
                found[is_huge] = np.where(small == 0, 0, small * largest.astype(np.float64) ** len(maps))
        out[begin : begin + step] = found
    return out


def _convolved(rows: Any, maps: list[Any], gamma: float, constant: Any) -> FloatArray:
    """The inverse transform of the product of the transforms of all count sketches of (sqrt(gamma) x, constant)."""
    n_features, spectrum = rows.shape[1], None
    for signs in maps:
        sketch = rows @ (signs[:n_features] * gamma**0.5)
        sketch = sketch.toarray() if sp.issparse(sketch) else np.asarray(sketch)
        if signs.shape[0] > n_features:
            sketch = sketch + constant * signs[[n_features]].toarray()
        wave = scipy.fft.rfft(sketch.astype(rows.dtype, copy=False), axis=1, workers=effective_threads(None))
        spectrum = wave if spectrum is None else np.multiply(spectrum, wave, out=spectrum)
    found: FloatArray = scipy.fft.irfft(spectrum, n=maps[0].shape[1], axis=1, workers=effective_threads(None))
    return found
