"""`Nystroem`: any kernel by its values with some rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._kernelized import (
    KERNEL,
    check_rows,
    gram,
    is_gram,
    kernel_of,
    multiply,
    resolved,
    times_kernel,
    without_nan,
)
from mercer._parallel import effective_threads, thread_share
from mercer._params import (
    Integer,
    InvalidParameterError,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    check_params,
)
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows
from mercer._solvers.cholesky import Cholesky
from mercer._trace import warn
from mercer.kernel_approximation._measured import approximation_error
from mercer.kernels import Kernel


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Features of any kernel from its values with some rows, the landmarks.

    :math:`z(x) = K_{LL}^{-1/2} k_L(x)`, so that :math:`z(x)^\top z(y) = k_L(x)^\top K_{LL}^{-1} k_L(y)`: the kernel of what of
    x and y lies in the span of the landmarks.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A name of `mercer.kernels.KERNELS`, a kernel of `mercer.kernels` (of sequences too), or a function of two rows that
        gives a value. With "precomputed" X is the kernel matrix.
    gamma : float, "scale", "auto" or None, default=None
        Of a kernel that is named; None is the kernel's own default.
    coef0 : float or None, default=None
        Of the kernels "polynomial" and "sigmoid"; None is 1.
    degree : float or None, default=None
        Of the kernel "polynomial"; None is 3.
    kernel_params : dict, default=None
        Further arguments of a function.
    n_components : int, default=100
        The number of landmarks, and of features.
    random_state : int, RandomState or None, default=None
        Draws of "random" are those of scikit-learn.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use.
    landmarks : {"random", "kmeans", "leverage"}, default="random"
        Rows that are drawn; the centres of as many clusters, for dense rows of numbers; or rows that are drawn by their ridge
        leverage scores, estimated from a first draw: those that others do not stand for.

    Attributes
    ----------
    components_ : {ndarray, sparse matrix} of shape (n_components, n_features), or list of sequences
        The landmarks.
    component_indices_ : ndarray of shape (n_components,)
        Which rows they are; not with "kmeans".
    normalization_ : ndarray of shape (n_components, n_components)
        :math:`K_{LL}^{-1/2}`.
    kernel_ : Kernel
        The kernel with numbers for all parameters.
    approximation_error_ : float
        :math:`\|ZZ^\top - K\|_F / \|K\|_F` of up to 256 rows of the fit.
    n_features_in_ : int
        Not where rows are sequences.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    O(m^3) for m landmarks, and O(m (d + m)) a row to transform. The kernel of some rows at a time is held.

    References
    ----------
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines. Landmarks: Zhang, Tsang and Kwok (2008),
    Improved Nyström low-rank approximation and error analysis; Musco and Musco (2017), Recursive sampling for the Nyström
    method.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_approximation import Nystroem
    >>> X = np.random.RandomState(0).randn(300, 3)
    >>> for landmarks in ("random", "kmeans"):
    ...     features = Nystroem(gamma=0.1, n_components=40, landmarks=landmarks, random_state=0).fit(X)
    ...     print(features.approximation_error_ < 0.02)
    True
    True
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "kernel": KERNEL,
        "gamma": Real(least=0) | OneOf("scale", "auto") | Null(),
        "coef0": Real() | Null(),
        "degree": Real(least=1) | Null(),
        "kernel_params": Mapped() | Null(),
        "n_components": Integer(1),
        "random_state": RandomState(),
        "n_jobs": NumberOfJobs(),
        "landmarks": OneOf("random", "kmeans", "leverage"),
    }
    _input_tags = ("sparse",)

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: Any = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: str = "random",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_gram(self.kernel)
        return tags

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequences
            The kernel matrix, of shape (n_samples, n_samples), where the kernel is "precomputed".
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        named = _kernel(self, params)
        X = check_rows(self, named, X, reset=True)
        kernel = resolved(self, named, X)
        n_rows = count_rows(X)
        task = FitTask.start(self, X)
        with thread_share(effective_threads(params.n_jobs)):
            chosen, components = _landmarks(X, kernel, min(params.n_components, n_rows), params)
            inner = np.ascontiguousarray(components[:, chosen]) if is_gram(kernel) else gram(self, kernel, components)
            left, sizes, right = np.linalg.svd(inner)
            normalization = (left / np.sqrt(np.maximum(sizes, 1e-12))) @ right
            attributes = {
                "components_": components,
                "normalization_": normalization,
                "kernel_": kernel,
                "_n_features_out": count_rows(components),
                **({} if chosen is None else {"component_indices_": chosen}),
            }
            found = SimpleNamespace(**attributes)
            attributes["approximation_error_"] = _error(self, found, X)
        if params.n_components > n_rows:
            warn(
                "n_components > n_samples. This is not possible.\n"
                "n_components was set to n_samples, which results in inefficient evaluation of the full kernel."
            )
        return self._finish(task, attributes, unset=("component_indices_",))

    def transform(self, X: Any) -> FloatArray:
        """The features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequences
            The kernel of other rows with those of the fit, of shape (n_samples, n_samples_fitted), where it is "precomputed".

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_rows(self, self.kernel_, X, reset=False)
        with thread_share(effective_threads(self.n_jobs)):
            return without_nan(self, X, _features(self, X))


