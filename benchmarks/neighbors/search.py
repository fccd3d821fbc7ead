"""Searches for neighbours: brute force, trees, one query at a time, within a radius. Fits are not timed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, SKLEARNEX, Case, Contender, Data, Quality

K = 10
N_SINGLE = 2000  # queries that are asked one by one


@lru_cache(maxsize=1)
def _rows(kind: str, n: int, n_queries: int, d: int, dtype: str) -> Data:
    random = np.random.default_rng(0)
    if kind == "clustered":
        centres = random.random((50, d))
        X = centres[random.integers(50, size=n + n_queries)] + 0.03 * random.normal(size=(n + n_queries, d))
    elif kind == "small clusters":
        centres = 3 * random.normal(size=(n // 200, d))
        X = centres[random.integers(len(centres), size=n + n_queries)] + random.normal(size=(n + n_queries, d))
    elif kind == "uniform":
        X = random.random((n + n_queries, d))
    else:
        X = random.normal(size=(n + n_queries, d))
    X = X.astype(dtype)
    return Data(X[:n].copy(), start=X[n:].copy())


def _search(name: str, package: str, algorithm: str, **params: Any) -> Contender:
    return Contender(name, f"{package}.neighbors:NearestNeighbors", {"algorithm": algorithm, "n_jobs": -1, **params})


def _nearest_by(algorithm: str, peers: tuple[str, ...]) -> tuple[Contender, ...]:
    known = {
        SCIKIT_LEARN: _search(SCIKIT_LEARN, "sklearn", algorithm, n_neighbors=K),
        SKLEARNEX: _search(SKLEARNEX, "sklearnex", algorithm, n_neighbors=K),
        "sklearnex, brute": _search("sklearnex, brute", "sklearnex", "brute", n_neighbors=K),
        **{
            name: Contender(name, f"benchmarks.neighbors._peers:{peer}", {"n_neighbors": K})
            for name, peer in (("SciPy", "SciPyTree"), ("pykdtree", "PyKDTree"), ("faiss", "FaissFlat"))
        },
    }
    mine = "brute" if algorithm == "brute" else "auto"
    return _search(MERCER, "mercer", mine, n_neighbors=K), *(known[peer] for peer in peers)


def _fitted(estimator: Any, data: Data) -> Any:
    return estimator().fit(data.X)


def _ask(model: Any, data: Data) -> Any:
    return model.kneighbors(data.start)


def _ask_one_by_one(model: Any, data: Data) -> Any:
    found = [model.kneighbors(data.start[i : i + 1]) for i in range(N_SINGLE)]
    return np.concatenate([distances for distances, _ in found]), None


def _ask_radius(model: Any, data: Data) -> Any:
    distances, _ = model.radius_neighbors(data.start)
    return np.concatenate(distances), None


def _mean_distance(model: Any, outcome: Any, data: Data) -> float:
    return float(np.asarray(outcome[0], dtype=np.float64).mean())


QUALITY = Quality("mean distance", _mean_distance, rtol=1e-4)


def cases() -> Iterator[Case]:
    common = {"prepare": _fitted, "quality": QUALITY}
    for n, d in ((20_000, 40), (5_000, 784)):
        for dtype in ("float32", "float64"):
            yield Case(
                "10 nearest neighbours by brute force",
                f"{n:,} x {d} asked by as many, {dtype}",
                partial(_rows, "normal", n, n, d, dtype),
                _nearest_by("brute", (SCIKIT_LEARN, SKLEARNEX, "faiss")),
                _ask,
                **common,
            )
    for d in (2, 4, 8, 15):
        peers = (SCIKIT_LEARN, SKLEARNEX, "SciPy", "pykdtree")
        if d == 15:  # where trees see most of the points
            peers = (SKLEARNEX, "sklearnex, brute", "faiss", "pykdtree")
        for kind in ("uniform", "clustered"):
            for dtype in ("float32", "float64"):
                yield Case(
                    f"10 nearest neighbours in few dimensions{' (fifteen)' if d == 15 else ''}",
                    f"{kind}, 100,000 x {d} asked by 50,000, {dtype}",
                    partial(_rows, kind, 100_000, 50_000, d, dtype),
                    _nearest_by("kd_tree", peers),
                    _ask,
                    is_quick=d == 2,
                    **common,
                )
    # Hashing misses some neighbours, and what it finds instead is a little farther.
    yield Case(
        "10 nearest neighbours by hashing",
        "clusters of 200, 100,000 x 50 asked by 1,000",
        partial(_rows, "small clusters", 100_000, 1_000, 50, "float64"),
        (
            Contender(MERCER, "mercer.neighbors:LSH", {"n_neighbors": K, "random_state": 0}),
            _search("Mercer, brute", "mercer", "brute", n_neighbors=K),
        ),
        _ask,
        prepare=_fitted,
        quality=Quality("mean distance", _mean_distance, rtol=0.02),
    )
    yield Case(
        "10 nearest neighbours, one query at a time",
        f"100,000 x 8, {N_SINGLE:,} calls",
        partial(_rows, "uniform", 100_000, N_SINGLE, 8, "float64"),
        _nearest_by("kd_tree", (SCIKIT_LEARN, SKLEARNEX)),
        _ask_one_by_one,
        **common,
    )
    for d, radius in ((2, 0.01), (4, 0.08), (8, 0.3)):
        params = {"radius": radius}
        yield Case(
            "all neighbours within a radius",
            f"100,000 x {d} asked by 20,000, radius {radius}",
            partial(_rows, "uniform", 100_000, 20_000, d, "float64"),
            (_search(MERCER, "mercer", "auto", **params), _search(SCIKIT_LEARN, "sklearn", "auto", **params)),
            _ask_radius,
            **common,
        )
