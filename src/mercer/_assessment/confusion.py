"""Measures of confusion matrices (true classes down), any number of them along the leading axes.

What is not defined (a share of no rows) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

Matrices = npt.NDArray[Any]
OfMatrices = Callable[[Matrices], FloatArray]


def confusion_matrix(true: npt.NDArray[Any], predicted: npt.NDArray[Any], n_classes: int) -> npt.NDArray[np.intp]:
    """Counts of rows: true classes down, predicted ones across."""
    return np.bincount(true * n_classes + predicted, minlength=n_classes**2).reshape(n_classes, n_classes)


def ratio(part: Any, whole: Any, undefined: float = math.nan) -> FloatArray:
    """The quotient, and `undefined` where the divisor is zero."""
    whole = np.asarray(whole, dtype=np.float64)
    found: FloatArray = np.divide(part, whole, out=np.full(whole.shape, undefined), where=whole != 0)
    return found


def _diagonal(matrix: Matrices) -> Matrices:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _mean_of_defined(values: FloatArray) -> FloatArray:
    is_defined = ~np.isnan(values)
    return ratio(np.where(is_defined, values, 0).sum(axis=-1), is_defined.sum(axis=-1))


def recalls(matrix: Matrices) -> FloatArray:
    """The recall of each class."""
    return ratio(_diagonal(matrix), matrix.sum(axis=-1))


def balanced_accuracy(matrix: Matrices) -> FloatArray:
    """The mean recall of the classes that occur."""
    return _mean_of_defined(recalls(matrix))


def g_mean(matrix: Matrices) -> FloatArray:
    """The geometric mean of the recalls of all classes."""
    found: FloatArray = np.prod(recalls(matrix), axis=-1) ** (1 / matrix.shape[-1])
    return found


def f1_scores(matrix: Matrices) -> FloatArray:
    """F1 of each class that occurs or is predicted."""
    return ratio(2 * _diagonal(matrix), matrix.sum(axis=-1) + matrix.sum(axis=-2))


def f1(matrix: Matrices) -> FloatArray:
    """F1 of the second of two classes."""
    return f1_scores(matrix)[..., 1]


def f1_macro(matrix: Matrices) -> FloatArray:
    """The mean F1 of the classes that occur or are predicted, as in scikit-learn."""
    return _mean_of_defined(f1_scores(matrix))


def f1_weighted(matrix: Matrices) -> FloatArray:
    """The mean F1 of the rows' classes."""
    return ratio(np.nansum(f1_scores(matrix) * matrix.sum(axis=-1), axis=-1), matrix.sum(axis=(-2, -1)))


def mcc(matrix: Matrices) -> FloatArray:
    """Matthews' correlation; 0 where either side is constant, as in scikit-learn."""
    true, predicted = matrix.sum(axis=-1, dtype=np.float64), matrix.sum(axis=-2, dtype=np.float64)
    n = true.sum(axis=-1)
    free = (n * n - (true * true).sum(axis=-1)) * (n * n - (predicted * predicted).sum(axis=-1))
    return ratio(_diagonal(matrix).sum(axis=-1) * n - (true * predicted).sum(axis=-1), np.sqrt(free), undefined=0.0)


def kappa(matrix: Matrices) -> FloatArray:
    """Cohen's agreement beyond chance."""
    true, predicted = matrix.sum(axis=-1, dtype=np.float64), matrix.sum(axis=-2, dtype=np.float64)
    n = true.sum(axis=-1)
    by_chance = (true * predicted).sum(axis=-1)
    return ratio(_diagonal(matrix).sum(axis=-1) * n - by_chance, n * n - by_chance)


# Shares of rows, as the part and the whole; all but accuracy are of two classes, the second of which is the positive one.
SHARES: dict[str, Callable[[Matrices], tuple[Matrices, Matrices]]] = {
    "accuracy": lambda matrix: (_diagonal(matrix).sum(axis=-1), matrix.sum(axis=(-2, -1))),
    "precision": lambda matrix: (matrix[..., 1, 1], matrix[..., :, 1].sum(axis=-1)),
    "recall": lambda matrix: (matrix[..., 1, 1], matrix[..., 1, :].sum(axis=-1)),
    "specificity": lambda matrix: (matrix[..., 0, 0], matrix[..., 0, :].sum(axis=-1)),
    "npv": lambda matrix: (matrix[..., 0, 0], matrix[..., :, 0].sum(axis=-1)),
}
MEASURES: dict[str, OfMatrices] = {
    "balanced_accuracy": balanced_accuracy,
    "f1": f1,
    "f1_macro": f1_macro,
    "f1_weighted": f1_weighted,
    "g_mean": g_mean,
    "mcc": mcc,
    "kappa": kappa,
}
