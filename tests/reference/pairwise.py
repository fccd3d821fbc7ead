"""Distances and kernels between rows, one pair at a time."""

from __future__ import annotations

import math

import numpy as np


def values(X, Y, function):
    """`function` of every row of X and every row of Y, in double precision."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    return np.array([[function(x, y) for y in Y] for x in X])


def squared(x, y):
    return math.fsum((x - y) ** 2)


def chi_squared(x, y):
    return math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def divergence(p, q):
    p, q = p / p.sum(), q / q.sum()
    if ((q == 0) & (p > 0)).any():
        return math.inf
    return math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


FUNCTIONS = {
    "euclidean_distances": lambda x, y: math.sqrt(squared(x, y)),
    "manhattan_distances": lambda x, y: math.fsum(abs(x - y)),
    "cosine_distances": lambda x, y: squared(x / np.linalg.norm(x), y / np.linalg.norm(y)) / 2,
    "cosine_similarity": lambda x, y: math.fsum(x * y) / np.linalg.norm(x) / np.linalg.norm(y),
    "linear_kernel": lambda x, y: math.fsum(x * y),
    "polynomial_kernel": lambda x, y: (math.fsum(x * y) / len(x) + 1) ** 3,
    "sigmoid_kernel": lambda x, y: math.tanh(math.fsum(x * y) / len(x) + 1),
    "rbf_kernel": lambda x, y: math.exp(-squared(x, y) / len(x)),
    "laplacian_kernel": lambda x, y: math.exp(-math.fsum(abs(x - y)) / len(x)),
    "chi2_kernel": lambda x, y: math.exp(-chi_squared(x, y)),
    "additive_chi2_kernel": lambda x, y: -chi_squared(x, y),
    "kl_divergence": divergence,
}
