"""Clustering."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.cluster import *  # noqa: F403

    from mercer.cluster._agglomerative import AgglomerativeClustering as AgglomerativeClustering
    from mercer.cluster._dbscan import DBSCAN as DBSCAN, dbscan as dbscan
    from mercer.cluster._divisive import DivisiveClustering as DivisiveClustering
    from mercer.cluster._elbow import ElbowCurve as ElbowCurve, elbow as elbow
    from mercer.cluster._eps import KDistanceCurve as KDistanceCurve, estimate_eps as estimate_eps
    from mercer.cluster._feature_agglomeration import FeatureAgglomeration as FeatureAgglomeration
    from mercer.cluster._hdbscan import HDBSCAN as HDBSCAN
    from mercer.cluster._kmeans import KMeans as KMeans
    from mercer.cluster._optics import (
        OPTICS as OPTICS,
        cluster_optics_dbscan as cluster_optics_dbscan,
        cluster_optics_xi as cluster_optics_xi,
        compute_optics_graph as compute_optics_graph,
    )
    from mercer.cluster._seeding import kmeans_plusplus as kmeans_plusplus
    from mercer.cluster._trees import (
        cut_linkage as cut_linkage,
        linkage as linkage,
        linkage_tree as linkage_tree,
        suggest_n_clusters as suggest_n_clusters,
        ward_tree as ward_tree,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "._agglomerative": ("AgglomerativeClustering",),
        "._dbscan": ("DBSCAN", "dbscan"),
        "._divisive": ("DivisiveClustering",),
        "._elbow": ("ElbowCurve", "elbow"),
        "._eps": ("KDistanceCurve", "estimate_eps"),
        "._feature_agglomeration": ("FeatureAgglomeration",),
        "._hdbscan": ("HDBSCAN",),
        "._kmeans": ("KMeans",),
        "._optics": ("OPTICS", "cluster_optics_dbscan", "cluster_optics_xi", "compute_optics_graph"),
        "._seeding": ("kmeans_plusplus",),
        "._trees": ("cut_linkage", "linkage", "linkage_tree", "suggest_n_clusters", "ward_tree"),
    },
)
