"""Measures as their definitions have them: over all pairs, all cut-offs, all costs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import beta


def roc_auc(is_positive, score, weight=None):
    """The weight of the pairs (positive, negative) in the right order, ties counting half, over that of all pairs."""
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, dtype=float)
    is_positive = np.asarray(is_positive, dtype=bool)
    positive, negative = score[is_positive], score[~is_positive]
    pairs = np.outer(weight[is_positive], weight[~is_positive])
    right = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    return np.sum(pairs * right) / np.sum(pairs)


def cut_rates(is_positive, score, weight):
    """False and true positive rates at every cut-off that matters, trivial ones included."""
    rates = []
    for cut in [np.inf, *np.unique(score[weight > 0])[::-1]]:
        found = score >= cut
        rates.append(
            (
                weight[found & ~is_positive].sum() / weight[~is_positive].sum(),
                weight[found & is_positive].sum() / weight[is_positive].sum(),
            )
        )
    return np.array(rates).T


def h_measure(is_positive, score, weight=None, a=2.0, b=2.0):
    """1 - L / L0 by numerical integration over the cost c of a false alarm, with the best cut-off at each cost (Hand, 2009)."""
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, dtype=float)
    is_positive = np.asarray(is_positive, dtype=bool)
    p1 = weight[is_positive].sum() / weight.sum()
    fpr, tpr = cut_rates(is_positive, score, weight)
    density = beta(a, b).pdf

    def loss(c):
        return np.min(c * (1 - p1) * fpr + (1 - c) * p1 * (1 - tpr)) * density(c)

    def trivial(c):
        return min(c * (1 - p1), (1 - c) * p1) * density(c)

    # The integrand has a corner where the best cut-off changes: integrate between all places where two of them lose the same.
    gains, prices = p1 * np.subtract.outer(tpr, tpr).ravel(), (1 - p1) * np.subtract.outer(fpr, fpr).ravel()
    with np.errstate(invalid="ignore", divide="ignore"):
        corners = gains / (gains + prices)
    corners = np.unique([0.0, p1, 1.0, *corners[(corners > 0) & (corners < 1)]])
    pairs = list(pairwise(corners))
    return 1 - sum(quad(loss, *pair)[0] for pair in pairs) / sum(quad(trivial, *pair)[0] for pair in pairs)


def confusion(y_true, y_pred, label, weight=None):
    """TP, FP, FN and TN of one label, row by row."""
    counts = {"tp": 0.0, "fp": 0.0, "fn": 0.0, "tn": 0.0}
    for i, (t, p) in enumerate(zip(y_true, y_pred, strict=True)):
        name = ("t" if (t == label) == (p == label) else "f") + ("p" if p == label else "n")
        counts[name] += 1 if weight is None else weight[i]
    return counts
