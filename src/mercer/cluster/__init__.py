"""Clustering."""

from mercer.cluster._kmeans import KMeans

__all__ = ["KMeans"]
