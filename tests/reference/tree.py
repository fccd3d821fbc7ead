"""Trees as the textbook has them: every split of a node is tried, and each is measured from its rows alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def shares(codes, weights):
    """The share of each class, of one output."""
    return np.bincount(codes, weights=weights) / weights.sum()


def median(y, weights):
    """The weighted median: where the running weight passes half of it, or between two values where it meets half."""
    order = np.argsort(y, kind="stable")
    running = np.cumsum(weights[order])
    half = running[-1] / 2
    upper = min(np.searchsorted(running, half, side="right"), len(y) - 1)
    lower = min(np.searchsorted(running, half, side="left"), len(y) - 1)
    return (y[order[lower]] + y[order[upper]]) / 2


def _poisson(y, weights):
    mean = np.average(y, weights=weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.average(np.where(y > 0, y * np.log(y / mean), 0.0), weights=weights)


def _entropy(codes, weights):
    share = shares(codes, weights)
    return -(share[share > 0] * np.log2(share[share > 0])).sum()


IMPURITIES = {
    "gini": lambda y, w: 1 - (shares(y, w) ** 2).sum(),
    "entropy": _entropy,
    "misclassification": lambda y, w: 1 - shares(y, w).max(),
    "squared_error": lambda y, w: np.average((y - np.average(y, weights=w)) ** 2, weights=w),
    "poisson": _poisson,
    "absolute_error": lambda y, w: np.average(np.abs(y - median(y, w)), weights=w),
}


def impurity(criterion, y, weights):
    """Of a set of rows: the mean over the outputs, the columns of y."""
    return np.mean([IMPURITIES[criterion](column, weights) for column in y.T])


def value(criterion, y, weights):
    """What a set of regression rows predicts, for each output."""
    centre = median if criterion == "absolute_error" else lambda column, w: np.average(column, weights=w)
    return np.array([centre(column, weights) for column in y.T])


def is_refused(criterion, y):
    """Whether a side of a split may not be: the Poisson deviance knows no prediction of 0."""
    return criterion == "poisson" and bool((y.sum(axis=0) <= 0).any())


def sides_of(x, is_categorical):
    """Every way to send the values of a column to two sides, as masks of the rows that go left."""
    missing, known = np.isnan(x), np.unique(x[~np.isnan(x)])
    if is_categorical:
        sets = [set(chosen) for size in range(1, len(known) + 1) for chosen in combinations(known, size)]
        masks = [np.isin(x, list(chosen)) for chosen in sets]
    else:
        masks = [x <= bound for bound in known]
    for mask in masks:
        yield mask
        if missing.any():
            yield mask | missing


def best_gain(
    X, y, weights, criterion, *, min_rows_leaf=1, min_weight_leaf=0.0, directions=None, bounds=(-np.inf, np.inf), categorical=()
):
    """The largest fall of the weighted impurity by any split that is allowed; -inf where there is none."""
    total, best = weights.sum() * impurity(criterion, y, weights), -np.inf
    for feature, x in enumerate(X.T):
        for left in sides_of(x, feature in categorical):
            right = ~left
            if min(left.sum(), right.sum()) < max(min_rows_leaf, 1):
                continue
            if min(weights[left].sum(), weights[right].sum()) < min_weight_leaf:
                continue
            if is_refused(criterion, y[left]) or is_refused(criterion, y[right]):
                continue
            if directions is not None and directions[feature] != 0:
                a, b = (value(criterion, y[side], weights[side])[0] for side in (left, right))
                if (a - b) * directions[feature] > 0 or min(a, b) < bounds[0] or max(a, b) > bounds[1]:
                    continue
            after = sum(weights[side].sum() * impurity(criterion, y[side], weights[side]) for side in (left, right))
            best = max(best, total - after)
    return best


def rows_of_nodes(tree, X):
    """The rows that reach each node, as masks."""
    return tree.decision_path(np.ascontiguousarray(X, dtype=np.float64)).toarray().astype(bool).T


def node_bounds(tree, values, directions):
    """Where the value of each node must lie, from the splits above it."""
    bounds = np.tile([-np.inf, np.inf], (tree.node_count, 1))
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.children_left[node], tree.children_right[node]
        bounds[left] = bounds[right] = bounds[node]
        direction = directions[tree.feature[node]]
        if direction:
            middle = (values[left] + values[right]) / 2
            bounds[left, 1 if direction > 0 else 0] = middle
            bounds[right, 0 if direction > 0 else 1] = middle
    return bounds
