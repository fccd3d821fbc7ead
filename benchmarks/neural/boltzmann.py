"""Restricted Boltzmann machines: two epochs over binary rows from the same draws, and probabilities of hidden units."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._case import SCIKIT_LEARN, Case, Data, Estimator, Quality, contenders

_CONTENDERS = contenders("neural_network.BernoulliRBM", (SCIKIT_LEARN,))
_SIZE = (20_000, 784)
_N_COMPONENTS = 100


def _rows(n: int, d: int, dtype: str) -> Data:
    """Ten prototypes of which every row is one, with a tenth of its values flipped."""
    random = np.random.default_rng(0)
    prototypes = random.uniform(size=(10, d)) < 0.3
    X = prototypes[random.integers(10, size=n)] ^ (random.uniform(size=(n, d)) < 0.1)
    return Data(X.astype(dtype))


def _machine(estimator: Estimator, data: Data, *, batch_size: int) -> Any:
    return estimator(n_components=_N_COMPONENTS, batch_size=batch_size, n_iter=2, learning_rate=0.05, random_state=0)


def _fitted(estimator: Estimator, data: Data) -> Any:
    return estimator(n_components=_N_COMPONENTS, n_iter=0, random_state=0).fit(data.X)


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _transform(model: Any, data: Data) -> Any:
    return model.transform(data.X)


def _reconstruction_error(model: Any, outcome: Any, data: Data) -> float:
    """The mean squared difference of rows to what their hidden units expect of them, in float64."""
    X, weights = data.X[:2_000].astype(np.float64), outcome.components_.astype(np.float64)
    hidden = 1 / (1 + np.exp(-(X @ weights.T + outcome.intercept_hidden_)))
    return float(np.mean((1 / (1 + np.exp(-(hidden @ weights + outcome.intercept_visible_))) - X) ** 2))


def _error(model: Any, outcome: Any, data: Data) -> float:
    expected = 1 / (1 + np.exp(-(data.X[:2_000].astype(np.float64) @ model.components_.T + model.intercept_hidden_)))
    return float(np.abs(outcome[:2_000] - expected).max())


_QUALITY = Quality("reconstruction error", _reconstruction_error, rtol=1e-3)


def cases() -> Iterator[Case]:
    n, d = _SIZE
    for batch_size, dtype in product((10, 100), ("float64", "float32")):
        yield Case(
            "BernoulliRBM fit, 2 epochs",
            f"{n:,} x {d}, {_N_COMPONENTS} components, batches of {batch_size}, {dtype}",
            partial(_rows, n, d, dtype),
            _CONTENDERS,
            _fit,
            _QUALITY,
            prepare=partial(_machine, batch_size=batch_size),
            is_quick=(batch_size, dtype) == (10, "float64"),
        )
    for dtype in ("float64", "float32"):
        yield Case(
            "BernoulliRBM transform",
            f"{n:,} x {d}, {_N_COMPONENTS} components, {dtype}",
            partial(_rows, n, d, dtype),
            _CONTENDERS,
            _transform,
            Quality("largest error", _error, atol=1e-5),
            prepare=_fitted,
        )
