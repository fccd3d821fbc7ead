"""Neighbours as their definition has them: every pair measured by itself in float64, then sorted."""

from __future__ import annotations

import numpy as np

METRICS = {
    "euclidean": lambda x, y: np.sqrt(((x - y) ** 2).sum()),
    "manhattan": lambda x, y: np.abs(x - y).sum(),
    "chebyshev": lambda x, y: np.abs(x - y).max(),
}


def distances(metric, queries, X):
    """The distance of each query to each row; `metric` is a name or a function of two rows."""
    measure = METRICS.get(metric, metric) if isinstance(metric, str) else metric
    X, queries = np.asarray(X, dtype=np.float64), np.asarray(queries, dtype=np.float64)
    return np.array([[measure(query, row) for row in X] for query in queries]).reshape(len(queries), len(X))


def nearest(all_distances, k, *, leave_out_self=False):
    """The k nearest of each line: by distance, then by row number."""
    wanted = all_distances.copy()
    if leave_out_self:
        np.fill_diagonal(wanted, np.inf)
    rows = np.argsort(wanted, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(all_distances, rows, axis=1), rows


def within(all_distances, radius, *, leave_out_self=False, sort=False):
    """Of each line, the rows at most `radius` away and their distances."""
    found = []
    for place, line in enumerate(all_distances):
        rows = np.flatnonzero((line <= radius) & ~(leave_out_self & (np.arange(len(line)) == place)))
        if sort:
            rows = rows[np.argsort(line[rows], kind="stable")]
        found.append((rows, line[rows]))
    return found
