"""Measures of a million predictions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import SCIKIT_LEARN, SKLEARNEX, Case, Data, Quality, contenders

_N, _FEW = 1_000_000, 100
_SCORES = ("roc_auc_score", "average_precision_score", "log_loss", "brier_score_loss")
_LABELS = ("confusion_matrix", "accuracy_score", "f1_score", "balanced_accuracy_score")
_NUMBERS = ("mean_squared_error", "mean_absolute_error", "r2_score")


@lru_cache(maxsize=1)
def _scored(n: int, dtype: str, has_weights: bool) -> Data:
    """Two classes and the probability of the second, as a classifier of moderate skill would give it."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, size=n)
    proba = 1 / (1 + np.exp(-random.normal(size=n) - 1.5 * y + 0.75))
    return Data(proba.astype(dtype), y, random.uniform(0.5, 2, size=n) if has_weights else None)


@lru_cache(maxsize=1)
def _labelled(n: int, n_classes: int) -> Data:
    random = np.random.default_rng(0)
    y = random.integers(0, n_classes, size=n)
    return Data(np.where(random.uniform(size=n) < 0.8, y, random.integers(0, n_classes, size=n)), y)


@lru_cache(maxsize=1)
def _numbers(n: int) -> Data:
    y = np.random.default_rng(0).normal(size=n)
    return Data(y + np.random.default_rng(1).normal(size=n), y)


def _take(measure: Any, data: Data) -> Any:
    return measure


def _measure(measure: Any, data: Data, **options: Any) -> Any:
    if data.sample_weight is not None:
        options["sample_weight"] = data.sample_weight
    return measure(data.y, data.X, **options)


def _deviation(model: Any, outcome: Any, data: Data, *, name: str, options: dict[str, Any]) -> float:
    """From what scikit-learn makes of the same numbers in float64."""
    import sklearn.metrics

    exact = Data(np.asarray(data.X, dtype=np.float64 if data.X.dtype.kind == "f" else None), data.y, data.sample_weight)
    return float(np.max(np.abs(np.asarray(outcome) - _measure(getattr(sklearn.metrics, name), exact, **options))))


def _case(name: str, row: str, make_data: Any, atol: float = 1e-12, *, is_quick: bool = False, **options: Any) -> Case:
    peers = (SCIKIT_LEARN, SKLEARNEX) if name == "roc_auc_score" else (SCIKIT_LEARN,)  # sklearnex has no other
    return Case(
        name,
        row,
        make_data,
        contenders(f"metrics.{name}", peers=peers),
        partial(_measure, **options),
        Quality("deviation from scikit-learn in float64", partial(_deviation, name=name, options=options), atol=atol),
        prepare=_take,
        is_quick=is_quick,
    )


def cases() -> Iterator[Case]:
    for name in _SCORES:
        yield _case(name, f"{_N:,}, float64", partial(_scored, _N, "float64", False))
        yield _case(name, f"{_N:,}, float32", partial(_scored, _N, "float32", False), atol=1e-5)
        yield _case(name, f"{_N:,}, float64, weights", partial(_scored, _N, "float64", True))
        yield _case(name, "1,000, float64", partial(_scored, 1_000, "float64", False), is_quick=name == "roc_auc_score")
    for name in _LABELS:
        for n_classes in (2, 20):
            options = {"average": "macro"} if name == "f1_score" else {}
            for n in (_N, _FEW):
                yield _case(name, f"{n:,}, {n_classes} classes", partial(_labelled, n, n_classes), **options)
    for name in _NUMBERS:
        for n in (_N, _FEW):
            yield _case(name, f"{n:,}, float64", partial(_numbers, n))
