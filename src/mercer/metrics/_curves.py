"""Curves over all cut-offs of a score: ROC, precision and recall, detection errors. Cut-offs are exact: the distinct scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_consistent_length

from mercer._params import Bool, check_value
from mercer._trace import warn
from mercer.metrics._labels import Array, check_labels, code
from mercer.metrics._ranked import Cuts, check_scores, classes_of, rank


def confusion_matrix_at_thresholds(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> tuple[Array, Array, Array, Array, Array]:
    """The four counts of the confusion matrix at every cut-off of a score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of more if `pos_label` is given.
    y_score : array-like of shape (n_samples,)
        Scores: the greater, the more likely positive.
    pos_label : label, default=None
        The positive class; 1 by default, where the labels are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows; rows of weight 0 are as if absent.

    Returns
    -------
    tns, fps, fns, tps : ndarray of shape (n_thresholds,)
        What is found if rows with `score >= threshold` are predicted positive.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, falling.

    Examples
    --------
    >>> from mercer.metrics import confusion_matrix_at_thresholds
    >>> _, fps, _, tps, thresholds = confusion_matrix_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tps, fps
    (array([1., 1., 2., 2.]), array([0., 1., 1., 2.]))
    >>> thresholds
    array([0.8 , 0.4 , 0.35, 0.1 ])
    """
    thresholds, tps, fps = rank(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight).cuts()
    return fps[-1] - fps, fps, tps[-1] - tps, tps, thresholds


def _keep(cuts: Cuts, is_kept: Array) -> Cuts:
    """The first and the last cut, and those between that are kept."""
    places = np.flatnonzero(np.concatenate([[True], is_kept, [True]]))
    return Cuts(*(values[places] for values in cuts))


def _drop_level(cuts: Cuts) -> Cuts:
    """Without the cuts that have as many true positives as both their neighbours."""
    if len(cuts.tps) <= 2:
        return cuts
    step = np.diff(cuts.tps) != 0
    return _keep(cuts, step[:-1] | step[1:])


def _with_start(cuts: Cuts) -> Cuts:
    """With the cut-off that finds nothing."""
    start = (np.inf, 0.0, 0.0)
    return Cuts(*(np.concatenate([[first], values]) for first, values in zip(start, cuts, strict=True)))


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True
) -> tuple[Array, Array, Array]:
    """The ROC curve: true positive rate against false positive rate, over all cut-offs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of more if `pos_label` is given.
    y_score : array-like of shape (n_samples,)
        Scores: the greater, the more likely positive.
    pos_label : label, default=None
        The positive class; 1 by default, where the labels are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows; rows of weight 0 are as if absent.
    drop_intermediate : bool, default=True
        Whether to leave out cut-offs that lie on a straight line between their neighbours.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_thresholds,)
        Rates among rows with `score >= threshold`; both begin at 0 and end at 1.
    thresholds : ndarray of shape (n_thresholds,)
        Falling cut-offs; the first is infinity.

    Examples
    --------
    >>> from mercer.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    check_value("roc_curve", "drop_intermediate", drop_intermediate, Bool())
    cuts = rank(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight).cuts()
    if drop_intermediate and len(cuts.tps) > 2:
        cuts = _keep(cuts, (np.diff(cuts.fps, 2) != 0) | (np.diff(cuts.tps, 2) != 0))
    thresholds, tps, fps = _with_start(cuts)
    return _rate(fps, "negative", "false"), _rate(tps, "positive", "true"), thresholds.astype(np.float64, copy=False)


def _rate(found: Array, lacking: str, measure: str) -> Array:
    if found[-1] <= 0:
        warn(
            f"No {lacking} samples in y_true, {measure} positive value should be meaningless",
            UndefinedMetricWarning,
        )
        return np.full(found.shape, np.nan)
    return np.asarray(found / found[-1])


def precision_recall_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[Array, Array, Array]:
    """Precision and recall over all cut-offs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of more if `pos_label` is given.
    y_score : array-like of shape (n_samples,)
        Scores: the greater, the more likely positive.
    pos_label : label, default=None
        The positive class; 1 by default, where the labels are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows; rows of weight 0 are as if absent.
    drop_intermediate : bool, default=False
        Whether to leave out cut-offs with the same recall as both their neighbours.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        At rising cut-offs; the last are 1 and 0 and have no threshold.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, rising.

    Examples
    --------
    >>> from mercer.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall, thresholds
    (array([1. , 1. , 0.5, 0.5, 0. ]), array([0.1 , 0.35, 0.4 , 0.8 ]))
    """
    check_value("precision_recall_curve", "drop_intermediate", drop_intermediate, Bool())
    cuts = rank(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight).cuts()
    thresholds, tps, fps = _drop_level(cuts) if drop_intermediate else cuts
    n_found = tps + fps
    precision = np.divide(tps, n_found, out=np.zeros_like(tps), where=n_found != 0)
    if tps[-1] == 0:
        warn("No positive class found in y_true, recall is set to one for all thresholds.")
        recall = np.ones_like(tps)
    else:
        recall = tps / tps[-1]
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1]


def det_curve(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[Array, Array, Array]:
    """The detection error trade-off: false negative rate against false positive rate, over all cut-offs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores: the greater, the more likely positive.
    pos_label : label, default=None
        The positive class; 1 by default, where the labels are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows; rows of weight 0 are as if absent.
    drop_intermediate : bool, default=False
        Whether to leave out cut-offs with the same false negative rate as both their neighbours.

    Returns
    -------
    fpr, fnr, thresholds : ndarray of shape (n_thresholds,)
        Rates at rising cut-offs, from the last that misses nothing to the first that has no false alarm.

    Examples
    --------
    >>> from mercer.metrics import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, fnr
    (array([0.5, 0.5, 0. ]), array([0. , 0.5, 0.5]))
    """
    check_value("det_curve", "drop_intermediate", drop_intermediate, Bool())
    cuts = _with_start(rank(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight).cuts())
    if len(classes_of(code(check_labels(y_true, "y_true")))) != 2:
        raise ValueError("Only one class is present in y_true. Detection error tradeoff curve is not defined in that case.")
    thresholds, tps, fps = _drop_level(cuts) if drop_intermediate else cuts
    first = np.searchsorted(fps, fps[0], side="right") - 1
    last = np.searchsorted(tps, tps[-1]) + 1
    part = slice(first, last)
    with np.errstate(invalid="ignore"):
        fpr, fnr = fps[part] / fps[-1], (tps[-1] - tps[part]) / tps[-1]
    return fpr[::-1], fnr[::-1], thresholds[part][::-1].astype(np.float64, copy=False)


def auc(x: Any, y: Any) -> float:
    """The area under a curve of points, by the trapezoidal rule.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The points; x must rise or fall throughout.

    Returns
    -------
    area : float

    Examples
    --------
    >>> from mercer.metrics import auc
    >>> auc([0, 0.5, 1], [0, 1, 1])
    0.75
    """
    check_consistent_length(x, y)
    xs, ys = check_scores(x, "x").astype(np.float64), check_scores(y, "y").astype(np.float64)
    if len(xs) < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {xs.shape}")
    steps = np.diff(xs)
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(f"x is neither increasing nor decreasing : {xs}.")
    area = float(np.sum(steps * (ys[1:] + ys[:-1]) / 2))
    return -area if (steps < 0).any() else area
