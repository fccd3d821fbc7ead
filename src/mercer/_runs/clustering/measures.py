"""Internal measures of a clustering, and clusters numbered by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._runs.clustering.methods import NOISE, Labels
from mercer.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_samples

MOST_SILHOUETTES = 2_000  # rows: their distances are a matrix
_LEAST_SHARE = 0.01  # of the rows: what is smaller is no cluster but a few odd rows


def by_size(labels: Labels) -> Labels:
    """Clusters numbered from 0, the largest first, of equals the one whose first row comes first; noise stays -1."""
    found, first, counts = np.unique(labels[labels != NOISE], return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    places = np.full(int(labels.max(initial=0)) + 1, NOISE, dtype=np.intp)
    places[found[order]] = np.arange(len(found))
    numbered: Labels = np.where(labels == NOISE, NOISE, places[labels])
    return numbered


def least_rows(n_rows: int) -> int:
    """The rows of a cluster that is worth the name."""
    return max(2, int(np.ceil(_LEAST_SHARE * n_rows)))


def silhouettes_of(X: FloatArray, labels: Labels, rows: Any) -> FloatArray:
    """The silhouette of these rows among themselves; that of noise is 0. NaN where fewer than two clusters are there."""
    labels, X = labels[rows], X[rows]
    is_member = labels != NOISE
    n_clusters = len(np.unique(labels[is_member]))
    if not 2 <= n_clusters < is_member.sum():
        return np.full(len(labels), np.nan)
    values = np.zeros(len(labels))
    values[is_member] = silhouette_samples(X[is_member], labels[is_member])
    return values


def some_rows(n_rows: int, most: int, seed: int) -> Any:
    """As many rows as may be, drawn once."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def silhouette(X: FloatArray, labels: Labels, seed: int) -> float | None:
    """The mean silhouette of at most 2,000 rows; None where there are no two clusters."""
    value = float(np.mean(silhouettes_of(X, labels, some_rows(len(X), MOST_SILHOUETTES, seed))))
    return value if np.isfinite(value) else None


@dataclass(frozen=True)
class Measures:
    """What is measured of one clustering. None: not defined."""

    n_clusters: int
    noise: float  # share of the rows
    smallest: int
    largest: float  # share of the rows
    silhouette: float | None
    davies_bouldin: float | None
    calinski_harabasz: float | None
    bic: float | None


def measure(X: FloatArray, labels: Labels, model: Any, seed: int) -> Measures:
    is_member = labels != NOISE
    counts = np.bincount(labels[is_member]) if is_member.any() else np.zeros(0, dtype=int)
    counts = counts[counts > 0]
    is_defined = 2 <= len(counts) < is_member.sum()
    members, codes = X[is_member], labels[is_member]
    return Measures(
        n_clusters=len(counts),
        noise=float(np.mean(~is_member)),
        smallest=int(counts.min(initial=len(X))),
        largest=float(counts.max(initial=0) / len(X)),
        silhouette=silhouette(X, labels, seed) if is_defined else None,
        davies_bouldin=_finite(davies_bouldin_score(members, codes)) if is_defined else None,
        calinski_harabasz=_finite(calinski_harabasz_score(members, codes)) if is_defined else None,
        bic=_finite(model.bic(X)) if hasattr(model, "bic") else None,
    )


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
