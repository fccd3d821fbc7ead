"""Two classes: the best cut-off of the scores, over all there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer.model_selection._thresholds.measures import Measure
from mercer.model_selection._thresholds.steps import (
    Fold,
    Moves,
    Steps,
    best_of,
    between,
)


@dataclass(frozen=True)
class Cut:
    """The best threshold over folds, how far folds differ, and the curve it was read from."""

    threshold: float
    score: float
    threshold_spread: float
    score_spread: float
    thresholds: FloatArray
    scores: FloatArray
    spread: FloatArray


def search_cut(
    folds: Sequence[Fold], measure: Measure, *, positive: int, neutral: float, thresholds: int | FloatArray | None
) -> Cut:
    """The threshold with the best mean over folds; rows are positive where their score is no less.

    `thresholds` is None for all, a number for an even grid, or those to try. Of equally good ones the nearest to `neutral` is
    taken. O(n log n) for n rows in all.
    """
    curves = [_curve(fold, measure, positive) for fold in folds]
    candidates = _candidates(np.concatenate([curve.keys for curve in curves]), neutral, thresholds)
    values = np.stack([curve.at(candidates) for curve in curves])
    scores, spread = values.mean(axis=0), values.std(axis=0)
    distance = np.abs(candidates - neutral)
    best = best_of(scores, distance)
    own = [candidates[best_of(row, distance)] for row in values if not np.isnan(row).all()]
    return Cut(
        threshold=float(candidates[best]),
        score=float(scores[best]),
        threshold_spread=float(np.std(own)),
        score_spread=float(spread[best]),
        thresholds=candidates,
        scores=scores,
        spread=spread,
    )


def _curve(fold: Fold, measure: Measure, positive: int) -> Steps:
    """Where the threshold is low all rows are positive; when it passes its score, a row turns negative."""
    origin = np.full(len(fold.codes), positive)
    return Steps(Moves(fold.scores[:, 0], origin, 1 - positive), fold, 2, measure)


def _candidates(scores: FloatArray, neutral: float, thresholds: int | FloatArray | None) -> FloatArray:
    """All that differ in what they predict, with `neutral` for its like; or those that are asked for."""
    if isinstance(thresholds, int):
        return np.linspace(scores.min(), scores.max(), thresholds)
    if thresholds is not None:
        return thresholds
    keys = np.unique(scores)
    ends = keys[0], np.nextafter(keys[-1], np.inf)
    return np.unique(np.concatenate([[ends[0]], between(keys), [ends[1], neutral]]))
