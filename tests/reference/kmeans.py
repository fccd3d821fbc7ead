"""k-means as the textbook has it, one line a formula, in float64."""

from __future__ import annotations

import numpy as np


def squared_distances(X, centres):
    return ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)


def assign(X, centres):
    return squared_distances(X, centres).argmin(axis=1)


def inertia(X, centres, labels, weights=None):
    distances = ((X - centres[labels]) ** 2).sum(axis=1)
    return distances.sum() if weights is None else (weights * distances).sum()


def means(X, labels, centres, weights=None):
    """The mean of each cluster; an empty one keeps its centre (the cases tested with this have none)."""
    weights = np.ones(len(X)) if weights is None else weights
    out = centres.copy()
    for c in range(len(centres)):
        rows = labels == c
        if weights[rows].sum() > 0:
            out[c] = np.average(X[rows], axis=0, weights=weights[rows])
    return out


def lloyd(X, centres, *, max_iter, weights=None):
    """Labels, centres and the inertia of each iteration, until no label changes."""
    labels, history = None, []
    for _ in range(max_iter):
        new = assign(X, centres)
        history.append(inertia(X, centres, new, weights))
        is_done = labels is not None and (new == labels).all()
        labels, centres = new, means(X, new, centres, weights)
        if is_done:
            break
    return labels, centres, history
