"""Least squares with sparse penalties as in a textbook: objectives, optimality conditions, and slow descents, in float64."""

from __future__ import annotations

import numpy as np


def centred(X, y, weights=None, *, fit_intercept=True):
    """A and b with ||b - A w||^2 / 2 the sum of squares over the total weight, and the means of X and y."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    X, y = X.astype(np.float64), np.asarray(y, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    zeros = np.zeros(X.shape[1]), np.zeros(y.shape[1:])
    x_mean, y_mean = (np.average(v, axis=0, weights=weights) for v in (X, y)) if fit_intercept else zeros
    root = np.sqrt(weights / weights.sum())
    return root[:, None] * (X - x_mean), (root * (y - y_mean).T).T, x_mean, y_mean


def elastic_net_objective(A, b, w, alpha, l1_ratio):
    """For one target (w a vector) or several (w features x targets: norms of lines)."""
    sizes = np.abs(w) if w.ndim == 1 else np.linalg.norm(w, axis=1)
    squares = ((b - A @ w) ** 2).sum() / 2
    return squares + alpha * l1_ratio * sizes.sum() + alpha * (1 - l1_ratio) / 2 * (sizes**2).sum()


def elastic_net_violation(A, b, w, alpha, l1_ratio, *, positive=False):
    """The largest distance of zero from the subdifferential along a feature."""
    gradient = A.T @ (A @ w - b) + alpha * (1 - l1_ratio) * w
    l1 = alpha * l1_ratio
    if w.ndim == 2:
        sizes = np.linalg.norm(w, axis=1, keepdims=True)
        at_zero = np.maximum(np.linalg.norm(gradient, axis=1) - l1, 0)
        elsewhere = np.linalg.norm(gradient + l1 * w / np.where(sizes > 0, sizes, 1), axis=1)
        return np.where(sizes[:, 0] > 0, elsewhere, at_zero).max()
    at_zero = np.maximum((-gradient if positive else np.abs(gradient)) - l1, 0)
    return np.where(w != 0, np.abs(gradient + l1 * np.sign(w)), at_zero).max()


def duality_gap(A, b, w, alpha, l1_ratio):
    """By the plainest dual point: the residuals, scaled into the polar of the l1 ball; the l2 penalty as rows of A."""
    l1, l2 = alpha * l1_ratio, alpha * (1 - l1_ratio)
    A, b = np.vstack([A, np.sqrt(l2) * np.eye(A.shape[1])]), np.append(b, np.zeros(A.shape[1]))
    residual = b - A @ w
    theta = residual * min(1, l1 / max(np.abs(A.T @ residual).max(), 1e-300))
    return (residual @ residual) / 2 + l1 * np.abs(w).sum() - (b @ b) / 2 + ((b - theta) @ (b - theta)) / 2


def coordinate_descent(A, b, alpha, l1_ratio, *, positive=False, n_sweeps=20_000):
    """One coefficient after the other, each at its minimum, until none moves."""
    w = np.zeros(A.shape[1])
    squares = (A**2).sum(axis=0)
    for _ in range(n_sweeps):
        before = w.copy()
        for j in np.flatnonzero(squares > 1e-28):
            pull = A[:, j] @ (b - A @ w) + squares[j] * w[j]
            size = max((pull if positive else abs(pull)) - alpha * l1_ratio, 0)
            w[j] = np.sign(pull) * size / (squares[j] + alpha * (1 - l1_ratio))
        if np.abs(w - before).max() <= 1e-15 * np.abs(w).max():
            break
    return w


def lp_objective(A, b, w, alpha, p):
    return ((b - A @ w) ** 2).sum() / 2 + alpha * (np.abs(w) ** p).sum()
