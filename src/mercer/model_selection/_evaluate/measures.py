"""The measures of a test set by the names under which an evaluation shows them."""

from __future__ import annotations

from dataclasses import dataclass

from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.measures import assess_classes, assess_numbers
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._assessment.words import WORDS

_OF_TWO_CLASSES = (
    "accuracy", "balanced_accuracy", "recall", "specificity", "precision", "f1", "mcc", "roc_auc", "average_precision",
    "log_loss", "brier",
)  # fmt: skip
_OF_MANY_CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "roc_auc_ovr", "log_loss", "brier")
_OF_NUMBERS = ("r2", "rmse", "mae", "median_ae")


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
        estimates = assess_numbers(found, _OF_NUMBERS, bootstrap, level)
    else:
        names = _OF_TWO_CLASSES if found.n_classes == 2 else _OF_MANY_CLASSES
        estimates = assess_classes(found, names, bootstrap, level)
    return [Measure(WORDS[name].in_text, each.value, each.low, each.high, each.method) for name, each in estimates.items()]
