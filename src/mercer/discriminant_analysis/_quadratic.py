"""Quadratic discriminant analysis."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, check_X_labels, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._gaussians import LOG_TWO_PI, Gaussians, whitening
from mercer._parallel import effective_threads
from mercer._params import Bool, OneOf, Real, Rule, check_params
from mercer._posteriors import (
    GenerativeClassifier,
    log_of,
    normalized_priors,
    present_classes,
    require_finite_rows,
    rows_of_classes,
)
from mercer._statistics import GroupScatters
from mercer._tuning import Reals, Space
from mercer.discriminant_analysis._covariances import (
    COVARIANCE_RULES,
    WHITENED,
    Classes,
    Estimate,
    off_identity,
    reached,
    standardized,
)


class QuadraticDiscriminantAnalysis(GenerativeClassifier):
    r"""Classes as Gaussians, each of its own covariance matrix.

    With means :math:`\mu_k`, covariances :math:`\Sigma_k` and priors :math:`\pi_k`, a row has the class of the largest

    .. math:: \delta_k(x) = \ln \pi_k - \tfrac12 (x - \mu_k)^T \Sigma_k^{-1} (x - \mu_k) - \tfrac12 \ln |\Sigma_k| .

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Both decompose the covariance of each class; "eigen" shrinks it, "svd" takes `reg_param`.
    shrinkage : "auto", float in [0, 1] or None, default=None
        :math:`(1-s)\,\Sigma_k + s\,\mathrm{tr}(\Sigma_k)/d\; I`, with "eigen"; "auto" takes Ledoit and Wolf's share.
    priors : array-like of shape (n_classes,), default=None
        None: the shares of the classes in the weight of the rows. Priors that do not sum to one are divided by their sum, with
        a warning.
    reg_param : float in [0, 1], default=0.0
        :math:`(1-r)\,\Sigma_k + r\,I`, with "svd".
    store_covariance : bool, default=False
        Whether to leave `covariance_`.
    tol : float, default=1e-4
        A covariance is singular, which is an error, where an eigenvalue of its columns scaled to variance one is at most the
        square of `tol`.
    covariance_estimator : estimator, default=None
        Estimates the covariances, with "eigen", in the place of shrinkage.
    normalizer : {"n", "n-1"}, default="n"
        What the scatter of a class is divided by, in the weight of its rows: "n-1" is unbiased.

    Attributes
    ----------
    covariance_ : list of arrays of shape (n_features, n_features)
        Of each class, with `store_covariance`.
    means_ : array of shape (n_classes, n_features)
    priors_ : array of shape (n_classes,)
    rotations_ : list of arrays of shape (n_features, n_features)
        The axes of each class, in columns.
    scalings_ : list of arrays of shape (n_features,)
        The variances along them.
    certificate_ : Certificate
        How far the covariances of the classes are from the identity once they are whitened.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Two passes over X: means, then scatter matrices about them, of O(n d^2). A prediction takes O(K d^2) a row, in one kernel
    that centres a row before it multiplies it.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman: The Elements of Statistical Learning, section 4.3. Springer, 2009.

    Examples
    --------
    >>> from mercer.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])
    """

    _takes_parts = True
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "solver": OneOf("svd", "eigen"),
        **COVARIANCE_RULES,
        "reg_param": Real(least=0, most=1),
        "store_covariance": Bool(),
        "tol": Real(least=0),
        "normalizer": OneOf("n", "n-1"),
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"reg_param": Reals(1e-6, 1.0, log=True)}
    # Indicators of categories add up to one and may be constant in a class: its covariance is then singular.
    _candidate_params: ClassVar[Mapping[str, Any]] = {"reg_param": 0.1}

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        normalizer: str = "n",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.normalizer = normalizer

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the means and covariances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight two counts as two equal rows.

        Returns
        -------
        self
        """
        params = check_params(self)
        estimate = Estimate.checked(type(self).__name__, params)
        X, labels, codes = check_X_labels(self, X, y, one_class=True)
        weights = check_weights(sample_weight, len(X), np.float64)
        labels, codes, _ = present_classes(labels, codes, weights)
        if len(labels) < 2:
            raise ValueError("QuadraticDiscriminantAnalysis: The number of classes has to be greater than one. Got 1 class.")
        task = FitTask.start(self, X, y)
        classes = Classes(X, codes, len(labels), weights, effective_threads(None))
        scatters = classes.scatters()
        if not np.isfinite(scatters.scatter).all():
            require_no_overflow(self, X, "squares of its columns")
        _require_rows(classes, labels, params)
        shares = scatters.weight / scatters.weight.sum()
        priors = shares if params.priors is None else normalized_priors(type(self).__name__, params.priors, len(labels))
        covariances = [self._covariance(params, estimate, classes, scatters, code, label) for code, label in enumerate(labels)]
        factors, residuals = zip(
            *(
                _whitening(covariance, mean, label, params)
                for covariance, mean, label in zip(covariances, scatters.mean, labels, strict=True)
            ),
            strict=True,
        )
        axes = [_axes(covariance) for covariance in covariances]
        attributes = {
            "classes_": labels,
            "means_": scatters.mean.astype(X.dtype),
            "priors_": priors,
            "scalings_": [variances for variances, _ in axes],
            "rotations_": [directions for _, directions in axes],
            "_means": scatters.mean,
            "_factors": np.stack(factors),
            "_log_priors": log_of(priors),
        }
        if params.store_covariance:
            attributes["covariance_"] = covariances
        outcome = reached("Cholesky factors of the covariances", WHITENED, max(residuals))
        return self._finish(task, attributes, outcome, unset=("covariance_",))

    @staticmethod
    def _covariance(
        params: SimpleNamespace, estimate: Estimate, classes: Classes, scatters: GroupScatters, code: int, label: Any
    ) -> FloatArray:
        """Of a class."""
        covariance = estimate.of_class(classes, scatters, code)
        weight = scatters.weight[code]
        if params.normalizer == "n-1":
            if weight <= 1:
                raise ValueError(
                    f"QuadraticDiscriminantAnalysis: normalizer='n-1' is not valid with rows of weight {weight:g} in class "
                    f"{label}; it must be 'n', or the weights must sum to more than one."
                )
            covariance = covariance * (weight / (weight - 1))
        if params.solver == "svd":
            covariance = (1 - params.reg_param) * covariance + params.reg_param * np.eye(len(covariance))
        return covariance

    def discriminant_scores(self, X: Any) -> FloatArray:
        r"""The scores :math:`\delta_k(x)` of the formula above, a column for each class."""
        check_is_fitted(self)
        return self._joint_log(X)

    def _joint_log(self, X: Any) -> FloatArray:
        X = check_X(self, X, finite="deferred", reset=False)
        constants = self._log_priors + len(self._means[0]) * LOG_TWO_PI / 2  # which the scores leave out
        return require_finite_rows(self, X, Gaussians(self._means, self._factors, "full", constants).log_densities(X))

    def decision_function(self, X: Any) -> FloatArray:
        """The discriminant scores, a column for each class; for two classes the log-odds of the second."""
        scores = self.discriminant_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


