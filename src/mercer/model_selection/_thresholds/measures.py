"""Measures as functions of confusion matrices, many at a time; larger is better.

A measure takes an array of shape (n_classes, n_classes, n), where entry (i, j, k) is the weight of the rows of class i that are
predicted as class j in case k, and gives an array of shape (n,). The cases come last, so that sums over classes are long loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray

Measure = Callable[[FloatArray], FloatArray]


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, and 0 where whole is 0."""
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    return np.divide(part, whole, out=np.zeros(shape), where=np.asarray(whole) > 0)


def _mean(values: FloatArray, weight: FloatArray) -> FloatArray:
    """The weighted mean over classes; 0 where no class counts."""
    return _ratio((values * weight).sum(axis=0), weight.sum(axis=0))


def _hits(cells: FloatArray) -> FloatArray:
    diagonal: FloatArray = np.einsum("iik->ik", cells)
    return diagonal


def _recalls(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The recall of each class, and whether there are rows of it."""
    actual = cells.sum(axis=1)
    return _ratio(_hits(cells), actual), (actual > 0).astype(np.float64)


def accuracy(cells: FloatArray) -> FloatArray:
    """The share of rows that are predicted right."""
    return _ratio(_hits(cells).sum(axis=0), cells.sum(axis=(0, 1)))


def balanced_accuracy(cells: FloatArray) -> FloatArray:
    """The mean recall of the classes that have rows."""
    return _mean(*_recalls(cells))


def g_mean(cells: FloatArray) -> FloatArray:
    """The geometric mean of the recalls of the classes that have rows; of two: sqrt(sensitivity * specificity)."""
    recalls, is_there = _recalls(cells)
    product = np.where(is_there > 0, recalls, 1.0).prod(axis=0)
    power: FloatArray = product ** (1.0 / np.maximum(is_there.sum(axis=0), 1.0))
    return power


@dataclass(frozen=True)
class FBeta:
    """(1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP) of the positive class, or its mean over classes if that is None."""

    beta: float
    positive: int | None

    def __call__(self, cells: FloatArray) -> FloatArray:
        actual, predicted, square = cells.sum(axis=1), cells.sum(axis=0), self.beta**2
        scores = _ratio((1 + square) * _hits(cells), square * actual + predicted)  # (1 + beta^2) TP + beta^2 FN + FP
        if self.positive is not None:
            one: FloatArray = scores[self.positive]
            return one
        return _mean(scores, (actual + predicted > 0).astype(np.float64))


@dataclass(frozen=True, eq=False)
class ClassWeightedAccuracy:
    """sum_c alpha_c recall_c / sum_c alpha_c; of two classes alpha * sensitivity + (1 - alpha) * specificity."""

    alphas: FloatArray

    def __call__(self, cells: FloatArray) -> FloatArray:
        mean: FloatArray = self.alphas @ _recalls(cells)[0] / self.alphas.sum()
        return mean


@dataclass(frozen=True, eq=False)
class NegativeCost:
    """Minus the mean cost of a row; `costs[i, j]` is that of predicting class j for a row of class i."""

    costs: FloatArray

    def __call__(self, cells: FloatArray) -> FloatArray:
        total = cells.sum(axis=(0, 1))
        mean: FloatArray = -np.einsum("ij,ijk->k", self.costs, cells) / np.where(total > 0, total, 1.0)
        return mean
