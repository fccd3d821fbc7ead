"""Clustering."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.cluster import *  # noqa: F403

    from mercer.cluster._dbscan import DBSCAN as DBSCAN, dbscan as dbscan
    from mercer.cluster._elbow import ElbowCurve as ElbowCurve, elbow as elbow
    from mercer.cluster._eps import KDistanceCurve as KDistanceCurve, estimate_eps as estimate_eps
    from mercer.cluster._hdbscan import HDBSCAN as HDBSCAN
    from mercer.cluster._kmeans import KMeans as KMeans
    from mercer.cluster._optics import (
        OPTICS as OPTICS,
        cluster_optics_dbscan as cluster_optics_dbscan,
        cluster_optics_xi as cluster_optics_xi,
        compute_optics_graph as compute_optics_graph,
    )
    from mercer.cluster._seeding import kmeans_plusplus as kmeans_plusplus

__getattr__, __dir__ = exports(
    __name__,
    {
        "._dbscan": ("DBSCAN", "dbscan"),
        "._elbow": ("ElbowCurve", "elbow"),
        "._eps": ("KDistanceCurve", "estimate_eps"),
        "._hdbscan": ("HDBSCAN",),
        "._kmeans": ("KMeans",),
        "._optics": ("OPTICS", "cluster_optics_dbscan", "cluster_optics_xi", "compute_optics_graph"),
        "._seeding": ("kmeans_plusplus",),
    },
)
