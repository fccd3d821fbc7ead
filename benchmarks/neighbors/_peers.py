"""Searches and clusterings of other packages under scikit-learn's words, with as many threads as they take."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class _Peer:
    """Parameters that NearestNeighbors has: k, and what a peer does not have is left out."""

    def __init__(self, n_neighbors: int = 10, n_jobs: int = -1) -> None:
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs


class SciPyTree(_Peer):
    def fit(self, X: np.ndarray) -> SciPyTree:
        from scipy.spatial import cKDTree

        self._tree = cKDTree(X)
        return self

    def kneighbors(self, X: np.ndarray) -> Any:
        return self._tree.query(X, self.n_neighbors, workers=self.n_jobs)


class PyKDTree(_Peer):
    def fit(self, X: np.ndarray) -> PyKDTree:
        from pykdtree.kdtree import KDTree

        self._tree = KDTree(X)
        return self

    def kneighbors(self, X: np.ndarray) -> Any:
        return self._tree.query(X, self.n_neighbors)


class FaissFlat(_Peer):
    """Brute force in single precision, whatever X is."""

    def fit(self, X: np.ndarray) -> FaissFlat:
        import faiss

        faiss.omp_set_num_threads(os.cpu_count() or 1)
        self._index = faiss.IndexFlatL2(X.shape[1])
        self._index.add(np.ascontiguousarray(X, dtype=np.float32))
        return self

    def kneighbors(self, X: np.ndarray) -> Any:
        squares, rows = self._index.search(np.ascontiguousarray(X, dtype=np.float32), self.n_neighbors)
        return np.sqrt(squares), rows


class PackageDbscan:
    """The package `dbscan` (Wang, Gu and Shun): cells and union-find, in parallel."""

    def __init__(self, eps: float = 0.5, min_samples: int = 5) -> None:
        self.eps, self.min_samples = eps, min_samples

    def fit(self, X: Any) -> PackageDbscan:
        from dbscan import DBSCAN

        self.labels_, _ = DBSCAN(X, eps=self.eps, min_samples=self.min_samples)
        return self
