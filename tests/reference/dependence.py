"""What a model answers where features change, as the formulas have it: every table written out, every model asked."""

from __future__ import annotations

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics import get_scorer


def answers(model, X):
    """Of shape (n_rows, n_targets): predictions, the probability of the second class, or those of all classes."""
    out = np.asarray(model.predict(X) if is_regressor(model) else model.predict_proba(X))
    if not is_regressor(model) and out.shape[1] == 2:
        out = out[:, 1]
    return out.reshape(len(X), -1)


def permutation_importance(model, X, y, orders, groups, scoring):
    """The falls of the score, of shape (n_groups, n_orders)."""
    score = get_scorer(scoring)
    whole, falls = score(model, X, y), np.zeros((len(groups), len(orders)))
    for g, columns in enumerate(groups):
        for r, order in enumerate(orders):
            shuffled = X.copy()
            shuffled[:, columns] = X[order][:, columns]
            falls[g, r] = whole - score(model, shuffled, y)
    return falls


def individual_expectations(model, X, columns, points):
    """Of shape (n_targets, n_rows, n_points)."""
    out = []
    for point in points:
        changed = X.copy()
        changed[:, columns] = point
        out.append(answers(model, changed))
    return np.transpose(out, (2, 1, 0))


def walked(tree, point, columns):
    """Partial dependence of one of scikit-learn's trees: at splits on other features both ways, by the training rows."""

    def value(node):
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0:
            return tree.value[node, 0, 0]
        if tree.feature[node] in columns:
            return value(left if point[columns.index(tree.feature[node])] <= tree.threshold[node] else right)
        weights = tree.weighted_n_node_samples
        return (weights[left] * value(left) + weights[right] * value(right)) / (weights[left] + weights[right])

    return value(0)


def accumulated(model, X, column, ends):
    """One-way accumulated local effects at the ends of the intervals."""
    intervals = np.clip(np.searchsorted(ends, X[:, column]) - 1, 0, len(ends) - 2)
    effects = [np.zeros(answers(model, X[:1]).shape[1])]
    for k in range(len(ends) - 1):
        low, high = X[intervals == k].copy(), X[intervals == k].copy()
        low[:, column], high[:, column] = ends[k], ends[k + 1]
        effects.append(effects[-1] + (answers(model, high) - answers(model, low)).mean(axis=0))
    effects = np.array(effects)
    mean = np.mean([(effects[k] + effects[k + 1]) / 2 for k in intervals], axis=0)
    return (effects - mean).T


def h_statistics(model, X, first, second):
    """Friedman's H of a pair, and of the first with all others, for the first target."""

    def dependence(columns):
        values = individual_expectations(model, X, columns, X[:, columns])[0].mean(axis=0)
        return values - values.mean()

    others = [j for j in range(X.shape[1]) if j != first]
    whole = answers(model, X)[:, 0]
    whole = whole - whole.mean()
    one, two, both = dependence([first]), dependence([second]), dependence([first, second])
    pair = np.sqrt(np.sum((both - one - two) ** 2) / np.sum(both**2))
    total = np.sqrt(np.sum((whole - one - dependence(others)) ** 2) / np.sum(whole**2))
    return pair, total
