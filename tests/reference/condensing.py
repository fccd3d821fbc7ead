"""Condensed nearest neighbours as the textbook has it."""

from __future__ import annotations

import numpy as np


def minkowski(a, b, p):
    differences = np.abs(np.asarray(a, dtype=np.float64) - b)
    return differences.max() if np.isinf(p) else (differences**p).sum()


def vote(X, codes, kept, row, k, p):
    """The class of most of the k nearest kept rows; ties to the lower row, then to the lower class."""
    nearest = sorted(kept, key=lambda other: (minkowski(X[row], X[other], p), other))[:k]
    return int(np.argmax(np.bincount([codes[other] for other in nearest])))


def condense(X, codes, *, start, order, k, until_stable, p):
    kept = list(dict.fromkeys(start))
    while True:
        n_before = len(kept)
        for row in order:
            if row not in kept and vote(X, codes, kept, row, k, p) != codes[row]:
                kept.append(row)
        if not until_stable or len(kept) == n_before:
            return kept
