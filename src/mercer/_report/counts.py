"""Measures that are functions of counts.

Those of a confusion matrix (true classes down) take any number of matrices along the leading axes, which is how they are
resampled, and are NaN where a share has no rows to be a share of; those of the four counts of two classes are None there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.frames import IntArray
from mercer._report.predictions import ClassPredictions


def confusion_matrix(found: ClassPredictions) -> IntArray:
    """Counts of rows: true classes down, predicted ones across."""
    flat = np.bincount(found.true * found.n_classes + found.predicted, minlength=found.n_classes**2)
    return flat.reshape(found.n_classes, found.n_classes)


def share(part: Any, whole: Any) -> float | None:
    """A share; None of nothing."""
    return float(part / whole) if whole else None


def _ratio(part: Any, whole: Any, undefined: float = math.nan) -> FloatArray:
    whole = np.asarray(whole, dtype=np.float64)
    found: FloatArray = np.divide(part, whole, out=np.full(whole.shape, undefined), where=whole != 0)
    return found


def _diagonal(matrix: FloatArray) -> FloatArray:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def recalls(matrix: FloatArray) -> FloatArray:
    """The recall of each class."""
    return _ratio(_diagonal(matrix), matrix.sum(axis=-1))


def mean_recall(matrix: FloatArray) -> FloatArray:
    """The mean recall of the classes that occur: balanced accuracy."""
    occurs = matrix.sum(axis=-1) > 0
    return _ratio(np.nansum(recalls(matrix), axis=-1), occurs.sum(axis=-1))


def g_mean(matrix: FloatArray) -> FloatArray:
    """The geometric mean of the recalls of all classes."""
    found: FloatArray = np.prod(recalls(matrix), axis=-1) ** (1 / matrix.shape[-1])
    return found


def f1_scores(matrix: FloatArray) -> FloatArray:
    """F1 of each class; 0 where it neither occurs nor is predicted, as in scikit-learn."""
    return _ratio(2 * _diagonal(matrix), matrix.sum(axis=-1) + matrix.sum(axis=-2), undefined=0.0)


def f1_macro(matrix: FloatArray) -> FloatArray:
    """The mean F1 of the classes that occur or are predicted, as in scikit-learn."""
    is_seen = matrix.sum(axis=-1) + matrix.sum(axis=-2) > 0
    return _ratio(f1_scores(matrix).sum(axis=-1), is_seen.sum(axis=-1))


def f1_weighted(matrix: FloatArray) -> FloatArray:
    """The mean F1 of the rows' classes."""
    return _ratio((f1_scores(matrix) * matrix.sum(axis=-1)).sum(axis=-1), matrix.sum(axis=(-2, -1)))


def mcc(matrix: FloatArray) -> FloatArray:
    """Matthews' correlation; 0 where either side is constant, as in scikit-learn."""
    true, predicted = matrix.sum(axis=-1, dtype=np.float64), matrix.sum(axis=-2, dtype=np.float64)
    n = true.sum(axis=-1)
    free = (n * n - (true * true).sum(axis=-1)) * (n * n - (predicted * predicted).sum(axis=-1))
    return _ratio(_diagonal(matrix).sum(axis=-1) * n - (true * predicted).sum(axis=-1), np.sqrt(free), undefined=0.0)


def kappa(matrix: FloatArray) -> FloatArray:
    """Cohen's agreement beyond chance."""
    true, predicted = matrix.sum(axis=-1, dtype=np.float64), matrix.sum(axis=-2, dtype=np.float64)
    n = true.sum(axis=-1)
    by_chance = (true * predicted).sum(axis=-1)
    return _ratio(_diagonal(matrix).sum(axis=-1) * n - by_chance, n * n - by_chance)


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
