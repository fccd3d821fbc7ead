"""Clustering."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.cluster import *  # noqa: F403

    from mercer.cluster._affinity_propagation import (
        AffinityPropagation as AffinityPropagation,
        affinity_propagation as affinity_propagation,
    )
    from mercer.cluster._agglomerative import AgglomerativeClustering as AgglomerativeClustering
    from mercer.cluster._birch import Birch as Birch
    from mercer.cluster._bisecting_kmeans import BisectingKMeans as BisectingKMeans
    from mercer.cluster._dbscan import DBSCAN as DBSCAN, dbscan as dbscan
    from mercer.cluster._divisive import DivisiveClustering as DivisiveClustering
    from mercer.cluster._elbow import ElbowCurve as ElbowCurve, elbow as elbow
    from mercer.cluster._eps import KDistanceCurve as KDistanceCurve, estimate_eps as estimate_eps
    from mercer.cluster._feature_agglomeration import FeatureAgglomeration as FeatureAgglomeration
    from mercer.cluster._gap import GapCurve as GapCurve, gap_statistic as gap_statistic
    from mercer.cluster._hdbscan import HDBSCAN as HDBSCAN
    from mercer.cluster._kmeans import KMeans as KMeans, k_means as k_means
    from mercer.cluster._mean_shift import (
        MeanShift as MeanShift,
        estimate_bandwidth as estimate_bandwidth,
        get_bin_seeds as get_bin_seeds,
        mean_shift as mean_shift,
    )
    from mercer.cluster._mini_batch_kmeans import MiniBatchKMeans as MiniBatchKMeans
    from mercer.cluster._optics import (
        OPTICS as OPTICS,
        cluster_optics_dbscan as cluster_optics_dbscan,
        cluster_optics_xi as cluster_optics_xi,
        compute_optics_graph as compute_optics_graph,
    )
    from mercer.cluster._seeding import kmeans_plusplus as kmeans_plusplus
    from mercer.cluster._self_organizing_map import SelfOrganizingMap as SelfOrganizingMap
    from mercer.cluster._spectral import SpectralClustering as SpectralClustering, spectral_clustering as spectral_clustering
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
        "._affinity_propagation": ("AffinityPropagation", "affinity_propagation"),
        "._birch": ("Birch",),
        "._bisecting_kmeans": ("BisectingKMeans",),
        "._dbscan": ("DBSCAN", "dbscan"),
        "._divisive": ("DivisiveClustering",),
        "._elbow": ("ElbowCurve", "elbow"),
        "._eps": ("KDistanceCurve", "estimate_eps"),
        "._feature_agglomeration": ("FeatureAgglomeration",),
        "._gap": ("GapCurve", "gap_statistic"),
        "._hdbscan": ("HDBSCAN",),
        "._kmeans": ("KMeans", "k_means"),
        "._mean_shift": ("MeanShift", "estimate_bandwidth", "get_bin_seeds", "mean_shift"),
        "._mini_batch_kmeans": ("MiniBatchKMeans",),
        "._optics": ("OPTICS", "cluster_optics_dbscan", "cluster_optics_xi", "compute_optics_graph"),
        "._seeding": ("kmeans_plusplus",),
        "._trees": ("cut_linkage", "linkage", "linkage_tree", "suggest_n_clusters", "ward_tree"),
        "._self_organizing_map": ("SelfOrganizingMap",),
        "._spectral": ("SpectralClustering", "spectral_clustering"),
    },
)
