"""Chains whose states emit counts."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from mercer._arrays import FloatArray
from mercer._params import ArrayLike, Real, Rule
from mercer.hmm._base import BaseHMM, Letters, number_of_columns

LEAST_SHARE = 1e-6  # of the mean, that a rate starts from: a few huge counts give a law that draws zeros, which forbid a count
LARGEST = 2.0**53  # of the whole numbers that double precision tells apart
LOG_OF_ZERO = -1e300  # a rate of zero allows no count but zero: 0 times this is zero, which it would not be of -infinity


class PoissonEmissions:
    """A rate for each state and column, with a gamma prior lambda^alpha exp(-beta lambda)."""

    def __init__(self, rates: FloatArray, alpha: FloatArray, beta: FloatArray) -> None:
        self.rates, self._alpha, self._beta = rates, alpha, beta

    def log_densities(self, X: FloatArray) -> FloatArray:
        X = X.astype(np.float64, copy=False)
        with np.errstate(divide="ignore"):
            log_rates = np.maximum(np.log(self.rates), LOG_OF_ZERO)
        logs: FloatArray = X @ log_rates.T - self.rates.sum(axis=1) - gammaln(X + 1).sum(axis=1)[:, None]
        return logs

    def update(self, X: FloatArray, posteriors: FloatArray, params: str) -> None:
        if "l" not in params:
            return
        shares = posteriors.sum(axis=0)[:, None]
        sums, rows = self._alpha + posteriors.T @ X, self._beta + shares
        self.rates = np.where(rows > 0, np.divide(sums, rows, out=np.zeros_like(sums), where=rows > 0), self.rates)

    def log_prior(self) -> float:
        with np.errstate(divide="ignore"):
            logs = np.where(self._alpha > 0, self._alpha * np.maximum(np.log(self.rates), LOG_OF_ZERO), 0.0)
        return float((logs - self._beta * self.rates).sum())

    def attributes(self) -> dict[str, Any]:
        return {"lambdas_": self.rates}


class PoissonHMM(BaseHMM):
    r"""A hidden Markov model whose states emit counts, each column a Poisson law of its own.

    Maximises :math:`\log p(X)`, plus what the priors say, locally.

    Parameters
    ----------
    n_components : int, default=1
        The number of states.
    startprob_prior, transmat_prior : float or array, default=1.0
        Dirichlet priors; 1 says nothing.
    lambdas_prior, lambdas_weight : float or array, default=0.0
        Of a gamma prior: counts seen before, and in how many steps.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As of `GaussianHMM`.
    params, init_params : str, default="stl"
        What a fit moves, and what it makes anew before: start, transitions, rates.

    Attributes
    ----------
    startprob_ : array of shape (n_components,)
    transmat_ : array of shape (n_components, n_components)
    lambdas_ : array of shape (n_components, n_features)
    monitor_, n_iter_, history_, certificate_, n_features_in_
        As of `GaussianHMM`.

    Notes
    -----
    An iteration is O(n (K^2 + K d)).

    References
    ----------
    I. L. MacDonald and W. Zucchini, "Hidden Markov and other models for discrete-valued time series", Chapman and Hall 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.hmm import PoissonHMM
    >>> X = np.array([1, 0, 2, 1, 30, 28, 33, 29, 0, 1, 1])[:, None]
    >>> model = PoissonHMM(n_components=2, random_state=2, n_iter=50).fit(X)
    >>> np.sort(model.lambdas_.ravel()).round(2)
    array([ 0.86, 30.  ])
    """

    _names: ClassVar[Mapping[str, str]] = {"s": "startprob_", "t": "transmat_", "l": "lambdas_"}
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **BaseHMM._shared_rules,
        "lambdas_prior": Real(least=0) | ArrayLike(),
        "lambdas_weight": Real(least=0) | ArrayLike(),
        "params": Letters("stl"),
        "init_params": Letters("stl"),
    }

    lambdas_: FloatArray

    def __init__(
        self,
        n_components: int = 1,
        startprob_prior: float | npt.ArrayLike = 1.0,
        transmat_prior: float | npt.ArrayLike = 1.0,
        lambdas_prior: float | npt.ArrayLike = 0.0,
        lambdas_weight: float | npt.ArrayLike = 0.0,
        algorithm: str = "viterbi",
        random_state: int | np.random.RandomState | None = None,
        n_iter: int = 10,
        tol: float = 1e-2,
        verbose: bool = False,
        params: str = "stl",
        init_params: str = "stl",
        implementation: str = "log",
    ) -> None:
        self.n_components = n_components
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.lambdas_prior = lambdas_prior
        self.lambdas_weight = lambdas_weight
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation

    n_features = number_of_columns("lambdas_")

    def _check_values(self, X: FloatArray) -> None:
        if (X < 0).any() or (np.floor(X) != X).any():
            raise ValueError("PoissonHMM: X must hold counts, whole numbers >= 0.")

    def _emissions_from_data(self, X: FloatArray, params: SimpleNamespace, random: Any) -> PoissonEmissions:
        if X.max() > LARGEST:
            raise ValueError(
                f"PoissonHMM: X holds counts as large as {X.max():.3g}, and whole numbers are told apart up to {LARGEST:.3g}. "
                "Scale X: count in larger units."
            )
        k, d = params.n_components, X.shape[1]
        if not self._needs_init("l", "lambdas_", params):
            return self._made(self.lambdas_)
        # A gamma law with the mean and the variance of all counts; of equal counts, that count.
        mean, variance = float(X.mean(dtype=np.float64)), float(X.var(dtype=np.float64))
        if mean == 0 or variance == 0:
            return self._made(np.full((k, d), mean))
        drawn = random.gamma(shape=mean**2 / variance, scale=variance / mean, size=(k, d))
        return self._made(np.maximum(drawn, LEAST_SHARE * mean))

    def _emissions(self) -> PoissonEmissions:
        return self._made(self.lambdas_)

    def _made(self, rates: Any) -> PoissonEmissions:
        rates = np.array(np.atleast_2d(rates), dtype=np.float64)
        n_features = getattr(self, "n_features_in_", rates.shape[1])
        if rates.shape != (self.n_components, n_features):
            raise ValueError(
                f"lambdas_ must have shape (n_components, n_features)={(self.n_components, n_features)}, got {rates.shape}"
            )
        if not (rates >= 0).all() or not np.isfinite(rates).all():
            raise ValueError("lambdas_ must hold finite numbers >= 0.")
        alpha = self._prior(self.lambdas_prior, "lambdas_prior", rates.shape)
        return PoissonEmissions(rates, alpha, self._prior(self.lambdas_weight, "lambdas_weight", rates.shape))

    def _draw(self, state: int, random: Any) -> FloatArray:
        row: FloatArray = random.poisson(self.lambdas_[state])
        return row

    def _n_free(self) -> dict[str, int]:
        k, d = np.shape(self.lambdas_)
        return {"s": k - 1, "t": k * (k - 1), "l": k * d}
