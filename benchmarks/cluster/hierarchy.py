"""Agglomeration: the whole hierarchy, judged by its heights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import SCIKIT_LEARN, Case, Contender, Data, Quality, contenders

_OWN = contenders("cluster.AgglomerativeClustering", (SCIKIT_LEARN,))
_ALL = (*_OWN, Contender("fastcluster", "benchmarks.cluster._peers:FastCluster"))


def _normal(n: int, d: int, dtype: str) -> Data:
    return Data(np.random.default_rng(0).normal(size=(n, d)).astype(dtype))


def _clumps(n: int, d: int, dtype: str) -> Data:
    random = np.random.default_rng(0)
    means = random.normal(scale=6, size=(30, d))
    return Data((means[random.integers(30, size=n)] + random.normal(size=(n, d))).astype(dtype))


def _model(estimator: Any, data: Data, *, linkage: str) -> Any:
    return estimator(10, linkage=linkage, compute_distances=True)


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _height(model: Any, outcome: Any, data: Data) -> float:
    return float(np.sum(outcome.distances_, dtype=np.float64))


def cases() -> Iterator[Case]:
    heights = Quality("sum of the heights", _height, rtol=1e-5)
    kinds = ((_normal, "no structure", "float64"), (_normal, "no structure", "float32"), (_clumps, "clumps", "float64"))
    for linkage in ("ward", "average", "complete"):
        for make, what, dtype in kinds:
            yield Case(
                f"AgglomerativeClustering fit, {linkage}",
                f"10,000 x 10, {what}, {dtype}",
                partial(make, 10_000, 10, dtype),
                _ALL,
                _fit,
                heights,
                prepare=partial(_model, linkage=linkage),
                small_data=partial(make, 500, 10, dtype) if what == "clumps" else None,
            )
    for n, d, dtype in ((10_000, 10, "float64"), (10_000, 3, "float64"), (100_000, 3, "float64"), (100_000, 3, "float32")):
        yield Case(
            "AgglomerativeClustering fit, single",
            f"{n:,} x {d}, {dtype}",
            partial(_normal, n, d, dtype),
            _ALL if n == 10_000 else _OWN,  # fastcluster's takes minutes, and 40 GB
            _fit,
            heights,
            prepare=partial(_model, linkage="single"),
            small_data=partial(_normal, 500, d, dtype) if n == 100_000 else None,
            is_quick=(n, d) == (10_000, 3),
        )
