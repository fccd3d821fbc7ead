"""The calibration curve: how often rows are positive, against how often they were said to be."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from mercer._arrays import FloatArray, check_weights
from mercer._params import Integer, OneOf, check_value


def calibration_curve(
    y_true: Any, y_prob: Any, *, pos_label: Any = None, n_bins: int = 5, strategy: str = "uniform", sample_weight: Any = None
) -> tuple[FloatArray, FloatArray]:
    """The share of positive rows and the mean predicted probability in bins of the predicted probability.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    pos_label : label, default=None
        The positive class; None for 1 where labels are 0 and 1 or -1 and 1.
    n_bins : int, default=5
        Number of bins; empty ones are left out.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or with as many rows each.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weights of rows. The bins do not depend on them; those without weight are left out.

    Returns
    -------
    prob_true, prob_pred : ndarray of shape (n_bins,) or less

    Examples
    --------
    >>> from mercer.calibration import calibration_curve
    >>> y_true, y_prob = [0, 0, 0, 0, 1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.65, 0.7, 0.8, 0.9, 1.0]
    >>> prob_true, prob_pred = calibration_curve(y_true, y_prob, n_bins=3)
    >>> prob_true, prob_pred.round(3)
    (array([0. , 0.5, 1. ]), array([0.2  , 0.525, 0.85 ]))
    """
    n_bins = check_value("calibration_curve", "n_bins", n_bins, Integer(1))
    strategy = check_value("calibration_curve", "strategy", strategy, OneOf("uniform", "quantile"))
    labels, prob = column_or_1d(y_true), np.asarray(column_or_1d(y_prob), dtype=np.float64)
    check_consistent_length(labels, prob)
    weights = check_weights(sample_weight, len(prob), np.float64)
    if not (prob.min() >= 0 and prob.max() <= 1):  # NaN is refused as well
        raise ValueError("calibration_curve: y_prob has values outside [0, 1].")
    is_positive = labels == _positive_label(labels, pos_label)
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    edges = np.quantile(prob, shares) if strategy == "quantile" else shares
    bins = np.searchsorted(edges[1:-1], prob)
    weights = np.ones(len(prob)) if weights is None else weights
    total, positive, predicted = (
        np.bincount(bins, weights=values, minlength=n_bins) for values in (weights, weights * is_positive, weights * prob)
    )
    kept = total > 0
    return positive[kept] / total[kept], predicted[kept] / total[kept]


def _positive_label(labels: Any, pos_label: Any) -> Any:
    """The positive one of two classes."""
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(f"calibration_curve: Only binary classification is supported. Provided labels {classes.tolist()}.")
    if pos_label is not None:
        return pos_label
    if classes.dtype.kind not in "OUS" and (set(classes.tolist()) <= {0, 1} or set(classes.tolist()) <= {-1, 1}):
        return 1
    raise ValueError(
        f"calibration_curve: y_true takes value in {classes.tolist()} and pos_label is not specified: either make y_true take "
        "value in {0, 1} or {-1, 1} or pass pos_label explicitly."
    )
