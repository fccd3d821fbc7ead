"""Measures of clusterings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality

Score = Callable[..., float]


def _labeled(n: int, d: int, k: int, dtype: str) -> Data:
    random = np.random.default_rng(0)
    labels = random.integers(k, size=n)
    return Data((random.normal(scale=3, size=(k, d))[labels] + random.normal(size=(n, d))).astype(dtype), labels)


def _two_labelings(n: int, k: int) -> Data:
    random = np.random.default_rng(0)
    first = random.integers(k, size=n)
    return Data(first, np.where(random.random(n) < 0.3, random.integers(k, size=n), first))


def _itself(function: Score, data: Data) -> Score:
    return function


def _run(function: Score, data: Data) -> float:
    return function(data.X, data.y)


def _value(function: Score, outcome: float, data: Data) -> float:
    return outcome


def _who(name: str) -> tuple[Contender, ...]:
    return (Contender(MERCER, f"mercer.metrics:{name}"), Contender(SCIKIT_LEARN, f"sklearn.metrics:{name}"))


def cases() -> Iterator[Case]:
    same = Quality("value", _value, rtol=1e-4)
    for n, d, k, dtype in ((20_000, 10, 8, "float64"), (20_000, 10, 8, "float32"), (5_000, 100, 20, "float64")):
        data = partial(_labeled, n, d, k, dtype)
        yield Case(
            "silhouette_score", f"{n:,} x {d}, {k} clusters, {dtype}", data, _who("silhouette_score"), _run, same, _itself
        )
    for name in ("davies_bouldin_score", "calinski_harabasz_score"):
        yield Case(
            name, "200,000 x 10, 8 clusters", partial(_labeled, 200_000, 10, 8, "float64"), _who(name), _run, same, _itself
        )
    for name in ("adjusted_rand_score", "adjusted_mutual_info_score"):
        for k in (10, 300):
            yield Case(name, f"200,000, {k} clusters", partial(_two_labelings, 200_000, k), _who(name), _run, same, _itself)
