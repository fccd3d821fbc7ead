"""Measures of how a score ranks rows, as functions of counts: how often each row counts, many resamples at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Statistic
from mercer._confusion import ratio


class Ranking:
    """Rows in the order of a score, ties together: sorted once for all resamples, which then cost one cumulated sum each."""

    def __init__(self, is_positive: npt.NDArray[Any], score: FloatArray) -> None:
        self._order = np.argsort(-score, kind="stable")
        ranked = score[self._order]
        starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        place = np.flatnonzero(is_positive[self._order])
        tie = np.searchsorted(starts, place, side="right") - 1
        self._positives = self._order[place]
        # Of each positive: the rows above its tie, those above or in it, and the positives among the latter.
        self._above = starts[tie]
        self._shown = np.append(starts, len(score))[tie + 1]
        self._found = np.searchsorted(place, self._shown)

    def roc_auc(self, counts: FloatArray) -> FloatArray:
        """The share of pairs of a positive and a negative that are in the right order, ties counting one half."""
        positives, shown = counts.take(self._positives, axis=1), self._cumulated(counts)
        n_positives, n_rows = positives.sum(axis=1), shown[:, -1]
        middle = shown.take(self._above, axis=1)
        middle += shown.take(self._shown, axis=1)  # twice the rows that rank above a positive, ties counting one half
        # Of these pairs of a positive and any row, the pairs of two positives are one half of all such pairs, in any order.
        n_wrong = (np.einsum("ij,ij->i", positives, middle) - n_positives**2) / 2
        return 1 - ratio(n_wrong, n_positives * (n_rows - n_positives))

    def average_precision(self, counts: FloatArray) -> FloatArray:
        """Precision at each distinct score, weighted by the recall gained there."""
        positives = counts.take(self._positives, axis=1)
        found = np.cumsum(positives, axis=1).take(self._found - 1, axis=1)
        shown = self._cumulated(counts).take(self._shown, axis=1)
        precision = ratio(found, shown, undefined=0.0)  # where nothing is shown, no recall is gained
        return ratio(np.einsum("ij,ij->i", positives, precision), positives.sum(axis=1))

    def _cumulated(self, counts: FloatArray) -> FloatArray:
        """How many rows the first 0, 1, …, n_rows of the ranking stand for."""
        sums = np.zeros((len(counts), counts.shape[1] + 1))
        np.cumsum(counts.take(self._order, axis=1), axis=1, out=sums[:, 1:])
        return sums


def macro_roc_auc(true: npt.NDArray[Any], probability: FloatArray) -> Statistic:
    """The mean of the areas for one class against the rest, over the classes for which it is defined."""
    rankings = [Ranking(true == label, probability[:, label]) for label in range(probability.shape[1])]

    def statistic(counts: FloatArray) -> FloatArray:
        areas = np.stack([ranking.roc_auc(counts) for ranking in rankings], axis=-1)
        is_defined = ~np.isnan(areas)
        return ratio(np.where(is_defined, areas, 0).sum(axis=-1), is_defined.sum(axis=-1))

    return statistic
