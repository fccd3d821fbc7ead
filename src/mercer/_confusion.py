"""Measures of predicted classes from confusion matrices: one formula each, for any number of matrices at a time.

Classes run along the first axis (of a matrix along the first two, true classes first) and matrices along the others, so that
sums over classes are long loops. What divides by nothing is NaN, unless the caller has another word for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Share = tuple[Array, Array]  # a part and its whole: who divides them decides what nothing of nothing is


@dataclass(frozen=True)
class ClassCounts:
    """For each class: the weight of the rows that have it, that are predicted to have it, and both; and of all rows."""

    n_true: Array
    n_predicted: Array
    hits: Array
    total: Any

    @property
    def false_positives(self) -> Array:
        return self.n_predicted - self.hits

    @property
    def false_negatives(self) -> Array:
        return self.n_true - self.hits

    @property
    def true_negatives(self) -> Array:
        rest: Array = self.total - self.n_true - self.n_predicted + self.hits
        return rest

    @property
    def n_false(self) -> Array:
        """The weight of the rows of other classes."""
        rest: Array = self.total - self.n_true
        return rest

    @property
    def n_unpredicted(self) -> Array:
        """The weight of the rows that are predicted to have other classes."""
        rest: Array = self.total - self.n_predicted
        return rest

    # ---- shares of rows; all but accuracy are of each class

    @property
    def accuracy(self) -> Share:
        return self.hits.sum(axis=0), np.asarray(self.total)

    @property
    def precision(self) -> Share:
        return self.hits, self.n_predicted

    @property
    def recall(self) -> Share:
        return self.hits, self.n_true

    @property
    def specificity(self) -> Share:
        return self.true_negatives, self.n_false

    @property
    def npv(self) -> Share:
        return self.true_negatives, self.n_unpredicted

    @property
    def false_positive_rate(self) -> Share:
        return self.false_positives, self.n_false

    @property
    def false_negative_rate(self) -> Share:
        return self.false_negatives, self.n_true

    @property
    def jaccard(self) -> Share:
        return self.hits, self.n_true + self.n_predicted - self.hits

    def f_beta(self, beta: float) -> Share:
        """(1 + beta^2) TP over (1 + beta^2) TP + beta^2 FN + FP: the harmonic mean of precision and recall, weighted."""
        square = beta**2
        return (1 + square) * self.hits, square * self.n_true + self.n_predicted


def count_classes(cells: Array) -> ClassCounts:
    """The counts of matrices of shape (n_classes, n_classes, ...)."""
    n_true = cells.sum(axis=1)
    hits: Array = np.einsum("ii...->i...", cells)
    return ClassCounts(n_true, cells.sum(axis=0), hits, n_true.sum(axis=0))


def ratio(part: Any, whole: Any, undefined: float = math.nan) -> Array:
    """The quotient, and `undefined` where the divisor is zero."""
    whole = np.asarray(whole, dtype=np.float64)
    shape = np.broadcast_shapes(np.shape(part), whole.shape)
    found: Array = np.divide(part, whole, out=np.full(shape, undefined), where=whole != 0)
    return found


# ---- measures over classes


def mean_of_defined(values: Array, undefined: float = math.nan) -> Array:
    """The mean over the classes whose value is known."""
    is_defined = ~np.isnan(values)
    return ratio(np.where(is_defined, values, 0.0).sum(axis=0), is_defined.sum(axis=0), undefined)


def geometric_mean_of_defined(values: Array, undefined: float = math.nan) -> Array:
    """The geometric mean over the classes whose value is known: of k classes the k-th root of the product."""
    is_defined = ~np.isnan(values)
    n_defined = is_defined.sum(axis=0)
    power = ratio(1.0, n_defined, math.nan)
    if len(values) <= 2:
        mean: Array = np.where(is_defined, values, 1.0).prod(axis=0) ** power
    else:  # the product of many small numbers would be zero
        with np.errstate(divide="ignore"):
            mean = np.exp(np.log(np.where(is_defined, values, 1.0)).sum(axis=0) * power)
    return np.where(n_defined > 0, mean, undefined)


def class_weighted_accuracy(recalls: Array, alphas: Any) -> Array:
    """sum_c alpha_c recall_c / sum_c alpha_c; of two classes alpha * sensitivity + (1 - alpha) * specificity."""
    mean: Array = np.average(recalls, axis=0, weights=alphas)
    return mean


def mcc(counts: ClassCounts) -> Array:
    """Matthews' correlation; 0 where either side is constant, as in scikit-learn.

    (h n - sum_c t_c p_c) / sqrt((n^2 - sum_c p_c^2) (n^2 - sum_c t_c^2)), where t_c rows are of class c, p_c predicted as c,
    and h of n are right.
    """
    true, predicted = counts.n_true.astype(np.float64), counts.n_predicted.astype(np.float64)
    n = true.sum(axis=0)
    # Each side has its own sum, so that a constant one comes out as zero whatever the rounding of weights.
    free = (n**2 - (true**2).sum(axis=0)) * (predicted.sum(axis=0) ** 2 - (predicted**2).sum(axis=0))
    covariance = counts.hits.sum(axis=0, dtype=np.float64) * n - (true * predicted).sum(axis=0)
    return ratio(covariance, np.sqrt(np.maximum(free, 0.0)), undefined=0.0)


def kappa(cells: Array, costs: Array | None = None) -> Array:
    """Cohen's agreement beyond chance, 1 - sum_ij w_ij C_ij / sum_ij w_ij E_ij with E_ij = t_i p_j / n.

    `costs` are the w_ij of taking class i for class j; by default 1 for every wrong one.
    """
    costs = 1.0 - np.eye(len(cells)) if costs is None else costs
    true, predicted = cells.sum(axis=1, dtype=np.float64), cells.sum(axis=0, dtype=np.float64)
    expected = ratio(true[:, None] * predicted[None], true.sum(axis=0), undefined=0.0)
    return 1.0 - ratio(np.einsum("ij,ij...->...", costs, cells), np.einsum("ij,ij...->...", costs, expected))
