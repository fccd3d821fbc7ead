"""`KernelRidge`: ridge regression in the space of a kernel's features."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._kernelized import KERNEL, check_rows, check_rows_y, is_gram, own_rows, resolved, times_values
from mercer._params import ArrayLike, InvalidParameterError, Mapped, Null, OneOf, Real, Rule, check_params, check_values
from mercer._rows import count_rows
from mercer._solvers.cholesky import Cholesky
from mercer._trace import Certificate, Outcome, Status
from mercer._tuning import Reals, Space
from mercer.kernels import Kernel, as_kernel

_TOL = 1e-8  # of the residual of the linear system, relative to the targets


class KernelRidge(MultiOutputMixin, RegressorMixin, MercerEstimator):  # type: ignore[misc]
    r"""Least squares with an l2 penalty in the space of a kernel's features, without an intercept.

    Minimises :math:`\sum_i s_i (y_i - f(x_i))^2 + \alpha \|f\|^2` over :math:`f(x) = \sum_j a_j k(x, x_j)`, where
    :math:`\|f\|^2 = a^\top K a`; the solution is :math:`(K + \alpha S^{-1}) a = y`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        Strength of the penalty, one for all targets or one each.
    kernel : str, Kernel or callable, default="linear"
        A name of `mercer.kernels.KERNELS`, a kernel of `mercer.kernels` (sums, products and kernels of sequences too), or a
        function of two rows that gives a value. With "precomputed" X is the kernel matrix.
    gamma : float, "scale", "auto" or None, default=None
        Of a kernel that is named; None is one over the number of features (1 for "chi2").
    degree : float, default=3
        Of the kernel "polynomial".
    coef0 : float, default=1
        Of the kernels "polynomial" and "sigmoid".
    kernel_params : dict, default=None
        Further arguments of a function.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The coefficients :math:`a`.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features), or list of sequences
        The rows of the fit.
    kernel_ : Kernel
        The kernel with numbers for all parameters.
    certificate_ : Certificate
        The residual of the linear system, relative to the targets.
    n_features_in_ : int
        Not where rows are sequences.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names for its columns.

    Notes
    -----
    O(n^3) by Cholesky's factor in double precision, once for each different `alpha`. Where K + alpha I is singular, the
    least-squares solution of least norm is taken, with a warning. Predictions take the memory of the result and of some rows of
    the kernel matrix.

    References
    ----------
    Saunders, Gammerman and Vovk (1998), Ridge regression learning algorithm in dual variables.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernel_ridge import KernelRidge
    >>> X = np.linspace(0, 3, 20)[:, None]
    >>> model = KernelRidge(alpha=0.01, kernel="rbf", gamma=1.0).fit(X, np.sin(2 * X[:, 0]))
    >>> model.predict([[1.0]]).round(2)
    array([0.91])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "alpha": Real(least=0) | ArrayLike(),
        "kernel": KERNEL,
        "gamma": Real(least=0) | OneOf("scale", "auto") | Null(),
        "degree": Real(least=0),
        "coef0": Real(),
        "kernel_params": Mapped() | Null(),
    }
    _input_tags = ("sparse",)
    _search_space: ClassVar[Mapping[str, Space]] = {"alpha": Reals(1e-4, 1e2, log=True)}
    _no_candidate = "its kernel matrix has a value for every pair of rows"

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_gram(self.kernel)
        return tags

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for the coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequences
            The kernel matrix, of shape (n_samples, n_samples), where the kernel is "precomputed".
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        params = check_params(self)
        named = _named_kernel(params)
        X, y = check_rows_y(self, named, X, y)
        weights = check_weights(sample_weight, count_rows(X), np.float64)
        kernel = resolved(self, named, X)
        alphas = _penalties(params.alpha, 1 if y.ndim == 1 else y.shape[1])
        task = FitTask.start(self, X, y)
        K = kernel.on(X).rows(np.arange(count_rows(X))) if is_gram(kernel) else kernel(X)
        coef, outcome = _solve(K.astype(np.float64, copy=False), y.reshape(len(y), -1), alphas, weights)
        attributes = {
            "dual_coef_": coef.reshape(y.shape).astype(K.dtype),
            "X_fit_": own_rows(X),
            "kernel_": kernel,
            "_alphas": alphas,
            "_weights": weights,
        }
        return self._finish(task, attributes, outcome)

    def predict(self, X: Any) -> FloatArray:
        """The values of f.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequences
            The kernel of other rows with those of the fit, of shape (n_samples, n_samples_fitted), where it is "precomputed".

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        X = check_rows(self, self.kernel_, X, reset=False)
        return times_values(lambda rows: self.kernel_(rows, self.X_fit_), X, count_rows(self.X_fit_), self.dual_coef_)

    def leave_one_out(self) -> FloatArray:
        r"""What each row of the fit would have been predicted to be by a fit without it, in closed form.

        :math:`y_i - a_i / [(K + \alpha S^{-1})^{-1}]_{ii}`, from one factor for each target; `alpha` must be above 0. A row of
        weight zero took no part: its prediction is that of the fit.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        alphas, weights = self._alphas, self._weights
        if (alphas == 0).any():
            raise ValueError(f"KernelRidge: leave_one_out needs alpha > 0; the fit had alpha={self.alpha!r}.")
        kernel, n = self.kernel_, count_rows(self.X_fit_)
        K = (kernel.on(self.X_fit_).rows(np.arange(n)) if is_gram(kernel) else kernel(self.X_fit_)).astype(np.float64)
        coef = self.dual_coef_.reshape(n, -1).astype(np.float64)
        left_out = K @ coef
        taken = np.ones(n, dtype=bool) if weights is None else weights > 0
        inner = K[np.ix_(taken, taken)]
        for target, alpha in enumerate(alphas):
            share = np.full(taken.sum(), alpha) if weights is None else alpha / weights[taken]
            inverse = np.diagonal(Cholesky(inner + np.diag(share)).solve(np.eye(len(inner))))
            a = coef[taken, target]
            left_out[taken, target] += a * share - a / inverse  # y = K a + alpha S^-1 a
        return left_out.reshape(self.dual_coef_.shape).astype(self.dual_coef_.dtype)


