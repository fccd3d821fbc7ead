"""Least squares and ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._case import SCIKIT_LEARN, Case, Contender, Data, Quality, contenders
from benchmarks.linear._problems import fit, parts, regression, residual_sum

_DTYPES = ("float64", "float32")


# The sum is flat at its minimum: even float32 coefficients should lose nothing that shows. Wide data are fitted exactly, up to
# rounding errors that count against a sum of squares of y of some millions.
_QUALITY = {
    "float64": Quality("residual sum of squares", residual_sum, rtol=1e-10, atol=1e-6),
    "float32": Quality("residual sum of squares", residual_sum, rtol=1e-5, atol=1.0),
}
_ALPHA = 10.0
_HAS_MEMORY = {(200_000, 60, "float64"), (200_000, 60, "float32"), (20_000, 500, "float64")}
_IS_QUICK = {(1_000, 4, "float64"), (20_000, 12, "float32")}


def cases() -> Iterator[Case]:
    shapes = [*product((1_000, 20_000, 200_000), (4, 12, 60)), (100_000, 30), (20_000, 500), (500, 10_000)]
    for (n, d), dtype in product(shapes, _DTYPES):
        yield _case("LinearRegression fit", n, d, dtype, False)
    for n, d, dtype in [*product((20_000,), (12,), _DTYPES), *product((200_000,), (60,), _DTYPES)]:
        yield _case("LinearRegression fit with sample weights", n, d, dtype, True)
    for (n, d), dtype in product([(100_000, 30), (20_000, 500), (500, 10_000)], _DTYPES):
        yield _ridge(n, d, dtype)
    yield _ridge_cv(20_000, 60)


def _contenders(estimator: str, n: int, d: int) -> tuple[Contender, ...]:
    # With more columns than rows scikit-learn-intelex takes minutes: 157 s for 500 x 10,000 in float64.
    return contenders(estimator) if n > d else contenders(estimator, peers=(SCIKIT_LEARN,))


def _case(table: str, n: int, d: int, dtype: str, is_weighted: bool) -> Case:
    key = (n, d, dtype)
    return Case(
        table,
        f"{n:,} x {d:,}, {dtype}",
        partial(regression, n, d, dtype, is_weighted),
        _contenders("linear_model.LinearRegression", n, d),
        fit,
        _QUALITY[dtype],
        small_data=partial(regression, 1_000, d, dtype) if key in _HAS_MEMORY and not is_weighted else None,
        is_quick=key in _IS_QUICK and not is_weighted,
    )


def _ridge_objective(model: Any, outcome: Any, data: Data) -> float:
    return residual_sum(model, outcome, data) + _ALPHA * float((parts(outcome)[0] ** 2).sum())


def _ridge(n: int, d: int, dtype: str) -> Case:
    return Case(
        f"Ridge fit, alpha = {_ALPHA:g}",
        f"{n:,} x {d:,}, {dtype}",
        partial(regression, n, d, dtype),
        _contenders("linear_model.Ridge", n, d),
        fit,
        Quality("objective", _ridge_objective, rtol=1e-10 if dtype == "float64" else 1e-4),
        lambda estimator, data: estimator(alpha=_ALPHA),
    )


def _ridge_cv(n: int, d: int) -> Case:
    return Case(
        "RidgeCV fit, leave-one-out, 20 values of alpha",
        f"{n:,} x {d}",
        partial(regression, n, d, "float64"),
        contenders("linear_model.RidgeCV", peers=(SCIKIT_LEARN,)),
        fit,
        Quality("residual sum of squares", residual_sum, rtol=1e-8),
        lambda estimator, data: estimator(alphas=np.logspace(-3, 4, 20)),
    )
