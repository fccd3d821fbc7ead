"""The measures of a test set by name, each with its confidence interval and the method that gave it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._assessment import statistics
from mercer._assessment.bootstrap import Bootstrap, Statistic
from mercer._assessment.confusion import MEASURES, SHARES, confusion_matrix
from mercer._assessment.intervals import delong, percentiles, wilson
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._assessment.ranking import Ranking, macro_roc_auc
from mercer._confusion import ratio

_LEAST_PROBABILITY = np.finfo(np.float64).eps  # so that one certain error does not make the log loss infinite


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval, and the method that gave the interval; NaN is what is not defined."""

    value: float
    low: float
    high: float
    method: str


def assess_classes(found: ClassPredictions, names: Iterable[str], bootstrap: Bootstrap, level: float) -> dict[str, Estimate]:
    """Those of the named measures that the predictions allow, in the order of the names.

    Where rows are independent, shares have Wilson's interval and the area under the ROC curve of two classes has DeLong's; all
    else is resampled.
    """
    names = list(names)
    estimates = _of_confusion(found, names, bootstrap, level)
    by_rows = {name: statistic for name, statistic in _class_statistics(found).items() if name in names}
    if "roc_auc" in by_rows and bootstrap.is_of_plain_rows:
        assert found.score is not None
        value = bootstrap.on_sample(by_rows.pop("roc_auc"))
        estimates["roc_auc"] = Estimate(value, *delong(found.true == 1, found.score, level), "DeLong")
    estimates |= resampled(by_rows, bootstrap, level)
    return {name: estimates[name] for name in names if name in estimates}


def assess_numbers(found: NumberPredictions, names: Iterable[str], bootstrap: Bootstrap, level: float) -> dict[str, Estimate]:
    """Those of the named measures that are defined for these numbers, in the order of the names."""
    known = _number_statistics(found)
    return resampled({name: known[name] for name in names if name in known}, bootstrap, level)


def statistic_of(found: ClassPredictions | NumberPredictions, name: str) -> Statistic | None:
    """A measure as a function of counts of rows; None where these predictions do not have it."""
    if isinstance(found, NumberPredictions):
        return _number_statistics(found).get(name)
    if name in SHARES:
        return _of_cells(found, lambda matrices: ratio(*SHARES[name](matrices)))
    if name in MEASURES:
        return _of_cells(found, MEASURES[name])
    return _class_statistics(found).get(name)


def _of_cells(found: ClassPredictions, measure: Callable[[FloatArray], FloatArray]) -> Statistic:
    codes, k = found.true * found.n_classes + found.predicted, found.n_classes
    occurring, cells = np.unique(codes, return_inverse=True)  # of very many classes, few pairs ever meet
    table = sp.csr_matrix((np.ones(len(codes)), (cells, np.arange(len(codes)))), (len(occurring), len(codes)))

    def statistic(counts: FloatArray) -> FloatArray:
        matrices = np.zeros((len(counts), k * k))
        matrices[:, occurring] = (table @ counts.T).T
        return measure(matrices.reshape(-1, k, k))

    return statistic


def resampled(of_rows: dict[str, Statistic], bootstrap: Bootstrap, level: float) -> dict[str, Estimate]:
    """Statistics of rows with the percentiles of their resamples."""
    intervals = bootstrap.intervals(of_rows, level)
    return {
        name: Estimate(bootstrap.on_sample(statistic), *intervals[name], bootstrap.name) for name, statistic in of_rows.items()
    }


def _of_confusion(found: ClassPredictions, names: list[str], bootstrap: Bootstrap, level: float) -> dict[str, Estimate]:
    matrix = confusion_matrix(found.true, found.predicted, found.n_classes, bootstrap.weights)
    matrices = bootstrap.confusions(found.true, found.predicted, found.n_classes)
    estimates = {}
    for name in SHARES.keys() & names:
        part, whole = SHARES[name](matrix)
        if bootstrap.is_of_plain_rows:
            interval, method = wilson(int(part), int(whole), level), "Wilson"
        else:
            interval, method = percentiles(ratio(*SHARES[name](matrices)), level), bootstrap.name
        estimates[name] = Estimate(float(ratio(part, whole)), *interval, method)
    for name in MEASURES.keys() & names:
        interval = percentiles(MEASURES[name](matrices), level)
        estimates[name] = Estimate(float(MEASURES[name](matrix)), *interval, bootstrap.name)
    return estimates


def _class_statistics(found: ClassPredictions) -> dict[str, Statistic]:
    """Measures of scores and probabilities, where the model gives them."""
    measures: dict[str, Statistic] = {}
    is_binary = found.n_classes == 2
    if found.score is not None:
        ranking = Ranking(found.true == 1, found.score)
        measures |= {"roc_auc": ranking.roc_auc, "average_precision": ranking.average_precision}
    if found.probability is not None:
        if not is_binary:
            measures["roc_auc_ovr"] = macro_roc_auc(found.true, found.probability)
        own = found.probability[np.arange(len(found.true)), found.true]
        measures["log_loss"] = statistics.mean_of(-np.log(np.clip(own, _LEAST_PROBABILITY, 1.0)))
        squares = ((found.probability - np.eye(found.n_classes)[found.true]) ** 2).sum(axis=1)
        measures["brier"] = statistics.mean_of(squares / 2 if is_binary else squares)
    return measures


def _number_statistics(found: NumberPredictions) -> dict[str, Statistic]:
    errors = np.abs(found.true - found.predicted)
    measures = {
        "r2": statistics.r2(found.true, found.predicted),
        "rmse": statistics.root_mean_of(errors**2),
        "mse": statistics.mean_of(errors**2),
        "mae": statistics.mean_of(errors),
        "median_ae": statistics.median_of(errors),
    }
    if np.all(found.true != 0):
        measures["mape"] = statistics.mean_of(errors / np.abs(found.true))
    return measures
