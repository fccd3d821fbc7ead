"""Choosing the radius of DBSCAN from the sorted curve of k-distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Function, Integer, InvalidParameterError, Mapped, Null, NumberOfJobs, OneOf, Real, check_value
from mercer._rows import with_own_structure
from mercer.cluster._density import METRICS, Metric, PointTree, RowDistances, require_square

METHODS = ("slope", "knee", "noise")


@dataclass(frozen=True, repr=False)
class KDistanceCurve:
    """The k-distances of all rows, from the largest on, and where the curve is cut; printed, it is a sentence.

    Attributes
    ----------
    eps : float
        The radius: the k-distance at the cut.
    distances : array of shape (n_samples,)
        The distance of each row to its `min_samples`-th nearest, itself included, in falling order.
    place : int
        Where in `distances` the cut is: the rows before it would not be core.
    min_samples : int
        What the distances count.
    method : str
        The rule.
    """

    eps: float
    distances: FloatArray
    place: int
    min_samples: int
    method: str

    @property
    def noise(self) -> float:
        """The share of rows that would not be core."""
        return self.place / len(self.distances)

    def __float__(self) -> float:
        return self.eps

    def __repr__(self) -> str:
        return (
            f"eps = {self.eps:.4g} by the rule {self.method!r}: with min_samples={self.min_samples}, {self.place} of "
            f"{len(self.distances)} rows ({self.noise:.1%}) would not be core."
        )


def estimate_eps(
    X: Any,
    min_samples: int = 5,
    *,
    method: str = "slope",
    noise: float = 0.05,
    metric: Metric = "euclidean",
    p: float | None = None,
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> KDistanceCurve:
    """Propose `eps` of :class:`DBSCAN` from the sorted curve of k-distances.

    A row is core if its `min_samples`-th nearest, itself included, is at most `eps` away. These distances are sorted in falling
    order: noise comes first, rows within clusters last, and `eps` is the distance where the curve goes over from one to the
    other.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
        Two rows at least.
    min_samples : int, default=5
        That of DBSCAN.
    method : {"slope", "knee", "noise"}, default="slope"
        Where to cut. "slope": at the first of the two successive points whose slope is closest to that of the line from the
        first to the last point of the curve. "knee": at the point farthest below that line, both axes scaled to [0, 1].
        "noise": so that a share `noise` of the rows is not core.
    noise : float, default=0.05
        The expected share of noise, for "noise".
    metric, p, metric_params
        As of :class:`DBSCAN`.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use.

    Returns
    -------
    KDistanceCurve
        `mercer.plots.plot_k_distances` draws it.

    Notes
    -----
    "slope" looks at single steps of the curve, which are noisy: of many rows, any step may come out closest. "knee" looks at
    the curve as a whole. Rows at a border count as noise in "noise", as they are not core.

    References
    ----------
    M. Ester, H.-P. Kriegel, J. Sander, X. Xu, "A density-based algorithm for discovering clusters in large spatial databases
    with noise", KDD 1996, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import estimate_eps
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(90, 2), random.uniform(-20, 20, size=(10, 2))])
    >>> estimate_eps(X, method="noise", noise=0.1)
    eps = 1.306 by the rule 'noise': with min_samples=5, 10 of 100 rows (10.0%) would not be core.
    """
    owner = "estimate_eps"
    min_samples = check_value(owner, "min_samples", min_samples, Integer(1))
    method = check_value(owner, "method", method, OneOf(*METHODS))
    noise = check_value(owner, "noise", noise, Real(least=0, below=1))
    check_value(owner, "metric", metric, OneOf(*METRICS) | Function())
    check_value(owner, "metric_params", metric_params, Null() | Mapped())
    check_value(owner, "p", p, Null() | Real(above=0))
    n_threads = effective_threads(check_value(owner, "n_jobs", n_jobs, NumberOfJobs()))
    X = check_array(with_own_structure(X), accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2, estimator=owner)
    if min_samples > X.shape[0]:
        raise InvalidParameterError(f"{owner}: min_samples={min_samples} is more than X has rows, {X.shape[0]}.")
    if metric == "precomputed":
        require_square(owner, X)
    distances = np.sort(_k_distances(X, min_samples, metric, p, metric_params, n_threads))[::-1].copy()
    place = {"slope": _closest_slope, "knee": _knee}[method](distances) if method != "noise" else int(np.ceil(noise * len(X)))
    place = min(place, len(distances) - 1)
    return KDistanceCurve(float(distances[place]), distances, place, min_samples, method)


def _k_distances(X: Any, k: int, metric: Any, p: float | None, metric_params: Any, n_threads: int) -> FloatArray:
    tree = PointTree.of(X, metric=metric, p=p, metric_params=metric_params, n_threads=n_threads)
    if tree is None:
        return RowDistances(X, metric=metric, p=p, metric_params=metric_params).kth_smallest(k)
    distances = np.empty(X.shape[0])
    kernels.core_distances(*tree, k, distances, n_threads)
    return distances


def _closest_slope(falling: FloatArray) -> int:
    """The first of the two successive points whose slope is closest to that of the whole curve."""
    slope = (falling[-1] - falling[0]) / (len(falling) - 1)
    return int(np.argmin(np.abs(np.diff(falling) - slope)))


def _knee(falling: FloatArray) -> int:
    """The point farthest below the line from the first to the last, after scaling both axes to [0, 1]."""
    height = falling[0] - falling[-1]
    if height == 0:
        return 0
    line = 1 - np.linspace(0, 1, len(falling))
    return int(np.argmax(line - (falling - falling[-1]) / height))
