"""Kernel regression with each row left out, metric learning, and matrices of distances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality, contenders

BANDWIDTHS = 2.0 * np.exp2(-np.arange(16) / 4)


class DirectLoop:
    """Leave-one-out errors as one writes them down: a loop over bandwidths and rows."""

    def __init__(self, bandwidths: Any = BANDWIDTHS, kernel: str = "gaussian") -> None:
        self.bandwidths, self.kernel = bandwidths, kernel

    def fit(self, X: Any, y: Any) -> DirectLoop:
        self.left_out_errors_ = np.array([self._error(X, y, h) for h in self.bandwidths])
        self.bandwidth_ = self.bandwidths[self.left_out_errors_.argmin()]
        return self

    def _error(self, X: Any, y: Any, bandwidth: float) -> float:
        total = 0.0
        for i in range(len(X)):
            squared = ((X - X[i]) ** 2).sum(axis=1) / bandwidth**2
            weights = np.exp(-squared / 2) if self.kernel == "gaussian" else np.maximum(1 - squared, 0)
            weights[i] = 0
            mean = weights @ y / weights.sum() if weights.any() else y[np.argsort(squared)[1]]
            total += (mean - y[i]) ** 2
        return total / len(X)


def _surface(n: int, d: int) -> Data:
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    return Data(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.randn(n))


def _classes(n: int, d: int) -> Data:
    from sklearn.datasets import make_classification

    X, y = make_classification(n, d, n_informative=d // 2, n_classes=4, random_state=0)
    return Data(X, y)


def _rows(n: int, d: int, dtype: Any) -> Data:
    return Data(np.random.RandomState(0).randn(n, d).astype(dtype))


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def _error(model: Any, outcome: Any, data: Data) -> float:
    return float(outcome.left_out_errors_.min())


def _soft_errors(model: Any, outcome: Any, data: Data) -> float:
    """Rows that a soft neighbour is expected to put into a wrong class."""
    Z = np.asarray(data.X @ outcome.components_.T, dtype=np.float64)
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    shares = np.exp(squared.min(axis=1, keepdims=True) - squared)
    shares /= shares.sum(axis=1, keepdims=True)
    return float(len(Z) - (shares * (data.y[:, None] == data.y)).sum())


def _function(estimator: Any, data: Data) -> Any:
    return estimator


def _call(function: Any, data: Data) -> Any:
    return function(data.X)


def _distance_error(name: str, model: Any, outcome: Any, data: Data) -> float:
    """The largest error among some rows, over the largest value."""
    from scipy.spatial.distance import cdist

    some = data.X[:50].astype(np.float64)
    metric = "cityblock" if name.startswith("manhattan") else "sqeuclidean" if name.startswith("rbf") else "euclidean"
    exact = cdist(some, data.X.astype(np.float64), metric)
    if name.startswith("rbf"):
        exact = np.exp(-exact / data.X.shape[1])
    return float(np.abs(outcome[:50] - exact).max() / exact.max())


def cases() -> Iterator[Case]:
    table = "kernel regression, bandwidth by leave-one-out among 16"
    least = Quality("least mean squared error", _error, rtol=1e-6)
    for kernel in ("gaussian", "epanechnikov"):
        given = {"kernel": kernel, "bandwidths": BANDWIDTHS}
        who = (
            Contender(MERCER, "mercer.kernel_regression:KernelRegression", given),
            Contender("a direct loop", "benchmarks.neighbors.regression:DirectLoop", given),
        )
        yield Case(table, f"20,000 x 4, {kernel}", partial(_surface, 20_000, 4), who, _fit, least)
        yield Case(table, f"1,000 x 4, {kernel}", partial(_surface, 1_000, 4), who, _fit, least, is_quick=True)
    who = contenders("neighbors.NeighborhoodComponentsAnalysis", (SCIKIT_LEARN,))
    wrong = Quality("expected errors", _soft_errors, rtol=0.05)
    table = "neighbourhood components analysis fit"
    yield Case(table, "2,000 x 20, 4 classes", partial(_classes, 2_000, 20), who, _fit, wrong)
    yield Case(table, "300 x 10, 4 classes", partial(_classes, 300, 10), who, _fit, wrong, is_quick=True)
    table = "matrices of distances and kernels"
    for name in ("euclidean_distances", "manhattan_distances", "rbf_kernel"):
        who = contenders(f"metrics.pairwise.{name}", (SCIKIT_LEARN,))
        error = Quality("largest error", partial(_distance_error, name), rtol=1.0, atol=1e-6)
        for n, d, dtype in ((5_000, 40, np.float64), (5_000, 40, np.float32), (5_000, 4, np.float64)):
            data = partial(_rows, n, d, dtype)
            yield Case(table, f"{name}, {n:,} x {d}, {np.dtype(dtype)}", data, who, _call, error, prepare=_function)
