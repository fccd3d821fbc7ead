"""Whole models: permutation importance and partial dependence, of the same kind of model in each library.

Scikit-learn's functions take any model, so that they also run on Mercer's: what is left then is what the functions gain alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Quality

_ON_MERCERS = "scikit-learn on Mercer's model"
_LIBRARIES = {  # of the function, and of the model
    MERCER: ("mercer", "mercer"),
    SCIKIT_LEARN: ("sklearn", "sklearn"),
    _ON_MERCERS: ("sklearn", "mercer"),
}
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "forest": ("ensemble.RandomForestClassifier", {"random_state": 0, "n_jobs": -1}),
    "histogram boosting": ("ensemble.HistGradientBoostingClassifier", {"random_state": 0}),
    "logistic regression": ("linear_model.LogisticRegression", {}),
}


def cases() -> Iterator[Case]:
    yield from _importances()
    yield from _dependences()


@lru_cache(maxsize=2)
def _table(n: int, d: int) -> Data:
    """A third of the columns matters, two of them together."""
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    values = X[:, ::3] @ np.linspace(1.0, 0.1, len(range(0, d, 3))) + X[:, 0] * X[:, 1] + random.logistic(size=n)
    return Data(X, (values > 0).astype(int))


@lru_cache(maxsize=4)
def _fitted(library: str, kind: str, n: int, d: int) -> Any:
    name, params = _MODELS[kind]
    module, estimator = name.split(".")
    data = _table(n, d)
    return getattr(import_module(f"{library}.{module}"), estimator)(**params).fit(data.X, data.y)


class Inspection:
    """A function of a library over a model of a library as something to run; the fit is not a part of it."""

    def __init__(self, function: str, library: str, models: str, kind: str, n: int, d: int, options: dict[str, Any]) -> None:
        self.function = getattr(import_module(f"{library}.inspection"), function)
        self.model, self.options = _fitted(models, kind, n, d), options

    def importance(self, data: Data) -> Any:
        return self.function(self.model, data.X, data.y, **self.options).importances_mean

    def dependence(self, data: Data) -> Any:
        return [self.function(self.model, data.X, [column], **self.options).average for column in range(10)]


def _contenders(function: str, kind: str, n: int, d: int, options: dict[str, Any]) -> tuple[Contender, ...]:
    return tuple(
        Contender(
            who,
            "benchmarks.inspection.models:Inspection",
            {"function": function, "library": of, "models": on, "kind": kind, "n": n, "d": d, "options": options},
        )
        for who, (of, on) in _LIBRARIES.items()
    )


def _importance(model: Inspection, data: Data) -> Any:
    return model.importance(data)


def _dependence(model: Inspection, data: Data) -> Any:
    return model.dependence(data)


def _first_share(model: Inspection, outcome: Any, data: Data) -> float:
    """The share of the first column, which matters most: models of different libraries agree on it roughly."""
    return float(outcome[0] / np.sum(np.maximum(outcome, 0)))


def _rise(model: Inspection, outcome: Any, data: Data) -> float:
    """How far the first column's curve rises."""
    return float(np.ptp(outcome[0]))


def _importances() -> Iterator[Case]:
    for kind in _MODELS:
        for n, d, repeats in ((20_000, 30, 10), (1_000, 10, 5)):
            yield Case(
                "permutation importance",
                f"{kind}, {n:,} x {d}, {repeats} repeats",
                partial(_table, n, d),
                _contenders("permutation_importance", kind, n, d, {"n_repeats": repeats, "random_state": 0}),
                _importance,
                Quality("share of the first column", _first_share, rtol=0.2, is_lower_better=False),
                is_quick=n == 1_000,
            )


def _dependences() -> Iterator[Case]:
    for kind in _MODELS:
        for n, resolution in ((1_000, 100), (200, 10)):
            yield Case(
                "partial dependence of 10 features",
                f"{kind}, {n:,} rows, {resolution} values",
                partial(_table, n, 30),
                _contenders("partial_dependence", kind, n, 30, {"method": "brute", "grid_resolution": resolution}),
                _dependence,
                Quality("rise of the first curve", _rise, rtol=0.2, is_lower_better=False),
                is_quick=n == 200,
            )
    yield Case(
        "partial dependence of 10 features",
        "histogram boosting, by the recursion",
        partial(_table, 1_000, 30),
        _contenders("partial_dependence", "histogram boosting", 1_000, 30, {"method": "auto"})[:2],
        _dependence,
        Quality("rise of the first curve", _rise, rtol=0.2, is_lower_better=False),
    )
