"""Measures on test rows with their confidence intervals, in the words of the report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Bootstrap, Statistic, on_sample
from mercer._assessment.confusion import confusion_matrix
from mercer._assessment.intervals import wilson
from mercer._assessment.measures import Estimate, assess_classes, assess_numbers, resampled
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._assessment.ranking import Ranking
from mercer._assessment.words import WORDS
from mercer._confusion import count_classes, ratio
from mercer._report.content import ClassMeasures, Measure
from mercer._report.counts import known
from mercer._report.scoring import Scoring

LEVEL = 0.95

_N_RESAMPLES = 1000
N_SCORER_RESAMPLES = 200  # a scorer takes them one by one
_MOST_DRAWS = 2e7  # rows times resamples: 1,000 resamples up to 20,000 rows, then fewer

_OF_MATRIX = ("g_mean", "mcc", "kappa")
_OF_SCORES = ("roc_auc", "average_precision", "log_loss", "brier")
_OF_TWO = ("accuracy", "precision", "recall", "specificity", "npv", "balanced_accuracy", "f1", *_OF_MATRIX, *_OF_SCORES)
_OF_MANY = ("accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", *_OF_MATRIX, "roc_auc_ovr", "log_loss")
_OF_ALL_CLASSES = ("roc_auc", "average_precision", "roc_auc_ovr")  # left out where a class does not occur
_OF_NUMBERS = ("r2", "rmse", "mae", "median_ae", "mape")


class MeasureTable:
    """Collects measures with their words, in the order in which they are added."""

    def __init__(self, scoring: Scoring) -> None:
        self.scoring = scoring
        self.measures: list[Measure] = []

    def add(self, name: str, estimate: Estimate) -> None:
        """One measure of the report's own."""
        words = WORDS[name]
        self._append(name, words.label, words.description, words.greater_is_better, name == self.scoring.measure, estimate)

    def finished(self, found: ClassPredictions | NumberPredictions, bootstrap: Bootstrap) -> list[Measure]:
        """The measures, the one that models were compared by first."""
        if not any(measure["is_metric"] for measure in self.measures):
            self._add_scorer(found, bootstrap)
        return sorted(self.measures, key=lambda measure: not measure["is_metric"])

    def _add_scorer(self, found: ClassPredictions | NumberPredictions, bootstrap: Bootstrap) -> None:
        """The measure that models were compared by, where it is none of the report's own: its scorer is resampled."""
        fewer = replace(bootstrap, n_resamples=N_SCORER_RESAMPLES, weights=None)  # the scorer itself takes them
        estimate = resampled({"score": by_scorer(found, self.scoring, bootstrap.weights)}, fewer, LEVEL)["score"]
        words = "the measure that models were compared by"
        self._append(self.scoring.name, self.scoring.label, words, not self.scoring.is_loss, True, estimate)

    def _append(self, name: str, label: str, description: str, greater: bool, is_metric: bool, estimate: Estimate) -> None:
        is_known = math.isfinite(estimate.value)
        has_interval = is_known and estimate.low < estimate.high  # resampling changes something
        self.measures.append(
            Measure(
                name=name,
                label=label,
                value=estimate.value if is_known else None,
                low=estimate.low if has_interval else None,
                high=estimate.high if has_interval else None,
                description=description,
                greater_is_better=greater,
                is_metric=is_metric,
            )
        )


def by_scorer(found: ClassPredictions | NumberPredictions, scoring: Scoring, weights: FloatArray | None = None) -> Statistic:
    """What a scorer says of resamples, one by one."""

    def score(count: FloatArray) -> float:
        drawn = np.repeat(np.arange(len(count)), count.astype(np.intp))
        weight = None if weights is None else weights[drawn]
        return scoring(found.stand_in(drawn), np.zeros((len(drawn), 1)), found.truth(drawn), weight)

    return lambda counts: np.array([score(count) for count in counts])


def class_measures(
    found: ClassPredictions, scoring: Scoring, random: np.random.RandomState, weights: FloatArray | None = None
) -> list[Measure]:
    """The measures of a classifier on test rows, which count by their weights."""
    names = list(_OF_TWO if found.n_classes == 2 else _OF_MANY)
    if len(np.unique(found.true)) < found.n_classes:
        names = [name for name in names if name not in _OF_ALL_CLASSES]
    bootstrap = bootstrap_of(len(found.true), random, weights, found.true)
    table = MeasureTable(scoring)
    for name, estimate in assess_classes(found, names, bootstrap, LEVEL).items():
        table.add(name, estimate)
    return table.finished(found, bootstrap)


def regression_measures(
    found: NumberPredictions, scoring: Scoring, random: np.random.RandomState, weights: FloatArray | None = None
) -> list[Measure]:
    """The measures of a regressor on test rows, which count by their weights."""
    names = (*_OF_NUMBERS, "mse") if scoring.measure == "mse" else _OF_NUMBERS
    bootstrap = bootstrap_of(len(found.true), random, weights)
    table = MeasureTable(scoring)
    for name, estimate in assess_numbers(found, names, bootstrap, LEVEL).items():
        table.add(name, estimate)
    return table.finished(found, bootstrap)


def bootstrap_of(n_rows: int, random: np.random.RandomState, weights: FloatArray | None, strata: Any = None) -> Bootstrap:
    """The resamples that reports go by."""
    return Bootstrap(n_rows, _N_RESAMPLES, random, strata, most_draws=_MOST_DRAWS, weights=weights)


def measures_per_class(found: ClassPredictions) -> list[ClassMeasures]:
    """Each class against the rest."""
    matrix = confusion_matrix(found.true, found.predicted, found.n_classes)
    counts = count_classes(matrix)
    n_true, n = counts.n_true, counts.total
    precision, recall, specificity = (ratio(*share) for share in (counts.precision, counts.recall, counts.specificity))
    f1 = ratio(*counts.f_beta(1.0))
    rows: list[ClassMeasures] = []
    for code, label in enumerate(found.labels):
        low, high = wilson(int(counts.hits[code]), int(n_true[code]), LEVEL) if n_true[code] else (None, None)
        auc = None
        if found.probability is not None and 0 < n_true[code] < n:
            auc = on_sample(Ranking(found.true == code, found.probability[:, code]).roc_auc, n)
        rows.append(
            ClassMeasures(
                label=str(label),
                n=int(n_true[code]),
                precision=known(precision[code]),
                recall=known(recall[code]),
                recall_low=low,
                recall_high=high,
                specificity=known(specificity[code]),
                f1=known(f1[code]),
                roc_auc=auc,
            )
        )
    return rows


def metric_of(measures: list[Measure]) -> Measure:
    """The measure that models were compared by."""
    return next(measure for measure in measures if measure["is_metric"])
