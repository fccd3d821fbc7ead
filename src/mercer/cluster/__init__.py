"""Clustering."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.cluster import *  # noqa: F403

    from mercer.cluster._elbow import ElbowCurve as ElbowCurve, elbow as elbow
    from mercer.cluster._kmeans import KMeans as KMeans
    from mercer.cluster._seeding import kmeans_plusplus as kmeans_plusplus

__getattr__, __dir__ = exports(
    __name__,
    {
        "._elbow": ("ElbowCurve", "elbow"),
        "._kmeans": ("KMeans",),
        "._seeding": ("kmeans_plusplus",),
    },
)
