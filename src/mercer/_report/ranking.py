"""Measures of how scores rank rows, under weights of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer._arrays import FloatArray


class Ranking:
    """ROC AUC and average precision of scores under weights of the rows: one sort for any number of weights."""

    def __init__(self, is_positive: Any, score: FloatArray) -> None:
        distinct, group = np.unique(score, return_inverse=True)
        self.n_groups = len(distinct)
        self.positive = np.flatnonzero(is_positive)
        self.negative = np.flatnonzero(~np.asarray(is_positive))
        self.positive_group, self.negative_group = group[self.positive], group[self.negative]

    def _sums(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positive and negative weight of each distinct score, rising."""
        return (
            np.bincount(self.positive_group, weight[self.positive], self.n_groups),
            np.bincount(self.negative_group, weight[self.negative], self.n_groups),
        )

    def roc_auc(self, weight: FloatArray) -> float:
        positive, negative = self._sums(weight)
        total = positive.sum() * negative.sum()
        return float(positive @ (np.cumsum(negative) - negative / 2) / total) if total else math.nan

    def average_precision(self, weight: FloatArray) -> float:
        positive, negative = (each[::-1] for each in self._sums(weight))
        total = positive.sum()
        if not total:
            return math.nan
        found, called = np.cumsum(positive), np.cumsum(positive + negative)
        return float(positive @ np.divide(found, called, out=np.zeros_like(found), where=called > 0) / total)
