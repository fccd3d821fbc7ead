"""Forests, bagging and isolation forests: fit and prediction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, SCIKIT_LEARN, SKLEARNEX, Case, Contender, Data, Estimator, Quality
from benchmarks.tree._problems import classes, error_rate, fit, log_loss, numbers, outliers, squared_error


def _who(target: str, params: dict[str, Any], peers: tuple[str, ...] = (SCIKIT_LEARN, SKLEARNEX)) -> tuple[Contender, ...]:
    packages = {MERCER: "mercer", SCIKIT_LEARN: "sklearn", SKLEARNEX: "sklearnex"}
    return tuple(Contender(name, f"{packages[name]}.{target}", params) for name in (MERCER, *peers))


_PARAMS = {"n_estimators": 100, "n_jobs": -1, "random_state": 0}


def _fits() -> Iterator[Case]:
    for kind, data, quality in (
        ("Classifier", partial(classes, 100_000, 30), Quality("held-out log loss", log_loss, rtol=0.02)),
        ("Regressor", partial(numbers, 100_000, 30), Quality("held-out squared error", squared_error, rtol=0.02)),
    ):
        params = {**_PARAMS, "max_features": "sqrt"}
        who = _who(f"ensemble:RandomForest{kind}", params)
        yield Case("RandomForest fit, 100 trees", f"100,000 x 30, {kind.lower()}", data, who, fit, quality)
        who = _who(f"ensemble:ExtraTrees{kind}", params)
        yield Case("ExtraTrees fit, 100 trees", f"100,000 x 30, {kind.lower()}", data, who, fit, quality)


def fitted(estimator: Estimator, data: Data) -> Any:
    return estimator().fit(data.X, data.y)


class _Predictions:
    """What a prediction gave, with the model for the measure."""

    def __init__(self, model: Any) -> None:
        self.predict, self.predict_proba = model.predict, getattr(model, "predict_proba", None)


def predict(model: Any, data: Data) -> Any:
    model.predict(data.X)
    return _Predictions(model)


def _predict_one(model: Any, data: Data) -> Any:
    model.predict(data.start[0][:1])
    return _Predictions(model)


def _predictions() -> Iterator[Case]:
    who = _who("ensemble:RandomForestClassifier", _PARAMS)
    quality = Quality("held-out error rate", error_rate, rtol=0.03)
    data = partial(classes, 100_000, 30)
    yield Case("RandomForestClassifier predict, 100 trees", "100,000 rows x 30", data, who, predict, quality, fitted)
    one = _who("ensemble:RandomForestClassifier", {**_PARAMS, "n_jobs": 1})
    yield Case("RandomForestClassifier predict, 100 trees", "one row", data, one, _predict_one, quality, fitted)


def _bagging() -> Iterator[Case]:
    params = {"n_estimators": 20, "n_jobs": -1, "random_state": 0}
    who = _who("ensemble:BaggingClassifier", params, (SCIKIT_LEARN,))
    quality = Quality("held-out error rate", error_rate, rtol=0.05)
    yield Case("Bagging fit, 20 trees", "10,000 x 30", partial(classes, 10_000, 30), who, fit, quality, is_quick=True)


def _fit_and_score(model: Any, data: Data) -> Any:
    return model.fit(data.X).score_samples(data.X)


def _one_minus_auc(model: Any, outcome: Any, data: Data) -> float:
    """The share of pairs of an outlier and another row that are in the wrong order."""
    ranks = np.empty(len(outcome))
    ranks[np.argsort(np.asarray(outcome), kind="stable")] = np.arange(1, len(outcome) + 1)
    n_outliers = int(data.y.sum())
    below = ranks[data.y == 1].sum() - n_outliers * (n_outliers + 1) / 2
    return float(below / (n_outliers * (len(outcome) - n_outliers)))


def _isolation() -> Iterator[Case]:
    who = _who("ensemble:IsolationForest", _PARAMS, (SCIKIT_LEARN,))
    quality = Quality("one minus AUC", _one_minus_auc, atol=0.02)
    table = "IsolationForest fit and score, 100 trees"
    yield Case(table, "100,000 x 20", partial(outliers, 100_000, 20), who, _fit_and_score, quality)


def cases() -> Iterator[Case]:
    yield from _fits()
    yield from _predictions()
    yield from _bagging()
    yield from _isolation()
