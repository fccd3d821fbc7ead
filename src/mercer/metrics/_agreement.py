"""Agreement beyond chance: correlation and kappa of true and predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mercer._confusion import kappa, mcc
from mercer._params import Null, OneOf, Real, check_value
from mercer._trace import warn
from mercer.metrics._confusion import confusion_matrix
from mercer.metrics._labels import Array
from mercer.metrics._tally import tally_single


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Matthews' correlation of true and predicted classes: 1 is perfect, 0 no better than chance, -1 all wrong.

    For two classes, (TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN)); for many, with t_c and p_c the number of
    rows of class c and predicted as c, and h those that are right among n,

        MCC = (h n - sum_c t_c p_c) / sqrt((n^2 - sum_c p_c^2) (n^2 - sum_c t_c^2)).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    mcc : float
        0 where `y_true` or `y_pred` has one class only.

    References
    ----------
    J. Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", 2004.

    Examples
    --------
    >>> from mercer.metrics import matthews_corrcoef
    >>> matthews_corrcoef([1, 1, 0, 0], [1, 1, 0, 0])
    1.0
    """
    return float(mcc(tally_single(y_true, y_pred, sample_weight, "matthews_corrcoef")))


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = np.nan,
) -> float:
    """Cohen's kappa: the agreement of two labellings beyond what chance would give.

    With the confusion matrix C, the one expected by chance E_ij = n_i m_j / n, and costs w_ij of a disagreement (1 by default),

        kappa = 1 - sum_ij w_ij C_ij / sum_ij w_ij E_ij.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_samples,)
        The two labellings; their order does not matter.
    labels : array-like, default=None
        The labels to look at, in the order that `weights` go by; all that occur by default.
    weights : {"linear", "quadratic"} or None, default=None
        Costs |i - j| or (i - j)^2 of taking the i-th label for the j-th.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    replace_undefined_by : float in [-1, 1] or nan, default=nan
        The value where kappa divides by zero.

    Returns
    -------
    kappa : float

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960).

    Examples
    --------
    >>> from mercer.metrics import cohen_kappa_score
    >>> cohen_kappa_score([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    check_value("cohen_kappa_score", "weights", weights, OneOf("linear", "quadratic") | Null())
    if not (isinstance(replace_undefined_by, float) and np.isnan(replace_undefined_by)):
        check_value("cohen_kappa_score", "replace_undefined_by", replace_undefined_by, Real(least=-1, most=1))
    try:
        table = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    except ValueError as error:
        if "must be in y_true" in str(error):
            raise ValueError("At least one label in `labels` must be present in `y1`.") from error
        raise
    found = float(kappa(table, _costs(weights, len(table))))
    if np.isnan(found):
        warn(
            "`y1` and `y2` have fewer than two labels (of `labels`) in common: `cohen_kappa_score` is undefined and set to "
            f"`replace_undefined_by`, which is {replace_undefined_by}.",
            UndefinedMetricWarning,
        )
        return replace_undefined_by
    return found


def _costs(weights: str | None, n_classes: int) -> Array | None:
    """What it costs to take the i-th label for the j-th; None stands for 1, whatever the labels."""
    if weights is None:
        return None
    distance: Array = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))).astype(np.float64)
    return distance if weights == "linear" else distance**2