def _whitening(covariance: FloatArray, mean: FloatArray, label: Any, params: SimpleNamespace) -> tuple[FloatArray, float]:
    """A triangular P with P P' the inverse covariance S, by the correlations: units do not matter. An error where they are
    singular. And what is left of P'SP - I."""
    correlation, deviations = standardized(covariance, mean[None, :])
    least = float(scipy.linalg.eigvalsh(correlation, subset_by_index=[0, 0])[0])
    if not least > params.tol**2:
        raise np.linalg.LinAlgError(_singular(params, label, least))
    factor = whitening(correlation, "tied")
    return factor / deviations[:, None], off_identity(factor.T @ correlation @ factor)


def _axes(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variances along the axes of a covariance, the largest first, and the axes, the largest value of each positive."""
    variances, axes = scipy.linalg.eigh(covariance)
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])
    return np.maximum(variances[::-1], 0), axes[:, ::-1]


def _require_rows(classes: Classes, labels: Any, params: SimpleNamespace) -> None:
    """Refuse classes of one row, and those of too few rows for a covariance that nothing makes regular."""
    n_rows = rows_of_classes(classes.codes, classes.weights, len(labels))
    if (n_rows == 1).any() and not (params.solver == "svd" and params.reg_param > 0):
        raise ValueError(
            f"QuadraticDiscriminantAnalysis: y has only 1 sample in class {labels[n_rows.argmin()]}, "
            f"covariance is ill defined. Leave "
            "the class out, or use LinearDiscriminantAnalysis, whose classes share a covariance."
        )
    n_features = classes.X.shape[1]
    if params.solver == "svd" and params.reg_param == 0 and (n_rows <= n_features).any():
        code = int(n_rows.argmin())
        raise np.linalg.LinAlgError(
            f"The covariance matrix of class {labels[code]} is not full rank. When using "
            f"`solver='svd'` the number of samples in each "
            f"class should be more than the number of features, but class {labels[code]} has "
            f"{n_rows[code]} samples and {n_features} "
            "features. Try using `solver='eigen'` and setting the parameter `shrinkage` for regularization, or `reg_param`."
        )


def _singular(params: SimpleNamespace, label: Any, least: float) -> str:
    remedy = "shrinkage" if params.solver == "eigen" else "reg_param"
    return (
        f"The covariance matrix of class {label} is not full rank. Increase the value of `{remedy}` to "
        f"reduce the collinearity: the "
        f"least eigenvalue of the correlations of its columns is {least:.3g}, with tol={params.tol:g} (squared) to exceed."
    )
