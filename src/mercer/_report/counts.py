"""Measures of the four counts of two classes, as the page shows them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._confusion import class_weighted_accuracy, count_classes, geometric_mean_of_defined, ratio


def known(value: Any) -> float | None:
    """The number; None where it is not defined."""
    return None if math.isnan(value) else float(value)


def from_counts(tp: int, fp: int, tn: int, fn: int, *, beta: float = 1.0, alpha: float = 0.5) -> dict[str, float | None]:
    """Every measure of two classes that the page shows at a cut-off; None where a share has no rows to be a share of."""
    counts = count_classes(np.array([[tn, fp], [fn, tp]]))
    shares = {
        "precision": counts.precision,
        "recall": counts.recall,
        "specificity": counts.specificity,
        "npv": counts.npv,
        "f_beta": counts.f_beta(beta),
    }
    recalls = ratio(*counts.recall)
    both = not np.isnan(recalls).any()
    return {
        "accuracy": known(ratio(*counts.accuracy)),
        **{name: known(ratio(*share)[1]) for name, share in shares.items()},
        "g_mean": known(geometric_mean_of_defined(recalls)) if both else None,
        "cwa": known(class_weighted_accuracy(recalls, [1 - alpha, alpha])) if both else None,
    }
