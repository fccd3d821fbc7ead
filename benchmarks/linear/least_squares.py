"""Least squares and ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks._case import SCIKIT_LEARN, Case, Contender, Data, Quality, contenders
from benchmarks.linear._problems import fit, parts, regression, residual_sum, shape_name, sparse_columns

_DTYPES = ("float64", "float32")


# The sum is flat at its minimum: even float32 coefficients should lose nothing that shows. Wide data are fitted exactly, up to
# rounding errors that count against a sum of squares of y of some millions.
_QUALITY = {
    "float64": Quality("residual sum of squares", residual_sum, rtol=1e-10, atol=1e-6),
    "float32": Quality("residual sum of squares", residual_sum, rtol=1e-5, atol=1.0),
}
_ALPHA = 10.0
_HAS_MEMORY = {(200_000, 60, "float64"), (200_000, 60, "float32"), (20_000, 500, "float64")}
# Few rows, and wide with few rows: what many a data set of a laboratory is.
_SMALL = [(50, 5), (200, 3_000)]
_SPARSE = [(20_000, 5_000, 0.005), (2_000, 20_000, 0.005), (20_000, 200, 0.05)]
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
    for n, d in _SMALL:
        yield _case("LinearRegression fit", n, d, "float64", False)
        yield _ridge(n, d, "float64")
        yield _ridge_cv(n, d)
    for shape in _SPARSE:
        yield from _sparse(*shape)


def _sparse(n: int, d: int, density: float) -> Iterator[Case]:
    """Sparse X; the intelex package hands it to scikit-learn."""
    name, data = shape_name(n, d, density), partial(sparse_columns, n, d, density)
    ridge, cv = _ridge(n, d, "float64"), _ridge_cv(n, d)
    yield replace(
        ridge, name=name, make_data=data, contenders=contenders("linear_model.Ridge", peers=(SCIKIT_LEARN,)), quality=_CLOSE
    )
    if n > d:  # else scikit-learn's LSQR runs into its limit of iterations
        who = contenders("linear_model.LinearRegression", peers=(SCIKIT_LEARN,))
        yield Case("LinearRegression fit", name, data, who, fit, Quality("residual sum of squares", residual_sum, rtol=1e-6))
    if min(n, d) <= 1_000:  # scikit-learn decomposes the products densely
        yield replace(cv, name=name, make_data=data)


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


# Both stop their iterations on large sparse X at a tolerance of their own.
_CLOSE = Quality("objective", _ridge_objective, rtol=1e-4)


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
