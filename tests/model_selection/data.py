"""Data for searches."""

from __future__ import annotations

import numpy as np


def numbers(n=90, d=6, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    return X, X[:, 0] - 0.5 * X[:, 1] + random.randn(n)


def classes(n=120, d=5, n_classes=2, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    signal = X[:, 0] + 0.7 * random.randn(n)
    return X, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
