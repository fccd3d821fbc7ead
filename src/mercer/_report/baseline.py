"""The test result beside that of a model that knows the target alone, on the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.comparison import Comparison, compare
from mercer._assessment.measures import statistic_of
from mercer._assessment.predictions import ClassPredictions, NumberPredictions, predict_classes, predict_numbers
from mercer._report.content import Baseline, ClassMeasures, Measure
from mercer._report.measures import LEVEL, N_SCORER_RESAMPLES, bootstrap_of, by_scorer, metric_of
from mercer._report.numbers import decimals_for, interval, level, number
from mercer._report.scoring import Scoring

Predictions = ClassPredictions | NumberPredictions


def constant_model(y: Any, *, is_classification: bool, weights: Any = None) -> Any:
    """The mean, or the shares of the classes, whatever X is; it needs rows with one column."""
    model = DummyClassifier(strategy="prior") if is_classification else DummyRegressor()
    return model.fit(np.zeros((len(y), 1)), y, sample_weight=weights)


def baseline_of(
    found: Predictions,
    y_train: Any,
    y_test: Any,
    measures: Sequence[Measure],
    scoring: Scoring,
    seed: int,
    *,
    train_weights: Any = None,
    test_weights: Any = None,
) -> Baseline | None:
    """The baseline's score and the paired difference; None where the measure is not defined for one of the two.

    Rows count by their weights, where they have any.
    """
    X = np.zeros((len(found.true), 1))
    is_classification = isinstance(found, ClassPredictions)
    model = constant_model(y_train, is_classification=is_classification, weights=train_weights)
    if isinstance(found, ClassPredictions):
        other: Predictions = predict_classes(model, X, y_test, found.labels)
        strata: Any = found.true
    else:
        other, strata = predict_numbers(model, X, y_test), None
    bootstrap = bootstrap_of(len(found.true), np.random.RandomState(seed), test_weights, strata)
    try:
        compared = _compared(found, other, scoring, bootstrap)
    except Exception:  # a scorer of the user's own may need what a constant model has not
        return None
    if not (math.isfinite(compared.first) and math.isfinite(compared.second)):
        return None
    return _described(compared, metric_of(list(measures)), is_classification)


def _compared(found: Predictions, other: Predictions, scoring: Scoring, bootstrap: Bootstrap) -> Comparison:
    pair = [None if scoring.measure is None else statistic_of(each, scoring.measure) for each in (found, other)]
    if pair[0] is not None and pair[1] is not None:
        return compare(pair[0], pair[1], bootstrap, LEVEL)
    weights = bootstrap.weights  # the scorer itself takes them
    fewer = replace(bootstrap, n_resamples=min(bootstrap.n_resamples, N_SCORER_RESAMPLES), weights=None)
    return compare(by_scorer(found, scoring, weights), by_scorer(other, scoring, weights), fewer, LEVEL)


def _described(compared: Comparison, metric: Measure, is_classification: bool) -> Baseline:
    sign = 1 if metric["greater_is_better"] else -1
    gain = sign * compared.difference
    is_known = compared.is_real is not None
    low, high = sorted((sign * compared.low, sign * compared.high)) if is_known else (None, None)
    baseline = Baseline(
        name="the shares of the classes" if is_classification else "the mean of the training rows",
        value=compared.second,
        gain=gain,
        low=low,
        high=high,
        is_real=compared.is_real,
        reading="",
    )
    baseline["reading"] = _reading(baseline, metric["label"], compared.first)
    return baseline


def _reading(baseline: Baseline, label: str, value: float) -> str:
    decimals = decimals_for([value, baseline["value"]])
    gain = baseline["gain"]
    ends = "" if baseline["low"] is None else f" ({level(LEVEL)} {interval(baseline['low'], baseline['high'], decimals)})"
    text = f"Always predicting {baseline['name']} gives {label} {number(baseline['value'], decimals)} on the same rows"
    if gain == 0:
        return f"{text}, just as the model does: it is no better than not looking at the columns."
    word = "better" if gain > 0 else "worse"
    text += f"; the model is {word} by {number(abs(gain), decimals)}"
    if gain < 0 and baseline["low"] is not None and baseline["high"] is not None:
        ends = f" ({level(LEVEL)} {interval(-baseline['high'], -baseline['low'], decimals)})"
    if baseline["is_real"] is None:
        return f"{text}. Whether that is more than chance cannot be said of these rows."
    if baseline["is_real"]:
        return f"{text}{ends}, which chance does not explain."
    return f"{text}{ends}, which chance alone may explain: these rows do not show that it has learnt anything."


def cautions_of(measures: Sequence[Measure], per_class: Sequence[ClassMeasures] | None) -> list[str]:
    """Figures that are worse than guessing, called what they are."""
    said = []
    for row in measures:
        value, high = row["value"], row["high"]
        if value is None:
            continue
        if row["name"] in ("roc_auc", "roc_auc_ovr") and value < 0.5:
            sure = "" if high is None or high >= 0.5 else ", by more than chance explains: look for labels that are swapped"
            said.append(f"{row['label']} {number(value, 3)} is below one half: the model ranks rows worse than guessing{sure}.")
        if row["name"] == "r2" and value < 0:
            said.append(f"R2 {number(value, 3)} is below zero: the mean of the test rows would have come closer.")
    below = [row["label"] for row in per_class or [] if row["roc_auc"] is not None and row["roc_auc"] < 0.5]
    if below:
        shown = ", ".join(below[:5]) + (f" and {len(below) - 5} more" if len(below) > 5 else "")
        said.append(f"Classes whose ROC AUC is below one half, that are ranked worse than by guessing: {shown}.")
    return said
