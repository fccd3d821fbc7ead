"""Objectives of linear maps, pair by pair."""

from __future__ import annotations

import numpy as np


def neighbourhood_components(X, y, linear_map):
    """Minus the expected number of rows that a soft neighbour puts into the right class."""
    Z = X @ linear_map.T
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    shares = np.exp(-(squared - squared.min(axis=1, keepdims=True)))
    shares /= shares.sum(axis=1, keepdims=True)
    return -(shares * (y[:, None] == y)).sum()


def large_margins(X, y, linear_map, *, n_neighbors, push=0.5, margin=1.0):
    """The pull on target neighbours and the push on impostors."""
    Z, objective = X @ linear_map.T, 0.0
    for i in range(len(X)):
        same = np.flatnonzero((y == y[i]) & (np.arange(len(X)) != i))
        near = np.argsort(((X[same] - X[i]) ** 2).sum(axis=1), kind="stable")[:n_neighbors]
        distances = ((Z - Z[i]) ** 2).sum(axis=1)
        for j in same[near]:
            objective += (1 - push) * distances[j]
            objective += push * np.maximum(margin + distances[j] - distances[y != y[i]], 0).sum()
    return objective
