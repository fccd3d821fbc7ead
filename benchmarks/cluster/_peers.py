"""Hierarchies of other packages under scikit-learn's words."""

from __future__ import annotations

from typing import Any

import numpy as np


class FastCluster:
    """fastcluster's merges; it has no labels."""

    def __init__(self, n_clusters: int = 2, *, linkage: str = "ward", compute_distances: bool = True) -> None:
        self.linkage = linkage

    def fit(self, X: Any) -> FastCluster:
        import fastcluster

        self.distances_ = fastcluster.linkage(np.asarray(X, dtype=np.float64), self.linkage)[:, 2]
        return self
