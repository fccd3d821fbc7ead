"""The measures of a test set, each with its confidence interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mercer.model_selection._evaluate import statistics
from mercer.model_selection._evaluate.intervals import delong, wilson
from mercer.model_selection._evaluate.predictions import Predictions
from mercer.model_selection._evaluate.resampling import Bootstrap, Statistic

_LEAST_PROBABILITY = np.finfo(np.float64).eps  # so that one certain error does not make the log loss infinite


@dataclass(frozen=True)
class Measure:
    """A measure of the test set with its confidence interval, and the method that gave the interval."""

    name: str
    value: float
    low: float
    high: float
    method: str


def measure_test(rows: Predictions, bootstrap: Bootstrap, level: float) -> list[Measure]:
    """All measures that the predictions allow."""
    by_formula = {} if bootstrap.groups is not None else _closed_forms(rows, level)
    found = _number_statistics(rows) if rows.classes is None else _class_statistics(rows, len(rows.classes))
    ones = np.ones((1, len(rows.true)))
    resampled = [name for name in found if name not in by_formula]
    intervals = dict(zip(resampled, bootstrap.intervals([found[name] for name in resampled], level), strict=True))
    return [
        Measure(name, float(statistic(ones)[0]), *by_formula[name])
        if name in by_formula
        else Measure(name, float(statistic(ones)[0]), *intervals[name], bootstrap.name)
        for name, statistic in found.items()
    ]


def _class_statistics(rows: Predictions, n_classes: int) -> dict[str, Statistic]:
    matrices = statistics.confusions(rows.true, rows.predicted, n_classes)
    is_binary = n_classes == 2
    measures = {"accuracy": statistics.accuracy, "balanced accuracy": statistics.balanced_accuracy}
    if is_binary:
        measures |= {"recall": statistics.recall, "specificity": statistics.specificity, "precision": statistics.precision}
    measures |= {"F1": statistics.positive_f1} if is_binary else {"macro F1": statistics.macro_f1}
    measures["MCC"] = statistics.matthews
    found = {name: statistics.of_confusion(measure, matrices) for name, measure in measures.items()}
    if rows.score is not None:
        ranking = statistics.Ranking(rows.true == 1, rows.score)
        found |= {"ROC AUC": ranking.roc_auc, "average precision": ranking.average_precision}
    if rows.probability is not None:
        if not is_binary:
            found["macro ROC AUC"] = statistics.macro_roc_auc(rows.true, rows.probability)
        own = rows.probability[np.arange(len(rows.true)), rows.true]
        found["log loss"] = statistics.mean_of(-np.log(np.clip(own, _LEAST_PROBABILITY, 1.0)))
        targets = np.eye(n_classes)[rows.true]
        squares = ((rows.probability - targets) ** 2).sum(axis=1)
        found["Brier score"] = statistics.mean_of(squares / 2 if is_binary else squares)
    return found


def _number_statistics(rows: Predictions) -> dict[str, Statistic]:
    errors = np.abs(rows.true - rows.predicted)
    return {
        "R2": statistics.r2(rows.true, rows.predicted),
        "RMSE": statistics.root_mean_of(errors**2),
        "MAE": statistics.mean_of(errors),
        "median absolute error": statistics.median_of(errors),
    }


def _closed_forms(rows: Predictions, level: float) -> Mapping[str, tuple[float, float, str]]:
    """Intervals of shares of independent rows, and of the area under the ROC curve."""
    if rows.classes is None:
        return {}
    is_right = rows.true == rows.predicted
    shares = {"accuracy": is_right}
    if len(rows.classes) == 2:
        shares |= {
            "recall": is_right[rows.true == 1],
            "specificity": is_right[rows.true == 0],
            "precision": is_right[rows.predicted == 1],
        }
    found: dict[str, tuple[float, float, str]] = {
        name: (*wilson(float(rights.mean()) if len(rights) else np.nan, len(rights), level), "Wilson")
        for name, rights in shares.items()
    }
    if rows.score is not None:
        found["ROC AUC"] = (*delong(rows.true == 1, rows.score, level), "DeLong")
    return found
