"""Neighbours as their definition has them: every pair measured by itself in float64, then sorted."""

from __future__ import annotations

import numpy as np


def _table(x, y):
    """Features that both have, that only x has, that only y has, and that neither has."""
    x, y = x != 0, y != 0
    return (x & y).sum(), (x & ~y).sum(), (~x & y).sum(), (~x & ~y).sum()


def _of_table(formula):
    """A distance from these numbers; 0 / 0 is 0."""

    def measure(x, y):
        above, below = formula(*_table(x, y))
        return above / below if below else 0.0

    return measure


def _cosine(x, y):
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return 1 - x @ y / lengths if lengths else float(x.any() or y.any())


def _haversine(x, y):
    half = np.sin((x - y) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(half[0] + np.cos(x[0]) * np.cos(y[0]) * half[1]))


def _gapped(x, y):
    is_there = ~np.isnan(x - y)
    return np.sqrt(((x - y)[is_there] ** 2).mean() * len(x)) if is_there.any() else np.nan


METRICS = {
    "sqeuclidean": lambda x, y: ((x - y) ** 2).sum(),
    "cosine": _cosine,
    "correlation": lambda x, y: _cosine(x - x.mean(), y - y.mean()),
    "haversine": _haversine,
    "hamming": lambda x, y: (x != y).mean(),
    "canberra": lambda x, y: sum(abs(a - b) / (abs(a) + abs(b)) for a, b in zip(x, y, strict=True) if a or b),
    "braycurtis": lambda x, y: np.abs(x - y).sum() / s if (s := (np.abs(x) + np.abs(y)).sum()) else 0.0,
    "nan_euclidean": _gapped,
    "jaccard": _of_table(lambda both, x, y, neither: (x + y, both + x + y)),
    "dice": _of_table(lambda both, x, y, neither: (x + y, 2 * both + x + y)),
    "sokalsneath": _of_table(lambda both, x, y, neither: (2 * (x + y), both + 2 * (x + y))),
    "rogerstanimoto": _of_table(lambda both, x, y, neither: (2 * (x + y), both + neither + 2 * (x + y))),
    "matching": _of_table(lambda both, x, y, neither: (x + y, both + x + y + neither)),
    "russellrao": _of_table(lambda both, x, y, neither: (x + y + neither, both + x + y + neither)),
    "kulsinski": _of_table(lambda both, x, y, neither: (2 * (x + y) + neither, both + 2 * (x + y) + neither)),
    "yule": _of_table(lambda both, x, y, neither: (2 * x * y, both * neither + x * y)),
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
