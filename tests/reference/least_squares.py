"""Least squares as in a textbook: centre, weight, decompose, cut. In double precision, and slow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    coef: np.ndarray  # (targets x features)
    intercept: np.ndarray
    rank: int
    singular: np.ndarray
    residuals: np.ndarray  # (rows x targets), without weights


def least_squares(X, y, weights=None, *, fit_intercept=True, cutoff=1e-6, scale_columns=False) -> Fit:
    """The solution of least norm by singular values; those below `cutoff` times the largest count as zero.

    With `scale_columns` the columns have norm one first, and the norm that is least is that of the scaled coefficients.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    y = y.reshape(len(y), -1)
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    x_mean = np.average(X, axis=0, weights=weights) if fit_intercept else np.zeros(X.shape[1])
    y_mean = np.average(y, axis=0, weights=weights) if fit_intercept else np.zeros(y.shape[1])
    root = np.sqrt(weights)[:, None]
    A, b = root * (X - x_mean), root * (y - y_mean)
    is_constant = np.abs((X - x_mean)[weights > 0]).max(axis=0) <= 1e-14 * np.abs(x_mean)
    A[:, is_constant] = 0
    norms = np.linalg.norm(A, axis=0)
    divisors = np.where(norms > 0, norms, 1) if scale_columns else np.ones(X.shape[1])
    left, singular, right = np.linalg.svd(A / divisors, full_matrices=False)
    keep = singular > cutoff * max(singular.max(), np.finfo(float).tiny)
    coef = (right[keep].T / singular[keep]) @ (left[:, keep].T @ b) / divisors[:, None]
    intercept = y_mean - x_mean @ coef
    return Fit(coef.T, intercept, int(keep.sum()), singular, y - X @ coef - intercept)


def non_negative_by_enumeration(X, y) -> np.ndarray:
    """The best coefficients >= 0 (no intercept) by trying every set of columns. O(2^d)."""
    d = X.shape[1]
    best, best_squares = np.zeros(d), float(y @ y)
    for mask in range(1, 2**d):
        columns = [j for j in range(d) if mask >> j & 1]
        w = np.linalg.lstsq(X[:, columns], y, rcond=None)[0]
        squares = float(((y - X[:, columns] @ w) ** 2).sum())
        if (w >= 0).all() and squares < best_squares:
            best, best_squares = np.zeros(d), squares
            best[columns] = w
    return best
