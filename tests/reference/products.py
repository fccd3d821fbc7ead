"""Matrix products, Cholesky factors and triangular systems as the textbook has them: in float64, sum by sum, without BLAS."""

from __future__ import annotations

import numpy as np


def product(a, b):
    """a b."""
    return np.einsum("ik,kj->ij", a.astype(np.float64), b.astype(np.float64))


def gram(x, shift=None, factors=None):
    """z' z for z = diag(factors) (x - 1 shift')."""
    z = x.astype(np.float64)
    z = z if shift is None else z - shift
    z = z if factors is None else factors[:, None] * z
    return product(z.T, z)


def cholesky(a):
    """The lower triangular l with l l' = a."""
    lower = np.zeros_like(a, dtype=np.float64)
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i, j] - (lower[i, :j] * lower[j, :j]).sum()
            lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
    return lower
