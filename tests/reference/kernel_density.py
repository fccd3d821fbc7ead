"""Kernel densities as their definition has them: the logarithm of a sum over all rows."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp

KERNELS = {
    "gaussian": lambda u: np.exp(-u * u / 2),
    "tophat": lambda u: np.where(u < 1, 1.0, 0.0),
    "epanechnikov": lambda u: np.where(u < 1, 1 - u * u, 0.0),
    "exponential": lambda u: np.exp(-u),
    "linear": lambda u: np.where(u < 1, 1 - u, 0.0),
    "cosine": lambda u: np.where(u < 1, np.cos(np.pi / 2 * u), 0.0),
}
LOG_ENDLESS = {"gaussian": lambda u: -u * u / 2, "exponential": lambda u: -u}


def log_integral(kernel, d):
    """The kernel's integral over d dimensions: that over its radius, times the surface of the unit sphere."""
    end = 60 if kernel in LOG_ENDLESS else 1
    radial, _ = quad(lambda u: float(KERNELS[kernel](u)) * u ** (d - 1), 0, end, limit=200)
    return np.log(radial) + np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)


def log_density(distances, kernel, h, d, weights=None):
    """Of each line of distances, the log of sum_i w_i K(d_i / h) / (h^d integral)."""
    u = distances / h
    with np.errstate(divide="ignore"):
        logs = LOG_ENDLESS[kernel](u) if kernel in LOG_ENDLESS else np.log(KERNELS[kernel](u))
        sums = logsumexp(logs, axis=1, b=1.0 if weights is None else weights)
    return sums - log_integral(kernel, d) - d * np.log(h)
