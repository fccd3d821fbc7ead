"""Generalised linear models as the textbook has them: iteratively reweighted least squares, float64, one line a formula."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

VARIANCES = {
    "normal": lambda m: np.ones_like(m),
    "bernoulli": lambda m: m * (1 - m),
    "poisson": lambda m: m,
    "gamma": lambda m: m**2,
    "inverse_gaussian": lambda m: m**3,
}
# link, inverse, derivative of the inverse
LINKS = {
    "identity": (lambda m: m, lambda v: v, lambda v: np.ones_like(v)),
    "log": (np.log, np.exp, np.exp),
    "logit": (lambda m: np.log(m / (1 - m)), expit, lambda v: expit(v) * expit(-v)),
}


def irls(X, y, family, link, weights=None, alpha=0.0, fit_intercept=True, n_iter=100):
    """Coefficients with the intercept first (zero without one); the penalty counts for a total weight of one."""
    weights = np.ones(len(y)) if weights is None else weights
    A = np.column_stack([np.full(len(y), float(fit_intercept)), X])
    g, inverse, slope = LINKS[link]
    ridge = np.diag([0.0 if fit_intercept else 1.0] + [alpha * weights.sum()] * X.shape[1])
    mean = (y + 0.5) / 2 if family == "bernoulli" else (y + np.average(y, weights=weights)) / 2
    value = g(mean)
    for _ in range(n_iter):
        working = value + (y - mean) / slope(value)
        w = weights * slope(value) ** 2 / VARIANCES[family](mean)
        coef = np.linalg.solve(A.T @ (w[:, None] * A) + ridge, A.T @ (w * working))
        value = A @ coef
        mean = inverse(value)
    return coef
