"""Measures that are functions of counts: of a confusion matrix (true classes down), or of its four numbers for two classes.

They are None where a share has no rows to be a share of.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._report.frames import IntArray
from mercer._report.predictions import ClassPredictions


def confusion_matrix(found: ClassPredictions) -> IntArray:
    """Counts of rows: true classes down, predicted ones across."""
    flat = np.bincount(found.true * found.n_classes + found.predicted, minlength=found.n_classes**2)
    return flat.reshape(found.n_classes, found.n_classes)


def share(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


def recalls(matrix: IntArray) -> list[float | None]:
    """The recall of each class."""
    return [share(matrix[code, code], matrix[code].sum()) for code in range(len(matrix))]


def mean_recall(matrix: IntArray) -> float | None:
    present = [recall for recall in recalls(matrix) if recall is not None]
    return float(np.mean(present)) if present else None


def g_mean(matrix: IntArray) -> float | None:
    found = recalls(matrix)
    if any(recall is None for recall in found):
        return None
    return float(np.prod([recall for recall in found if recall is not None]) ** (1 / len(matrix)))


def _f1_of(matrix: IntArray, code: int) -> float:
    """F1 of one class; 0 where it neither occurs nor is predicted, as in scikit-learn."""
    return share(2 * matrix[code, code], matrix[code].sum() + matrix[:, code].sum()) or 0.0


def f1_mean(matrix: IntArray, is_weighted: bool) -> float | None:
    seen = np.flatnonzero(matrix.sum(axis=0) + matrix.sum(axis=1))  # scikit-learn averages over classes that occur
    weight = matrix.sum(axis=1)[seen] if is_weighted else np.ones(len(seen))
    return float(np.average([_f1_of(matrix, code) for code in seen.tolist()], weights=weight)) if weight.sum() else None


def mcc(matrix: IntArray) -> float:
    """Matthews' correlation; 0 where either side is constant, as in scikit-learn."""
    true, predicted, n = matrix.sum(axis=1).astype(float), matrix.sum(axis=0).astype(float), float(matrix.sum())
    scale = math.sqrt((n * n - true @ true) * (n * n - predicted @ predicted))
    return float((np.trace(matrix) * n - true @ predicted) / scale) if scale else 0.0


def kappa(matrix: IntArray) -> float | None:
    n = float(matrix.sum())
    by_chance = float(matrix.sum(axis=1).astype(float) @ matrix.sum(axis=0)) / (n * n)
    return (float(np.trace(matrix)) / n - by_chance) / (1 - by_chance) if by_chance < 1 else None


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
