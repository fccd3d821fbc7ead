"""Data for tree models, each with rows held out (`start`), and the measures on these rows: one code for all, in float64."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks._case import Data

_N_HELD_OUT = 20_000


def fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def _signal(random: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Steps, a product, a wave and a slope in ten of the columns."""
    d = X.shape[1]
    a, b, c, e = (X[:, j % d] for j in range(4))
    smooth = np.sin(3 * X[:, 4 % d]) + 0.5 * X[:, 5 % d] ** 2 + X[:, 6 % d]
    return 2.0 * (a > 0) * (b > 0.5) + c * e + smooth + 0.5 * np.abs(X[:, 7 % d])


def _split(X: np.ndarray, y: np.ndarray, n: int, dtype: str) -> Data:
    X = X.astype(dtype)
    return Data(np.ascontiguousarray(X[:n]), y[:n], start=(np.ascontiguousarray(X[n:]), y[n:]))


@lru_cache(maxsize=1)
def numbers(n: int, d: int, dtype: str = "float64") -> Data:
    """A response of steps, waves and products, with as much noise as signal in its variance."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n + _N_HELD_OUT, d))
    signal = _signal(random, X)
    return _split(X, signal + signal.std() * random.normal(size=len(X)), n, dtype)


@lru_cache(maxsize=1)
def classes(n: int, d: int, n_classes: int = 2, dtype: str = "float64") -> Data:
    """Classes cut from the same response with half of the noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n + _N_HELD_OUT, d))
    signal = _signal(random, X)
    noisy = signal + 0.7 * signal.std() * random.normal(size=len(X))
    return _split(X, np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy), n, dtype)


@lru_cache(maxsize=1)
def outliers(n: int, d: int) -> Data:
    """A cloud on a curved sheet with 2 % of its rows elsewhere; y tells which."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    X[:, 1::2] += X[:, ::2][:, : d // 2] ** 2
    y = (random.random(n) < 0.02).astype(int)
    X[y == 1] = random.uniform(-4, 4, size=(int(y.sum()), d))
    return Data(X, y)


def error_rate(model: Any, outcome: Any, data: Data) -> float:
    X, y = data.start
    return float((np.asarray(outcome.predict(X)) != y).mean())


def squared_error(model: Any, outcome: Any, data: Data) -> float:
    X, y = data.start
    return float(((np.asarray(outcome.predict(X), dtype=np.float64) - y) ** 2).mean())


def log_loss(model: Any, outcome: Any, data: Data) -> float:
    X, y = data.start
    shares = np.asarray(outcome.predict_proba(X), dtype=np.float64)
    return float(-np.log(np.clip(shares[np.arange(len(y)), y], 1e-12, None)).mean())
