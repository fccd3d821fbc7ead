"""Cut-offs of a score, with the exact counts of what each gives, and the curves that are read off them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import on_sample
from mercer._assessment.intervals import wilson
from mercer._assessment.predictions import ClassPredictions
from mercer._assessment.ranking import Ranking
from mercer._report.content import Calibration, Curve, Scores, ThresholdCurves
from mercer._report.counts import from_counts
from mercer._report.measures import LEVEL
from mercer._tables import IntArray

_MOST_CUTOFFS = 2000
_MOST_POINTS = 400  # of a curve that is drawn
_N_BINS = 10


@dataclass(frozen=True)
class Cutoff:
    """A cut-off that was chosen out of fold, and for what, in words."""

    value: float
    chosen_for: str


@dataclass(frozen=True)
class Cutoffs:
    """Rising cut-offs, all distinct scores and one above them, with the rows of either class that score at least that."""

    threshold: FloatArray
    tp: IntArray
    fp: IntArray

    @property
    def n_positive(self) -> int:
        return int(self.tp[0])

    @property
    def n_negative(self) -> int:
        return int(self.fp[0])


def cutoffs_of(is_positive: Any, score: FloatArray) -> Cutoffs:
    """Every cut-off that makes a difference. O(n log n)."""
    distinct, group = np.unique(score, return_inverse=True)
    counts = [np.bincount(group[mask], minlength=len(distinct)) for mask in (is_positive, ~is_positive)]
    tp, fp = (np.append(np.cumsum(count[::-1])[::-1], 0) for count in counts)
    return Cutoffs(np.append(distinct, np.nextafter(distinct[-1], np.inf)), tp, fp)


def _spread_over(n: int, most: int, kept: IntArray) -> IntArray:
    """At most about `most` of n positions, evenly spaced with both ends, and those that must be kept."""
    spaced = np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).round().astype(np.intp))
    return np.union1d(spaced, kept)


def _quantile_positions(cutoffs: Cutoffs, most: int, kept: IntArray) -> IntArray:
    """Positions of cut-offs between which about equally many rows lie, with both ends, and those that must be kept."""
    n = len(cutoffs.threshold)
    if n <= most:
        return np.arange(n)
    above = cutoffs.tp + cutoffs.fp
    wanted = np.linspace(0, above[0], most)
    return np.union1d(np.minimum(np.searchsorted(-above, -wanted), n - 1), kept)


def _own_cutoff(found: ClassPredictions, threshold: FloatArray) -> int | None:
    """The position of the cut-off that gives the model's own predictions, if one does."""
    assert found.score is not None
    is_called = found.predicted == 1
    if not is_called.any():
        return len(threshold) - 1
    lowest = found.score[is_called].min()
    if np.any(found.score[~is_called] >= lowest):
        return None
    return int(np.searchsorted(threshold, lowest))


def tuned_threshold(model: Any) -> float | None:
    """The cut-off that a model was tuned or set to use: of the model itself, or of the last step of a pipeline."""
    steps = getattr(model, "steps", None)
    model = steps[-1][1] if steps else model
    for name in ("best_threshold_", "threshold_", "threshold"):
        value = getattr(model, name, None)
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and np.isfinite(value):
            return float(value)
    return None


def scores_of(found: ClassPredictions, tuned: float | None, chosen_for: str | None = None) -> Scores:
    """The counts at all cut-offs, or at some 2,000 of them that about equally many rows lie between."""
    assert found.score is not None
    cutoffs = cutoffs_of(found.true == 1, found.score)
    default = 0.5 if found.probability is not None else 0.0
    own = _own_cutoff(found, cutoffs.threshold)
    marked = [each for each in (default, tuned) if each is not None]
    kept = np.minimum(np.searchsorted(cutoffs.threshold, marked), len(cutoffs.threshold) - 1)
    at = _quantile_positions(cutoffs, _MOST_CUTOFFS, kept if own is None else np.append(kept, own))
    tp, fp = cutoffs.tp[at], cutoffs.fp[at]
    return Scores(
        kind="decision" if found.probability is None else "probability",
        positive=str(found.labels[1]),
        negative=str(found.labels[0]),
        threshold=cutoffs.threshold[at].tolist(),
        tp=tp.tolist(),
        fp=fp.tolist(),
        tn=(cutoffs.n_negative - fp).tolist(),
        fn=(cutoffs.n_positive - tp).tolist(),
        default=default,
        tuned=tuned,
        tuned_for=chosen_for,
        at=None if own is None else int(np.searchsorted(at, own)),
    )


