"""How far a clustering stays the same when the rows change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._params import Function, Integer, Null, NumberOfJobs, RandomState, Real, check_value, check_values
from mercer._random import as_random_state
from mercer._rows import count_rows, take_rows
from mercer.metrics._clusterings import adjusted_rand_score


@dataclass(frozen=True, repr=False)
class ClusterStability:
    """How much clusterings of two samples agree on the rows that they share.

    Attributes
    ----------
    mean, std : float
        Of the agreement, over pairs of samples; one is a clustering that does not depend on the sample.
    scores : array of shape (n_resamples,)
        The agreement of each pair.
    by_n_clusters : dict of int to ClusterStability, or None
        For each number of clusters asked for; mean, std and scores are then those of the most stable.
    n_clusters : int or None
        That number; the fewest of equally stable ones.
    """

    mean: float
    std: float
    scores: FloatArray
    by_n_clusters: dict[int, ClusterStability] | None = None
    n_clusters: int | None = None

    def __repr__(self) -> str:
        of = "" if self.n_clusters is None else f" with {self.n_clusters} clusters"
        lines = [f"ClusterStability: {self.mean:.4f} +- {self.std:.4f}{of}"]
        for k, found in (self.by_n_clusters or {}).items():
            lines.append(f"  {k:>4} {found.mean:.4f} +- {found.std:.4f}{'  <-' if k == self.n_clusters else ''}")
        return "\n".join(lines)


def cluster_stability(
    estimator: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    n_resamples: int = 20,
    sample_size: float = 0.8,
    scoring: Callable[[Any, Any], float] = adjusted_rand_score,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ClusterStability:
    """Cluster pairs of samples of the rows, and compare the labels of the rows that both samples have.

    Parameters
    ----------
    estimator : clusterer
        With `fit_predict`; it is cloned.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    n_clusters : iterable of int or None, default=None
        Numbers of clusters to try, as the estimator's parameter of that name; None leaves the estimator as it is.
    n_resamples : int, default=20
        How many pairs of samples to draw; the same for each number of clusters.
    sample_size : float, default=0.8
        The share of the rows in a sample, drawn without replacement; more than 0.5, so that two samples share some.
    scoring : callable, default=adjusted_rand_score
        Of two labelings of the same rows.
    random_state : int, RandomState or None, default=None
        Draws the samples.
    n_jobs : int or None, default=None
        How many pairs are clustered side by side.

    Returns
    -------
    ClusterStability

    Notes
    -----
    Stability says whether a number of clusters is found again, not whether it is right: one cluster is always found again.

    References
    ----------
    A. Ben-Hur, A. Elisseeff, I. Guyon, "A stability based method for discovering structure in clustered data", 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import KMeans
    >>> from mercer.metrics import cluster_stability
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([centre + random.randn(30, 2) for centre in ([0, 0], [9, 0], [0, 9])])
    >>> cluster_stability(KMeans(random_state=0), X, n_clusters=[2, 3, 4], n_resamples=5, random_state=0).n_clusters
    3
    """
    owner = "cluster_stability"
    if not hasattr(estimator, "fit_predict"):
        raise TypeError(f"{owner}: a clusterer comes first; {type(estimator).__name__} has no fit_predict.")
    n_resamples = check_value(owner, "n_resamples", n_resamples, Integer(1))
    sample_size = check_value(owner, "sample_size", sample_size, Real(above=0.5, most=1))
    check_value(owner, "scoring", scoring, Function())
    check_value(owner, "random_state", random_state, RandomState())
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs() | Null())
    n, random = count_rows(X), as_random_state(random_state)
    size = max(2, round(sample_size * n))
    if n < 3:
        raise ValueError(f"{owner}: X has {n} rows; samples of them differ from three rows on.")
    pairs = [(np.sort(random.permutation(n)[:size]), np.sort(random.permutation(n)[:size])) for _ in range(n_resamples)]

    def measured(model: Any) -> ClusterStability:
        with run_jobs([partial(_agreement, model, X, samples, scoring) for samples in pairs], n_jobs) as results:
            scores = np.array(list(results))
        return ClusterStability(float(scores.mean()), float(scores.std()), scores)

    if n_clusters is None:
        return measured(estimator)
    numbers = sorted(set(check_values(owner, "n_clusters", list(n_clusters), Integer(1))))
    found = {k: measured(clone(estimator).set_params(n_clusters=k)) for k in numbers}
    best = max(numbers, key=lambda k: (found[k].mean, -k))
    return ClusterStability(found[best].mean, found[best].std, found[best].scores, found, best)


def _agreement(model: Any, X: Any, samples: tuple[Any, Any], scoring: Callable[[Any, Any], float]) -> float:
    """Of the labels that two samples' clusterings give the rows that both have."""
    labels = [clone(model).fit_predict(take_rows(X, rows)) for rows in samples]
    _, left, right = np.intersect1d(*samples, assume_unique=True, return_indices=True)
    return float(scoring(labels[0][left], labels[1][right]))
