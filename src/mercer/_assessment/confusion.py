"""The measures of confusion matrices by name, for matrices (true classes down) along any leading axes.

What is not defined (a share of no rows) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _confusion
from mercer._arrays import FloatArray
from mercer._confusion import ClassCounts, Share, count_classes, mean_of_defined, ratio

Matrices = npt.NDArray[Any]


def confusion_matrix(
    true: npt.NDArray[Any], predicted: npt.NDArray[Any], n_classes: int, weights: FloatArray | None = None
) -> npt.NDArray[Any]:
    """Counts of rows, or the sums of their weights: true classes down, predicted ones across."""
    return np.bincount(true * n_classes + predicted, weights, n_classes**2).reshape(n_classes, n_classes)


def _cells(matrices: Matrices) -> Matrices:
    """The same matrices with their classes along the first axes."""
    return np.moveaxis(matrices, (-2, -1), (0, 1))


def _counts(matrices: Matrices) -> ClassCounts:
    return count_classes(_cells(matrices))


def balanced_accuracy(matrices: Matrices) -> FloatArray:
    """The mean recall of the classes that occur."""
    return mean_of_defined(ratio(*_counts(matrices).recall))


def g_mean(matrices: Matrices) -> FloatArray:
    """The geometric mean of the recalls of all classes; not defined where one does not occur."""
    recalls = ratio(*_counts(matrices).recall)
    return np.where(np.isnan(recalls).any(axis=0), np.nan, _confusion.geometric_mean_of_defined(recalls))


def f1_scores(matrices: Matrices) -> FloatArray:
    """F1 of each class that occurs or is predicted, classes along the first axis."""
    return ratio(*_counts(matrices).f_beta(1.0))


def f1(matrices: Matrices) -> FloatArray:
    """F1 of the second of two classes."""
    second: FloatArray = f1_scores(matrices)[1]
    return second


def f1_macro(matrices: Matrices) -> FloatArray:
    """The mean F1 of the classes that occur or are predicted, as in scikit-learn."""
    return mean_of_defined(f1_scores(matrices))


def f1_weighted(matrices: Matrices) -> FloatArray:
    """The mean F1 of the rows' classes."""
    counts = _counts(matrices)
    return ratio(np.nansum(f1_scores(matrices) * counts.n_true, axis=0), counts.total)


def mcc(matrices: Matrices) -> FloatArray:
    """Matthews' correlation."""
    return _confusion.mcc(_counts(matrices))


def kappa(matrices: Matrices) -> FloatArray:
    """Cohen's agreement beyond chance."""
    return _confusion.kappa(_cells(matrices))


def _of_second(share: Callable[[ClassCounts], Share]) -> Callable[[Matrices], Share]:
    """A share of the second of two classes, which is the positive one."""

    def of(matrices: Matrices) -> Share:
        part, whole = share(_counts(matrices))
        return part[1], whole[1]

    return of


# Shares of rows, as the part and the whole; all but accuracy are of two classes.
SHARES: dict[str, Callable[[Matrices], Share]] = {
    "accuracy": lambda matrices: _counts(matrices).accuracy,
    "precision": _of_second(lambda counts: counts.precision),
    "recall": _of_second(lambda counts: counts.recall),
    "specificity": _of_second(lambda counts: counts.specificity),
    "npv": _of_second(lambda counts: counts.npv),
}
MEASURES: dict[str, Callable[[Matrices], FloatArray]] = {
    "balanced_accuracy": balanced_accuracy,
    "f1": f1,
    "f1_macro": f1_macro,
    "f1_weighted": f1_weighted,
    "g_mean": g_mean,
    "mcc": mcc,
    "kappa": kappa,
}
