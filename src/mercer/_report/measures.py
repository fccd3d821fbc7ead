"""Measures on test rows with their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.content import ClassMeasures, Measure
from mercer._report.counts import confusion_matrix, f1_macro, f1_scores, f1_weighted, g_mean, kappa, mcc, mean_recall, share
from mercer._report.frames import IntArray
from mercer._report.intervals import Interval, bootstrap_confusion, bootstrap_rows, wilson
from mercer._report.predictions import ClassPredictions, replay_of
from mercer._report.ranking import Ranking
from mercer._report.scoring import WORDS, Scoring

OfRows = Callable[[FloatArray], float]  # a measure as a function of the weights of rows

_F1_MEANS = {"f1_macro": f1_macro, "f1_weighted": f1_weighted}


def _mean_of(loss: FloatArray, weight: FloatArray) -> float:
    return float(loss @ weight / weight.sum())


class MeasureTable:
    """Collects measures with their words, in the order in which they are added."""

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.measures: list[Measure] = []

    def add(self, name: str, value: float | None, interval: Interval = (None, None)) -> None:
        """One measure of the report's own; a value that is not finite is not defined."""
        label, description, greater_is_better, _ = WORDS[name]
        self._append(name, label, description, greater_is_better, name == self.scoring.measure, value, interval)

    def add_scorer(self, found: Any, rng: np.random.Generator, strata: IntArray) -> None:
        """The measure that models were compared by, where it is none of the report's own: its scorer is resampled."""
        replay, true = replay_of(found)
        rows = np.arange(len(strata))

        def score(weight: FloatArray) -> float:
            drawn = np.repeat(rows, weight.astype(np.intp))
            return self.scoring(replay, drawn[:, None], true[drawn])

        value = score(np.ones(len(rows)))
        interval = bootstrap_rows({"score": score}, strata, rng, most_resamples=200)["score"]
        words = "the measure that models were compared by"
        self._append(self.scoring.name, self.scoring.label, words, not self.scoring.is_loss, True, value, interval)

    def _append(
        self, name: str, label: str, description: str, greater: bool, is_metric: bool, value: Any, at: Interval
    ) -> None:
        known = None if value is None or not math.isfinite(value) else float(value)
        low, high = at if known is not None else (None, None)
        self.measures.append(
            Measure(
                name=name,
                label=label,
                value=known,
                low=low,
                high=high,
                description=description,
                greater_is_better=greater,
                is_metric=is_metric,
            )
        )

    def finished(self) -> list[Measure]:
        """The measures, the one that models were compared by first."""
        return sorted(self.measures, key=lambda measure: not measure["is_metric"])


def _probability_measures(found: ClassPredictions) -> dict[str, tuple[float, OfRows]]:
    """Measures of scores and probabilities: the value, and the same as a function of the weights of rows."""
    one = np.ones(len(found.true))
    present = np.bincount(found.true, minlength=found.n_classes) > 0
    measures: dict[str, tuple[float, OfRows]] = {}
    if found.n_classes == 2 and found.score is not None and present.all():
        ranking = Ranking(found.true == 1, found.score)
        measures["roc_auc"] = ranking.roc_auc(one), ranking.roc_auc
        measures["average_precision"] = ranking.average_precision(one), ranking.average_precision
    if found.probability is None:
        return measures
    if found.n_classes > 2 and present.all():
        rankings = [Ranking(found.true == code, found.probability[:, code]) for code in range(found.n_classes)]
        macro = partial(_macro_auc, rankings)
        measures["roc_auc_ovr"] = macro(one), macro
    smallest = np.finfo(np.float64).eps
    given = found.probability[np.arange(len(found.true)), found.true]
    log_loss = -np.log(np.clip(given, smallest, 1 - smallest))
    measures["log_loss"] = _mean_of(log_loss, one), partial(_mean_of, log_loss)
    if found.n_classes == 2:
        squared = (found.probability[:, 1] - (found.true == 1)) ** 2
        measures["brier"] = _mean_of(squared, one), partial(_mean_of, squared)
    return measures


def _macro_auc(rankings: list[Ranking], weight: FloatArray) -> float:
    return float(np.mean([ranking.roc_auc(weight) for ranking in rankings]))