def _kernel(estimator: Any, params: SimpleNamespace) -> Kernel:
    """The kernel of the parameters; those of named kernels belong to no other."""
    own = {name: getattr(params, name) for name in ("gamma", "coef0", "degree") if getattr(params, name) is not None}
    if own and (not isinstance(params.kernel, str) or is_gram(params.kernel)):
        raise InvalidParameterError(
            f"Nystroem: {', '.join(f'{name}={value!r}' for name, value in own.items())} cannot be given with "
            f"kernel={params.kernel!r}. Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed "
            "kernel, or a Kernel, which has its own."
        )
    return kernel_of(estimator, params, **own)


def _landmarks(X: Any, kernel: Kernel, n_components: int, params: SimpleNamespace) -> tuple[Any, Any]:
    """Which rows are landmarks (None: no rows), and the landmarks."""
    random, n_rows = as_random_state(params.random_state), count_rows(X)
    if params.landmarks == "kmeans":
        return None, _centres(X, kernel, n_components, random)
    chosen = random.permutation(n_rows)[:n_components]
    if params.landmarks == "leverage" and n_components < n_rows:
        scores = _leverage(X, kernel, chosen)
        chosen = random.choice(n_rows, size=n_components, replace=False, p=scores / scores.sum())
    return chosen, take_rows(X, chosen)


def _centres(X: Any, kernel: Kernel, n_components: int, random: np.random.RandomState) -> FloatArray:
    """The centres of as many clusters."""
    from mercer.cluster import KMeans

    if kernel.takes != "numbers" or sp.issparse(X):
        raise ValueError("Nystroem: landmarks='kmeans' needs dense rows of numbers; choose 'random' or 'leverage'.")
    centres: FloatArray = KMeans(n_components, n_init=1, max_iter=20, tol=0.01, random_state=random).fit(X).cluster_centers_
    return centres


def _leverage(X: Any, kernel: Kernel, pilot: Any) -> FloatArray:
    """Ridge leverage scores of all rows, up to a factor: k(x, x) - k_P(x)' (K_PP + r I)^-1 k_P(x), from a pilot draw P.

    The ridge r is the mean of the lower half of the eigenvalues of K_PP (Musco and Musco 2017, with one level).
    """
    n_pilot = len(pilot)
    basis = take_rows(X, pilot)
    inner = (np.ascontiguousarray(basis[:, pilot]) if is_gram(kernel) else kernel(basis)).astype(np.float64)
    spectrum = np.maximum(scipy.linalg.eigvalsh((inner + inner.T) / 2), 0)
    ridge = max(float(spectrum[: (n_pilot + 1) // 2].mean()), 1e-10 * float(spectrum.max(initial=0)), np.finfo(np.float64).tiny)
    factor = Cholesky(inner + ridge * np.eye(n_pilot))
    diagonal = kernel.diagonal(X)
    values = X[:, pilot] if is_gram(kernel) else kernel(X, basis)
    solved = factor.solve(values.T.astype(np.float64))
    scores: FloatArray = diagonal - np.einsum("ij,ji->i", values, solved)
    return np.maximum(scores, 1e-12 * max(float(diagonal.max(initial=0)), 1e-300))


def _features(fitted: Any, X: Any) -> FloatArray:
    """Values of the kernel with the landmarks, times the root of the inverse of those among them."""
    components, normalization = fitted.components_, np.ascontiguousarray(fitted.normalization_.T)
    if is_gram(fitted.kernel_):
        return multiply(np.ascontiguousarray(X[:, fitted.component_indices_]), normalization)
    return times_kernel(fitted.kernel_.on(components), X, normalization)


def _error(estimator: Any, found: Any, X: Any) -> float:
    if not is_gram(found.kernel_):
        return approximation_error(estimator, found.kernel_, lambda rows: _features(found, rows), X)
    # Rows of a kernel matrix: the values among some of them are columns of it too.
    some = np.unique(np.linspace(0, len(X) - 1, min(len(X), 256)).astype(np.int64))
    return approximation_error(estimator, lambda rows: rows[:, some], lambda rows: _features(found, rows), X[some])
