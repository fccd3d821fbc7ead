"""Measures of the four counts of two classes; None where a share has no rows to be a share of."""

from __future__ import annotations

import math
from typing import Any


def share(part: Any, whole: Any) -> float | None:
    """A share; None of nothing."""
    return float(part / whole) if whole else None


def from_counts(tp: int, fp: int, tn: int, fn: int, *, beta: float = 1.0, alpha: float = 0.5) -> dict[str, float | None]:
    """Every measure of two classes that the page shows at a cut-off.

    F-beta = (1 + beta²) tp / ((1 + beta²) tp + beta² fn + fp); CWA = alpha recall + (1 - alpha) specificity;
    G-mean = sqrt(recall · specificity).
    """
    recall, specificity = share(tp, tp + fn), share(tn, tn + fp)
    both = recall is not None and specificity is not None
    squared = beta * beta
    return {
        "accuracy": share(tp + tn, tp + fp + tn + fn),
        "precision": share(tp, tp + fp),
        "recall": recall,
        "specificity": specificity,
        "npv": share(tn, tn + fn),
        "f_beta": share((1 + squared) * tp, (1 + squared) * tp + squared * fn + fp),
        "g_mean": math.sqrt(recall * specificity) if both else None,  # type: ignore[operator]
        "cwa": alpha * recall + (1 - alpha) * specificity if both else None,  # type: ignore[operator]
    }
