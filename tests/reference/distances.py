"""Distances between rows and what is sought by them, pair by pair in float64."""

from __future__ import annotations

import numpy as np

METRICS = {
    "sqeuclidean": lambda x, y: ((x - y) ** 2).sum(),
    "inner": lambda x, y: -(x * y).sum(),
    "manhattan": lambda x, y: np.abs(x - y).sum(),
    "chebyshev": lambda x, y: np.abs(x - y).max(),
}


def distances(metric, X, Y):
    """The value of each pair of rows."""
    return np.array([[METRICS[metric](x, y) for y in Y.astype(np.float64)] for x in X.astype(np.float64)]).reshape(
        len(X), len(Y)
    )
