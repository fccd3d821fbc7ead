"""Areas under curves: ROC AUC and average precision, of two classes and of many."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._params import Null, OneOf, Real, check_value
from mercer._trace import warn
from mercer.metrics._curves import auc
from mercer.metrics._labels import Array, Coding, check_labels, code, is_multilabel
from mercer.metrics._ranked import Ranking, check_scores, classes_of, rank_coded, warn_one_class
from mercer.metrics._weights import check_sample_weight

_AVERAGE = OneOf("micro", "macro", "weighted", "samples") | Null()
Area = Callable[[Array, Array, Array | None], float]  # of (labels of which 1 is positive, scores, weights)


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Any:
    """The area under the ROC curve: how likely a positive row scores above a negative one, ties counting half.

        AUC = sum over pairs (i positive, j negative) of w_i w_j ([s_i > s_j] + [s_i = s_j] / 2) / sum of w_i w_j

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        Labels. Of two, the greater is the positive class.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores. For more than two classes: probabilities that sum to one, with columns in the order of the sorted labels.
    average : {"macro", "micro", "weighted", "samples"} or None, default="macro"
        How the areas of many classes become one: their mean, the area of all entries together, the mean by prevalence, the
        mean over rows (indicator matrices only), or all of them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    max_fpr : float in (0, 1], default=None
        If given, the standardised area over false positive rates up to this one (McClish): 1/2 for chance and 1 for perfection.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        More than two classes: each against the rest, or each against each other (Hand and Till).
    labels : array-like of shape (n_classes,), default=None
        The sorted labels of the columns of `y_score`, where not all of them occur.

    Returns
    -------
    auc : float, or ndarray of shape (n_classes,) if `average=None`

    Notes
    -----
    One sort of the scores by their digits, O(n), shared among the threads. Without weights the area is counted in whole numbers
    and rounded once: it has no rounding error to speak of, whatever the order of the rows.

    References
    ----------
    D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve", Machine Learning 45 (2001).

    Examples
    --------
    >>> from mercer.metrics import roc_auc_score
    >>> roc_auc_score(["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    owner = "roc_auc_score"
    check_value(owner, "average", average, _AVERAGE)
    check_value(owner, "multi_class", multi_class, OneOf("raise", "ovr", "ovo"))
    max_fpr = check_value(owner, "max_fpr", max_fpr, Real(above=0, most=1) | Null())

    def area(labels: Array, scores: Array, weights: Array | None) -> float:
        if labels.min() == labels.max():
            warn_one_class("ROC AUC score")
            return float("nan")
        return _roc_area(Ranking(labels, 1, scores, weights), max_fpr)

    if is_multilabel(y_true):
        return _of_columns(area, check_array(y_true), y_score, average, sample_weight)
    coding = code(check_labels(y_true, "y_true"))
    classes = classes_of(coding)
    n_columns = np.shape(y_score)[1] if np.ndim(y_score) == 2 else 1
    if len(classes) > 2 or n_columns > 2:
        if max_fpr not in (None, 1.0):
            raise ValueError(
                f"Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, "
                f"received `max_fpr={max_fpr}` instead"
            )
        return _many_classes(area, coding, classes, y_score, average, sample_weight, multi_class, labels)
    if len(classes) < 2:
        rank_coded(coding, coding.low, y_score, sample_weight)  # for its checks
        warn_one_class("ROC AUC score")
        return float("nan")
    return _roc_area(rank_coded(coding, coding.number_of(classes.tolist()[1]), y_score, sample_weight), max_fpr)


def _roc_area(ranking: Ranking, max_fpr: float | None) -> float:
    if ranking.n_positive == 0 or ranking.n_negative == 0:  # both classes occur, but all rows of one have weight 0
        warn_one_class("ROC AUC score")
        return float("nan")
    if max_fpr is None or max_fpr == 1:
        return ranking.roc_area()
    _, tps, fps = ranking.cuts()
    tpr, fpr = np.append(0.0, tps) / tps[-1], np.append(0.0, fps) / fps[-1]
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    last = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    partial = auc(np.append(fpr[:stop], max_fpr), np.append(tpr[:stop], last))
    least = max_fpr**2 / 2  # what chance would have
    return 0.5 * (1 + (partial - least) / (max_fpr - least))


def _many_classes(
    area: Area,
    coding: Coding,
    classes: Array,
    y_score: Any,
    average: str | None,
    sample_weight: Any,
    multi_class: str,
    labels: Any,
) -> Any:
    """ROC AUC of more than two classes, each against the rest or against each other."""
    if multi_class == "raise":
        raise ValueError("multi_class must be in ('ovo', 'ovr')")
    scores = check_probabilities(y_score)
    classes = _check_classes(labels, coding, classes, scores.shape[1])
    options = ("micro", "macro", "weighted", None) if multi_class == "ovr" else ("macro", "weighted", None)
    if average not in options:
        raise ValueError(f"average must be one of {options} for multiclass problems")
    codes = codes_among(coding, classes)
    if multi_class == "ovr":
        indicators = (codes[:, None] == np.arange(len(classes))).astype(np.int64)
        return _of_columns(area, indicators, scores, average, sample_weight)
    if average is None:
        raise NotImplementedError("average=None is not implemented for multi_class='ovo'.")
    if sample_weight is not None:
        raise ValueError(
            "sample_weight is not supported for multiclass one-vs-one ROC AUC, 'sample_weight' must be None in this case."
        )
    return _of_pairs(area, codes, scores, average)


def check_probabilities(y_score: Any) -> Array:
    """One score for each row and class, with rows that sum to one."""
    scores: Array = check_array(y_score, ensure_2d=False, dtype=[np.float64, np.float32])
    if scores.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={scores.shape}`."
        )
    if not np.allclose(1, scores.sum(axis=1)):
        raise ValueError(
            "Target scores need to be probabilities for multiclass roc_auc, i.e. they should sum up to 1.0 over classes"
        )
    return scores


def _check_classes(labels: Any, coding: Coding, classes: Array, n_columns: int) -> Array:
    """The labels of the columns of the scores."""
    if labels is None:
        if len(classes) != n_columns:
            raise ValueError(
                f"Number of classes in y_true not equal to the number of columns in 'y_score': {len(classes)} and {n_columns}. "
                "Name them all by the parameter 'labels'."
            )
        return classes
    return check_given_labels(labels, classes, n_columns)


def check_given_labels(labels: Any, classes: Array, n_columns: int) -> Array:
    """Labels that a user gave for the columns of scores: sorted, unique, as many as columns, and all that occur."""
    given: Array = np.asarray(labels)
    ordered = np.unique(given)
    if len(ordered) != len(given):
        raise ValueError("Parameter 'labels' must be unique")
    if not np.array_equal(ordered, given):
        raise ValueError("Parameter 'labels' must be ordered")
    if len(given) != n_columns:
        raise ValueError(f"Number of given labels, {len(given)}, not equal to the number of columns in 'y_score', {n_columns}")
    if missing := [label for label in classes.tolist() if label not in given.tolist()]:
        raise ValueError(f"'y_true' contains labels not in parameter 'labels', such as {missing[0]!r}.")
    return given


def codes_among(coding: Coding, classes: Array) -> Array:
    """The place of each row's label among sorted classes, all that occur being there."""
    places = np.searchsorted(classes, coding.names)
    codes: Array = places[coding.values[0] - coding.low]
    return codes


def _of_columns(area: Area, indicators: Array, y_score: Any, average: str | None, sample_weight: Any) -> Any:
    """The area of each column of an indicator matrix, or one for all as `average` says."""
    scores = check_array(y_score, dtype=[np.float64, np.float32])
    if scores.shape != indicators.shape:
        raise ValueError(
            f"`y_score` needs to be of shape `(n_samples, n_classes)`, as y_true is: {indicators.shape}. Got {scores.shape}."
        )
    weights = check_sample_weight(sample_weight, len(indicators))
    positive = np.ascontiguousarray(indicators != 0, dtype=np.int64)
    if average == "micro":
        repeated = None if weights is None else np.repeat(weights, positive.shape[1])
        return area(positive.ravel(), check_scores(scores.ravel()), repeated)
    if average == "samples":
        areas = np.array([area(row, check_scores(score), None) for row, score in zip(positive, scores, strict=True)])
        return float(np.average(areas, weights=weights))
    columns = range(positive.shape[1])
    areas = np.array([area(np.ascontiguousarray(positive[:, j]), check_scores(scores[:, j]), weights) for j in columns])
    if average is None:
        return areas
    if average == "macro":
        return float(np.mean(areas))
    prevalence = positive.sum(axis=0) if weights is None else weights @ positive
    if np.isclose(prevalence.sum(), 0):
        return 0
    return float(np.average(np.where(prevalence == 0, 0, areas), weights=prevalence))


def _of_pairs(area: Area, codes: Array, scores: Array, average: str) -> float:
    """The mean over pairs of classes of the area between the two, seen from both."""
    areas, prevalence = [], []
    for a, b in combinations(np.unique(codes), 2):
        is_either = (codes == a) | (codes == b)
        truth, pair_scores = codes[is_either], scores[is_either]
        both = [area((truth == c).astype(np.int64), check_scores(pair_scores[:, c]), None) for c in (a, b)]
        areas.append(sum(both) / 2)
        prevalence.append(is_either.mean())
    return float(np.average(areas, weights=prevalence if average == "weighted" else None))


def average_precision_score(
    y_true: Any, y_score: Any, *, average: str | None = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> Any:
    """Average precision: the mean precision over the cut-offs, weighted by the gain in recall.

        AP = sum_n (R_n - R_{n-1}) P_n

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or indicator matrix of shape (n_samples, n_classes)
        Labels of two classes or of many.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores: the greater, the more likely positive.
    average : {"macro", "micro", "weighted", "samples"} or None, default="macro"
        How the values of many classes become one (see :func:`roc_auc_score`).
    pos_label : label, default=1
        The positive class of two.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    average_precision : float, or ndarray of shape (n_classes,) if `average=None`

    Notes
    -----
    One sort of the scores by their digits, O(n), shared among the threads; the curve itself is never stored.

    Examples
    --------
    >>> from mercer.metrics import average_precision_score
    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    check_value("average_precision_score", "average", average, _AVERAGE)
    if is_multilabel(y_true):
        if pos_label != 1:
            raise ValueError(
                "Parameter pos_label is fixed to 1 for multilabel-indicator y_true. Do not set pos_label or set pos_label to 1."
            )
        return _of_columns(_precision_area, check_array(y_true), y_score, average, sample_weight)
    coding = code(check_labels(y_true, "y_true"))
    classes = classes_of(coding)
    if len(classes) > 2:
        if pos_label != 1:
            raise ValueError(
                "Parameter pos_label is fixed to 1 for multiclass y_true. Do not set pos_label or set pos_label to 1."
            )
        indicators = (codes_among(coding, classes)[:, None] == np.arange(len(classes))).astype(np.int64)
        return _of_columns(_precision_area, indicators, y_score, average, sample_weight)
    if len(classes) == 2 and pos_label not in classes.tolist():
        raise ValueError(f"pos_label={pos_label!r} is not a valid label. It should be one of {classes.tolist()!r}.")
    return _average_precision(rank_coded(coding, coding.number_of(pos_label), y_score, sample_weight))


def _precision_area(labels: Array, scores: Array, weights: Array | None) -> float:
    return _average_precision(Ranking(labels, 1, scores, weights))


def _average_precision(ranking: Ranking) -> float:
    if ranking.n_positive == 0:
        warn("No positive class found in y_true, recall is set to one for all thresholds.")
    return ranking.average_precision()
