"""Ball trees, and what is asked of trees besides neighbours: densities."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Estimator, Quality, contenders

K = 10


@lru_cache(maxsize=1)
def _clusters(n: int, d: int, n_queries: int) -> Data:
    """Rows around a hundred centres; queries (`start`) of the same kind."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(100, d))
    X = centres[random.integers(100, size=n + n_queries)] + 0.3 * random.normal(size=(n + n_queries, d))
    return Data(np.ascontiguousarray(X[:n]), start=np.ascontiguousarray(X[n:]))


class BruteCosine:
    """scikit-learn's trees do not take the cosine distance: its brute force does."""

    def __init__(self, X: Any, metric: str) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._search = NearestNeighbors(metric=metric, algorithm="brute", n_jobs=-1).fit(X)

    def query(self, X: Any, k: int) -> Any:
        return self._search.kneighbors(X, k)


def _itself(estimator: Estimator, data: Data) -> Estimator:
    return estimator


def _nearest(metric: str, tree: Any, data: Data) -> Any:
    """The tree is built and asked."""
    return tree(data.X, metric=metric).query(data.start, k=K)[0]


def _within(metric: str, radius: float, tree: Any, data: Data) -> Any:
    return tree(data.X, metric=metric).query_radius(data.start, radius, count_only=True)


def _log_density(model: Any, data: Data) -> Any:
    return model.fit(data.X).score_samples(data.start)


def _total(model: Any, outcome: Any, data: Data) -> float:
    values = np.asarray(outcome, dtype=np.float64)
    return float(values[np.isfinite(values)].sum())


def _trees() -> Iterator[Case]:
    same = Quality("sum of the answers", _total, rtol=1e-9)
    both = contenders("neighbors.BallTree", peers=(SCIKIT_LEARN,))
    cosine = (both[0], Contender(SCIKIT_LEARN, "benchmarks.neighbors.trees:BruteCosine"))
    table = "Ball tree, built and asked"
    for n, d, q in [(100_000, 8, 20_000), (50_000, 20, 5_000)]:
        data, size = partial(_clusters, n, d, q), f"{n:,} x {d}, {q:,} queries"
        nearest = partial(_nearest, "manhattan")
        yield Case(table, f"{K} nearest, Manhattan, {size}", data, both, nearest, same, prepare=_itself)
        within = partial(_within, "manhattan", 0.2 * d)
        yield Case(table, f"count within a radius, Manhattan, {size}", data, both, within, same, prepare=_itself)
        nearest = partial(_nearest, "cosine")
        yield Case(table, f"{K} nearest, cosine, {size}", data, cosine, nearest, same, prepare=_itself)


def _densities() -> Iterator[Case]:
    same = Quality("sum of log densities", _total, rtol=1e-6)
    data = partial(_clusters, 20_000, 3, 5_000)
    for kernel, h in [("gaussian", 0.1), ("gaussian", 1.0), ("epanechnikov", 0.3)]:
        params = {"kernel": kernel, "bandwidth": h, "rtol": 1e-8}
        who = tuple(
            Contender(name, f"{package}.neighbors:KernelDensity", params)
            for name, package in ((MERCER, "mercer"), (SCIKIT_LEARN, "sklearn"))
        )
        yield Case("KernelDensity, 20,000 x 3, 5,000 queries", f"{kernel}, h = {h}", data, who, _log_density, same)


def cases() -> Iterator[Case]:
    yield from _trees()
    yield from _densities()
