"""Lines of kernel matrices, kernel ridge regression, approximate feature maps, components: sklearnex has none of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality, contenders

_N_LINES = 500


@lru_cache(maxsize=1)
def _rows(n: int, d: int, dtype: str) -> Data:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)).astype(dtype)
    return Data(X, np.sin(X[:, 0]) + 0.1 * random.normal(size=n).astype(dtype))


@lru_cache(maxsize=1)
def _texts(n: int, d: int, dtype: str) -> Data:
    """Rows of a hundred words each, of which few are frequent."""
    random = np.random.default_rng(0)
    words = np.minimum((random.pareto(1.0, size=100 * n) * 10).astype(int), d - 1)
    X = sp.csr_matrix((random.random(100 * n), (np.repeat(np.arange(n), 100), words)), shape=(n, d))
    X.sum_duplicates()
    return Data(X.astype(dtype))


def _line_numbers(data: Data) -> Any:
    return np.random.default_rng(1).permutation(data.X.shape[0])[:_N_LINES]


def _matrix(estimator: Any, data: Data) -> Any:
    """Mercer's matrix has its rows packed; scikit-learn's function takes them each time."""
    if hasattr(estimator, "get_params"):
        return estimator(gamma=_gamma(data)).on(data.X)
    return partial(estimator, Y=data.X, gamma=_gamma(data))


def _gamma(data: Data) -> float:
    return 1.0 if sp.issparse(data.X) else 1.0 / data.X.shape[1]


def _lines(matrix: Any, data: Data) -> Any:
    numbers = _line_numbers(data)
    return matrix.rows(numbers) if hasattr(matrix, "rows") else matrix(data.X[numbers])


def _deviation(model: Any, outcome: Any, data: Data) -> float:
    """From the values in double precision, of a few lines."""
    from sklearn.metrics.pairwise import rbf_kernel

    X = data.X.astype(np.float64)
    return float(np.abs(outcome[:5] - rbf_kernel(X[_line_numbers(data)[:5]], X, gamma=_gamma(data))).max())


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X, data.y)


def _fit_transform(model: Any, data: Data) -> Any:
    return model.fit(data.X).transform(data.X)


def _training_error(model: Any, outcome: Any, data: Data) -> float:
    return float(np.mean((outcome.predict(data.X[:1000]) - data.y[:1000]) ** 2))


def _map_error(model: Any, outcome: Any, data: Data) -> float:
    """Of the inner products of some rows' features."""
    from sklearn.metrics.pairwise import rbf_kernel

    Z, K = np.asarray(outcome[:200], dtype=np.float64), rbf_kernel(data.X[:200].astype(np.float64), gamma=model.gamma)
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def _variance(model: Any, outcome: Any, data: Data) -> float:
    return float(np.sum(np.var(outcome, axis=0)))


def _made(estimator: Any, data: Data, **params: Any) -> Any:
    return estimator(**params)


def _line_cases() -> Iterator[Case]:
    takers = (
        Contender(MERCER, "mercer.kernels:RBF"),
        Contender(SCIKIT_LEARN, "sklearn.metrics.pairwise:rbf_kernel"),
    )
    shapes = [(_rows, 30_000, 25), (_rows, 20_000, 784), (_texts, 10_000, 30_000)]
    for make, n, d in shapes:
        for dtype in ("float64", "float32"):
            quality = Quality("deviation from float64", _deviation, atol=1e-10 if dtype == "float64" else 1e-4)
            name = f"{_N_LINES} lines, {n:,} x {d:,}{', sparse' if make is _texts else ''}, {dtype}"
            yield Case("RBF lines", name, partial(make, n, d, dtype), takers, _lines, quality, prepare=_matrix)


def cases() -> Iterator[Case]:
    yield from _line_cases()
    for dtype in ("float64", "float32"):
        data = partial(_rows, 100_000, 40, dtype)
        for name in ("Nystroem", "RBFSampler"):
            yield Case(
                name,
                f"100,000 x 40 to 500, {dtype}",
                data,
                contenders(f"kernel_approximation.{name}", peers=(SCIKIT_LEARN,)),
                _fit_transform,
                Quality("relative error of the kernel", _map_error, rtol=0.05),
                prepare=partial(_made, gamma=0.02, n_components=500, random_state=0),
            )
    for n in (200, 4_000):
        yield Case(
            "KernelRidge",
            f"{n:,} x 20, RBF",
            partial(_rows, n, 20, "float64"),
            contenders("kernel_ridge.KernelRidge", peers=(SCIKIT_LEARN,)),
            _fit,
            Quality("squared error", _training_error, rtol=1e-6),
            prepare=partial(_made, alpha=0.1, kernel="rbf", gamma=0.05),
            is_quick=n == 200,
        )
    for solver in ("arpack", "randomized"):
        yield Case(
            "KernelPCA",
            f"4,000 x 20 to 5, RBF, {solver}",
            partial(_rows, 4_000, 20, "float64"),
            contenders("decomposition.KernelPCA", peers=(SCIKIT_LEARN,)),
            _fit_transform,
            Quality("variance of the components", _variance, rtol=1e-3, is_lower_better=False),
            prepare=partial(_made, n_components=5, kernel="rbf", gamma=0.05, eigen_solver=solver, random_state=0),
        )
