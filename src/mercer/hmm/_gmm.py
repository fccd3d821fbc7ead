"""Chains whose states emit rows of a mixture of Gaussians."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._gaussians import COVARIANCE_TYPES, CovarianceType, Gaussians, Moments, require_positive, shares_of, whitening
from mercer._params import ArrayLike, Integer, Null, OneOf, Real, Rule
from mercer.cluster import KMeans
from mercer.hmm._base import BaseHMM, Letters, number_of_columns, require_law, require_squares
from mercer.hmm._chain import log_dirichlet, normalised
from mercer.hmm._normal import Belief, log_prior, mended, moved_means, outer, ratio, scatter_about

NO_LOG = -1e300  # of a weight of zero: finite, so that a state of such weights alone is no NaN


class Beliefs(SimpleNamespace):
    """The priors of all components, in whole shapes: weights (K, M), means (K, M, d) and their rows (K, M), covariances."""

    @classmethod
    def of(cls, model: GMMHMM, k: int, m: int, d: int, params: SimpleNamespace) -> Beliefs:
        kind = params.covariance_type
        shapes = {"full": (k, m, d, d), "tied": (k, d, d), "diag": (k, m, d), "spherical": (k, m)}
        of_rows = {"full": (k, m), "tied": (k,), "diag": (k, m, d), "spherical": (k, m)}
        # What leaves the maximum of the likelihood where it is.
        neutral = {
            "full": (0.0, -(d + 2.0)),
            "tied": (0.0, -(m + d + 1.0)),
            "diag": (-1.5, 0.0),
            "spherical": (-(d + 2.0) / 2, 0.0),
        }[kind]
        prior, weight = (
            given if given is not None else silent
            for given, silent in zip((params.covars_prior, params.covars_weight), neutral, strict=True)
        )
        return cls(
            weights=model._prior(params.weights_prior, "weights_prior", (k, m)),
            means=model._prior(params.means_prior, "means_prior", (k, m, d)),
            rows=model._prior(params.means_weight, "means_weight", (k, m)),
            covars=model._prior(prior, "covars_prior", shapes[kind]),
            covars_rows=model._prior(weight, "covars_weight", of_rows[kind]),
        )


class MixtureEmissions:
    """A mixture of Gaussians a state. Tied covariances are those of a state."""

    def __init__(
        self, weights: FloatArray, means: FloatArray, covars: FloatArray, beliefs: Beliefs, params: SimpleNamespace
    ) -> None:
        self.weights, self.means, self.covars, self._beliefs = weights, means, covars, beliefs
        self._given_kind: CovarianceType = params.covariance_type
        self._kind: CovarianceType = "full" if self._given_kind == "tied" else self._given_kind
        self._least = params.min_covar

    @property
    def _is_full(self) -> bool:
        return self._kind == "full"

    def _log_joint(self, X: FloatArray) -> FloatArray:
        """The logarithm of weight times density of each component, (n K, M)."""
        k, m, d = self.means.shape
        covars = self.covars
        if self._given_kind == "tied":
            covars = np.repeat(covars[:, None], m, axis=1)
        flat = covars.reshape(k * m, *covars.shape[2:])
        with np.errstate(divide="ignore"):
            log_weights = np.maximum(np.log(self.weights), NO_LOG).ravel()
        gaussians = Gaussians(self.means.reshape(k * m, d), whitening(flat, self._kind), self._kind, log_weights)
        return gaussians.log_densities(X.astype(np.float64, copy=False)).reshape(-1, m)

    def log_densities(self, X: FloatArray) -> FloatArray:
        return shares_of(self._log_joint(X))[0].reshape(len(X), -1)

    def update(self, X: FloatArray, posteriors: FloatArray, params: str) -> None:
        k, m, d = self.means.shape
        shares = shares_of(self._log_joint(X))[1].reshape(len(X), k, m) * posteriors[:, :, None]
        moments = Moments.of(X, shares.reshape(len(X), k * m), self.means.reshape(k * m, d), self._kind)
        rows, beliefs = moments.shares.reshape(k, m), self._beliefs
        if "w" in params:
            self.weights = normalised(beliefs.weights - 1 + rows, self.weights)
        if "m" in params:
            self.means = moved_means(moments, beliefs.means.reshape(k * m, d), beliefs.rows.ravel()).reshape(k, m, d)
        if "c" not in params:
            return
        scatter = scatter_about(moments, self.means.reshape(k * m, d))
        scatter = scatter.reshape(k, m, *scatter.shape[1:])
        belief = self._belief()
        if self._given_kind == "tied":
            scatter, counts = scatter.sum(axis=1), rows.sum(axis=1)
        elif self._given_kind == "spherical":
            scatter, counts = scatter.sum(axis=2), d * rows
        else:
            counts = rows
        counts = counts.reshape(counts.shape + (1,) * (scatter.ndim - counts.ndim))
        found = ratio(scatter + belief.scatter, counts + belief.rows, self.covars)
        flat = found.reshape(-1, d, d) if self._is_full else found.ravel()
        self.covars = mended(flat, "full" if self._is_full else "spherical", self._least).reshape(found.shape)

    def _belief(self) -> Belief:
        beliefs, (_, m, d) = self._beliefs, self.means.shape
        off = outer(self.means - beliefs.means, self._is_full)
        pulled = beliefs.rows.reshape(beliefs.rows.shape + (1,) * (off.ndim - 2)) * off
        if self._given_kind == "full":
            return Belief(beliefs.covars + pulled, (beliefs.covars_rows + d + 2)[:, :, None, None])
        if self._given_kind == "tied":
            return Belief(beliefs.covars + pulled.sum(axis=1), (beliefs.covars_rows + m + d + 1)[:, None, None])
        if self._given_kind == "diag":
            return Belief(2 * beliefs.covars_rows + pulled, 2 * beliefs.covars + 3)
        return Belief(2 * beliefs.covars_rows + pulled.sum(axis=2), 2 * beliefs.covars + 2 + d)

    def log_prior(self) -> float:
        belief, d = self._belief(), self.means.shape[2]
        if self._is_full:
            belief = Belief(belief.scatter.reshape(-1, d, d), belief.rows.ravel())
        covars = self.covars.reshape(-1, d, d) if self._is_full else self.covars
        return log_prior(covars, self._kind, belief, d) + log_dirichlet(self._beliefs.weights, self.weights)

    def attributes(self) -> dict[str, Any]:
        return {"weights_": self.weights, "means_": self.means, "covars_": self.covars}


class GMMHMM(BaseHMM):
    r"""A hidden Markov model whose states emit rows of a mixture of Gaussians.

    Maximises :math:`\log p(X)`, plus what the priors say, locally, where state i emits
    :math:`\sum_m w_{im} N(x; \mu_{im}, \Sigma_{im})`.

    Parameters
    ----------
    n_components : int, default=1
        The number of states.
    n_mix : int, default=1
        The number of Gaussians of each.
    min_covar : float, default=1e-3
        Added to the diagonal of the covariances to start from, and of one that would be singular.
    startprob_prior, transmat_prior, weights_prior : float or array, default=1.0
        Dirichlet priors; 1 says nothing.
    means_prior, means_weight : float or array, default=0.0
        The prior means, and how many rows they count as.
    covars_prior, covars_weight : float, array or None, default=None
        Of inverse Wishart priors ("full", "tied"): scale and degrees of freedom; of inverse gamma priors ("diag",
        "spherical"): shape and scale. None says nothing.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As of `GaussianHMM`.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        "tied" is one matrix a state.
    params, init_params : str, default="stmcw"
        What a fit moves, and what it makes anew before: start, transitions, means, covariances, weights.

    Attributes
    ----------
    startprob_ : array of shape (n_components,)
    transmat_ : array of shape (n_components, n_components)
    weights_ : array of shape (n_components, n_mix)
    means_ : array of shape (n_components, n_mix, n_features)
    covars_ : array
        Of shape (n_components, n_mix), (n_components, n_mix, n_features), (n_components, n_mix, n_features, n_features) or,
        tied, (n_components, n_features, n_features).
    monitor_, n_iter_, history_, certificate_, n_features_in_
        As of `GaussianHMM`.

    Notes
    -----
    An iteration is O(n (K^2 + K M d)), or O(n (K^2 + K M d^2)) for matrices.

    References
    ----------
    L. R. Rabiner, "A tutorial on hidden Markov models", Proceedings of the IEEE 77 (1989).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.hmm import GMMHMM
    >>> X = np.random.default_rng(0).normal(size=(200, 1)) + 5 * (np.arange(200) % 2)[:, None]
    >>> model = GMMHMM(n_components=1, n_mix=2, random_state=0, n_iter=20).fit(X)
    >>> np.sort(model.means_.ravel()).round()
    array([-0.,  5.])
    """

    _names: ClassVar[Mapping[str, str]] = {"s": "startprob_", "t": "transmat_", "m": "means_", "c": "covars_", "w": "weights_"}
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseHMM._shared_rules,
        "n_mix": Integer(1),
        "covariance_type": OneOf(*COVARIANCE_TYPES),
        "min_covar": Real(least=0),
        "weights_prior": Real(least=0) | ArrayLike(),
        "means_prior": Real() | ArrayLike(),
        "means_weight": Real(least=0) | ArrayLike(),
        "covars_prior": Null() | Real() | ArrayLike(),
        "covars_weight": Null() | Real() | ArrayLike(),
        "params": Letters("stmcw"),
        "init_params": Letters("stmcw"),
    }

    weights_: FloatArray
    means_: FloatArray
    covars_: FloatArray

    def __init__(
        self,
        n_components: int = 1,
        n_mix: int = 1,
        min_covar: float = 1e-3,
        startprob_prior: float | npt.ArrayLike = 1.0,
        transmat_prior: float | npt.ArrayLike = 1.0,
        weights_prior: float | npt.ArrayLike = 1.0,
        means_prior: float | npt.ArrayLike = 0.0,
        means_weight: float | npt.ArrayLike = 0.0,
        covars_prior: float | npt.ArrayLike | None = None,
        covars_weight: float | npt.ArrayLike | None = None,
        algorithm: str = "viterbi",
        covariance_type: CovarianceType = "diag",
        random_state: int | np.random.RandomState | None = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stmcw",
        init_params: str = "stmcw",
        implementation: str = "log",
    ) -> None:
        self.n_components = n_components
        self.n_mix = n_mix
        self.min_covar = min_covar
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.weights_prior = weights_prior
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight
        self.algorithm = algorithm
        self.covariance_type = covariance_type
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation

    n_features = number_of_columns("means_")

    def _emissions_from_data(self, X: FloatArray, params: SimpleNamespace, random: Any) -> MixtureEmissions:
        require_squares(self, X)
        k, m, d = params.n_components, params.n_mix, X.shape[1]
        moments = Moments.of(X, np.ones((len(X), 1)), X.mean(axis=0, dtype=np.float64)[None], "full")
        covariance = moments.scatter()[0] / max(len(X) - 1, 1) + params.min_covar * np.eye(d)
        weights = np.full((k, m), 1 / m) if self._needs_init("w", "weights_", params) else self.weights_
        means = self._first_means(X, covariance, params, random) if self._needs_init("m", "means_", params) else self.means_
        if self._needs_init("c", "covars_", params):
            diagonal = np.diag(covariance)
            first = {"full": covariance, "tied": covariance, "diag": diagonal, "spherical": diagonal.mean()}[
                params.covariance_type
            ]
            covars = np.broadcast_to(first, self._shape(k, m, d, params.covariance_type)).copy()
        else:
            covars = self.covars_
        return self._made(weights, means, covars, params, d)

    @staticmethod
    def _first_means(X: FloatArray, covariance: FloatArray, params: SimpleNamespace, random: Any) -> FloatArray:
        """The centres of clusters of clusters; about the middle of all where a cluster has fewer rows than Gaussians."""
        k, m = params.n_components, params.n_mix
        states = KMeans(k, n_init=10, random_state=params.random_state).fit(X)
        middle, means = states.cluster_centers_.mean(axis=0), []
        for state in range(k):
            members = X[states.labels_ == state]
            if len(members) >= m:
                means.append(KMeans(m, n_init=10, random_state=params.random_state).fit(members).cluster_centers_)
            else:
                means.append(random.multivariate_normal(middle, covariance, size=m))
        return np.stack(means)

    @staticmethod
    def _shape(k: int, m: int, d: int, kind: CovarianceType) -> tuple[int, ...]:
        shapes: dict[str, tuple[int, ...]] = {"full": (k, m, d, d), "tied": (k, d, d), "diag": (k, m, d), "spherical": (k, m)}
        return shapes[kind]

    def _emissions(self) -> MixtureEmissions:
        return self._made(
            self.weights_, self.means_, self.covars_, SimpleNamespace(**self.get_params()), np.shape(self.means_)[-1]
        )

    def _made(self, weights: Any, means: Any, covars: Any, params: SimpleNamespace, d: int) -> MixtureEmissions:
        k, m, kind = params.n_components, params.n_mix, params.covariance_type
        wanted = {"weights_": (k, m), "means_": (k, m, d), "covars_": self._shape(k, m, d, kind)}
        given = {"weights_": weights, "means_": means, "covars_": covars}
        arrays = {name: np.array(value, dtype=np.float64) for name, value in given.items()}
        for name, shape in wanted.items():
            if arrays[name].shape != shape:
                raise ValueError(f"GMMHMM: {name} must have shape {shape}, actual shape: {arrays[name].shape}")
        require_law("weights_", arrays["weights_"])
        flat = arrays["covars_"].reshape(-1, *wanted["covars_"][1 if kind == "tied" else 2 :])
        require_positive(f"{kind!r} mixture covars", flat, "full" if kind == "tied" else kind)
        beliefs = Beliefs.of(self, k, m, d, params)
        return MixtureEmissions(arrays["weights_"], arrays["means_"], arrays["covars_"], beliefs, params)

    def _draw(self, state: int, random: Any) -> FloatArray:
        mix = random.choice(self.n_mix, p=self.weights_[state])
        covariance = self.covars_[state] if self.covariance_type == "tied" else self.covars_[state, mix]
        matrix = covariance if np.ndim(covariance) == 2 else covariance * np.eye(self.n_features)
        row: FloatArray = random.multivariate_normal(self.means_[state, mix], matrix)
        return row

    def _n_free(self) -> dict[str, int]:
        k, m, d = np.shape(self.means_)
        of_covariances = {"spherical": k * m, "diag": k * m * d, "full": k * m * d * (d + 1) // 2, "tied": k * d * (d + 1) // 2}
        return {"s": k - 1, "t": k * (k - 1), "m": k * m * d, "c": of_covariances[self.covariance_type], "w": k * (m - 1)}
