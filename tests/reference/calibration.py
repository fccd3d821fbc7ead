"""Maps from scores to probabilities in plain NumPy and SciPy: many passes, no kernel."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression


def group_starts(sorted_scores, resolution):
    """Where groups of equal scores begin: a score is in a group if it exceeds the least one by less than `resolution`."""
    starts = [0]
    for i, score in enumerate(sorted_scores):
        if i and score - sorted_scores[starts[-1]] >= resolution:
            starts.append(i)
    return np.array(starts)


def isotonic(scores, is_positive, weights):
    """Corners x and y, half the sum of squares, and the largest violation of the optimality conditions."""
    resolution = np.finfo(scores.dtype).resolution
    kept = weights > 0
    order = np.argsort(scores[kept], kind="stable")
    sorted_scores, weights = scores[kept][order].astype(np.float64), weights[kept][order]
    starts = group_starts(sorted_scores, resolution)
    mass = np.add.reduceat(weights, starts)
    share = np.add.reduceat(weights * is_positive[kept][order], starts) / mass
    levels = isotonic_regression(share, sample_weight=mass)
    inner = np.zeros(len(levels), dtype=bool)
    inner[1:-1] = np.isclose(levels[1:-1], levels[:-2], 1e-13) & np.isclose(levels[1:-1], levels[2:], 1e-13)
    return sorted_scores[starts][~inner], levels[~inner], mass @ (share - levels) ** 2 / 2, violation(share, mass, levels)


def violation(share, mass, levels):
    """The multipliers of x_i <= x_{i+1} are the running sums of w (y - x): they must be >= 0, and 0 where x rises."""
    multipliers = np.cumsum(mass * (share - levels)) / mass.sum()
    slack = np.append(np.diff(levels), 1.0)  # the last sum is that of all rows, and free
    return max(np.max(-multipliers), np.max(np.minimum(np.abs(multipliers), slack)), np.max(-slack), 0.0)


def platt_targets(is_positive, weights):
    n_positive, n_negative = weights @ is_positive, weights @ ~is_positive
    return np.where(is_positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def platt_loss(scores, targets, weights, slope, intercept):
    """Value, gradient and Hessian of the log loss of expit(slope scores + intercept)."""
    z = slope * scores + intercept
    p = expit(z)
    residual, curve = weights * (p - targets), weights * p * expit(-z)
    value = weights @ (np.logaddexp(0.0, z) - targets * z)
    mixed = curve @ scores
    return value, np.array([residual @ scores, residual.sum()]), np.array([[curve @ scores**2, mixed], [mixed, curve.sum()]])


def platt(scores, is_positive, weights, n_steps=60):
    """a and b of p = 1 / (1 + exp(a score + b)), by Newton's method with halved steps."""
    targets = platt_targets(is_positive, weights)
    point = np.array([0.0, logit(weights @ targets / weights.sum())])
    for _ in range(n_steps):
        value, gradient, hessian = platt_loss(scores, targets, weights, *point)
        step, length = np.linalg.solve(hessian, gradient), 1.0
        while length > 1e-9 and platt_loss(scores, targets, weights, *(point - length * step))[0] > value:
            length /= 2
        point = point - length * step
    return -point
