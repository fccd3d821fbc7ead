"""Measures that cut-offs are tuned for, as functions of many confusion matrices at a time; larger is better.

A measure takes an array of shape (n_classes, n_classes, n), where entry (i, j, k) is the weight of the rows of class i that are
predicted as class j in case k, and gives an array of shape (n,). A share of nothing is 0: a cut-off that predicts nothing must
not win, and every case has to have a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer import _confusion
from mercer._arrays import FloatArray
from mercer._confusion import count_classes, geometric_mean_of_defined, mean_of_defined, ratio

Measure = Callable[[FloatArray], FloatArray]


def accuracy(cells: FloatArray) -> FloatArray:
    """The share of rows that are predicted right."""
    return ratio(*count_classes(cells).accuracy, undefined=0.0)


def balanced_accuracy(cells: FloatArray) -> FloatArray:
    """The mean recall of the classes that have rows."""
    return mean_of_defined(ratio(*count_classes(cells).recall), undefined=0.0)


def g_mean(cells: FloatArray) -> FloatArray:
    """The geometric mean of the recalls of the classes that have rows; of two: sqrt(sensitivity * specificity)."""
    return geometric_mean_of_defined(ratio(*count_classes(cells).recall), undefined=0.0)


@dataclass(frozen=True)
class FBeta:
    """F-beta of the positive class, or its mean over the classes that have rows or are predicted if that is None."""

    beta: float
    positive: int | None

    def __call__(self, cells: FloatArray) -> FloatArray:
        counts = count_classes(cells)
        scores = ratio(*counts.f_beta(self.beta), undefined=0.0)
        if self.positive is not None:
            one: FloatArray = scores[self.positive]
            return one
        is_there = counts.n_true + counts.n_predicted > 0
        return mean_of_defined(np.where(is_there, scores, np.nan), undefined=0.0)


@dataclass(frozen=True, eq=False)
class ClassWeightedAccuracy:
    """The mean recall of the classes, weighted by `alphas`."""

    alphas: FloatArray

    def __call__(self, cells: FloatArray) -> FloatArray:
        return _confusion.class_weighted_accuracy(ratio(*count_classes(cells).recall, undefined=0.0), self.alphas)


@dataclass(frozen=True, eq=False)
class NegativeCost:
    """Minus the mean cost of a row; `costs[i, j]` is that of predicting class j for a row of class i."""

    costs: FloatArray

    def __call__(self, cells: FloatArray) -> FloatArray:
        return ratio(-np.einsum("ij,ijk->k", self.costs, cells), cells.sum(axis=(0, 1)), undefined=0.0)
