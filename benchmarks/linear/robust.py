"""Huber, quantile and Poisson regression, and stochastic descent for regression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality
from benchmarks.linear._problems import (
    counts,
    fit,
    outliers,
    parts,
    residual_sum,
    shape_name,
    sparse_columns,
    sparse_counts,
    values,
)

_SHAPE = (50_000, 30)


def _huber(model: Any, outcome: Any, data: Data) -> float:
    """The peer's objective with its default epsilon and alpha."""
    epsilon, alpha, scale = 1.35, 1e-4, float(outcome.scale_)
    r = np.abs(data.y - values(outcome, data)) / scale
    loss = np.where(r < epsilon, r**2, 2 * epsilon * r - epsilon**2)
    return float(len(r) * scale + scale * loss.sum() + alpha * (parts(outcome)[0] ** 2).sum())


def _pinball(quantile: float, alpha: float, model: Any, outcome: Any, data: Data) -> float:
    r = data.y - values(outcome, data)
    return float(np.maximum(quantile * r, (quantile - 1) * r).mean() + alpha * np.abs(parts(outcome)[0]).sum())


def _poisson(alpha: float, model: Any, outcome: Any, data: Data) -> float:
    raw = values(outcome, data)
    return float((np.exp(raw) - data.y * raw).mean() + alpha / 2 * (parts(outcome)[0] ** 2).sum())


def _case(
    table: str,
    data: Any,
    name: str,
    quality: Quality,
    *variants: tuple[str, dict[str, Any]],
    shape: tuple[Any, ...] = _SHAPE,
    **params: Any,
) -> Case:
    """Mercer and scikit-learn with the same parameters, and variants of scikit-learn under names of their own."""
    who = [
        Contender(MERCER, f"mercer.linear_model:{name}", params),
        Contender(SCIKIT_LEARN, f"sklearn.linear_model:{name}", params),
    ]
    who += [Contender(label, f"sklearn.linear_model:{name}", {**params, **more}) for label, more in variants]
    return Case(table, shape_name(*shape), partial(data, *shape), tuple(who), fit, quality)


def cases() -> Iterator[Case]:
    yield _case(
        "HuberRegressor fit", outliers, "HuberRegressor", Quality("objective", _huber, rtol=1e-6), max_iter=1000, tol=1e-5
    )
    # scikit-learn's linear programs take minutes on the long table, so most quantiles have a shorter one.
    for quantile, alpha, shape in ((0.5, 0.0, _SHAPE), (0.9, 0.0, (5_000, 30)), (0.5, 0.01, (5_000, 30))):
        yield _case(
            f"QuantileRegressor fit, quantile {quantile:g}, alpha {alpha:g}",
            outliers,
            "QuantileRegressor",
            Quality("objective", partial(_pinball, quantile, alpha), rtol=1e-6),
            shape=shape,
            quantile=quantile,
            alpha=alpha,
        )
    for shape in ((50, 5), (20_000, 200, 0.05)):
        yield _case(
            "HuberRegressor fit",
            outliers if len(shape) == 2 else sparse_columns,
            "HuberRegressor",
            Quality("objective", _huber, rtol=1e-6),
            shape=shape,
            max_iter=1000,
            tol=1e-5,
        )
    tall = [(1.0, _SHAPE), (1e-4, _SHAPE)]
    others = [(50, 5), (300, 3_000), (20_000, 200, 0.05), (5_000, 20_000, 0.005)]
    for alpha, shape in tall + [(1e-2, shape) for shape in others]:
        yield _case(
            f"PoissonRegressor fit, alpha {alpha:g}",
            counts if len(shape) == 2 else sparse_counts,
            "PoissonRegressor",
            Quality("objective", partial(_poisson, alpha), rtol=1e-6),
            *([("newton-cholesky", {"solver": "newton-cholesky"})] if shape[1] <= 200 else []),
            shape=shape,
            alpha=alpha,
            tol=1e-6,
            max_iter=1000,
        )
    yield _case(
        "SGDRegressor fit, 10 epochs",
        outliers,
        "SGDRegressor",
        Quality("residual sum of squares", residual_sum, rtol=0.05),
        max_iter=10,
        tol=None,
        random_state=0,
    )
