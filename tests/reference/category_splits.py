"""The best split of categories into two sets, by trying every set."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def gini(y, w):
    shares = np.array([w[y == label].sum() for label in np.unique(y)]) / w.sum()
    return 1 - (shares**2).sum()


def entropy(y, w):
    shares = np.array([w[y == label].sum() for label in np.unique(y)]) / w.sum()
    return -(shares[shares > 0] * np.log2(shares[shares > 0])).sum()


def misclassification(y, w):
    return 1 - max(w[y == label].sum() for label in np.unique(y)) / w.sum()


def squared_error(y, w):
    mean = np.average(y, weights=w)
    return np.average((y - mean) ** 2, weights=w)


def poisson(y, w):
    mean = np.average(y, weights=w)
    logs = np.log(np.where(y > 0, y, 1) / mean) if mean > 0 else np.zeros(len(y))
    return np.average(y * logs, weights=w)


def best_gain(column, y, w, impurity):
    """The largest fall of the impurity over all sets of categories, missing values (NaN) on either side."""
    categories = np.unique(column[~np.isnan(column)])
    best = 0.0
    for size in range(1, len(categories) + 1):
        for left in combinations(categories, size):
            is_known_left = np.isin(column, left)
            for is_left in (is_known_left, is_known_left | np.isnan(column)):
                if is_left.all() or not is_left.any():
                    continue
                sides = sum(w[side].sum() * impurity(y[side], w[side]) for side in (is_left, ~is_left))
                best = max(best, impurity(y, w) - sides / w.sum())
    return best
