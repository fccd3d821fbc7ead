"""Mini-batch and bisecting k-means, mean shift, affinity propagation, BIRCH."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks._case import SCIKIT_LEARN, Case, Data, Quality, contenders
from benchmarks.cluster.kmeans import fit, fit_inertia, overlapping_blobs


@lru_cache(maxsize=2)
def clumps(n: int, d: int, k: int, spread: float) -> Data:
    return Data(*make_blobs(n, d, centers=k, cluster_std=spread, random_state=0))


def agreement(model: Any, outcome: Any, data: Data) -> float:
    """Adjusted Rand index of the labels and of what the rows were drawn from."""
    return float(adjusted_rand_score(data.y, outcome.labels_))


def deviation(model: Any, outcome: Any, data: Data) -> float:
    """Squared distances of the rows to the means of their small clusters."""
    centres = outcome.subcluster_centers_[outcome.labels_]
    return float(np.sum((data.X - centres) ** 2))


def prepared(estimator: Any, data: Data, **params: Any) -> Any:
    return estimator(**params)


AGREES = Quality("agreement with the truth", agreement, rtol=0.01, is_lower_better=False)


def cases() -> Iterator[Case]:
    yield from _k_means()
    who = partial(contenders, peers=(SCIKIT_LEARN,))
    for n, d, bandwidth in ((10_000, 2, 0.8), (2_000, 6, 2.5)):
        yield Case(
            "MeanShift fit",
            f"{n:,} x {d}",
            partial(clumps, n, d, 8, 0.6),
            who("cluster.MeanShift"),
            fit,
            AGREES,
            partial(prepared, bandwidth=bandwidth),
        )
    yield Case(
        "AffinityPropagation fit",
        "2,000 x 4",
        partial(clumps, 2_000, 4, 8, 0.6),
        who("cluster.AffinityPropagation"),
        fit,
        AGREES,
        partial(prepared, random_state=0, damping=0.8, preference=-200.0),
    )
    for n, d, threshold in ((50_000, 4, 0.8), (20_000, 30, 4.0)):
        yield Case(
            "Birch fit, no global clustering",
            f"{n:,} x {d}",
            partial(clumps, n, d, 30, 0.6),
            who("cluster.Birch"),
            fit,
            Quality("squared deviation", deviation, rtol=0.01),
            partial(prepared, threshold=threshold, n_clusters=None),
        )


def _k_means() -> Iterator[Case]:
    for name, table, k, rtol in (
        ("MiniBatchKMeans", "MiniBatchKMeans fit", 50, 1e-3),
        ("BisectingKMeans", "BisectingKMeans fit", 20, 0.02),
    ):
        for dtype in ("float64", "float32"):
            yield Case(
                table,
                f"200,000 x 12, k={k}, {dtype}",
                partial(_blobs, dtype),
                contenders(f"cluster.{name}", (SCIKIT_LEARN,)),
                fit,
                Quality("inertia", fit_inertia, rtol=rtol),
                partial(prepared, n_clusters=k, random_state=0),
            )


def _blobs(dtype: str) -> Data:
    return Data(overlapping_blobs(200_000, 12, dtype))
