"""Least squares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._case import Case, Data, Quality, contenders

_LINEAR_REGRESSION = contenders("linear_model.LinearRegression")
_DTYPES = ("float64", "float32")


@lru_cache(maxsize=1)
def _problem(n: int, d: int, dtype: str, is_weighted: bool = False) -> Data:
    """Correlated columns that are not centred, a linear response, unit noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1)) + random.normal(size=d)
    y = X @ random.normal(size=d) + 3 + random.normal(size=n)
    weights = random.exponential(size=n).astype(dtype) if is_weighted else None
    return Data(X.astype(dtype), y.astype(dtype), weights)


def _fit(model: Any, data: Data) -> Any:
    # Peers differ in what they do when handed weights of None, so they are left out rather than passed.
    if data.sample_weight is None:
        return model.fit(data.X, data.y)
    return model.fit(data.X, data.y, sample_weight=data.sample_weight)


def _residual_sum(model: Any, outcome: Any, data: Data) -> float:
    """The (weighted) residual sum of squares, in float64."""
    coef = np.asarray(outcome.coef_, dtype=np.float64).ravel()
    residual = data.y.astype(np.float64) - data.X.astype(np.float64) @ coef - np.float64(outcome.intercept_)
    weights = np.ones(len(residual)) if data.sample_weight is None else data.sample_weight.astype(np.float64)
    return float(weights @ residual**2)


# The sum is flat at its minimum: even float32 coefficients should lose nothing that shows.
_QUALITY = {
    "float64": Quality("residual sum of squares", _residual_sum, rtol=1e-10),
    "float32": Quality("residual sum of squares", _residual_sum, rtol=1e-5),
}
_HAS_MEMORY = {(200_000, 60, "float64"), (200_000, 60, "float32"), (20_000, 500, "float64")}
_IS_QUICK = {(1_000, 4, "float64"), (20_000, 12, "float32")}


def cases() -> Iterator[Case]:
    plain = [*product((1_000, 20_000, 200_000), (4, 12, 60), _DTYPES), *product((20_000,), (500,), _DTYPES)]
    for n, d, dtype in plain:
        yield _case("LinearRegression fit", n, d, dtype, False)
    for n, d, dtype in [*product((20_000,), (12,), _DTYPES), *product((200_000,), (60,), _DTYPES)]:
        yield _case("LinearRegression fit with sample weights", n, d, dtype, True)


def _case(table: str, n: int, d: int, dtype: str, is_weighted: bool) -> Case:
    key = (n, d, dtype)
    return Case(
        table,
        f"{n:,} x {d}, {dtype}",
        partial(_problem, n, d, dtype, is_weighted),
        _LINEAR_REGRESSION,
        _fit,
        _QUALITY[dtype],
        small_data=partial(_problem, 1_000, d, dtype) if key in _HAS_MEMORY and not is_weighted else None,
        is_quick=key in _IS_QUICK and not is_weighted,
    )
