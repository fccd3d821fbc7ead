"""Linear discriminant analysis."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_weights, check_X, check_X_labels, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._linear import linear_predictions
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Integer, Null, OneOf, Real, Rule, check_params
from mercer._parts.passes import is_parted
from mercer._posteriors import GenerativeClassifier, log_of, normalized_priors, present_classes, require_finite_rows
from mercer._statistics import GroupMoments
from mercer._trace import Outcome
from mercer._tuning import Reals, Space
from mercer.discriminant_analysis._covariances import (
    COVARIANCE_RULES,
    WHITENED,
    Classes,
    Estimate,
    off_identity,
    reached,
    standardized,
    usable_deviations,
)

NEAR = 16.0  # of a sum of products: what single precision may lose of it, no log-odds show
SINGULAR = 1e-13  # an eigenvalue of a correlation matrix that is zero but for rounding


class Solution(NamedTuple):
    """What a solver finds: the coefficients of each class about the centre, and what it says of itself."""

    coef: FloatArray  # of the inverse covariance times the means minus the centre
    centre_coef: FloatArray  # of the inverse covariance times the centre
    attributes: dict[str, Any]
    outcome: Outcome


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GenerativeClassifier):  # type: ignore[misc]
    r"""Classes as Gaussians of one covariance matrix, and the directions that set them apart.

    With the means :math:`\mu_k`, the pooled covariance :math:`\Sigma` within classes and the priors :math:`\pi_k`, a row has
    the class of the largest discriminant score

    .. math:: \delta_k(x) = x^T \Sigma^{-1} \mu_k - \tfrac12 \mu_k^T \Sigma^{-1} \mu_k + \ln \pi_k .

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" whitens the rows within classes and leaves out directions in which they do not vary; "lsqr" solves for
        :math:`\Sigma^{-1}\mu_k` alone and does not transform; "eigen" solves :math:`\Sigma_b v = \lambda \Sigma v`. The last
        two shrink.
    shrinkage : "auto", float in [0, 1] or None, default=None
        :math:`(1-s)\,\Sigma + s\,\mathrm{tr}(\Sigma)/d\; I`; "auto" takes Ledoit and Wolf's share for each class.
    priors : array-like of shape (n_classes,), default=None
        None: the shares of the classes in the weight of the rows. Priors that do not sum to one are divided by their sum, with
        a warning.
    n_components : int, default=None
        The directions that `transform` gives, at most (and by default) min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether "svd" leaves `covariance_`, which the others do in any case.
    tol : float, default=1e-4
        With "svd", directions whose deviation, of columns scaled to one, is no larger are left out.
    covariance_estimator : estimator, default=None
        Estimates the covariance of each class, for "lsqr" and "eigen", in the place of shrinkage.
    normalizer : {"n", "n-K"}, default="n"
        What the pooled scatter of K classes is divided by, in the weight of the rows: "n-K" is unbiased.

    Attributes
    ----------
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,), or (1,) for two classes
    covariance_ : array of shape (n_features, n_features)
        The covariance within classes, each with its prior as weight.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each direction in the variance between classes; of "svd" and "eigen".
    means_ : array of shape (n_classes, n_features)
    priors_ : array of shape (n_classes,)
    scalings_ : array of shape (n_features, rank)
        The directions; of "svd" and "eigen".
    xbar_ : array of shape (n_features,)
        The mean of the means by their priors; of "svd".
    certificate_ : Certificate
        Of "svd" and "eigen", how far the covariance within classes is from the identity in the directions that are kept; of
        "lsqr", the gradient that the equations of the coefficients leave.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Two passes over X: means, then the scatter about them, of O(n d^2); with "svd" and fewer rows than columns a decomposition
    of the rows, of O(n^2 d). Rows are centred before they are multiplied, in fits and predictions, so that data far from the
    origin keep their digits. A change of units of columns changes no prediction. Where the covariance is singular, "svd" and
    "lsqr" take its pseudo-inverse, for columns scaled to one, and "eigen" raises an error that says so.

    References
    ----------
    R. A. Fisher: The use of multiple measurements in taxonomic problems. Annals of Eugenics 7, 1936.

    Examples
    --------
    >>> from mercer.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])
    """

    _takes_parts = True
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "solver": OneOf("svd", "lsqr", "eigen"),
        **COVARIANCE_RULES,
        "n_components": Integer(1) | Null(),
        "store_covariance": Bool(),
        "tol": Real(least=0),
        "normalizer": OneOf("n", "n-K"),
    }
    _search_space: ClassVar[Mapping[str, Space]] = {"tol": Reals(1e-6, 0.3, log=True)}

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        normalizer: str = "n",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.normalizer = normalizer

    @fit_method
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find means, covariance and directions.

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
        labels, codes, n_rows = present_classes(labels, codes, weights)
        if n_rows <= len(labels):
            raise ValueError(
                "The number of samples must be more than the number of classes. LinearDiscriminantAnalysis: "
                f"n_samples={n_rows}, of weight above zero, and {len(labels)} classes."
            )
        n_components = self._components(params, len(labels), X.shape[1])
        task = FitTask.start(self, X, y)
        classes = Classes(X, codes, len(labels), weights, effective_threads(None))
        moments = GroupMoments.of(X, codes, len(labels), weights, n_threads=classes.n_threads)
        if not np.isfinite(moments.deviation).all():
            require_no_overflow(self, X, "squares of its columns")
        shares = moments.weight[:, 0]
        priors = (
            shares / shares.sum()
            if params.priors is None
            else normalized_priors("LinearDiscriminantAnalysis", params.priors, len(labels))
        )
        solver = _Solver(classes, moments.mean, shares, priors, estimate, params)
        found: Solution = getattr(solver, params.solver)(n_components)
        attributes = {
            "classes_": labels,
            **_as_peer(self._attributes(found, solver), X.dtype),
            "_max_components": n_components,
            "_n_features_out": n_components,
            "_centre": solver.centre,
            "_lines": found.coef,
            "_starts": log_of(priors) - 0.5 * np.einsum("ij,ij->i", solver.mean - solver.centre, found.coef),
            "_centre_line": found.centre_coef,
        }
        return self._finish(
            task, attributes, found.outcome, unset=("covariance_", "explained_variance_ratio_", "scalings_", "xbar_")
        )

    @staticmethod
    def _components(params: SimpleNamespace, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if params.n_components is not None and params.n_components > most:
            raise ValueError(
                f"LinearDiscriminantAnalysis: n_components={params.n_components} is not valid; "
                f"n_components cannot be larger than "
                f"min(n_features, n_classes - 1), here {most}."
            )
        return most if params.n_components is None else int(params.n_components)

    @staticmethod
    def _attributes(found: Solution, solver: _Solver) -> dict[str, FloatArray]:
        """What is public: coefficients about the origin, those of two classes as one line."""
        about_origin = found.coef if "xbar_" in found.attributes else found.coef + found.centre_coef
        offset = solver.mean - solver.centre
        shifted = 0.5 * np.einsum("ij,ij->i", offset, found.coef) + found.coef @ solver.centre
        if "xbar_" not in found.attributes:
            shifted = 0.5 * np.einsum("ij,ij->i", solver.mean, about_origin)
        intercept = log_of(solver.priors) - shifted
        coef = about_origin
        if len(coef) == 2:
            lines = found.coef[1] - found.coef[0]
            starts = 0.5 * (offset[1] @ found.coef[1] - offset[0] @ found.coef[0]) + lines @ solver.centre
            coef, intercept = lines[None, :], np.diff(log_of(solver.priors)) - starts
        return {"coef_": coef, "intercept_": intercept, "means_": solver.mean, "priors_": solver.priors, **found.attributes}

    def _joint_log(self, X: Any) -> FloatArray:
        """Discriminant scores about the centre: what all classes have in common is left out."""
        X = check_X(self, X, finite="deferred", reset=False)
        return require_finite_rows(self, X, _centred_values(X, self._centre, self._lines, self._starts))

    def discriminant_scores(self, X: Any) -> FloatArray:
        r"""The scores :math:`\delta_k(x)` of the formula above, a column for each class.

        With "svd" and a singular covariance, :math:`\Sigma^{-1}` is its pseudo-inverse.
        """
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        scores = _centred_values(X, self._centre, self._lines, self._starts)
        start = 0.5 * float(self._centre @ self._centre_line)
        return scores + _centred_values(X, self._centre, self._centre_line[None, :], np.array([start]))

    def decision_function(self, X: Any) -> FloatArray:
        """Values linear in X, by `coef_` and `intercept_`: for two classes the log-odds of the second, else a column a
        class."""
        check_is_fitted(self)
        if len(self.classes_) > 2 and not hasattr(self, "xbar_"):
            return self.discriminant_scores(X)
        scores = self._joint_log(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else (scores[:, 0] if scores.shape[1] == 1 else scores)

    def transform(self, X: Any) -> FloatArray:
        """The rows in the directions that set classes apart, of shape (n_samples, n_components); about `xbar_` with "svd"."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        directions = self.scalings_[:, : self._max_components].T
        starts = np.zeros(len(directions)) if hasattr(self, "xbar_") else directions @ self._centre
        return _centred_values(X, self._centre, directions, starts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _centred_values(X: FloatArray, centre: FloatArray, lines: FloatArray, starts: FloatArray) -> FloatArray:
    """(x - centre)' lines + starts, in the type of X; what its type cannot hold of the centre is made up for.

    Where the centre is near the origin, its share is no larger than the values themselves and is taken off them: rows are then
    read as they are.
    """
    values = np.empty((len(X), len(lines)), dtype=X.dtype)
    if len(lines) == 0:
        return values
    if (np.abs(lines) @ np.abs(centre)).max() <= NEAR:
        return linear_predictions(X, lines.astype(X.dtype), (starts - lines @ centre).astype(X.dtype))
    near = centre.astype(X.dtype)
    offset = starts + lines @ (near.astype(np.float64) - centre)
    factor = np.ascontiguousarray(lines.T, dtype=X.dtype)
    kernels.multiply_centred(X, near, factor, values, effective_threads(None))
    values += offset.astype(X.dtype)
    return values


class _Solver:
    """The three ways to the coefficients, from means, weights and priors of the classes."""

    def __init__(
        self,
        classes: Classes,
        mean: FloatArray,
        shares: FloatArray,
        priors: FloatArray,
        estimate: Estimate,
        params: SimpleNamespace,
    ) -> None:
        self._classes, self.mean, self._shares, self.priors = classes, mean, shares, priors
        self._estimate, self._params = estimate, params
        self.centre = priors @ mean
        self._total = float(shares.sum())
        self._factor = 1.0
        if params.normalizer == "n-K":
            if self._total <= len(mean):
                raise ValueError(
                    f"LinearDiscriminantAnalysis: normalizer='n-K' is not valid with rows of weight "
                    f"{self._total:g} in {len(mean)} "
                    "classes; it must be 'n', or the weights must sum to more."
                )
            self._factor = self._total / (self._total - len(mean))

    def svd(self, n_components: int) -> Solution:
        """Whiten within classes, then turn to the directions between the means."""
        whitening, residual = self._whitening()
        whitening /= np.sqrt(self._factor)
        n_classes = len(self.mean)
        between = np.sqrt(self._total * self.priors / max(n_classes - 1, 1))[:, None] * ((self.mean - self.centre) @ whitening)
        _, lengths, directions = np.linalg.svd(between, full_matrices=False)  # SciPy before 1.12 takes no empty matrix
        variances = lengths**2
        rank = int(np.sum(lengths > self._params.tol * lengths[0])) if len(lengths) else 0
        scalings = whitening @ directions[:rank].T
        attributes = {
            "xbar_": self.centre,
            "scalings_": scalings,
            "explained_variance_ratio_": _shares_of(variances)[:n_components],
        }
        if self._params.store_covariance:
            attributes["covariance_"] = self._covariance()
        coef = (self.mean - self.centre) @ scalings @ scalings.T
        outcome = reached("whitening within classes", WHITENED, residual)
        return Solution(coef, whitening @ (whitening.T @ self.centre), attributes, outcome)

    def lsqr(self, n_components: int) -> Solution:
        """Solve for the coefficients: those of least norm, of columns scaled to one, where the covariance is singular."""
        covariance = self._covariance()
        correlation, deviations = standardized(covariance, self.mean)
        targets = np.vstack([self.mean - self.centre, self.centre]) / deviations
        solved = scipy.linalg.lstsq(correlation, targets.T)[0]
        gradient = np.linalg.norm(correlation @ (correlation @ solved - targets.T), axis=0)
        size = np.linalg.norm(correlation)
        scale = size * (size * np.linalg.norm(solved, axis=0) + np.linalg.norm(targets, axis=1))
        residual = float(np.divide(gradient, scale, out=np.zeros_like(scale), where=scale > 0).max())
        lines = solved.T / deviations
        outcome = reached("least squares on the covariance within classes", "relative gradient", residual)
        return Solution(lines[:-1], lines[-1], {"covariance_": covariance}, outcome)

    def eigen(self, n_components: int) -> Solution:
        """Directions in which the variance between classes is largest against that within."""
        within = self._covariance()
        correlation, deviations = standardized(within, self.mean)
        one = self._classes.together()
        total = self._estimate.of_class(one, one.scatters(), 0) * self._factor
        scale = np.outer(deviations, deviations)
        least = float(scipy.linalg.eigvalsh(correlation, subset_by_index=[0, 0])[0])
        if least <= SINGULAR * len(correlation):
            raise np.linalg.LinAlgError(
                "LinearDiscriminantAnalysis: the covariance within classes is singular (the least "
                "eigenvalue of the correlations "
                f"is {least:.3g}); solver='eigen' needs shrinkage (such as shrinkage='auto'), or "
                f"solver='svd', which leaves such "
                "directions out."
            )
        values, vectors = scipy.linalg.eigh((total - within) / scale, correlation)
        outcome = reached("generalised eigenvectors", WHITENED, off_identity(vectors.T @ correlation @ vectors))
        values, vectors = values[::-1], vectors[:, ::-1] / deviations[:, None]
        attributes = {
            "covariance_": within,
            "scalings_": vectors,
            "explained_variance_ratio_": _shares_of(values)[:n_components],
        }
        coef = (self.mean - self.centre) @ vectors @ vectors.T
        return Solution(coef, vectors @ (vectors.T @ self.centre), attributes, outcome)

    def _covariance(self) -> FloatArray:
        """Within classes, each with its prior for its weight."""
        if self._estimate.is_linear:
            pooled = self._classes.pooled(self.mean, self.priors / self._shares)
            return self._factor * self._estimate.of_empirical(pooled)
        of_classes = self._estimate.of_classes(self._classes, self._classes.scatters())
        weighted: FloatArray = self._factor * np.tensordot(self.priors, of_classes, axes=1)
        return weighted

    def _whitening(self) -> tuple[FloatArray, float]:
        """A matrix A of (n_features, rank) for which A'SA = I, with S the scatter within classes over the weight of the
        rows, and what is left of that equation."""
        X, weights = self._classes.X, self._classes.weights
        if is_parted(X) or len(X) > X.shape[1]:
            covariance = self._classes.pooled(self.mean, np.full(len(self.mean), 1 / self._total))
            correlation, deviations = standardized(covariance, self.mean)
            values, vectors = scipy.linalg.eigh(correlation)
            lengths, vectors = np.sqrt(np.maximum(values[::-1], 0)), vectors[:, ::-1]
            rank = int(np.sum(lengths > self._params.tol))
            whitening = vectors[:, :rank] / lengths[:rank]
            residual = off_identity(whitening.T @ correlation @ whitening)
        else:
            rows = X - self.mean[self._classes.codes]
            rows *= np.sqrt((np.ones(len(X)) if weights is None else weights) / self._total)[:, None]
            deviations, is_constant = usable_deviations((rows**2).sum(axis=0), self.mean)
            scaled = np.where(is_constant, 0, rows / deviations)
            _, lengths, lines = scipy.linalg.svd(scaled, full_matrices=False)
            rank = int(np.sum(lengths > self._params.tol))
            whitening = lines[:rank].T / lengths[:rank]
            whitened = scaled @ whitening
            residual = off_identity(whitened.T @ whitened)
        return whitening / deviations[:, None], residual


def _as_peer(attributes: dict[str, FloatArray], dtype: Any) -> dict[str, FloatArray]:
    """In the type of X; covariances, which may be too large for it, in double precision."""
    return {name: value if name == "covariance_" else value.astype(dtype) for name, value in attributes.items()}


def _shares_of(values: FloatArray) -> FloatArray:
    total = values.sum()
    return values / total if total > 0 else np.zeros_like(values)
