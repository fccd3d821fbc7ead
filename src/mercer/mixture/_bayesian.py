"""Mixtures of Gaussians by variational Bayes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, digamma, gammaln

from mercer._arrays import FloatArray, require_no_overflow
from mercer._gaussians import (
    LOG_TWO_PI,
    CovarianceType,
    Moments,
    SingularCovarianceError,
    inverse_traces,
    log_determinants,
    precisions_of,
    require_positive,
    whitening,
)
from mercer._params import ArrayLike, Null, OneOf, Real, Rule
from mercer.mixture._base import BaseMixture
from mercer.mixture._given import check_given
from mercer.mixture._rows import Rows

SINGULAR = 1e-12  # of the largest variance along any direction


@dataclass(frozen=True)
class Priors:
    """What is believed before the rows are seen."""

    is_process: bool  # of the weights: a Dirichlet process, or a Dirichlet law
    concentration: float
    mean_precision: float
    mean: FloatArray
    degrees_of_freedom: float
    covariance: FloatArray  # a matrix, a diagonal or one variance

    @classmethod
    def of(cls, rows: Rows, params: SimpleNamespace) -> Priors:
        kind, d = params.covariance_type, rows.X.shape[1]
        degrees = float(d) if params.degrees_of_freedom_prior is None else params.degrees_of_freedom_prior
        if degrees <= d - 1:
            raise ValueError(
                "BayesianGaussianMixture: The parameter 'degrees_of_freedom_prior' should be greater than "
                f"{d - 1}, but got {degrees:.3f}."
            )
        mean, covariance = params.mean_prior, params.covariance_prior
        return cls(
            params.weight_concentration_prior_type == "dirichlet_process",
            1 / params.n_components if params.weight_concentration_prior is None else params.weight_concentration_prior,
            1.0 if params.mean_precision_prior is None else params.mean_precision_prior,
            _mean_of(rows) if mean is None else check_given("means", mean, (d,)),
            degrees,
            _covariance_of(rows, kind, params.reg_covar) if covariance is None else _check_covariance(covariance, kind, d),
        )

    def attributes(self) -> dict[str, Any]:
        return {
            "weight_concentration_prior_": self.concentration,
            "mean_precision_prior_": self.mean_precision,
            "mean_prior_": self.mean,
            "degrees_of_freedom_prior_": self.degrees_of_freedom,
            "covariance_prior_": self.covariance,
        }


def _mean_of(rows: Rows) -> FloatArray:
    mean: FloatArray = np.average(rows.complete().astype(np.float64, copy=False), axis=0, weights=rows.weights)
    return mean


def _covariance_of(rows: Rows, kind: CovarianceType, reg_covar: float) -> Any:
    """The covariance of the rows, each of which counts by its weight; with the noise where it is singular without."""
    shares = np.ones((len(rows.X), 1)) if rows.weights is None else rows.weights[:, None]
    moments = Moments.of(rows.complete(), shares, _mean_of(rows)[None], kind)
    covariance = moments.scatter()[0] / (rows.total - 1 if rows.total > 1 else rows.total)
    if not np.isfinite(covariance).all():
        require_no_overflow("BayesianGaussianMixture", rows.complete(), "products of its columns")
    if kind == "spherical":
        covariance = covariance.mean()
    spectrum = np.linalg.eigvalsh(covariance) if moments.is_full else covariance
    if np.min(spectrum) <= SINGULAR * np.max(spectrum):
        covariance = covariance + reg_covar * (np.eye(len(covariance)) if moments.is_full else 1)
    return float(covariance) if kind == "spherical" else covariance


def _check_covariance(value: Any, kind: CovarianceType, n_features: int) -> Any:
    shapes: dict[str, tuple[int, ...]] = {"full": (n_features, n_features), "diag": (n_features,), "spherical": ()}
    covariance = check_given(f"{kind} covariance_prior", value, shapes["full" if kind == "tied" else kind])
    require_positive(f"'{kind} precision'", covariance, "tied" if kind in ("full", "tied") else "diag")
    return float(covariance) if kind == "spherical" else covariance


class Variational:
    """The posterior laws, and the steps that raise the lower bound of the evidence.

    Shares r and laws q(pi), q(mean_k, precision_k) are optimal in turns. Given the shares, the laws are those of conjugate
    priors. The noise of variance `reg_covar` is in both steps, so that the bound never falls.
    """

    def __init__(self, rows: Rows, kind: CovarianceType, reg_covar: float, priors: Priors) -> None:
        self._rows, self.covariance_type, self._reg_covar, self.priors = rows, kind, reg_covar, priors

    def update(self, moments: Moments) -> None:
        """The laws that are optimal for shares with these moments."""
        shares, priors, k = moments.shares, self.priors, len(moments.shares)
        self.concentration: Any = priors.concentration + shares
        if priors.is_process:
            behind = np.append(np.cumsum(shares[::-1])[-2::-1], 0)
            self.concentration = (1 + shares, priors.concentration + behind)
        self.mean_precision = priors.mean_precision + shares
        row_means = moments.means()
        off = row_means - priors.mean
        self.means = priors.mean + off * (shares / self.mean_precision)[:, None]
        # What a component's rows add to its scatter about the prior mean, and the noise.
        pull = shares * (priors.mean_precision / self.mean_precision)
        noise = self._reg_covar * shares
        scatter = moments.scatter()
        if moments.is_full:
            scatter += pull[:, None, None] * (off[:, :, None] * off[:, None, :]) + noise[:, None, None] * np.eye(off.shape[1])
        else:
            scatter += pull[:, None] * off**2 + noise[:, None]
        self.degrees_of_freedom: Any = priors.degrees_of_freedom + shares
        if self.covariance_type == "tied":
            self.degrees_of_freedom = priors.degrees_of_freedom + shares.sum() / k
            self.covariances = (priors.covariance + scatter.sum(axis=0) / k) / self.degrees_of_freedom
        elif self.covariance_type == "full":
            self.covariances = (priors.covariance + scatter) / self.degrees_of_freedom[:, None, None]
        elif self.covariance_type == "diag":
            self.covariances = (priors.covariance + scatter) / self.degrees_of_freedom[:, None]
        else:
            self.covariances = (priors.covariance + scatter.mean(axis=1)) / self.degrees_of_freedom
        try:
            self.factors = whitening(self.covariances, self.covariance_type)
        except SingularCovarianceError as error:
            raise ValueError(
                "BayesianGaussianMixture: Fitting the mixture model failed because some components have ill-defined empirical "
                f"covariance (components {error.components}). Try to decrease the number of components, increase "
                f"reg_covar={self._reg_covar:g} or covariance_prior, or scale the input data."
            ) from error

    @property
    def log_weights(self) -> FloatArray:
        return expected_logs(self.concentration, self.mean_precision, self.degrees_of_freedom, self.means.shape[1])

    def _offsets(self) -> FloatArray:
        traces = inverse_traces(self.factors, self.covariance_type, self.means.shape[1])
        offsets: FloatArray = self.log_weights - self._reg_covar / 2 * traces
        return offsets

    def expect(self) -> tuple[tuple[Moments, float], float]:
        """The moments and the entropy of the shares (and of what is expected of missing cells)."""
        offsets, d = self._offsets(), self.means.shape[1]
        moments, total = self._rows.expect(self.means, self.covariances, self.factors, self.covariance_type, offsets)
        constants = log_determinants(self.factors, self.covariance_type, d) - d * LOG_TWO_PI / 2 + offsets
        precisions = precisions_of(self.factors, self.covariance_type)
        if self.covariance_type == "spherical":
            squares = precisions * moments.seconds.sum(axis=1)
        else:
            squares = (precisions * moments.seconds).sum(axis=tuple(range(1, moments.seconds.ndim)))
        entropy = total - float(moments.shares @ constants - squares.sum() / 2)
        return (moments, entropy), total

    def maximise(self, statistics: tuple[Moments, float], objective: float) -> float:
        if not np.isfinite(objective):
            return objective
        moments, entropy = statistics
        self.update(moments)
        return self._bound(entropy)

    def _bound(self, entropy: float) -> float:
        """The lower bound without its constants, for laws that are optimal: the entropy of the shares, and the logarithms of
        the normalisers of the laws."""
        k, d = self.means.shape
        log_dets = log_determinants(self.factors, self.covariance_type, d) - d * np.log(self.degrees_of_freedom) / 2
        wishart = wishart_normaliser(self.degrees_of_freedom, log_dets, d)
        of_precisions = k * float(wishart) if self.covariance_type == "tied" else float(np.sum(wishart))
        if self.priors.is_process:
            of_weights = float(betaln(*self.concentration).sum())
        else:
            of_weights = float(gammaln(self.concentration).sum() - gammaln(self.concentration.sum()))
        return float(entropy + of_precisions + of_weights - d * np.log(self.mean_precision).sum() / 2)

    def final_objective(self, reached: float) -> float:
        return reached

    def attributes(self) -> dict[str, Any]:
        return {
            **self.priors.attributes(),
            "weights_": expected_weights(self.concentration),
            "weight_concentration_": self.concentration,
            "mean_precision_": self.mean_precision,
            "means_": self.means,
            "degrees_of_freedom_": self.degrees_of_freedom,
            "covariances_": self.covariances,
            "precisions_cholesky_": self.factors,
            "precisions_": precisions_of(self.factors, self.covariance_type),
        }


def wishart_normaliser(degrees: Any, log_dets: FloatArray, d: int) -> FloatArray:
    """The logarithm of the normaliser of a Wishart law, without the power of pi; `log_dets` are of the roots of its scale."""
    halves = (np.asarray(degrees)[..., None] - np.arange(d)) / 2
    normaliser: FloatArray = degrees * (log_dets + d * np.log(2) / 2) + gammaln(halves).sum(axis=-1)
    return normaliser


def expected_weights(concentration: Any) -> FloatArray:
    """The mean of the law of the weights."""
    if not isinstance(concentration, tuple):
        return np.asarray(concentration / concentration.sum())
    first, second = (np.asarray(part, dtype=np.float64) for part in concentration)
    left = np.append(1, np.cumprod(second[:-1] / (first + second)[:-1]))
    weights = first / (first + second) * left
    return np.asarray(weights / weights.sum())


def expected_logs(concentration: Any, mean_precision: FloatArray, degrees: Any, d: int) -> FloatArray:
    """What the expected log-density of a component has besides that of a Gaussian of the mean precision."""
    if isinstance(concentration, tuple):
        both = digamma(concentration[0] + concentration[1])
        left = digamma(concentration[1]) - both
        of_weights = digamma(concentration[0]) - both + np.append(0, np.cumsum(left[:-1]))
    else:
        of_weights = digamma(concentration) - digamma(concentration.sum())
    halves = (np.asarray(degrees)[..., None] - np.arange(d)) / 2
    of_precisions = d * np.log(2) + digamma(halves).sum(axis=-1) - d * np.log(degrees)
    expected: FloatArray = of_weights + (of_precisions - d / mean_precision) / 2
    return expected


class BayesianGaussianMixture(BaseMixture):
    r"""A mixture of Gaussians, by variational Bayes: components that the rows do not ask for lose their weight.

    Maximises, locally, the lower bound :math:`E_q \log p(X, z, \pi, \mu, \Lambda) - E_q \log q` of the evidence over laws
    :math:`q(z)\,q(\pi)\,q(\mu, \Lambda)`, with Wishart priors on precisions and normal ones on means.

    Parameters
    ----------
    n_components : int, default=1
        The most components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
    tol : float, default=1e-3
        A run stops when the lower bound changes by less.
    reg_covar : float, default=1e-6
        The variance of the noise that the rows are taken to carry.
    max_iter : int, default=100
    n_init : int, default=1
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        As of `GaussianMixture`.
    weight_concentration_prior_type : {"dirichlet_process", "dirichlet_distribution"}, default="dirichlet_process"
        Weights by stick breaking, which prefers the first components, or a symmetric Dirichlet law.
    weight_concentration_prior : float or None, default=None
        The less, the fewer components are active; None means 1 / n_components.
    mean_precision_prior : float or None, default=None
        How many rows the prior mean counts as; None means 1.
    mean_prior : array-like of shape (n_features,), default=None
        None means that of X.
    degrees_of_freedom_prior : float or None, default=None
        None means n_features; it must be greater than n_features - 1.
    covariance_prior : float or array-like, default=None
        A matrix, a diagonal or one variance, by `covariance_type`; None means that of X.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
    verbose : int, default=0
    verbose_interval : int, default=10
    missing : {"error", "em"}, default="error"
        As of `GaussianMixture`.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : arrays
        Expectations under the laws: of precisions, whose inverses the covariances are.
    converged_, n_iter_, lower_bound_, lower_bounds_
        The lower bound is without its constants, as scikit-learn's.
    weight_concentration_ : array, or a tuple of two
    mean_precision_, degrees_of_freedom_ : arrays
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_, covariance_prior_
        The priors used.
    history_ : list of dict
    certificate_ : Certificate
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration is one pass over X, as of `GaussianMixture`. Differences from scikit-learn: the noise is in the lower bound,
    which never falls; sample weights, by which the default priors count rows too; missing cells.

    References
    ----------
    C. M. Bishop, "Pattern recognition and machine learning", section 10.2, Springer 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.mixture import BayesianGaussianMixture
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [4, 2], [12, 4], [10, 7]])
    >>> model = BayesianGaussianMixture(n_components=2, random_state=42).fit(X)
    >>> model.predict([[0, 0], [9, 3]])
    array([0, 1])
    """

    _method = "variational Bayes, a local maximum of the lower bound"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseMixture._shared_rules,
        "weight_concentration_prior_type": OneOf("dirichlet_process", "dirichlet_distribution"),
        "weight_concentration_prior": Null() | Real(above=0),
        "mean_precision_prior": Null() | Real(above=0),
        "mean_prior": Null() | ArrayLike(),
        "degrees_of_freedom_prior": Null() | Real(above=0),
        "covariance_prior": Null() | Real(above=0) | ArrayLike(),
    }

    def __init__(
        self,
        *,
        n_components: int = 1,
        covariance_type: CovarianceType = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: npt.ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: float | npt.ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        missing: str = "error",
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.missing = missing

    def _prepare(self, rows: Rows, params: SimpleNamespace) -> Callable[[Any], Variational]:
        priors = Priors.of(rows, params)

        def make(random: Any) -> Variational:
            model = Variational(rows, params.covariance_type, params.reg_covar, priors)
            model.update(rows.first_moments(params.init_params, params.n_components, random, params.covariance_type))
            return model

        return make

    def _resumed(self, rows: Rows, params: SimpleNamespace) -> Variational:
        model = Variational(rows, params.covariance_type, params.reg_covar, Priors.of(rows, params))
        model.concentration, model.degrees_of_freedom = self.weight_concentration_, self.degrees_of_freedom_
        found = (self.mean_precision_, self.means_, self.covariances_, self.precisions_cholesky_)
        parameters = [np.array(value, dtype=np.float64) for value in found]
        model.mean_precision, model.means, model.covariances, model.factors = parameters
        return model

    def _log_weights(self) -> FloatArray:
        return expected_logs(self.weight_concentration_, self.mean_precision_, self.degrees_of_freedom_, self.means_.shape[1])
