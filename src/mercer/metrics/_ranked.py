"""Scores of two classes from the greatest to the least: one sort, and all curves and areas from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import assert_all_finite, check_consistent_length

from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._trace import warn
from mercer.metrics._labels import Array, Coding, check_labels, code, is_multilabel
from mercer.metrics._weights import check_sample_weight


class Cuts(NamedTuple):
    """The distinct scores, falling, and the weight of the positive and of the other rows that have at least that score."""

    thresholds: Array
    tps: Array
    fps: Array


def check_scores(y_score: Any, name: str = "y_score") -> Array:
    """Scores as a contiguous vector of float32 or float64; whether they are finite is seen when they are ranked."""
    scores = np.asarray(y_score)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores.ravel()
    if scores.ndim != 1:
        raise ValueError(f"{name} must be a vector of scores, one a row; got an array of shape {scores.shape}.")
    if scores.dtype.kind not in "fiub":
        try:
            scores = scores.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} of dtype {scores.dtype} is not numeric.") from error
    return np.ascontiguousarray(scores, dtype=np.float32 if scores.dtype == np.float32 else np.float64)


class Ranking:
    """The rows in the order of their scores: numbers for labels, the one that is positive, and weights go in."""

    def __init__(self, labels: Array, positive: int, scores: Array, weights: Array | None) -> None:
        check_consistent_length(labels, scores, weights)
        kind = kernels.RankedScores32 if scores.dtype == np.float32 else kernels.RankedScores64
        self._threads = effective_threads(None)
        self._ranked = kind(scores, labels, positive, weights, self._threads)
        if not self._ranked.is_finite:
            assert_all_finite(scores, input_name="y_score")
        self._dtype = scores.dtype
        self.n_positive, self.n_negative = self._ranked.total

    def cuts(self) -> Cuts:
        n_cuts = self._ranked.n_cuts
        cuts = Cuts(np.empty(n_cuts, dtype=self._dtype), np.empty(n_cuts), np.empty(n_cuts))
        self._ranked.curve(*cuts, self._threads)
        return cuts

    def roc_area(self) -> float:
        """Both classes must have some weight."""
        return float(self._ranked.roc_area(self._threads) / self.n_positive / self.n_negative)

    def average_precision(self) -> float:
        """Where no row is positive, recall is one everywhere and the sum is 0."""
        if self.n_positive == 0:
            return 0.0
        return max(0.0, float(self._ranked.average_precision(self._threads) / self.n_positive))


def rank(y_true: Any, y_score: Any, *, pos_label: Any, sample_weight: Any) -> Ranking:
    """Check labels of two classes and their scores, and rank them. The positive class is found as scikit-learn does."""
    if is_multilabel(y_true):
        raise ValueError("multilabel-indicator format is not supported; y_true must hold one label of two a row.")
    coding = code(check_labels(y_true, "y_true"))
    if pos_label is None:
        pos_label = _implied_positive(coding)
    return rank_coded(coding, coding.number_of(pos_label), y_score, sample_weight)


def rank_coded(coding: Coding, positive: int, y_score: Any, sample_weight: Any) -> Ranking:
    labels = coding.values[0]
    return Ranking(labels, positive, check_scores(y_score), check_sample_weight(sample_weight, len(labels)))


def classes_of(coding: Coding) -> Array:
    """The labels that occur."""
    if coding.size <= 2:  # the least and the greatest do
        return coding.names
    found: Array = coding.names[coding.counts() > 0]
    return found


def _implied_positive(coding: Coding) -> int:
    """1, where the labels are those of {0, 1} or {-1, 1}."""
    classes = classes_of(coding)
    if len(classes) > 2:
        raise ValueError("multiclass format is not supported: y_true holds more than two labels and no pos_label is given.")
    if classes.dtype.kind == "U" or not (set(classes.tolist()) <= {0, 1} or set(classes.tolist()) <= {-1, 1}):
        shown = ", ".join(map(repr, classes.tolist()))
        raise ValueError(
            f"y_true takes value in {{{shown}}} and pos_label is not specified: either make y_true take value in {{0, 1}} or "
            "{-1, 1} or pass pos_label explicitly."
        )
    return 1


def warn_one_class(what: str) -> None:
    warn(f"Only one class is present in y_true. {what} is not defined in that case.", UndefinedMetricWarning)
