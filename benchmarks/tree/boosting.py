"""Boosting: AdaBoost, Friedman's gradient boosting, and boosting on histograms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks._case import MERCER, SCIKIT_LEARN, Case, Contender, Data, Estimator, Quality
from benchmarks.tree._problems import classes, error_rate, fit, log_loss, numbers, squared_error
from benchmarks.tree.forests import predict

# Equal settings: 100 rounds, 31 leaves grown leaf by leaf, 255 bins, a rate of 0.1, no penalty, two threads.
_XGBOOST = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "tree_method": "hist",
    "grow_policy": "lossguide",
    "max_leaves": 31,
    "max_depth": 0,
    "max_bin": 255,
    "min_child_weight": 0,
    "reg_lambda": 0,
    "n_jobs": 2,
    "verbosity": 0,
}
_LIGHTGBM = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "num_leaves": 31,
    "max_bin": 255,
    "min_child_samples": 20,
    "min_child_weight": 0,
    "n_jobs": 2,
    "verbose": -1,
}


def _adaboost() -> Iterator[Case]:
    name, params = "ensemble:AdaBoostClassifier", {"n_estimators": 100, "random_state": 0}
    who = (Contender(MERCER, f"mercer.{name}", params), Contender(SCIKIT_LEARN, f"sklearn.{name}", params))
    quality = Quality("held-out error rate", error_rate, rtol=0.02)
    yield Case("AdaBoostClassifier fit, 100 stumps", "100,000 x 30", partial(classes, 100_000, 30), who, fit, quality)


def _friedman() -> Iterator[Case]:
    for kind, data, quality in (
        ("Classifier", partial(classes, 20_000, 30), Quality("held-out log loss", log_loss, rtol=0.01)),
        ("Regressor", partial(numbers, 20_000, 30), Quality("held-out squared error", squared_error, rtol=0.01)),
    ):
        name, params = f"ensemble:GradientBoosting{kind}", {"n_estimators": 100, "max_depth": 3, "random_state": 0}
        who = (Contender(MERCER, f"mercer.{name}", params), Contender(SCIKIT_LEARN, f"sklearn.{name}", params))
        yield Case("GradientBoosting fit, 100 trees of depth 3", f"20,000 x 30, {kind.lower()}", data, who, fit, quality)


def _boosters(kind: str) -> tuple[Contender, ...]:
    name, params = f"ensemble:HistGradientBoosting{kind}", {"early_stopping": False}
    return (
        Contender(MERCER, f"mercer.{name}", params),
        Contender(SCIKIT_LEARN, f"sklearn.{name}", params),
        Contender("xgboost", f"xgboost:XGB{kind}", _XGBOOST),
        Contender("lightgbm", f"lightgbm:LGBM{kind}", _LIGHTGBM),
    )


def _fitted(estimator: Estimator, data: Data) -> Any:
    return estimator().fit(data.X, data.y)


def _histograms() -> Iterator[Case]:
    losses = Quality("held-out log loss", log_loss, rtol=0.01)
    squares = Quality("held-out squared error", squared_error, rtol=0.01)
    table = "HistGradientBoosting fit, 100 rounds of 31 leaves"
    for n, d in ((100_000, 30), (1_000_000, 30), (20_000, 500)):
        name = f"{n:,} x {d}"
        for dtype in ("float64", "float32"):
            data = partial(classes, n, d, 2, dtype)
            yield Case(table, f"{name}, classifier, {dtype}", data, _boosters("Classifier"), fit, losses)
        yield Case(table, f"{name}, regressor", partial(numbers, n, d), _boosters("Regressor"), fit, squares)
    data = partial(classes, 100_000, 30, 6)
    yield Case(table, "100,000 x 30, 6 classes", data, _boosters("Classifier"), fit, losses)
    table = "HistGradientBoosting predict, 100 rounds of 31 leaves"
    for n, d in ((100_000, 30), (1_000_000, 30), (20_000, 500)):
        data = partial(classes, n, d)
        yield Case(table, f"{n:,} x {d}", data, _boosters("Classifier"), predict, losses, _fitted)


def cases() -> Iterator[Case]:
    yield from _adaboost()
    yield from _friedman()
    yield from _histograms()
