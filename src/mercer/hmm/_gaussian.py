"""Chains whose states emit Gaussian rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._gaussians import COVARIANCE_TYPES, CovarianceType, Gaussians, Moments, require_positive, shape_of, whitening
from mercer._params import ArrayLike, OneOf, Real, Rule, check_value
from mercer.cluster import KMeans
from mercer.hmm._base import BaseHMM, Letters, number_of_columns, require_squares
from mercer.hmm._normal import Belief, log_prior, mended, moved_means, outer, ratio, scatter_about


class GaussianEmissions:
    """A Gaussian a state, with priors on means and covariances."""

    def __init__(self, means: FloatArray, covariances: FloatArray, params: SimpleNamespace) -> None:
        self.means, self.covariances, self._params = means, covariances, params
        self._kind: CovarianceType = params.covariance_type
        self._is_full = self._kind in ("full", "tied")

    def log_densities(self, X: FloatArray) -> FloatArray:
        return Gaussians(self.means, whitening(self.covariances, self._kind), self._kind).log_densities(X)

    def update(self, X: FloatArray, posteriors: FloatArray, params: str) -> None:
        if not set(params) & set("mc"):
            return
        given = self._params
        moments = Moments.of(X, posteriors, self.means, self._kind)
        if "m" in params:
            self.means = moved_means(moments, given.means_prior, given.means_weight)
        if "c" not in params:
            return
        belief, rows = self._belief(), moments.shares
        scatter = scatter_about(moments, self.means)
        if self._kind == "tied":
            found = ratio(scatter.sum(axis=0) + belief.scatter, rows.sum() + belief.rows, self.covariances)
        elif self._kind == "full":
            found = ratio(scatter + belief.scatter, (rows + belief.rows)[:, None, None], self.covariances)
        elif self._kind == "diag":
            found = ratio(scatter + belief.scatter, (rows + belief.rows)[:, None], self.covariances)
        else:
            d = scatter.shape[1]
            found = ratio(scatter.sum(axis=1) + belief.scatter, d * rows + belief.rows, self.covariances)
        self.covariances = mended(found, self._kind, given.min_covar)

    def _belief(self) -> Belief:
        """A number as the prior of covariances is that on their diagonal; its weight counts beyond one, or beyond d."""
        given, (k, d) = self._params, self.means.shape
        off = outer(self.means - given.means_prior, self._is_full)
        weight = np.broadcast_to(np.asarray(given.means_weight, dtype=np.float64), (k,))
        pulled = weight.reshape((k,) + (1,) * (off.ndim - 1)) * off
        prior = np.asarray(given.covars_prior, dtype=np.float64)
        if self._is_full:
            prior = prior * np.eye(d) if prior.ndim == 0 else prior
            pulled = pulled.sum(axis=0) if self._kind == "tied" else pulled
            return Belief(pulled + prior, max(given.covars_weight - d, 0.0))
        rows = max(given.covars_weight - 1, 0.0)
        if self._kind == "diag":
            return Belief(pulled + prior, rows)
        per_feature = prior if prior.ndim == 0 else np.broadcast_to(prior, (k,))
        return Belief(pulled.sum(axis=1) + d * per_feature, d * rows)

    def log_prior(self) -> float:
        return log_prior(self.covariances, self._kind, self._belief(), self.means.shape[1])

    def attributes(self) -> dict[str, Any]:
        return {"means_": self.means, "_covars_": self.covariances}


class GaussianHMM(BaseHMM):
    r"""A hidden Markov model whose states emit Gaussian rows.

    Maximises :math:`\log p(X) + \log p(\theta)` locally, where :math:`p(X) = \sum_z \pi_{z_1} \prod_t A_{z_{t-1} z_t} N(x_t;
    \mu_{z_t}, \Sigma_{z_t})`.

    Parameters
    ----------
    n_components : int, default=1
        The number of states.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
    min_covar : float, default=1e-3
        Added to the diagonal of the covariances to start from, and of one that would be singular.
    startprob_prior, transmat_prior : float or array, default=1.0
        Dirichlet priors; 1 says nothing.
    means_prior, means_weight : float or array, default=0
        The prior means, and how many rows they count as.
    covars_prior : float or array, default=1e-2
        Added to the scatter of each state; a number is that on the diagonal.
    covars_weight : float, default=1
        How many rows the prior counts as, beyond one ("diag", "spherical") or beyond the number of features ("full", "tied").
    algorithm : {"viterbi", "map"}, default="viterbi"
        How `predict` and `decode` choose states: the most likely path, or the most probable state of each step.
    random_state : int, RandomState or None, default=None
    n_iter : int, default=10
        The most iterations.
    tol : float, default=1e-2
        A fit stops when the log posterior density rises by less.
    verbose : bool, default=False
        Log each iteration to the logger `mercer`.
    params, init_params : str, default="stmc"
        What a fit moves, and what it makes anew from data before: start, transitions, means, covariances. Parameters that
        are left out can be set as attributes.
    implementation : {"log", "scaling"}, default="log"
        Passes in logarithms, or scaled (each step's largest emission taken out), which is faster; a sequence of which
        scaling leaves no digits is done in logarithms. The results agree to rounding.

    Attributes
    ----------
    startprob_ : array of shape (n_components,)
    transmat_ : array of shape (n_components, n_components)
    means_ : array of shape (n_components, n_features)
    covars_ : array of shape (n_components, n_features, n_features)
        Covariances as matrices, whatever their type; set as such, or in the shape of the type.
    monitor_ : the history of the objective and whether it came to rest
    n_iter_ : int
    history_ : list of dict
        For each iteration `log_posterior` (the log-likelihood plus what the priors say, up to a constant) and its `change`.
    certificate_ : Certificate
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration is O(n (K^2 + K d)), or O(n (K^2 + K d^2)) for matrices. Sequences run side by side. A state that nothing
    visits keeps its line of transitions, its mean and, unless a prior says otherwise, its covariance. Differences from
    hmmlearn: see `docs/differences.md`.

    References
    ----------
    L. R. Rabiner, "A tutorial on hidden Markov models", Proceedings of the IEEE 77 (1989).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.hmm import GaussianHMM
    >>> random = np.random.default_rng(0)
    >>> X = np.concatenate([random.normal(size=(50, 1)), random.normal(size=(50, 1)) + 8, random.normal(size=(50, 1))])
    >>> model = GaussianHMM(n_components=2, random_state=0, n_iter=50).fit(X)
    >>> states = model.predict(X)
    >>> [int(state == states[0]) for state in states[[10, 60, 120]]]
    [1, 0, 1]
    """

    _names: ClassVar[Mapping[str, str]] = {"s": "startprob_", "t": "transmat_", "m": "means_", "c": "covars_"}
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseHMM._shared_rules,
        "covariance_type": OneOf(*COVARIANCE_TYPES),
        "min_covar": Real(least=0),
        "means_prior": Real() | ArrayLike(),
        "means_weight": Real(least=0) | ArrayLike(),
        "covars_prior": Real(least=0) | ArrayLike(),
        "covars_weight": Real(),
        "params": Letters("stmc"),
        "init_params": Letters("stmc"),
    }

    means_: FloatArray

    def __init__(
        self,
        n_components: int = 1,
        covariance_type: CovarianceType = "diag",
        min_covar: float = 1e-3,
        startprob_prior: float | npt.ArrayLike = 1.0,
        transmat_prior: float | npt.ArrayLike = 1.0,
        means_prior: float | npt.ArrayLike = 0,
        means_weight: float | npt.ArrayLike = 0,
        covars_prior: float | npt.ArrayLike = 1e-2,
        covars_weight: float = 1,
        algorithm: str = "viterbi",
        random_state: int | np.random.RandomState | None = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stmc",
        init_params: str = "stmc",
        implementation: str = "log",
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.min_covar = min_covar
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation

    n_features = number_of_columns("means_")

    @property
    def covars_(self) -> FloatArray:
        """The covariances as matrices, one a state."""
        found, k, d = self._covars_, self.n_components, self.n_features
        if self.covariance_type == "full":
            return np.array(found)
        if self.covariance_type == "tied":
            return np.array(np.broadcast_to(found, (k, d, d)))
        diagonals = found if self.covariance_type == "diag" else np.repeat(np.asarray(found)[:, None], d, axis=1)
        return np.asarray(diagonals[:, :, None] * np.eye(d))

    @covars_.setter
    def covars_(self, covars: Any) -> None:
        check_value(type(self).__name__, "covariance_type", self.covariance_type, self._parameter_rules["covariance_type"])
        self._covars_ = _checked_covars(covars, self.covariance_type, self.n_components)

    def _emissions_from_data(self, X: FloatArray, params: SimpleNamespace, random: Any) -> GaussianEmissions:
        require_squares(self, X)
        k, d = params.n_components, X.shape[1]
        if self._needs_init("m", "means_", params):
            means = KMeans(k, n_init=10, random_state=params.random_state).fit(X).cluster_centers_
        else:
            means = self.means_
        if self._needs_init("c", "_covars_", params):
            moments = Moments.of(X, np.ones((len(X), 1)), X.mean(axis=0, dtype=np.float64)[None], "full")
            covariance = moments.scatter()[0] / max(len(X) - 1, 1) + params.min_covar * np.eye(d)
            covars = spread(covariance, params.covariance_type, k)
        else:
            covars = self._covars_
        return self._made(means, covars, params, d)

    def _emissions(self) -> GaussianEmissions:
        if not hasattr(self, "means_") or not hasattr(self, "_covars_"):
            raise ValueError("GaussianHMM: means_ and covars_ must be set, or made by a fit, before states emit anything.")
        return self._made(self.means_, self._covars_, SimpleNamespace(**self.get_params()), np.shape(self.means_)[1])

    def _made(self, means: Any, covars: Any, params: SimpleNamespace, d: int) -> GaussianEmissions:
        means = np.array(means, dtype=np.float64)
        if means.shape != (params.n_components, d):
            raise ValueError(f"GaussianHMM: means_ has shape {means.shape}; it must have {(params.n_components, d)}.")
        covars = _checked_covars(covars, params.covariance_type, params.n_components)
        wanted = shape_of(params.covariance_type, params.n_components, d)
        if covars.shape != wanted:
            raise ValueError(
                f"GaussianHMM: covars_ has shape {covars.shape}; for {params.covariance_type!r} it must have {wanted}."
            )
        return GaussianEmissions(means, covars, params)

    def _draw(self, state: int, random: Any) -> FloatArray:
        row: FloatArray = random.multivariate_normal(self.means_[state], self.covars_[state])
        return row

    def _n_free(self) -> dict[str, int]:
        k, d = self.n_components, self.n_features
        of_covariances = {"spherical": k, "diag": k * d, "full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2}
        return {"s": k - 1, "t": k * (k - 1), "m": k * d, "c": of_covariances[self.covariance_type]}


def spread(covariance: FloatArray, kind: CovarianceType, n: int) -> FloatArray:
    """One covariance matrix as the covariances of n states."""
    if kind == "tied":
        return covariance
    if kind == "full":
        return np.tile(covariance, (n, 1, 1))
    diagonal = np.diag(covariance)
    return np.tile(diagonal, (n, 1)) if kind == "diag" else np.full(n, diagonal.mean())


def _of_matrices(covars: FloatArray, kind: CovarianceType) -> FloatArray:
    """Matrices, one a state, in the shape of a type that needs no matrix a state."""
    if kind == "tied":
        if not (covars == covars[:1]).all():
            raise ValueError("'tied' covars must be one matrix for all states; got matrices that differ.")
        return np.array(covars[0])
    if (covars != covars * np.eye(covars.shape[-1])).any():
        raise ValueError(f"'{kind}' covars have no values off the diagonal; got matrices that do.")
    return np.diagonal(covars, axis1=1, axis2=2).copy()


def _checked_covars(covars: Any, kind: CovarianceType, n_components: int) -> FloatArray:
    """Covariances that are some, in the shape of their type, or as the matrices that `covars_` gives."""
    covars = np.array(covars, dtype=np.float64)
    if kind != "full" and covars.ndim == 3 and covars.shape[-1] == covars.shape[-2]:
        covars = _of_matrices(covars, kind)
    if kind == "spherical" and covars.ndim > 1:  # one variance, as often as there are features
        variances = covars.reshape(len(covars), -1)
        if not (variances == variances[:, :1]).all():
            raise ValueError("'spherical' covars must be one variance a state.")
        covars = variances[:, 0].copy()
    dimensions = {"spherical": 1, "diag": 2, "full": 3, "tied": 2}[kind]
    if covars.ndim != dimensions or (kind in ("tied", "full") and covars.shape[-1] != covars.shape[-2]):
        raise ValueError(
            f"'{kind}' covars must have {dimensions} dimensions, the last two equal for matrices; got {covars.shape}."
        )
    if kind != "tied" and len(covars) != n_components:
        raise ValueError(f"'{kind}' covars have length {len(covars)}; it must be n_components={n_components}.")
    require_positive(f"'{kind}' covars", covars, kind)
    return np.asarray(covars)
