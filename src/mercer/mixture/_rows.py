"""The rows that a mixture is fitted to, and where to start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._gaussians import CovarianceType, Gaussians, Moments
from mercer._lazy import lazy_property
from mercer._parallel import effective_threads
from mercer._statistics import ColumnMoments
from mercer.cluster import KMeans, kmeans_plusplus
from mercer.mixture import _missing
from mercer.mixture._missing import Patterns


@dataclass(frozen=True)
class Rows:
    """X, the weights of its rows in double precision, and the patterns of its missing cells where some are missing."""

    X: FloatArray
    weights: FloatArray | None
    patterns: Patterns | None

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray | None = None, *, may_lack: bool = False) -> Rows:
        lacks = may_lack and bool(np.isnan(X).any())
        return cls(X, weights, Patterns(X) if lacks else None)

    @lazy_property
    def variances(self) -> FloatArray:
        """Of the columns; not finite where squares overflow."""
        with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the result
            weights = None if self.weights is None else self.weights.astype(self.X.dtype)
            moments = ColumnMoments.of(self.X, weights, n_threads=effective_threads(None))
            return moments.deviation / np.maximum(moments.weight, np.finfo(np.float64).tiny)

    @property
    def total(self) -> float:
        return float(len(self.X) if self.weights is None else self.weights.sum())

    def complete(self) -> FloatArray:
        """X, with means in its missing cells."""
        return self.X if self.patterns is None else self.patterns.filled(self.weights)

    def expect(
        self, means: FloatArray, covariances: FloatArray, factors: FloatArray, kind: CovarianceType, log_weights: FloatArray
    ) -> tuple[Moments, float]:
        """The moments of an E step, and the weighted sum of the logarithms of the densities."""
        if self.patterns is not None:
            return _missing.expect(self.patterns, self.weights, means, covariances, kind, log_weights)
        return Gaussians(means, factors, kind, log_weights).expect(self.X, self.weights)

    def log_densities(
        self, means: FloatArray, covariances: FloatArray, factors: FloatArray, kind: CovarianceType, log_weights: FloatArray
    ) -> FloatArray:
        if self.patterns is not None:
            return _missing.log_densities(self.patterns, means, covariances, kind, log_weights)
        return Gaussians(means, factors, kind, log_weights).log_densities(self.X)

    def first_moments(self, how: str, n_components: int, random: Any, kind: CovarianceType) -> Moments:
        """The moments by the shares of a start, which scientific names describe: see `init_params` of GaussianMixture."""
        X = self.complete()
        shares = _first_shares(X, self.weights, how, n_components, random)
        if self.weights is not None:
            shares *= self.weights[:, None]
        totals = np.maximum(shares.sum(axis=0), np.finfo(np.float64).tiny)
        centres = (shares.T @ X) / totals[:, None]
        return Moments.of(X, shares, centres, kind)


def _first_shares(X: FloatArray, weights: FloatArray | None, how: str, n_components: int, random: Any) -> FloatArray:
    """The shares of the rows in the components, (n, K), each row's adding up to one at most."""
    n = len(X)
    if how == "random":
        drawn: FloatArray = random.uniform(size=(n, n_components))
        return np.asarray(drawn / drawn.sum(axis=1)[:, None])
    shares = np.zeros((n, n_components))
    if how == "kmeans":
        labels = KMeans(n_components, n_init=1, random_state=random).fit(X, sample_weight=weights).labels_
        shares[np.arange(n), labels] = 1
        return shares
    if how == "random_from_data":
        share = None if weights is None else weights / weights.sum()
        chosen = random.choice(n, size=n_components, replace=False, p=share)
    else:
        chosen = kmeans_plusplus(X, n_components, sample_weight=weights, random_state=random)[1]
    shares[chosen, np.arange(n_components)] = 1
    return shares
