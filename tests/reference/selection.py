"""Selection of features as in a textbook: mutual information by counting neighbours, and walks that fit every set anew."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma
from sklearn.base import clone
from sklearn.model_selection import cross_val_score


def mutual_information_of_numbers(x, y, k):
    """Kraskov's first estimate, O(n^2)."""
    dx, dy = np.abs(x[:, None] - x), np.abs(y[:, None] - y)
    both = np.maximum(dx, dy)
    np.fill_diagonal(both, np.inf)
    radius = np.sort(both, axis=1)[:, k - 1]
    n_x, n_y = ((d < radius[:, None]).sum(axis=1) - 1 for d in (dx, dy))  # but for the row itself
    return max(0.0, digamma(len(x)) + digamma(k) - np.mean(digamma(n_x + 1) + digamma(n_y + 1)))


def mutual_information_with_classes(x, classes, k):
    """Ross's estimate, O(n^2); rows that are alone in their class are left out."""
    classes, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    kept = counts[codes] > 1
    x, codes = x[kept], codes[kept]
    distances = np.abs(x[:, None] - x)
    terms = []
    for i, code in enumerate(codes):
        n_i = counts[code]
        k_i = min(k, n_i - 1)
        own = np.sort(np.delete(distances[i], i)[np.delete(codes, i) == code])
        m_i = (distances[i] < own[k_i - 1]).sum()
        terms.append(digamma(k_i) - digamma(n_i) - digamma(m_i))
    return max(0.0, digamma(len(x)) + np.mean(terms))


def _score(model, X, y, features, cv, scoring):
    return cross_val_score(clone(model), X[:, sorted(features)], y, cv=cv, scoring=scoring)


def forward(model, X, y, n_wanted, cv, scoring=None):
    """Sets of columns and their scores, every set fitted anew."""
    chosen, steps = [], []
    while len(chosen) < n_wanted:
        scores = {j: _score(model, X, y, [*chosen, j], cv, scoring) for j in range(X.shape[1]) if j not in chosen}
        best = max(scores, key=lambda j: scores[j].mean())
        chosen.append(best)
        steps.append((best, scores[best]))
    return steps


def backward(model, X, y, n_wanted, cv, scoring=None):
    left, steps = list(range(X.shape[1])), []
    while len(left) > n_wanted:
        scores = {j: _score(model, X, y, [i for i in left if i != j], cv, scoring) for j in left}
        worst = max(scores, key=lambda j: scores[j].mean())
        left.remove(worst)
        steps.append((worst, scores[worst]))
    return steps


def best_set(model, X, y, n_wanted, cv, scoring=None):
    """The best of all sets of a size."""
    from itertools import combinations

    sets = list(combinations(range(X.shape[1]), n_wanted))
    return max(sets, key=lambda features: _score(model, X, y, features, cv, scoring).mean())
