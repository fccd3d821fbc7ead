"""Objectives of robust regressions as the textbook has them, float64."""

from __future__ import annotations

import numpy as np


def huber_objective(X, y, coef, intercept, sigma, epsilon, alpha, weights=None):
    z = np.abs(y - X @ coef - intercept) / sigma
    weights = np.ones(len(y)) if weights is None else weights
    h = np.where(z <= epsilon, z**2, 2 * epsilon * z - epsilon**2)
    return float(weights @ (sigma + h * sigma) + alpha * coef @ coef)


def log_cosh_objective(X, y, coef, intercept, scale, alpha, weights=None):
    z = np.abs(y - X @ coef - intercept) / scale
    return float(np.average(z + np.log1p(np.exp(-2 * z)) - np.log(2), weights=weights) + alpha / 2 * coef @ coef / scale**2)
