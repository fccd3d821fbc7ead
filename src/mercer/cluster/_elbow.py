"""Choosing the number of clusters from the curve of inertias."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._arrays import FloatArray
from mercer._params import Integer, check_value
from mercer.cluster._kmeans import KMeans


@dataclass(frozen=True, repr=False)
class ElbowCurve:
    """Inertia against the number of clusters, and where the curve bends most.

    Attributes
    ----------
    n_clusters : int array
        The numbers tried, ascending.
    inertia : array
        The inertia reached with each.
    suggested : int
        The number at the elbow: the point of the curve farthest below the chord from its first to its last point, both axes
        scaled to [0, 1].
    bend : array
        That distance for every number; a flat curve of bends means that the data show no elbow.
    """

    n_clusters: npt.NDArray[np.int64]
    inertia: FloatArray
    suggested: int
    bend: FloatArray

    def __repr__(self) -> str:
        lines = [f"ElbowCurve: {self.suggested} clusters suggested"]
        for k, inertia in zip(self.n_clusters, self.inertia, strict=True):
            lines.append(f"  {k:>4} {inertia:>14.6g}{'  <-' if k == self.suggested else ''}")
        return "\n".join(lines)


def elbow(
    X: Any, n_clusters: Iterable[int] = range(1, 11), *, estimator: KMeans | None = None, sample_weight: Any = None
) -> ElbowCurve:
    """Fit k-means for several numbers of clusters and find the elbow of the inertias.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    n_clusters : iterable of int, default=range(1, 11)
        The numbers to try; at least three.
    estimator : KMeans or None, default=None
        What to fit, apart from `n_clusters`; None means ``KMeans(n_init=3, random_state=0)``.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    ElbowCurve
        `mercer.plots.plot_elbow` draws it.

    Notes
    -----
    The inertia falls with every further cluster, so the rule looks for the bend, not for the minimum. Where clusters overlap
    there may be none; look at the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import elbow
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([centre + random.randn(50, 2) for centre in ([0, 0], [9, 0], [0, 9], [9, 9])])
    >>> elbow(X, range(1, 9)).suggested
    4
    """
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"elbow: n_clusters={n_clusters!r} is not valid; it must be several numbers, such as range(1, 11).")
    numbers = sorted({check_value("elbow", "n_clusters", k, Integer(1)) for k in n_clusters})
    if len(numbers) < 3:
        raise ValueError(f"elbow: n_clusters={numbers} is not valid; it must hold at least three different numbers.")
    model = KMeans(n_init=3, random_state=0) if estimator is None else estimator
    inertia = np.array([clone(model).set_params(n_clusters=k).fit(X, sample_weight=sample_weight).inertia_ for k in numbers])
    bend = _distance_below_chord(np.array(numbers, dtype=np.float64), inertia)
    return ElbowCurve(np.array(numbers), inertia, numbers[int(np.argmax(bend))], bend)


def _distance_below_chord(x: FloatArray, y: FloatArray) -> FloatArray:
    """How far each point lies below the line from the first to the last, after scaling both axes to [0, 1]."""
    u = (x - x[0]) / (x[-1] - x[0])
    fall = y[0] - y[-1]
    v = (y - y[-1]) / fall if fall > 0 else np.zeros_like(y)
    return (1 - u - v) / np.sqrt(2) if fall > 0 else np.zeros_like(y)