def threshold_curves(scores: Scores) -> ThresholdCurves:
    """Measures against the cut-off, at some of the cut-offs of `scores`."""
    at = _spread_over(len(scores["threshold"]), _MOST_POINTS // 2, np.empty(0, dtype=np.intp)).tolist()
    rows = [from_counts(*(scores[count][i] for count in ("tp", "fp", "tn", "fn"))) for i in at]
    return ThresholdCurves(
        threshold=_rounded(np.asarray(scores["threshold"])[at]),
        precision=[row["precision"] for row in rows],
        recall=[row["recall"] for row in rows],
        specificity=[row["specificity"] for row in rows],
        f1=[row["f_beta"] for row in rows],
        g_mean=[row["g_mean"] for row in rows],
    )


def _rounded(values: FloatArray) -> list[float]:
    """Six decimals: finer than any picture, and half the size."""
    rounded: list[float] = np.round(values, 6).tolist()
    return rounded


def _corners(x: FloatArray, y: FloatArray) -> IntArray:
    """Positions where a path of points turns, and its ends."""
    dx, dy = np.diff(x), np.diff(y)
    turns = dx[1:] * dy[:-1] != dx[:-1] * dy[1:]
    return np.flatnonzero(np.concatenate([[True], turns, [True]]))


def roc_and_pr(label: Any, is_positive: Any, score: FloatArray, most_points: int = _MOST_POINTS) -> tuple[Curve, Curve] | None:
    """The ROC and the precision-recall curve of one class against the rest; None where only one of the two occurs."""
    cutoffs = cutoffs_of(is_positive, score)
    if not cutoffs.n_positive or not cutoffs.n_negative:
        return None
    tp, fp = cutoffs.tp[::-1], cutoffs.fp[::-1]
    ranking = Ranking(is_positive, score)
    share = cutoffs.n_positive / len(score)
    at = _corners(fp.astype(float), tp.astype(float))
    at = at[_spread_over(len(at), most_points, np.empty(0, dtype=np.intp))]
    roc = Curve(
        label=str(label),
        x=_rounded(fp[at] / cutoffs.n_negative),
        y=_rounded(tp[at] / cutoffs.n_positive),
        area=on_sample(ranking.roc_auc, len(score)),
        share=share,
    )
    precision = np.append(1.0, tp[1:] / (tp[1:] + fp[1:]))  # nothing called positive: 1 by convention
    recall = tp / cutoffs.n_positive
    at = _spread_over(len(tp), most_points, np.empty(0, dtype=np.intp))
    area = on_sample(ranking.average_precision, len(score))
    return roc, Curve(label=str(label), x=_rounded(recall[at]), y=_rounded(precision[at]), area=area, share=share)


def calibration_of(label: Any, is_positive: Any, probability: FloatArray) -> Calibration:
    """Predicted probabilities against observed shares in ten bins of equal width; empty bins are left out."""
    codes = np.searchsorted(np.linspace(0, 1, _N_BINS + 1)[1:-1], probability)  # an upper edge belongs to its bin
    count = np.bincount(codes, minlength=_N_BINS)
    held = np.flatnonzero(count)
    predicted = np.bincount(codes, probability, _N_BINS)[held] / count[held]
    positive = np.bincount(codes[is_positive], minlength=_N_BINS)[held]
    ends = [wilson(int(part), int(whole), LEVEL) for part, whole in zip(positive, count[held], strict=True)]
    return Calibration(
        label=str(label),
        predicted=_rounded(predicted),
        observed=_rounded(positive / count[held]),
        low=_rounded(np.array([low for low, _ in ends])),
        high=_rounded(np.array([high for _, high in ends])),
        count=count[held].tolist(),
        error=float(np.abs(positive / count[held] - predicted) @ count[held] / len(codes)),
    )
