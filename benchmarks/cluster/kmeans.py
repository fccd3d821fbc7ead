"""k-means: fit from a fixed start (equal work), fit as a user would call it, sparse fit, predict."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks._case import Case, Data, Estimator, Quality, contenders

_KMEANS = contenders("cluster.KMeans")
_N_ROWS, _N_COLUMNS, _N_CLUSTERS, _DTYPES = (1_000, 20_000, 200_000), (4, 12, 60), (8, 20, 100, 300), ("float64", "float32")
_N_TRAINING_ROWS = 20_000


@lru_cache(maxsize=2)
def overlapping_blobs(n: int, d: int, dtype: str, seed: int = 0) -> np.ndarray:
    """A mixture of 30 Gaussians whose means are about four standard deviations apart, whatever d: they overlap."""
    means = np.random.default_rng(d).normal(scale=4 / np.sqrt(2 * d), size=(30, d))
    random = np.random.default_rng(seed)
    return (means[random.integers(30, size=n)] + random.normal(size=(n, d))).astype(dtype)


@lru_cache(maxsize=2)
def _noise(n: int, d: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d)).astype(dtype)


def _text(n: int, d: int, dtype: str) -> Any:
    """Rows of a term matrix: 1 % of the entries, the columns used as unevenly as words are, rows of unit length."""
    random = np.random.default_rng(0)
    n_terms = d // 100
    share = 1 / np.arange(10, d + 10)
    columns = random.choice(d, size=n * n_terms, p=share / share.sum())
    X: Any = scipy.sparse.csr_matrix(
        (random.exponential(size=n * n_terms), (np.repeat(np.arange(n), n_terms), columns)), shape=(n, d)
    )
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return (scipy.sparse.diags(1 / lengths) @ X).tocsr().astype(dtype)


def _without_start(n: int, d: int, dtype: str) -> Data:
    return Data(overlapping_blobs(n, d, dtype))


def _with_start(make: Any, n: int, d: int, dtype: str, k: int) -> Data:
    """Data whose start is k of its rows."""
    X = make(n, d, dtype)
    start: Any = X[np.sort(np.random.default_rng(1).choice(n, size=k, replace=False))]
    return Data(X, start=start.toarray() if scipy.sparse.issparse(start) else start)


def _from_start(estimator: Estimator, data: Data) -> Any:
    return estimator(len(data.start), init=data.start, n_init=1, max_iter=20, tol=0)


def _default(estimator: Estimator, data: Data, *, k: int) -> Any:
    return estimator(k, init="k-means++", n_init=1, random_state=0)


def _trained(estimator: Estimator, data: Data) -> Any:
    """A model of other rows than those to predict."""
    rows = overlapping_blobs(_N_TRAINING_ROWS, data.X.shape[1], str(data.X.dtype))
    return estimator(len(data.start), init=data.start, n_init=1, max_iter=5, tol=0).fit(rows)


def fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _predict(model: Any, data: Data) -> Any:
    return model.predict(data.X)


def _inertia(X: Any, centres: Any, labels: Any) -> float:
    """The inertia of given labels, in float64."""
    centres = np.asarray(centres, dtype=np.float64)
    if scipy.sparse.issparse(X):
        members = scipy.sparse.csr_matrix(
            (np.ones(X.shape[0]), (labels, np.arange(X.shape[0]))), shape=(len(centres), X.shape[0])
        )
        sums = (members @ X.astype(np.float64)).toarray()
        counts = np.bincount(labels, minlength=len(centres))
        squares = float(np.sum(X.data.astype(np.float64) ** 2))
        return squares - 2 * float(np.sum(centres * sums)) + float(counts @ np.sum(centres**2, axis=1))
    blocks = (slice(begin, begin + 20_000) for begin in range(0, len(X), 20_000))
    return sum(float(np.sum((X[block] - centres[labels[block]]) ** 2)) for block in blocks)


def fit_inertia(model: Any, outcome: Any, data: Data) -> float:
    return _inertia(data.X, outcome.cluster_centers_, outcome.labels_)


def _predicted_inertia(model: Any, outcome: Any, data: Data) -> float:
    return _inertia(data.X, model.cluster_centers_, outcome)


# From one start all solvers follow the same path but for rounding, which can send a few rows elsewhere.
_SAME_PATH = Quality("inertia", fit_inertia, rtol=1e-3)
# Other random numbers end in another local minimum.
_SAME_SEED = Quality("inertia", fit_inertia, rtol=0.02)
_PREDICTED = Quality("inertia of the labels", _predicted_inertia, rtol=1e-3)

_HAS_MEMORY = {
    (20_000, 12, 8, "float64"),
    (200_000, 12, 20, "float64"),
    (200_000, 12, 20, "float32"),
    (200_000, 60, 100, "float64"),
}
_IS_QUICK = {(1_000, 4, 8, "float64"), (1_000, 12, 20, "float32"), (20_000, 12, 8, "float64")}


def cases() -> Iterator[Case]:
    yield from _fixed_start(
        "KMeans fit, overlapping blobs, fixed start, 20 iterations",
        overlapping_blobs,
        _N_ROWS,
        _N_COLUMNS,
        _N_CLUSTERS,
        _DTYPES,
    )
    yield from _fixed_start(
        "KMeans fit, no structure, fixed start, 20 iterations", _noise, _N_ROWS[1:], (12, 60), (20, 100), _DTYPES[:1]
    )
    yield from _default_start()
    yield from _sparse()
    yield from _few_rows()
    yield from _prediction()


def _fixed_start(table: str, make: Any, n_rows: Any, n_columns: Any, n_clusters: Any, dtypes: Any) -> Iterator[Case]:
    for n, d, dtype, k in product(n_rows, n_columns, dtypes, n_clusters):
        if n < k:
            continue
        key = (n, d, k, dtype)
        small_data = (
            partial(_with_start, make, 2_000, d, dtype, k) if make is overlapping_blobs and key in _HAS_MEMORY else None
        )
        yield Case(
            table,
            f"{n:,} x {d}, k={k}, {dtype}",
            partial(_with_start, make, n, d, dtype, k),
            _KMEANS,
            fit,
            _SAME_PATH,
            prepare=_from_start,
            small_data=small_data,
            is_quick=make is overlapping_blobs and key in _IS_QUICK,
        )


def _default_start() -> Iterator[Case]:
    sizes = [*product((20_000, 200_000), (12, 60), (8, 100), ("float64",)), (200_000, 12, 20, "float32")]
    for n, d, k, dtype in sizes:
        yield Case(
            "KMeans fit, overlapping blobs, k-means++, default tol",
            f"{n:,} x {d}, k={k}, {dtype}",
            partial(_without_start, n, d, dtype),
            _KMEANS,
            fit,
            _SAME_SEED,
            prepare=partial(_default, k=k),
            is_quick=(n, d, k) == (20_000, 12, 8),
        )


def _few_rows() -> Iterator[Case]:
    """Few rows, wide rows."""
    for n, d, k in ((50, 5, 3), (300, 5_000, 8)):
        yield Case(
            "KMeans fit, few rows, k-means++, default tol",
            f"{n:,} x {d:,}, k={k}",
            partial(_without_start, n, d, "float64"),
            _KMEANS,
            fit,
            _SAME_SEED,
            prepare=partial(_default, k=k),
        )
    yield Case(
        "KMeans fit, sparse text-like rows, fixed start, 20 iterations",
        "2,000 x 20,000 (1 %), k=20, float64",
        partial(_with_start, _text, 2_000, 20_000, "float64", 20),
        _KMEANS,
        fit,
        _SAME_PATH,
        prepare=_from_start,
    )


def _sparse() -> Iterator[Case]:
    for k, dtype in product((20, 100), _DTYPES):
        yield Case(
            "KMeans fit, sparse text-like rows, fixed start, 20 iterations",
            f"20,000 x 2,000 (1 %), k={k}, {dtype}",
            partial(_with_start, _text, 20_000, 2_000, dtype, k),
            _KMEANS,
            fit,
            _SAME_PATH,
            prepare=_from_start,
            small_data=partial(_with_start, _text, 500, 2_000, dtype, k) if (k, dtype) == (20, "float64") else None,
        )


def _prediction() -> Iterator[Case]:
    for n, k, dtype in product((1, 20_000, 200_000), (20, 100), _DTYPES):
        yield Case(
            "KMeans predict",
            f"{n:,} x 12, k={k}, {dtype}",
            partial(_prediction_data, n, 12, dtype, k),
            _KMEANS,
            _predict,
            _PREDICTED,
            prepare=_trained,
            is_quick=(n, k, dtype) == (1, 20, "float64"),
        )


def _prediction_data(n: int, d: int, dtype: str, k: int) -> Data:
    start = _with_start(overlapping_blobs, _N_TRAINING_ROWS, d, dtype, k).start
    return Data(overlapping_blobs(n, d, dtype, seed=2), start=start)
