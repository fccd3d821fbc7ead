"""Kernel support vector machines as the textbook has them: one quadratic programme, pair by pair."""

from __future__ import annotations

import numpy as np


def minimise(K, q, low, up, start, groups, tol=1e-9, max_steps=200_000):
    """min 1/2 b'Kb + q'b over low <= b <= up with the sums of the start in each group: the pair that violates most moves."""
    b = np.array(start, dtype=float)
    slopes = K @ b + q
    for _ in range(max_steps):
        worst, pair = tol, None
        for group in np.unique(groups):
            rising = np.flatnonzero((groups == group) & (b < up))
            falling = np.flatnonzero((groups == group) & (b > low))
            if not len(rising) or not len(falling):
                continue
            i, j = rising[np.argmin(slopes[rising])], falling[np.argmax(slopes[falling])]
            if slopes[j] - slopes[i] > worst:
                worst, pair = slopes[j] - slopes[i], (i, j)
        if pair is None:
            return b
        i, j = pair
        curvature = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        step = min((slopes[j] - slopes[i]) / curvature, up[i] - b[i], b[j] - low[j])
        b[i] += step
        b[j] -= step
        slopes = slopes + step * (K[:, i] - K[:, j])
    raise AssertionError("the reference did not converge")


def rbf(X, Z, gamma):
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


def classify(K, signs, costs):
    """b = y alpha of C-SVC: max sum alpha - 1/2 b'Kb with sum b = 0."""
    ends = signs * costs
    return minimise(K, -signs, np.minimum(ends, 0), np.maximum(ends, 0), np.zeros(len(K)), np.zeros(len(K)))


def regress(K, y, costs, epsilon):
    """b = alpha - alpha* of epsilon-SVR."""
    n = len(K)
    twice = np.block([[K, K], [K, K]])
    zero = np.zeros(n)
    q = np.concatenate([epsilon - y, -epsilon - y])
    low, up = np.concatenate([zero, -costs]), np.concatenate([costs, zero])
    both = minimise(twice, q, low, up, np.zeros(2 * n), np.zeros(2 * n))
    return both[:n] + both[n:]


def one_class(K, costs, nu):
    """b of the machine of one class: min 1/2 b'Kb with sum b = nu sum costs."""
    start = costs * nu
    return minimise(K, np.zeros(len(K)), np.zeros(len(K)), costs, start, np.zeros(len(K)))


def primal(K, b, intercept, signs, costs):
    """1/2 |w|^2 + sum C_i max(0, 1 - y_i f_i)."""
    f = K @ b + intercept
    return 0.5 * b @ K @ b + costs @ np.maximum(0, 1 - signs * f)
