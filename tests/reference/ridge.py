"""Ridge regression as in a textbook: centre, weight, solve; leave rows out one by one. In double precision, and slow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    coef: np.ndarray  # (targets x features)
    intercept: np.ndarray
    primal: float  # half the weighted residual squares plus half the penalties
    dual: float  # at the residuals


def ridge(X, y, alphas, weights=None, *, fit_intercept=True) -> Fit:
    """The minimiser for each target, with one alpha > 0 for all or one for each."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    y = y.reshape(len(y), -1)
    alphas = np.broadcast_to(alphas, (y.shape[1],))
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    x_mean = np.average(X, axis=0, weights=weights) if fit_intercept else np.zeros(X.shape[1])
    y_mean = np.average(y, axis=0, weights=weights) if fit_intercept else np.zeros(y.shape[1])
    root = np.sqrt(weights)[:, None]
    A, b = root * (X - x_mean), root * (y - y_mean)
    left, singular, right = np.linalg.svd(A, full_matrices=False)
    coef = np.array([right.T @ (singular / (singular**2 + a) * (left.T @ c)) for a, c in zip(alphas, b.T, strict=True)])
    r = b - A @ coef.T
    primal = ((r**2).sum() + alphas @ (coef**2).sum(axis=1)) / 2
    dual = sum(c @ e - e @ e / 2 - ((A.T @ e) ** 2).sum() / (2 * a) for a, c, e in zip(alphas, b.T, r.T, strict=True))
    return Fit(coef, y_mean - coef @ x_mean, float(primal), float(dual))


def left_out_errors(X, y, alpha, weights=None, *, fit_intercept=True) -> np.ndarray:
    """The error of each row (rows x targets) by a fit on all others. O(n) fits."""
    y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    errors = np.empty_like(y)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        fit = ridge(X[rest], y[rest], alpha, None if weights is None else weights[rest], fit_intercept=fit_intercept)
        errors[i] = y[i] - fit.coef @ X[i] - fit.intercept
    return errors


def non_negative_ridge(X, y, alpha) -> np.ndarray:
    """The best coefficients >= 0 (no intercept) by trying every set of columns. O(2^d)."""
    d = X.shape[1]
    best, least = np.zeros(d), float(y @ y)
    for mask in range(1, 2**d):
        columns = [j for j in range(d) if mask >> j & 1]
        A = X[:, columns]
        w = np.linalg.solve(A.T @ A + alpha * np.eye(len(columns)), A.T @ y)
        value = float(((y - A @ w) ** 2).sum() + alpha * (w @ w))
        if (w >= 0).all() and value < least:
            best, least = np.zeros(d), value
            best[columns] = w
    return best
