"""Mixtures of Gaussians by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._gaussians import (
    CovarianceType,
    Moments,
    SingularCovarianceError,
    inverse_traces,
    precisions_of,
    whitening,
)
from mercer._params import ArrayLike, Null, Rule
from mercer.mixture._base import BaseMixture
from mercer.mixture._given import check_means, check_precisions, check_shares, from_precisions
from mercer.mixture._rows import Rows

EMPTY = 10 * float(np.finfo(np.float64).eps)  # of the weight of all rows: a component that has less has none
MOST_RESETS = 10  # of each component
COLLAPSED = 1e-18  # of the variance of a column


def covariances_of(moments: Moments, kind: CovarianceType, reg_covar: float) -> FloatArray:
    """The most likely covariances, plus the variance of the noise; only that for a component without rows."""
    scatter = moments.scatter()
    d = scatter.shape[-1]
    if kind == "tied":
        return np.asarray(scatter.sum(axis=0) / moments.shares.sum() + reg_covar * np.eye(d))
    shares = np.maximum(moments.shares, np.finfo(np.float64).tiny)
    if kind == "full":
        return scatter / shares[:, None, None] + reg_covar * np.eye(d)
    variances = scatter / shares[:, None]
    return (variances.mean(axis=1) if kind == "spherical" else variances) + reg_covar


class Likelihood:
    """The parameters, and the EM steps that raise their likelihood, the weighted mean of log sum_k pi_k E N(x + noise;
    mean_k, S_k).

    The noise of variance `reg_covar` is in the objective and not in the covariances alone, which makes these its exact
    maximum: with it the objective never falls. E log N(x + noise) = log N(x) - reg_covar tr(S_k^-1) / 2.
    """

    def __init__(
        self,
        rows: Rows,
        kind: CovarianceType,
        reg_covar: float,
        weights: FloatArray,
        means: FloatArray,
        covariances: FloatArray,
        factors: FloatArray,
    ) -> None:
        self._rows, self.covariance_type, self._reg_covar = rows, kind, reg_covar
        self.weights, self.means, self.covariances, self.factors = weights, means, covariances, factors
        self.n_resets = 0

    @property
    def log_weights(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # a weight of zero: a log-density of -infinity would be NaN beside another
            return np.maximum(np.log(self.weights), -1e300)

    def _offsets(self) -> FloatArray:
        traces = inverse_traces(self.factors, self.covariance_type, self.means.shape[1])
        return self.log_weights - self._reg_covar / 2 * traces

    def expect(self) -> tuple[Moments, float]:
        moments, total = self._rows.expect(self.means, self.covariances, self.factors, self.covariance_type, self._offsets())
        return moments, total / self._rows.total

    def maximise(self, statistics: Moments, objective: float) -> float:
        if not np.isfinite(objective):
            return objective
        shares = statistics.shares
        self.weights = shares / shares.sum()
        self.means = statistics.means()
        covariances = covariances_of(statistics, self.covariance_type, self._reg_covar)
        empty = np.flatnonzero(shares <= EMPTY * shares.sum())
        if self.covariance_type != "tied":
            covariances[empty] = self.covariances[empty]
        self.covariances = covariances
        self._whiten()
        for component in empty:
            self._reseed_empty(int(component))
        return objective

    def _whiten(self) -> None:
        try:
            self.factors = whitening(self.covariances, self.covariance_type)
            if self._reg_covar == 0:
                self._require_spread()
        except SingularCovarianceError as error:
            self._reseed_singular(error.components)

    def _require_spread(self) -> None:
        """Rounding can leave a little of the variances of a component that has collapsed."""
        if self.covariance_type in ("full", "tied"):
            variances = np.diagonal(self.covariances, axis1=-2, axis2=-1).reshape(-1, self.means.shape[1])
        else:
            variances = self.covariances.reshape(len(self.means), -1)
        is_collapsed = (variances <= COLLAPSED * self._rows.variances.min()).any(axis=1)
        if is_collapsed.any():
            raise SingularCovarianceError(np.flatnonzero(is_collapsed).tolist())

    def _pooled(self, components: npt.NDArray[np.intp]) -> FloatArray:
        """The mean covariance of some components; that of all where it is tied."""
        if self.covariance_type == "tied":
            return self.covariances
        weights = self.weights[components] / max(self.weights[components].sum(), np.finfo(np.float64).tiny)
        pooled: FloatArray = np.tensordot(weights, self.covariances[components], axes=1)
        return pooled

    def _log_density(self, components: Any) -> FloatArray:
        """The logarithm of the density of the rows under some components."""
        is_tied = self.covariance_type == "tied"
        covariances = self.covariances if is_tied else self.covariances[components]
        factors = whitening(covariances, self.covariance_type)
        joint = self._rows.log_densities(
            self.means[components], covariances, factors, self.covariance_type, self.log_weights[components]
        )
        density: FloatArray = np.logaddexp.reduce(joint.astype(np.float64), axis=1)
        return density

    def _move_to_worst(self, component: int, others: npt.NDArray[np.intp]) -> FloatArray:
        """Put a component at the row that the others explain worst, with their mean covariance; their densities."""
        density = self._log_density(others)
        weights = self._rows.weights
        worst = int(np.argmin(density if weights is None else np.where(weights > 0, density, np.inf)))
        self.means = self.means.copy()
        self.means[component] = self._rows.complete()[worst]
        if self.covariance_type != "tied":
            self.covariances[component] = self._pooled(others)
        self.n_resets += 1
        return density

    def _reseed_empty(self, component: int) -> None:
        """Put a component without rows where it raises the likelihood, if it can there: sum_i w_i (p_new / p)(x_i) > sum_i w_i
        says that a little of it does, since the likelihood is concave in its weight."""
        if self.n_resets >= MOST_RESETS * len(self.means):
            return
        before = self.means, self.covariances.copy(), self.n_resets
        others = np.setdiff1d(np.flatnonzero(self.weights > 0), [component])
        density = self._move_to_worst(component, others)
        saved, self.weights = self.weights, np.where(np.arange(len(self.weights)) == component, 1.0, self.weights)
        gain = np.expm1(np.minimum(self._log_density([component]) - density, 700.0))
        self.weights = saved
        weights = np.ones(len(gain)) if self._rows.weights is None else self._rows.weights
        share = 1 / (len(self.means) + 1)
        while share > EMPTY and weights @ np.log1p(share * gain) <= 0:
            share /= 2
        if share <= EMPTY:
            self.means, self.covariances, self.n_resets = before
            return
        self.weights = self.weights * (1 - share)
        self.weights[component] += share
        self.factors = whitening(self.covariances, self.covariance_type)

    def _reseed_singular(self, components: list[int]) -> None:
        """Take a component whose likelihood is infinite, as it has too few rows, to where others explain least."""
        sound = np.setdiff1d(np.flatnonzero(self.weights > 0), components)
        can_be_mended = self.covariance_type != "tied" and len(sound) > 0
        if not can_be_mended or self.n_resets + len(components) > MOST_RESETS * len(self.means):
            raise ValueError(
                "GaussianMixture: Fitting the mixture model failed because some components have ill-defined empirical "
                f"covariance (components {components} hold no more than a few rows, or equal ones). Try to decrease the "
                f"number of components, increase reg_covar={self._reg_covar:g}, or scale the input data."
            )
        for component in components:
            self._move_to_worst(component, sound)
            self.weights[component] = 1 / len(self.weights)
            sound = np.append(sound, component)
        self.weights /= self.weights.sum()
        self.factors = whitening(self.covariances, self.covariance_type)

    def final_objective(self, reached: float) -> float:
        """Of the parameters as they are after the last M step."""
        return self.expect()[1]

    def attributes(self) -> dict[str, Any]:
        return {
            "weights_": self.weights,
            "means_": self.means,
            "covariances_": self.covariances,
            "precisions_cholesky_": self.factors,
            "precisions_": precisions_of(self.factors, self.covariance_type),
            "n_resets_": self.n_resets,
        }


class GaussianMixture(BaseMixture):
    r"""A mixture of Gaussians, by expectation maximisation.

    Maximises :math:`\frac1n \sum_i w_i \log \sum_k \pi_k\, N(x_i; \mu_k, \Sigma_k)`, locally, with a little noise on the
    rows that keeps covariances away from singular ones.

    Parameters
    ----------
    n_components : int, default=1
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix a component; one for all; a diagonal a component; one variance a component.
    tol : float, default=1e-3
        A run stops when the mean log-likelihood changes by less.
    reg_covar : float, default=1e-6
        The variance of the noise that the rows are taken to carry; no variance is less.
    max_iter : int, default=100
        The most iterations of one run; zero leaves the start.
    n_init : int, default=1
        How many starts; the best lower bound wins.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        The clusters of k-means; rows chosen by k-means++; random shares; rows drawn at random.
    weights_init : array-like of shape (n_components,), default=None
    means_init : array-like of shape (n_components, n_features), default=None
    precisions_init : array-like, default=None
        Inverse covariances in the shape of `covariances_`. What is given replaces what the start would have.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Begin where the last fit ended.
    verbose : int, default=0
        Log to the logger `mercer` every `verbose_interval` iterations.
    verbose_interval : int, default=10
    missing : {"error", "em"}, default="error"
        What to do with NaN in X: refuse it, or take the cells as missing at random, in fits (exactly, within EM) and
        predictions.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_, precisions_, precisions_cholesky_ : arrays
        Of shape (n_components, n_features, n_features), (n_features, n_features), (n_components, n_features) or
        (n_components,), by `covariance_type`.
    converged_ : bool
    n_iter_ : int
    lower_bound_ : float
        The objective of the parameters above.
    lower_bounds_ : list of float
        The objective at the start of each iteration.
    n_resets_ : int
        How often a component that had lost its rows, or had collapsed onto a few, was put where the others explain the rows
        worst.
    history_ : list of dict
        For each iteration of the best run `lower_bound` and its `change`.
    certificate_ : Certificate
        The objective, and the last change against the tolerance.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration is one pass over X, O(n K d^2), or O(n K d) for "diag" and "spherical", and needs memory for K matrices.
    Rows are centred before they are whitened, and sums are taken about the means: large means cost no digits.

    Differences from scikit-learn: the objective has the noise in it (minus half of reg_covar times the trace of each
    precision), so that it never falls; a component without rows is re-seeded where that raises the likelihood;
    `lower_bound_` is that of the fitted parameters, one step after the last of `lower_bounds_`; sample weights; missing
    cells. Each pattern of missing cells takes a few matrix factorisations.

    References
    ----------
    C. M. Bishop, "Pattern recognition and machine learning", chapter 9, Springer 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.mixture import GaussianMixture
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> np.sort(model.means_[:, 0]).round(6)
    array([ 1., 10.])
    >>> model.certificate_.converged
    True
    """

    _method = "expectation maximisation, a local maximum of the likelihood"
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseMixture._shared_rules,
        "weights_init": Null() | ArrayLike(),
        "means_init": Null() | ArrayLike(),
        "precisions_init": Null() | ArrayLike(),
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: CovarianceType = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: npt.ArrayLike | None = None,
        means_init: npt.ArrayLike | None = None,
        precisions_init: npt.ArrayLike | None = None,
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
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.missing = missing

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion on X: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum(dtype=np.float64) + self._n_parameters() * np.log(len(logs)))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on X: lower is better."""
        return float(-2 * self.score_samples(X).sum(dtype=np.float64) + 2 * self._n_parameters())

    def _n_parameters(self) -> int:
        """Numbers that the fit was free to choose."""
        k, d = self.means_.shape
        of_covariances = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
        return int(of_covariances[self.covariance_type] + d * k + k - 1)

    def _prepare(self, rows: Rows, params: SimpleNamespace) -> Callable[[Any], Likelihood]:
        kind, k, d = params.covariance_type, params.n_components, rows.X.shape[1]
        weights = check_shares(params.weights_init, k)
        means = check_means(params.means_init, k, d)
        precisions = check_precisions(params.precisions_init, kind, k, d)

        def make(random: Any) -> Likelihood:
            if weights is not None and means is not None and precisions is not None:
                covariances, factors = from_precisions(precisions, kind)
                return Likelihood(rows, kind, params.reg_covar, weights, means, covariances, factors)
            moments = rows.first_moments(params.init_params, k, random, kind)
            found = covariances_of(moments, kind, params.reg_covar)
            model = Likelihood(
                rows,
                kind,
                params.reg_covar,
                moments.shares / moments.shares.sum() if weights is None else weights,
                moments.means() if means is None else means,
                found,
                found,
            )
            if precisions is None:
                model._whiten()
            else:
                model.covariances, model.factors = from_precisions(precisions, kind)
            return model

        return make

    def _resumed(self, rows: Rows, params: SimpleNamespace) -> Likelihood:
        found = (self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)
        parameters = (np.array(value, dtype=np.float64) for value in found)
        return Likelihood(rows, params.covariance_type, params.reg_covar, *parameters)

    def _log_weights(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(np.asarray(self.weights_, dtype=np.float64)), -1e300)