def class_measures(found: ClassPredictions, scoring: Scoring, rng: np.random.Generator) -> list[Measure]:
    """The measures of a classifier on test rows."""
    matrix, table = confusion_matrix(found), MeasureTable(scoring)
    of_matrix: dict[str, Callable[[FloatArray], FloatArray]] = {"balanced_accuracy": mean_recall}
    of_matrix |= {"f1": lambda each: f1_scores(each)[..., 1]} if found.n_classes == 2 else _F1_MEANS
    of_matrix |= {"g_mean": g_mean, "mcc": mcc, "kappa": kappa}
    table.add("accuracy", share(np.trace(matrix), matrix.sum()), wilson(int(np.trace(matrix)), int(matrix.sum())))
    if found.n_classes == 2:
        (tn, fp), (fn, tp) = matrix.tolist()
        shares = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "specificity": (tn, tn + fp), "npv": (tn, tn + fn)}
        for name, (part, whole) in shares.items():
            table.add(name, share(part, whole), wilson(part, whole))
    intervals = bootstrap_confusion(of_matrix, matrix, rng)
    for name, measure in of_matrix.items():
        table.add(name, float(measure(matrix)), intervals[name])
    of_rows = _probability_measures(found)
    intervals = bootstrap_rows({name: measure for name, (_, measure) in of_rows.items()}, found.true, rng)
    for name, (value, _) in of_rows.items():
        table.add(name, value, intervals[name])
    if not any(measure["is_metric"] for measure in table.measures):
        table.add_scorer(found, rng, found.true)
    return table.finished()


def measures_per_class(found: ClassPredictions) -> list[ClassMeasures]:
    """Each class against the rest."""
    matrix = confusion_matrix(found)
    n_true, n_predicted, n = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
    rows: list[ClassMeasures] = []
    for code, label in enumerate(found.labels):
        right = int(matrix[code, code])
        low, high = wilson(right, int(n_true[code]))
        auc = None
        if found.probability is not None and 0 < n_true[code] < n:
            auc = Ranking(found.true == code, found.probability[:, code]).roc_auc(np.ones(n))
        rows.append(
            ClassMeasures(
                label=str(label),
                n=int(n_true[code]),
                precision=share(right, n_predicted[code]),
                recall=share(right, n_true[code]),
                recall_low=low,
                recall_high=high,
                specificity=share(n - n_true[code] - n_predicted[code] + right, n - n_true[code]),
                f1=share(2 * right, n_true[code] + n_predicted[code]),
                roc_auc=auc,
            )
        )
    return rows


def _r2(true: FloatArray, residual: FloatArray, weight: FloatArray) -> float:
    mean = _mean_of(true, weight)
    total = _mean_of((true - mean) ** 2, weight)
    return 1 - _mean_of(residual**2, weight) / total if total else math.nan


class _WeightedMedian:
    """The median of values that are drawn as often as the weights say: one sort for any number of weights."""

    def __init__(self, values: FloatArray) -> None:
        self.order = np.argsort(values, kind="stable")
        self.values = values[self.order]

    def __call__(self, weight: FloatArray) -> float:
        cumulated = np.cumsum(weight[self.order])
        n = cumulated[-1]
        lower, upper = np.searchsorted(cumulated, [(n - 1) // 2, n // 2], side="right")
        return float((self.values[lower] + self.values[upper]) / 2)


def regression_measures(true: FloatArray, predicted: FloatArray, scoring: Scoring, rng: np.random.Generator) -> list[Measure]:
    """The measures of a regressor on test rows."""
    residual = true - predicted
    absolute, one = np.abs(residual), np.ones(len(true))
    functions: dict[str, OfRows] = {
        "r2": partial(_r2, true, residual),
        "rmse": lambda weight: math.sqrt(_mean_of(residual**2, weight)),
        "mae": partial(_mean_of, absolute),
        "median_ae": _WeightedMedian(absolute),
    }
    if np.all(true != 0):
        functions["mape"] = partial(_mean_of, absolute / np.abs(true))
    if scoring.measure == "mse":
        functions["mse"] = partial(_mean_of, residual**2)
    table, strata = MeasureTable(scoring), np.zeros(len(true), dtype=np.intp)
    intervals = bootstrap_rows(functions, strata, rng)
    for name, function in functions.items():
        table.add(name, function(one), intervals[name])
    if not any(measure["is_metric"] for measure in table.measures):
        table.add_scorer((true, predicted), rng, strata)
    return table.finished()


def metric_of(measures: list[Measure]) -> Measure:
    """The measure that models were compared by."""
    return next(measure for measure in measures if measure["is_metric"])
