"""Shares of a class's confusion table: specificity, negative predictive value, rates of error, Jaccard index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer._params import check_value
from mercer.metrics._averages import ZeroDivision, averaged, ratio, tally_averaged
from mercer.metrics._labels import Array
from mercer.metrics._tally import Tally

Share = tuple[str, str, Callable[[Tally], tuple[Array, Array]]]  # its name, what is lacking where it is undefined, the fraction

_SPECIFICITY: Share = ("Specificity", "negative true", lambda counts: counts.specificity)
_NPV: Share = ("Npv", "negative predicted", lambda counts: counts.npv)
_FPR: Share = ("False positive rate", "negative true", lambda counts: counts.false_positive_rate)
_FNR: Share = ("False negative rate", "true", lambda counts: counts.false_negative_rate)
_JACCARD: Share = ("Jaccard", "true or predicted", lambda counts: counts.jaccard)


def _share(
    share: Share,
    owner: str,
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: str | float,
) -> Any:
    name, lacking, fraction = share
    zero_division = check_value(owner, "zero_division", zero_division, ZeroDivision())
    counts = tally_averaged(
        y_true, y_pred, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight, owner=owner
    )
    values = ratio(*fraction(counts), name=name, lacking=lacking, average=average, zero_division=zero_division)
    return averaged(values, counts, average, sample_weight)


def specificity_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of the rows of other classes that are predicted so (true negative rate): TN / (TN + FP).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary", and "weighted" is by support.

    Returns
    -------
    specificity : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import specificity_score
    >>> specificity_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    0.75
    """
    return _share(_SPECIFICITY, "specificity_score", y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)


def npv_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of rows predicted not to be of a class that are not (negative predictive value): TN / (TN + FN).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary", and "weighted" is by support.

    Returns
    -------
    npv : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import npv_score
    >>> npv_score([1, 1, 0, 0, 0], [1, 0, 0, 0, 0])
    0.75
    """
    return _share(_NPV, "npv_score", y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)


def false_positive_rate(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of the rows of other classes that are taken for the class: FP / (FP + TN) = 1 - specificity.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary", and "weighted" is by support.

    Returns
    -------
    rate : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import false_positive_rate
    >>> false_positive_rate([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    0.25
    """
    return _share(_FPR, "false_positive_rate", y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)


def false_negative_rate(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of a class's rows that are missed: FN / (FN + TP) = 1 - recall.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    rate : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import false_negative_rate
    >>> false_negative_rate([1, 1, 1, 1, 0], [1, 1, 1, 0, 0])
    0.25
    """
    return _share(_FNR, "false_negative_rate", y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The rows of a class that are found, over all that are of it or taken for it: TP / (TP + FP + FN).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    jaccard : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import jaccard_score
    >>> jaccard_score([1, 1, 1, 0], [1, 1, 0, 1])
    0.5
    """
    return _share(_JACCARD, "jaccard_score", y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)
