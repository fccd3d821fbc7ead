"""How much contrast distances have left: in many dimensions all rows are about equally far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray
from mercer._params import Function, Instance, Integer, RandomState, check_value
from mercer._random import as_random_state
from mercer._rows import with_own_structure
from mercer.metrics.pairwise import pairwise_distances

MOST_DISTANCES = 1 << 22  # that are held at a time
LITTLE = 0.5  # a relative contrast below which the nearest row says little more than any other


@dataclass(frozen=True, repr=False)
class DistanceConcentration:
    """What distances between rows tell them apart by; printed, it is a sentence.

    Attributes
    ----------
    n_features : int
        The number of features.
    n_queries : int
        The number of rows whose distances to all others were taken.
    relative_contrast : float
        The median over these of (d_max - d_min) / d_min; infinite where most of them have an equal row.
    coefficient_of_variation : float
        The standard deviation of all distances over their mean.
    intrinsic_dimension : float
        mean^2 / (2 variance) of the distances: about the number of independent features that would have as little contrast.
    """

    n_features: int
    n_queries: int
    relative_contrast: float
    coefficient_of_variation: float
    intrinsic_dimension: float

    def __repr__(self) -> str:
        words = "little contrast is left for nearest neighbours" if self.relative_contrast < LITTLE else "neighbours stand out"
        return (
            f"{self.n_features} features: the farthest row is {1 + self.relative_contrast:.3g} times as far as the nearest, "
            f"and distances vary by {self.coefficient_of_variation:.1%}, as those of about {self.intrinsic_dimension:.3g} "
            f"independent features do: {words} (median of {self.n_queries} rows)."
        )


def distance_concentration(
    X: Any, *, metric: Any = "euclidean", n_queries: int = 200, random_state: Any = None
) -> DistanceConcentration:
    """How much contrast distances have left in these dimensions.

    For rows drawn at random, the distances to all other rows: how much farther the farthest is than the nearest,
    (d_max - d_min) / d_min, and how much distances vary around their mean. Both go to zero as independent features are added
    (Beyer and others, 1999), and nearest neighbours then mean nothing.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Two rows at least.
    metric : str or callable, default="euclidean"
        As in :func:`mercer.metrics.pairwise.pairwise_distances`.
    n_queries : int, default=200
        How many rows to draw; all where there are fewer.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    DistanceConcentration

    Notes
    -----
    O(n_queries n d), and no more memory than some millions of distances.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neighbors import distance_concentration
    >>> random = np.random.RandomState(0)
    >>> [round(distance_concentration(random.rand(500, d), random_state=0).relative_contrast, 1) for d in (2, 20, 500)]
    [45.4, 1.2, 0.2]
    """
    owner = "distance_concentration"
    check_value(owner, "metric", metric, Instance(str) | Function())
    n_queries = check_value(owner, "n_queries", n_queries, Integer(1))
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    X = check_array(with_own_structure(X), accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2, estimator=owner)
    queries = random.choice(X.shape[0], size=min(n_queries, X.shape[0]), replace=False)
    contrasts, total, squares = [], 0.0, 0.0
    for distances in _others(X, queries, metric):
        least, most = distances.min(axis=1), distances.max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal rows: endless contrast, and none where all are equal
            contrasts.append(np.where(most > 0, (most - least) / least, 0.0))
        total, squares = total + distances.sum(), squares + (distances**2).sum()
    n = len(queries) * (X.shape[0] - 1)
    mean = total / n
    variation = float(np.sqrt(max(squares / n - mean**2, 0.0)) / mean) if mean > 0 else 0.0
    dimension = 1 / (2 * variation**2) if variation > 0 else np.inf
    return DistanceConcentration(X.shape[1], len(queries), float(np.median(np.concatenate(contrasts))), variation, dimension)


def _others(X: Any, queries: Any, metric: Any) -> Iterator[FloatArray]:
    """The distances of some queries at a time to all rows but themselves."""
    n = X.shape[0]
    for part in np.array_split(queries, np.ceil(len(queries) * n / MOST_DISTANCES)):
        distances = np.asarray(pairwise_distances(X[part], X, metric=metric), dtype=np.float64)
        is_other = np.ones(distances.shape, dtype=bool)
        is_other[np.arange(len(part)), part] = False
        yield distances[is_other].reshape(len(part), n - 1)
