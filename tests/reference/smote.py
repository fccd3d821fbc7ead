"""SMOTE as the textbook has it: one new row at a time, one attribute at a time."""

from __future__ import annotations

import numpy as np


def neighbors(rows, k):
    """The k nearest other rows of each row."""
    found = []
    for i, row in enumerate(rows):
        distances = [np.sqrt(((row - other) ** 2).sum()) if i != j else np.inf for j, other in enumerate(rows)]
        found.append(np.argsort(distances, kind="stable")[:k])
    return np.array(found)


def is_on_a_segment(point, rows, k, *, tolerance=1e-9):
    """Whether a point lies between some row and one of its k neighbours."""
    for start, others in zip(rows, neighbors(rows, k), strict=True):
        for end in rows[others]:
            step = end - start
            share = (point - start) @ step / max(step @ step, 1e-300)
            if -tolerance <= share <= 1 + tolerance and np.allclose(start + share * step, point, atol=tolerance, rtol=0):
                return True
    return False


def is_in_a_box(point, rows, k, *, tolerance=1e-9):
    """Whether a point lies in the box that has some row and one of its k neighbours as corners."""
    for start, others in zip(rows, neighbors(rows, k), strict=True):
        for end in rows[others]:
            low, high = np.minimum(start, end) - tolerance, np.maximum(start, end) + tolerance
            if ((low <= point) & (point <= high)).all():
                return True
    return False


def value_difference(x, z, X, y):
    """The value difference metric of two rows of categories."""
    total = 0.0
    for f in range(X.shape[1]):
        total += sum(abs(np.mean(y[X[:, f] == x[f]] == c) - np.mean(y[X[:, f] == z[f]] == c)) for c in np.unique(y)) ** 2
    return total
