"""The measures of a test set by the names under which an evaluation shows them."""

from __future__ import annotations

from dataclasses import dataclass

from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.measures import assess_classes, assess_numbers
from mercer._assessment.predictions import ClassPredictions, NumberPredictions

_OF_TWO_CLASSES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "recall": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "f1": "F1",
    "mcc": "MCC",
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "log_loss": "log loss",
    "brier": "Brier score",
}
_OF_MANY_CLASSES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1_macro": "macro F1",
    "mcc": "MCC",
    "roc_auc_ovr": "macro ROC AUC",
    "log_loss": "log loss",
    "brier": "Brier score",
}
_OF_NUMBERS = {"r2": "R2", "rmse": "RMSE", "mae": "MAE", "median_ae": "median absolute error"}


@dataclass(frozen=True)
class Measure:
    """A measure of the test set with its confidence interval, and the method that gave the interval."""

    name: str
    value: float
    low: float
    high: float
    method: str


def measure_test(found: ClassPredictions | NumberPredictions, bootstrap: Bootstrap, level: float) -> list[Measure]:
    """All measures that the predictions allow."""
    if isinstance(found, NumberPredictions):
        words, estimates = _OF_NUMBERS, assess_numbers(found, _OF_NUMBERS, bootstrap, level)
    else:
        words = _OF_TWO_CLASSES if found.n_classes == 2 else _OF_MANY_CLASSES
        estimates = assess_classes(found, words, bootstrap, level)
    return [Measure(words[name], each.value, each.low, each.high, each.method) for name, each in estimates.items()]
