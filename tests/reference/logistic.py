"""Logistic regression as the textbook has it: one line a formula, float64, nothing clever."""

from __future__ import annotations

import numpy as np


def linear_values(X, coef, intercept):
    """One column a class; with one line of coefficients, those of the first of two classes are zero."""
    raw = X @ coef.T + intercept
    return np.column_stack([np.zeros(len(raw)), raw]) if coef.shape[0] == 1 else raw


def probabilities(raw):
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def loss(X, codes, weights, coef, intercept):
    """The sum over rows of weight times minus the log likelihood."""
    raw = linear_values(X, coef, intercept)
    top = raw.max(axis=1)
    log_sums = top + np.log(np.exp(raw - top[:, None]).sum(axis=1))
    return float(weights @ (log_sums - raw[np.arange(len(codes)), codes]))


def penalty(coef, C, l1_ratio):
    return 0.0 if np.isinf(C) else (l1_ratio * np.abs(coef).sum() + (1 - l1_ratio) / 2 * (coef**2).sum()) / C


def objective(X, codes, weights, coef, intercept, C, l1_ratio):
    return loss(X, codes, weights, coef, intercept) + penalty(coef, C, l1_ratio)


def gradient(X, codes, weights, coef, intercept):
    """Of the loss, in the coefficients and in the intercepts."""
    p = probabilities(linear_values(X, coef, intercept))
    slopes = weights[:, None] * (p - np.eye(p.shape[1])[codes])
    slopes = slopes[:, 1:] if coef.shape[0] == 1 else slopes
    return slopes.T @ X, slopes.sum(axis=0)


def violation(X, codes, weights, coef, intercept, C, l1_ratio):
    """The largest distance of minus the gradient from the subdifferential of the penalty, intercepts included."""
    of_coef, of_intercept = gradient(X, codes, weights, coef, intercept)
    l1, l2 = (0.0, 0.0) if np.isinf(C) else (l1_ratio / C, (1 - l1_ratio) / C)
    g = of_coef + l2 * coef
    distance = np.where(coef == 0, np.maximum(np.abs(g) - l1, 0), np.abs(g + l1 * np.sign(coef)))
    return max(distance.max(), np.abs(of_intercept).max())


def newton(X, codes, n_steps=50):
    """Coefficients and intercept of two classes without a penalty, by Newton-Raphson."""
    A = np.column_stack([X, np.ones(len(X))])
    w = np.zeros(A.shape[1])
    for _ in range(n_steps):
        p = 1 / (1 + np.exp(-A @ w))
        w += np.linalg.solve(A.T @ ((p * (1 - p))[:, None] * A), A.T @ (codes - p))
    return w[:-1], w[-1]
