"""Measures of a test set as functions of counts: how often each row counts, many resamples at a time.

Every function takes counts of shape (n_resamples, n_rows) and gives one number a resample; counts of one give the measure
itself. What is not defined (precision without positive predictions) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer.model_selection._evaluate.resampling import Statistic

Codes = npt.NDArray[Any]
Matrices = Any  # confusion matrices of shape (n_resamples, n_classes, n_classes), true classes in rows


def confusions(true: Codes, predicted: Codes, n_classes: int) -> Statistic:
    """Confusion matrices of shape (n_resamples, n_classes, n_classes), true classes in rows."""
    n_rows = len(true)
    cells = sp.csr_matrix((np.ones(n_rows), (true * n_classes + predicted, np.arange(n_rows))), (n_classes**2, n_rows))
    return lambda counts: (cells @ counts.T).T.reshape(-1, n_classes, n_classes)


def of_confusion(measure: Callable[[Matrices], FloatArray], matrices: Statistic) -> Statistic:
    def statistic(counts: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return measure(matrices(counts))

    return statistic


def accuracy(matrix: Matrices) -> Any:
    return _diagonal(matrix).sum(axis=-1) / matrix.sum(axis=(-2, -1))


def balanced_accuracy(matrix: Matrices) -> Any:
    """Mean recall of the classes that occur."""
    return _mean_of_defined(_diagonal(matrix) / matrix.sum(axis=-1))


def macro_f1(matrix: Matrices) -> Any:
    return _mean_of_defined(_f1(matrix))


def positive_f1(matrix: Matrices) -> Any:
    return _f1(matrix)[..., 1]


def recall(matrix: Matrices) -> Any:
    return matrix[..., 1, 1] / matrix[..., 1, :].sum(axis=-1)


def specificity(matrix: Matrices) -> Any:
    return matrix[..., 0, 0] / matrix[..., 0, :].sum(axis=-1)


def precision(matrix: Matrices) -> Any:
    return matrix[..., 1, 1] / matrix[..., :, 1].sum(axis=-1)


def matthews(matrix: Matrices) -> Any:
    """Correlation of true and predicted classes; 0 where one of them is constant."""
    n = matrix.sum(axis=(-2, -1))
    true, predicted = matrix.sum(axis=-1), matrix.sum(axis=-2)
    covariance = _diagonal(matrix).sum(axis=-1) * n - (true * predicted).sum(axis=-1)
    scale = np.sqrt((n**2 - (true**2).sum(axis=-1)) * (n**2 - (predicted**2).sum(axis=-1)))
    return np.where(scale > 0, covariance / scale, 0.0)


def _diagonal(matrix: Matrices) -> Any:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _f1(matrix: Matrices) -> Any:
    return 2 * _diagonal(matrix) / (matrix.sum(axis=-1) + matrix.sum(axis=-2))


def _mean_of_defined(values: Any) -> Any:
    is_defined = ~np.isnan(values)
    return np.where(is_defined, values, 0).sum(axis=-1) / is_defined.sum(axis=-1)


class Ranking:
    """Rows in the order of a score, ties together: sorted once for all resamples."""

    def __init__(self, is_positive: Codes, score: FloatArray) -> None:
        self._order = np.argsort(-score, kind="stable")
        ranked = score[self._order]
        self._starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        self._is_positive = is_positive[self._order].astype(np.float64)

    def _by_tie(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positives and negatives at each distinct score, from the highest on."""
        ranked = counts[:, self._order]
        positives = np.add.reduceat(ranked * self._is_positive, self._starts, axis=1)
        return positives, np.add.reduceat(ranked, self._starts, axis=1) - positives

    def roc_auc(self, counts: FloatArray) -> FloatArray:
        """The share of pairs of a positive and a negative that are in the right order, ties counting one half."""
        positives, negatives = self._by_tie(counts)
        n_positives, n_negatives = positives.sum(axis=1), negatives.sum(axis=1)
        below = n_negatives[:, None] - np.cumsum(negatives, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((positives * (below + negatives / 2)).sum(axis=1) / (n_positives * n_negatives))

    def average_precision(self, counts: FloatArray) -> FloatArray:
        """Precision at each distinct score, weighted by the recall gained there."""
        positives, negatives = self._by_tie(counts)
        found = np.cumsum(positives, axis=1)
        shown = found + np.cumsum(negatives, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(shown > 0, found / shown, 0.0)
            return np.asarray((positives * share).sum(axis=1) / positives.sum(axis=1))


def macro_roc_auc(true: Codes, probability: FloatArray) -> Statistic:
    """The mean over classes of the area for one class against the rest."""
    rankings = [Ranking(true == label, probability[:, label]) for label in range(probability.shape[1])]
    return lambda counts: _mean_of_defined(np.stack([ranking.roc_auc(counts) for ranking in rankings], axis=-1))


def mean_of(values: FloatArray) -> Statistic:
    """The mean of a number a row."""
    return lambda counts: counts @ values / counts.sum(axis=1)


def root_mean_of(values: FloatArray) -> Statistic:
    return lambda counts: np.sqrt(counts @ values / counts.sum(axis=1))


def median_of(values: FloatArray) -> Statistic:
    """The median of a number a row, the mean of the two in the middle where their number is even."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]

    def statistic(counts: FloatArray) -> FloatArray:
        below = np.cumsum(counts[:, order], axis=1)
        half = below[:, -1:] / 2
        lower = ranked[np.argmax(below >= half, axis=1)]
        upper = ranked[np.argmax(below > half, axis=1)]
        return np.asarray((lower + upper) / 2)

    return statistic


def r2(true: FloatArray, predicted: FloatArray) -> Statistic:
    """One minus the squared error over that of the mean."""
    centred = true - true.mean()  # the mean of all rows, so that the difference of squares below keeps its digits
    return partial(_r2, (true - predicted) ** 2, centred, centred**2)


def _r2(errors: FloatArray, centred: FloatArray, squares: FloatArray, counts: FloatArray) -> FloatArray:
    n = counts.sum(axis=1)
    total = counts @ squares - (counts @ centred) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 - (counts @ errors) / total)
