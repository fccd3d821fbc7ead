"""Second-order boosting as the formulas have it: every split of every leaf is tried, in float64."""

from __future__ import annotations

import numpy as np


def gain(g_left, h_left, g_right, h_right, l2, leaf_cost):
    """1/2 [G_L^2/(H_L + l2) + G_R^2/(H_R + l2) - G^2/(H + l2)] - leaf_cost."""
    g, h = g_left + g_right, h_left + h_right
    return 0.5 * (g_left**2 / (h_left + l2) + g_right**2 / (h_right + l2) - g**2 / (h + l2)) - leaf_cost


def best_split(X, g, h, *, l2=0.0, leaf_cost=0.0, min_rows=1, tie=1e-10):
    """The best split of all rows as (gain, feature, threshold, is_missing_left); the first of equals; None if none gains."""
    best = None
    for j in range(X.shape[1]):
        x = X[:, j]
        is_missing = np.isnan(x)
        values = np.unique(x[~is_missing])
        thresholds = [*((values[:-1] + values[1:]) / 2), np.inf]
        for is_missing_left in (False, True) if is_missing.any() else (False,):
            for threshold in thresholds:
                is_left = np.where(is_missing, is_missing_left, x <= threshold)
                if min(is_left.sum(), (~is_left).sum()) < min_rows:
                    continue
                if min(h[is_left].sum(), h[~is_left].sum()) < 1e-3:
                    continue
                value = gain(g[is_left].sum(), h[is_left].sum(), g[~is_left].sum(), h[~is_left].sum(), l2, leaf_cost)
                if value > 1e-12 and (best is None or value > best[0] * (1 + tie)):
                    best = (value, j, threshold, is_missing_left)
    return best


def grow(X, g, h, max_leaves, **rules):
    """A tree grown leaf by leaf, largest gain first: the leaf of each row and the value of each leaf."""
    l2 = rules.get("l2", 0.0)
    rows = [np.arange(len(X))]
    found = [best_split(X, g, h, **rules)]
    while len(rows) < max_leaves and any(found):
        k = max((k for k in range(len(rows)) if found[k]), key=lambda k: found[k][0])
        _, j, threshold, is_missing_left = found[k]
        x = X[rows[k], j]
        is_left = np.where(np.isnan(x), is_missing_left, x <= threshold)
        left, right = rows[k][is_left], rows[k][~is_left]
        rows[k] = left
        rows.append(right)
        found[k] = best_split(X[left], g[left], h[left], **rules)
        found.append(best_split(X[right], g[right], h[right], **rules))
    leaf = np.empty(len(X), dtype=int)
    for k, members in enumerate(rows):
        leaf[members] = k
    values = np.array([-g[members].sum() / (h[members].sum() + l2) for members in rows])
    return leaf, values


def boost(X, y, derivatives, start, *, n_rounds, learning_rate, max_leaves, **rules):
    """Raw predictions of the training rows after so many rounds."""
    raw = np.full(len(y), float(start))
    for _ in range(n_rounds):
        leaf, values = grow(X, *derivatives(y, raw), max_leaves, **rules)
        raw += learning_rate * values[leaf]
    return raw
