"""`KernelPCA`: principal components in the space of a kernel's features."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.extmath import randomized_range_finder
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, require_finite
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._kernelized import KERNEL, check_rows, is_gram, multiply, own_rows, resolved, times_values
from mercer._parallel import effective_threads, thread_share
from mercer._params import (
    Bool,
    Integer,
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
from mercer._rows import count_rows
from mercer._solvers.cholesky import Cholesky
from mercer._trace import Certificate, Outcome, Status
from mercer.kernels import Kernel, as_kernel

_TOL = 1e-6  # of the residuals of eigenpairs, relative to the largest eigenvalue
_ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 2e-7}  # of an eigenvalue that is zero, beside the largest


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]
    r"""Principal components of the features of a kernel, from the eigenvectors of the centred kernel matrix.

    With :math:`H = I - 11^\top / n` and :math:`H K H v_j = \lambda_j v_j` the components of the rows of the fit are
    :math:`\sqrt{\lambda_j} v_j`, and those of others :math:`v_j^\top \tilde k(x) / \sqrt{\lambda_j}` of their centred kernel.

    Parameters
    ----------
    n_components : int or None, default=None
        None keeps all whose eigenvalue is not zero.
    kernel : str, Kernel or callable, default="linear"
        A name of `mercer.kernels.KERNELS`, a kernel of `mercer.kernels`, or a function of two rows that gives a value. With
        "precomputed" X is the kernel matrix.
    gamma : float, "scale", "auto" or None, default=None
        Of a kernel that is named; None is one over the number of features.
    degree : float, default=3
        Of the kernel "poly".
    coef0 : float, default=1
        Of the kernels "poly" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of a function.
    alpha : float, default=1
        The penalty of the ridge regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Whether to learn it: rows from their components.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "auto" is "arpack" for less than 10 components of more than 200 rows, and "dense" otherwise.
    tol : float, default=0
        Of "arpack"; 0 is the precision of the machine.
    max_iter : int or None, default=None
        Of "arpack"; None leaves it to SciPy.
    iterated_power : int or "auto", default="auto"
        Power iterations of "randomized"; "auto" is 7 for less than a tenth of all components, and 4 otherwise.
    remove_zero_eig : bool, default=False
        Whether components with an eigenvalue of zero are left out, so that there may be fewer than `n_components`.
    random_state : int, RandomState or None, default=None
        The start of "arpack", and the draws of "randomized".
    copy_X : bool, default=True
        Whether the rows of the fit are copied. They are the user's own otherwise, and must not change.
    n_jobs : int or None, default=None
        The number of threads of the kernel; None uses all that Mercer may use.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        In descending order.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Of unit length.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        The ridge regression of the way back, with `fit_inverse_transform`.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        The components of the rows of the fit, with `fit_inverse_transform`.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features), or list of sequences
    kernel_ : Kernel
        The kernel with numbers for all parameters.
    gamma_ : float
        The number that `gamma` stands for, where the kernel has one.
    certificate_ : Certificate
        The largest residual of an eigenpair, relative to the largest eigenvalue.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    The kernel matrix is held; its eigenvectors take O(n^3) ("dense"), or O(n^2 n_components) for each pass of the others.

    References
    ----------
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.decomposition import KernelPCA
    >>> angles = np.linspace(0, 6, 40)
    >>> X = np.outer(np.tile([1.0, 3.0], 20), [1, 1]) * np.column_stack([np.cos(angles), np.sin(angles)])
    >>> KernelPCA(n_components=2, kernel="rbf", gamma=0.5).fit_transform(X).shape
    (40, 2)
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": Integer(1) | Null(),
        "kernel": KERNEL,
        "gamma": Real(least=0) | OneOf("scale", "auto") | Null(),
        "degree": Real(least=0),
        "coef0": Real(),
        "kernel_params": Mapped() | Null(),
        "alpha": Real(least=0),
        "fit_inverse_transform": Bool(),
        "eigen_solver": OneOf("auto", "dense", "arpack", "randomized"),
        "tol": Real(least=0),
        "max_iter": Integer(1) | Null(),
        "iterated_power": Integer(0) | OneOf("auto"),
        "remove_zero_eig": Bool(),
        "random_state": RandomState(),
        "copy_X": Bool(),
        "n_jobs": NumberOfJobs(),
    }
    _input_tags = ("sparse",)

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_gram(self.kernel)
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

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
        named = as_kernel(
            params.kernel,
            gamma=params.gamma,
            degree=params.degree,
            coef0=params.coef0,
            by="rows",
            params=params.kernel_params,
        )
        _check_way_back(params, named)
        X = check_rows(self, named, X, reset=True)
        if params.fit_inverse_transform and sp.issparse(X):
            raise NotImplementedError("KernelPCA: Inverse transform not implemented for sparse matrices!")
        kernel = resolved(self, named, X)
        task = FitTask.start(self, X)
        with thread_share(effective_threads(params.n_jobs)):
            K = kernel.on(X).rows(np.arange(count_rows(X))) if is_gram(kernel) else kernel(X)
            means = K.mean(axis=0, dtype=np.float64)
            _centre(K, means, means)
            values, vectors, outcome = _eigenpairs(K, params)
            del K
            attributes = {
                "eigenvalues_": values,
                "eigenvectors_": vectors,
                "X_fit_": own_rows(X) if params.copy_X else X,
                "kernel_": kernel,
                "gamma_": getattr(kernel, "gamma", None),
                "_column_means": means,
            }
            if params.fit_inverse_transform:
                attributes |= _way_back(X, vectors * np.sqrt(values), kernel, params.alpha)
        return self._finish(task, attributes, outcome, unset=("dual_coef_", "X_transformed_fit_"))

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> FloatArray:
        """Find the components, and those of X.

        Parameters
        ----------
        X : as of `fit`
        y : ignored
        **params
            As of `fit`.

        Returns
        -------
        components : ndarray of shape (n_samples, n_components)
        """
        self.fit(X, y, **params)
        return np.asarray(self.eigenvectors_ * np.sqrt(self.eigenvalues_))

    def transform(self, X: Any) -> FloatArray:
        """The components of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequences
            The kernel of other rows with those of the fit, of shape (n_samples, n_samples_fitted), where it is "precomputed".

        Returns
        -------
        components : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = check_rows(self, self.kernel_, X, reset=False)
        roots = np.sqrt(self.eigenvalues_)
        scaled = np.divide(self.eigenvectors_, roots, out=np.zeros_like(self.eigenvectors_), where=roots > 0)

        def centred(rows: Any) -> FloatArray:
            values = self.kernel_(rows, self.X_fit_)
            _centre(values, values.mean(axis=1, dtype=np.float64), self._column_means)
            return values

        with thread_share(effective_threads(self.n_jobs)):
            return times_values(centred, X, count_rows(self.X_fit_), scaled)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Rows from their components, by the ridge regression that `fit_inverse_transform` asks for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform is "
                "not available."
            )
        check_is_fitted(self, "dual_coef_")
        components = np.ascontiguousarray(X, dtype=self.X_transformed_fit_.dtype)
        if components.ndim != 2 or components.shape[1] != self.X_transformed_fit_.shape[1]:
            raise ValueError(
                f"KernelPCA: X has shape {components.shape}; it must have {self.X_transformed_fit_.shape[1]} columns, one for "
                "each component."
            )
        require_finite(self, components)
        known = self.X_transformed_fit_
        return times_values(lambda rows: self.kernel_(rows, known), components, len(known), self.dual_coef_)


def _way_back(X: FloatArray, components: FloatArray, kernel: Kernel, alpha: float) -> dict[str, Any]:
    """Ridge regression of the rows on their components, with the same kernel (Bakir, Weston and Schölkopf 2004)."""
    components = np.ascontiguousarray(components)
    K = kernel(components).astype(np.float64)
    K.flat[:: len(K) + 1] += alpha
    try:
        coef = Cholesky(K).solve(X.astype(np.float64))
    except np.linalg.LinAlgError:
        raise ValueError(
            f"KernelPCA: the kernel matrix of the components plus alpha={alpha} is not positive definite; raise alpha."
        ) from None
    return {"dual_coef_": coef.astype(X.dtype), "X_transformed_fit_": components}


def _check_way_back(params: SimpleNamespace, kernel: Kernel) -> None:
    if not params.fit_inverse_transform:
        return
    if is_gram(kernel):
        raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
    if kernel.takes != "numbers":
        raise ValueError(f"KernelPCA: fit_inverse_transform=True needs rows of numbers; {kernel!r} takes {kernel.takes}.")


def _centre(K: FloatArray, row_means: FloatArray, column_means: FloatArray) -> None:
    """K - 1 column_means' - row_means 1' + mean, in place."""
    K -= column_means.astype(K.dtype)
    K -= (row_means - column_means.mean()).astype(K.dtype)[:, None]


def _eigenpairs(K: FloatArray, params: SimpleNamespace) -> tuple[FloatArray, FloatArray, Outcome]:
    """The largest eigenvalues of a symmetric matrix and their vectors, and how exact they are."""
    n = len(K)
    n_components = n if params.n_components is None else min(n, params.n_components)
    solver, warning = params.eigen_solver, None
    if solver == "auto":
        solver = "arpack" if n > 200 and n_components < 10 else "dense"
    if solver == "arpack" and n_components >= n:
        raise ValueError(
            f"KernelPCA: eigen_solver='arpack' finds fewer components than there are rows ({n}); n_components="
            f"{params.n_components!r} is not valid. Choose eigen_solver='dense'."
        )
    if solver == "dense":
        values, vectors = scipy.linalg.eigh(K, subset_by_index=(n - n_components, n - 1))
    elif solver == "arpack":
        values, vectors, warning = _by_arpack(K, n_components, params)
    else:
        values, vectors = _by_random_range(K, n_components, params)
    order = np.argsort(values)[::-1]
    values, vectors = _not_negative(values[order], K.dtype), vectors[:, order]
    largest = np.argmax(np.abs(vectors), axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)
    if params.remove_zero_eig or params.n_components is None:
        values, vectors = values[values > 0], vectors[:, values > 0]
    vectors = np.ascontiguousarray(vectors)
    residual = _largest_residual(K, values, vectors)
    status = Status.CONVERGED.given(is_reached=residual <= _TOL)
    if warning is None and residual > _TOL:
        remedy = "Raise iterated_power" if solver == "randomized" else "Lower tol"
        warning = f"the eigenpairs have a relative residual of {residual:.3g}. {remedy} or choose eigen_solver='dense'."
    if solver == "randomized":
        warning = None  # who asks for draws knows that they are rough: the certificate says how rough
    certificate = Certificate(solver, status, None, "largest relative residual of an eigenpair", residual, _TOL)
    return values, vectors, Outcome(certificate, warning=warning)


def _by_arpack(K: FloatArray, n_components: int, params: SimpleNamespace) -> tuple[FloatArray, FloatArray, str | None]:
    start = as_random_state(params.random_state).uniform(-1, 1, len(K))
    try:
        values, vectors = eigsh(K, n_components, which="LA", tol=params.tol, maxiter=params.max_iter, v0=start)
        return values, vectors, None
    except ArpackNoConvergence as error:
        found = len(error.eigenvalues)
        raise ValueError(
            f"KernelPCA: ARPACK found {found} of {n_components} eigenpairs in max_iter={params.max_iter!r} iterations. Raise "
            "max_iter or tol, or choose eigen_solver='dense'."
        ) from None


def _by_random_range(K: FloatArray, n_components: int, params: SimpleNamespace) -> tuple[FloatArray, FloatArray]:
    """The eigenpairs of the matrix in the range of its product with random vectors (Halko, Martinsson and Tropp 2011)."""
    n_random = min(n_components + 10, len(K))
    n_iter = params.iterated_power
    if n_iter == "auto":
        n_iter = 7 if n_components < 0.1 * len(K) else 4
    basis = randomized_range_finder(
        K, size=n_random, n_iter=n_iter, power_iteration_normalizer="auto", random_state=params.random_state
    )
    small = basis.T @ multiply(K, np.ascontiguousarray(basis))
    values, vectors = scipy.linalg.eigh((small + small.T) / 2)
    chosen = np.argsort(np.abs(values))[::-1][:n_components]  # by size, as scikit-learn does
    return values[chosen], basis @ vectors[:, chosen]


def _not_negative(values: FloatArray, dtype: Any) -> FloatArray:
    """Eigenvalues with zeros where rounding alone is left; an error where one is far below zero, as of no Mercer kernel."""
    most = max(float(values.max(initial=0.0)), 0.0)
    least = float(values.min(initial=0.0))
    allowed = 1e-5 if dtype == np.float64 else 5e-3  # what scikit-learn allows, beside the largest
    if least < -allowed * most and least < -1e-10:
        raise ValueError(
            f"There are significant negative eigenvalues ({-least / max(most, 1e-300):g} of the maximum positive): the most "
            f"negative eigenvalue of the centred kernel matrix is {least:.6g}. Either the matrix is not PSD, or there was an "
            "issue while computing the eigendecomposition of the matrix."
        )
    if most == 0 and least < 0 and least < -1e-10:
        raise ValueError("All eigenvalues are negative (maximum is 0). Either the matrix is not PSD, or there was an issue.")
    rounding = _ROUNDING[np.dtype(dtype)]
    return np.where(values < max(rounding * most, 0), 0, values).astype(dtype)


def _largest_residual(K: FloatArray, values: FloatArray, vectors: FloatArray) -> float:
    """|K v - lambda v| of the first and the last few eigenpairs, beside the largest eigenvalue."""
    if len(values) == 0 or values[0] == 0:
        return 0.0
    some = np.unique(np.linspace(0, len(values) - 1, min(len(values), 16)).astype(int))
    left = multiply(K, np.ascontiguousarray(vectors[:, some])) - values[some] * vectors[:, some]
    return float(np.linalg.norm(left.astype(np.float64), axis=0).max() / float(values[0]))
