"""Principal components as in a textbook: centre, decompose, fix the signs. In double precision, and slow."""

from __future__ import annotations

from math import lgamma, log, pi
from typing import NamedTuple

import numpy as np


class Components(NamedTuple):
    mean: np.ndarray
    components: np.ndarray  # one a line
    singular: np.ndarray
    variances: np.ndarray


def centred(X):
    """X minus its mean, twice: what rounding has left in the first mean is in the second."""
    X = np.asarray(X, dtype=np.float64)
    once = X - X.mean(axis=0)
    return once - once.mean(axis=0)


def principal_components(X) -> Components:
    """All min(n, d) of them."""
    X = np.asarray(X, dtype=np.float64)
    _, singular, vectors = np.linalg.svd(centred(X), full_matrices=False)
    return Components(X.mean(axis=0), fixed_signs(vectors), singular, singular**2 / (len(X) - 1))


def fixed_signs(vectors):
    """The entry of largest magnitude of each line is positive."""
    return np.array([line if line[np.abs(line).argmax()] >= 0 else -line for line in vectors]).reshape(np.shape(vectors))


def log_densities(X, fitted: Components, k: int):
    """Of probabilistic PCA with k components: a Gaussian whose covariance has the mean of the other variances beside them."""
    d = X.shape[1]
    noise = fitted.variances[k:].mean()
    V = fitted.components[:k]
    covariance = V.T @ np.diag(fitted.variances[:k] - noise) @ V + noise * np.eye(d)
    sign, log_determinant = np.linalg.slogdet(covariance)
    assert sign > 0
    rows = X - fitted.mean
    squares = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(covariance), rows)
    return -0.5 * (squares + log_determinant + d * log(2 * pi))


def minka_log_evidence(variances, k, n):
    """Minka's equation 80, term by term."""
    d = len(variances)
    log_prior = -k * log(2) + sum(lgamma((d - i) / 2) - (d - i) / 2 * log(pi) for i in range(k))
    noise = sum(variances[k:]) / (d - k)
    smoothed = [*variances[:k], *([noise] * (d - k))]
    log_curvature = sum(
        log((1 / smoothed[j] - 1 / smoothed[i]) * (variances[i] - variances[j])) + log(n)
        for i in range(k)
        for j in range(i + 1, d)
    )
    m = d * k - k * (k + 1) / 2
    return (
        log_prior
        - n / 2 * sum(log(value) for value in variances[:k])
        - n * (d - k) / 2 * log(noise)
        + (m + k) / 2 * log(2 * pi)
        - log_curvature / 2
        - k / 2 * log(n)
    )
