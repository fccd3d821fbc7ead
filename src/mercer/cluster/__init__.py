"""Clustering."""

from mercer.cluster._elbow import ElbowCurve, elbow
from mercer.cluster._kmeans import KMeans
from mercer.cluster._seeding import kmeans_plusplus

__all__ = ["ElbowCurve", "KMeans", "elbow", "kmeans_plusplus"]
