"""Measures of how a score ranks rows, as functions of counts: how often each row counts, many resamples at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Statistic
from mercer._assessment.confusion import ratio


class Ranking:
    """Rows in the order of a score, ties together: sorted once for all resamples."""

    def __init__(self, is_positive: npt.NDArray[Any], score: FloatArray) -> None:
        self._order = np.argsort(-score, kind="stable")
        ranked = score[self._order]
        self._starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        self._is_positive = is_positive[self._order].astype(np.float64)

    def _by_tie(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positives and negatives at each distinct score, from the highest on."""
        ranked = counts.take(self._order, axis=1)
        positives = ranked * self._is_positive
        ranked -= positives
        if len(self._starts) == ranked.shape[1]:  # no ties
            return positives, ranked
        return np.add.reduceat(positives, self._starts, axis=1), np.add.reduceat(ranked, self._starts, axis=1)

    def roc_auc(self, counts: FloatArray) -> FloatArray:
        """The share of pairs of a positive and a negative that are in the right order, ties counting one half."""
        positives, negatives = self._by_tie(counts)
        n_pairs = positives.sum(axis=1) * negatives.sum(axis=1)
        above = np.cumsum(negatives, axis=1)
        above -= negatives / 2
        return 1 - ratio(np.einsum("ij,ij->i", positives, above), n_pairs)

    def average_precision(self, counts: FloatArray) -> FloatArray:
        """Precision at each distinct score, weighted by the recall gained there."""
        positives, negatives = self._by_tie(counts)
        found = np.cumsum(positives, axis=1)
        shown = np.cumsum(negatives, axis=1)
        shown += found
        np.maximum(shown, 1e-300, out=shown)  # nothing shown: nothing found, and a share of 0
        precision = np.divide(found, shown, out=found)
        return ratio(np.einsum("ij,ij->i", positives, precision), positives.sum(axis=1))


def macro_roc_auc(true: npt.NDArray[Any], probability: FloatArray) -> Statistic:
    """The mean of the areas for one class against the rest, over the classes for which it is defined."""
    rankings = [Ranking(true == label, probability[:, label]) for label in range(probability.shape[1])]

    def statistic(counts: FloatArray) -> FloatArray:
        areas = np.stack([ranking.roc_auc(counts) for ranking in rankings], axis=-1)
        is_defined = ~np.isnan(areas)
        return ratio(np.where(is_defined, areas, 0).sum(axis=-1), is_defined.sum(axis=-1))

    return statistic
