"""Scalers: fit and transform."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._case import SCIKIT_LEARN, Case, Data, Estimator, Quality, contenders

Statistics = tuple[np.ndarray, np.ndarray]  # of each column: what is taken away, and what it is then divided by

_SIZES = ((1_000, 4), (20_000, 12), (200_000, 60), (20, 5), (200, 10_000))
_SPARSE_SIZES = ((20_000, 500, 0.05), (500, 20_000, 0.01))
# Some units in the last place of statistics of order ten.
_ATOL = {"float64": 1e-12, "float32": 2e-5}


def _standard(X: np.ndarray) -> Statistics:
    return X.mean(axis=0), X.std(axis=0)


def _min_max(X: np.ndarray) -> Statistics:
    least = X.min(axis=0)
    return least, X.max(axis=0) - least


def _robust(X: np.ndarray) -> Statistics:
    low, middle, high = np.percentile(X, [25, 50, 75], axis=0)
    return middle, high - low


def _max_abs(X: np.ndarray) -> Statistics:
    return np.zeros(X.shape[1]), np.abs(X).max(axis=0)


# The numpy result, and the attributes of a fitted scaler that hold it.
_SCALERS: dict[str, tuple[Callable[[np.ndarray], Statistics], tuple[str | None, str]]] = {
    "StandardScaler": (_standard, ("mean_", "scale_")),
    "MinMaxScaler": (_min_max, ("data_min_", "data_range_")),
    "RobustScaler": (_robust, ("center_", "scale_")),
    "MaxAbsScaler": (_max_abs, (None, "scale_")),
}


@lru_cache(maxsize=1)
def _table(n: int, d: int, dtype: str) -> Data:
    """Columns of different location and scale."""
    random = np.random.default_rng(0)
    return Data((random.normal(size=(n, d)) * random.uniform(0.5, 2, size=d) + random.normal(size=d)).astype(dtype))


@lru_cache(maxsize=1)
def _sparse_table(n: int, d: int, density: float) -> Data:
    random = np.random.default_rng(0)
    return Data(sp.random_array((n, d), density=density, format="csr", rng=random, data_sampler=random.standard_normal))


def _fit(model: Any, data: Data) -> Any:
    return model.fit(data.X)


def _transform(model: Any, data: Data) -> Any:
    return model.transform(data.X)


def _fitted(estimator: Estimator, data: Data) -> Any:
    return estimator().fit(data.X)


def _statistics_deviation(model: Any, outcome: Any, data: Data, *, scaler: str) -> float:
    statistics, attributes = _SCALERS[scaler]
    expected = statistics(data.X.astype(np.float64))
    pairs = zip(attributes, expected, strict=True)
    return max(float(np.max(np.abs(getattr(outcome, name) - value))) for name, value in pairs if name is not None)


def _transform_deviation(model: Any, outcome: Any, data: Data, *, scaler: str) -> float:
    X = data.X.astype(np.float64)
    shift, scale = _SCALERS[scaler][0](X)
    return float(np.max(np.abs((X - shift) / scale - outcome)))


# What a scaler is called with for sparse X, whose zeros stay; a spread between quartiles would be zero there.
_SPARSE_SCALERS: dict[str, dict[str, Any]] = {"StandardScaler": {"with_mean": False}, "MaxAbsScaler": {}}


def _sparse_deviation(model: Any, outcome: Any, data: Data, *, scaler: str) -> float:
    """Of the scales, from what the columns say in float64."""
    n = data.X.shape[0]
    if scaler == "MaxAbsScaler":
        expected = np.abs(data.X).max(axis=0).toarray().ravel()
    else:
        expected = np.sqrt(data.X.multiply(data.X).sum(axis=0) / n - (data.X.sum(axis=0) / n) ** 2)
    return float(np.max(np.abs(model.scale_ - np.where(expected > 0, expected, 1))))


def _sparse_cases(scaler: str, params: dict[str, Any]) -> Iterator[Case]:
    for (n, d, density), (action, run) in product(_SPARSE_SIZES, (("fit", _fit), ("transform", _transform))):
        yield Case(
            f"{scaler} {action}",
            f"{n:,} x {d:,} sparse ({density:.0%})",
            partial(_sparse_table, n, d, density),
            contenders(f"preprocessing.{scaler}", peers=(SCIKIT_LEARN,)),
            run,
            Quality("largest deviation from numpy in float64", partial(_sparse_deviation, scaler=scaler), atol=1e-12),
            prepare=lambda estimator, data, is_fit=action == "fit": (
                estimator(**params) if is_fit else estimator(**params).fit(data.X)
            ),
        )


def cases() -> Iterator[Case]:
    for scaler, params in _SPARSE_SCALERS.items():
        yield from _sparse_cases(scaler, params)
    for scaler in _SCALERS:
        yield from _cases_of(scaler, "fit", _fit, _statistics_deviation)
        yield from _cases_of(scaler, "transform", _transform, _transform_deviation)


def _cases_of(scaler: str, action: str, run: Any, deviation: Any) -> Iterator[Case]:
    for (n, d), dtype in product(_SIZES, ("float64", "float32")):
        prepare = {} if action == "fit" else {"prepare": _fitted}
        yield Case(
            f"{scaler} {action}",
            f"{n:,} x {d:,}, {dtype}",
            partial(_table, n, d, dtype),
            contenders(f"preprocessing.{scaler}", peers=(SCIKIT_LEARN,)),  # sklearnex has no scalers
            run,
            Quality("largest deviation from numpy in float64", partial(deviation, scaler=scaler), atol=_ATOL[dtype]),
            small_data=partial(_table, 1_000, d, dtype) if (n, dtype) == (200_000, "float64") else None,
            is_quick=scaler == "StandardScaler" and (n, dtype) == (20_000, "float64"),
            **prepare,
        )