def _named_kernel(params: SimpleNamespace) -> Kernel:
    """The kernel of an estimator's parameters, which are checked."""
    try:
        return as_kernel(
            params.kernel,
            gamma=params.gamma,
            degree=params.degree,
            coef0=params.coef0,
            by="rows",
            params=params.kernel_params,
        )
    except InvalidParameterError as error:
        raise InvalidParameterError(f"KernelRidge: {error}") from None


def _penalties(alpha: Any, n_targets: int) -> FloatArray:
    """A penalty for each target."""
    alphas = np.array(check_values("KernelRidge", "alpha", np.atleast_1d(alpha).tolist(), Real(least=0)))
    if len(alphas) not in (1, n_targets):
        raise InvalidParameterError(
            f"KernelRidge: alpha={alpha!r} is not valid; it must be one number, or one for each of {n_targets} targets."
        )
    return np.broadcast_to(alphas, n_targets).copy()


def _solve(K: FloatArray, y: FloatArray, alphas: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, Outcome]:
    """The coefficients for each target, and how well they solve (S^1/2 K S^1/2 + alpha I) S^-1/2 a = S^1/2 y."""
    root = None if weights is None else np.sqrt(weights)
    scaled = K if root is None else K * root[:, None] * root
    sides = (y if root is None else y * root[:, None]).astype(np.float64)
    coef, residual, is_singular = np.empty_like(sides), 0.0, False
    for alpha in np.unique(alphas):
        targets = alphas == alpha
        system, side = scaled + alpha * np.eye(len(scaled)), sides[:, targets]
        scale = max(float(np.linalg.norm(side)), np.finfo(np.float64).tiny)
        try:
            factor = Cholesky(system)
            found = factor.solve(side)
            found += factor.solve(side - system @ found)  # one step of refinement
            left = side - system @ found
        except np.linalg.LinAlgError:
            is_singular = True
            found = scipy.linalg.lstsq(system, side)[0]
            left = system @ (side - system @ found)  # of the normal equations
            scale *= max(float(np.abs(system).sum(axis=1).max()), np.finfo(np.float64).tiny)
        coef[:, targets] = found
        residual = max(residual, float(np.linalg.norm(left)) / scale)
    if root is not None:
        coef *= root[:, None]
    fitted = K @ coef
    errors = (y - fitted) ** 2
    objective = float((errors if weights is None else errors * weights[:, None]).sum() + (alphas * coef * fitted).sum())
    status = Status.CONVERGED.given(is_reached=residual <= _TOL)
    condition = "relative residual of the normal equations" if is_singular else "relative residual of the linear system"
    method = "least squares" if is_singular else "Cholesky"
    warning = None
    if is_singular:
        warning = (
            f"the kernel matrix plus alpha={np.unique(alphas).tolist()} on its diagonal is not positive definite; the "
            "least-squares solution of least norm was taken. Raise alpha."
        )
    elif residual > _TOL:
        warning = f"the linear system is solved to a relative residual of {residual:.3g} only. Raise alpha."
    return coef, Outcome(Certificate(method, status, objective, condition, residual, _TOL), warning=warning)
