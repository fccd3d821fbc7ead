"""Kernels as the textbook has them: one pair at a time, sums over all places of all words."""

from __future__ import annotations

import itertools
import math

import numpy as np


def matrix(function, X, Y=None):
    """`function` of every row of X and of Y, in double precision."""
    return np.array([[function(x, y) for y in (X if Y is None else Y)] for x in X], dtype=np.float64)


def linear(x, y):
    return math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def polynomial(degree, gamma, coef0):
    return lambda x, y: (gamma * linear(x, y) + coef0) ** degree


def rbf(gamma):
    return lambda x, y: math.exp(-gamma * math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True)))


def laplacian(gamma):
    return lambda x, y: math.exp(-gamma * math.fsum(abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)))


def sigmoid(gamma, coef0):
    return lambda x, y: math.tanh(gamma * linear(x, y) + coef0)


def chi_squared(gamma):
    def value(x, y):
        pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
        return math.exp(-gamma * math.fsum((a - b) ** 2 / (a + b) for a, b in pairs if a + b > 0))

    return value


def cosine(x, y):
    lengths = math.sqrt(linear(x, x) * linear(y, y))
    return linear(x, y) / lengths if lengths > 0 else 0.0


def spectrum(length):
    def value(s, t):
        runs = [[tuple(r[i : i + length]) for i in range(len(r) - length + 1)] for r in (s, t)]
        return float(sum(u == v for u in runs[0] for v in runs[1]))

    return value


def subsequence(length, decay):
    """By enumeration of all places of subsequences in both sequences."""

    def value(s, t):
        total = 0.0
        for i in itertools.combinations(range(len(s)), length):
            for j in itertools.combinations(range(len(t)), length):
                if all(s[a] == t[b] for a, b in zip(i, j, strict=True)):
                    total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
        return total

    return value
