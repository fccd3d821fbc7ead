"""Density clustering: DBSCAN, OPTICS and HDBSCAN."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks._case import MERCER, SCIKIT_LEARN, SKLEARNEX, Case, Contender, Data, Quality, contenders

N_CENTRES = 30


def clumps(n: int, d: int) -> Data:
    """Thirty clusters, and a tenth of the rows scattered among them."""
    random = np.random.RandomState(0)
    X, y = make_blobs(n - n // 10, d, centers=N_CENTRES, cluster_std=0.5, center_box=(-20, 20), random_state=random)
    noise = random.uniform(-22, 22, size=(n // 10, d))
    order = random.permutation(n)
    return Data(np.concatenate([X, noise])[order], np.concatenate([y, np.full(n // 10, -1)])[order])


def fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def agreement(model: Any, outcome: Any, data: Data) -> float:
    """Adjusted Rand index of labels and of what the rows were drawn from."""
    some = slice(0, 100_000)
    return float(adjusted_rand_score(data.y[some], outcome.labels_[some]))


def warmed_up(estimator: Any, data: Data, **params: Any) -> Any:
    """A model whose code is compiled, where that happens at the first fits."""
    for n in (1_000, 20_000):
        estimator(**params).fit(data.X[:n])
    return estimator(**params)


def cases() -> Iterator[Case]:
    labels = Quality("agreement with the truth", agreement, rtol=0.02, is_lower_better=False)
    own_package = Contender("dbscan", "benchmarks.neighbors._peers:PackageDbscan")
    all_dbscan = (*contenders("cluster.DBSCAN", (SCIKIT_LEARN, SKLEARNEX)), own_package)
    bounded = tuple(each for each in all_dbscan if each.name in (MERCER, own_package.name))  # others keep all neighbourhoods
    for n, d, eps, who in ((60_000, 2, 0.15, all_dbscan), (30_000, 8, 1.2, all_dbscan), (1_000_000, 3, 0.25, bounded)):
        prepare = partial(_prepared, eps=eps, min_samples=10)
        small = partial(clumps, 1_000, d) if who is bounded else None
        yield Case("DBSCAN fit", f"{n:,} x {d}", partial(clumps, n, d), who, fit, labels, prepare, small)
    optics = contenders("cluster.OPTICS", (SCIKIT_LEARN,))
    for n in (5_000, 50_000):
        prepare = partial(_prepared, min_samples=10)
        yield Case("OPTICS fit", f"{n:,} x 2", partial(clumps, n, 2), optics, fit, labels, prepare, is_quick=n == 5_000)
    hdbscan = (
        Contender(MERCER, "mercer.cluster:HDBSCAN"),
        Contender(SCIKIT_LEARN, "sklearn.cluster:HDBSCAN", {"copy": True}),
        Contender("hdbscan", "hdbscan:HDBSCAN"),
        Contender("fast-hdbscan", "fast_hdbscan:HDBSCAN"),
    )
    for n, d in ((50_000, 6), (20_000, 50), (500_000, 2)):
        prepare = partial(warmed_up, min_cluster_size=50, min_samples=10)
        who = tuple(each for each in hdbscan if n < 100_000 or each.name != SCIKIT_LEARN)  # which takes O(n^2)
        yield Case("HDBSCAN fit", f"{n:,} x {d}", partial(clumps, n, d), who, fit, labels, prepare)


def _prepared(estimator: Any, data: Data, **params: Any) -> Any:
    return estimator(**params)
