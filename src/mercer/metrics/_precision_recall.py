"""Precision, recall and F-measures of predicted classes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from mercer._confusion import ClassCounts, Share
from mercer._params import Infinity, Real, check_value
from mercer.metrics._averages import ZeroDivision, averaged, ratio, tally_averaged
from mercer.metrics._labels import Array


def f_scores(
    counts: ClassCounts, *, beta: float, average: str | None, warn_for: Collection[str], zero_division: str | float
) -> tuple[Array, Array, Array]:
    """Precision, recall and F-measure of each entry of a tally."""

    def divide(share: Share, name: str, lacking: str) -> Array:
        # One who is not to be warned gets what the warning would say: zero.
        rule = zero_division if name in warn_for or not isinstance(zero_division, str) else 0.0
        return ratio(*share, name=name.capitalize(), lacking=lacking, average=average, zero_division=rule)

    precision = divide(counts.precision, "precision", "predicted")
    recall = divide(counts.recall, "recall", "true")
    if np.isposinf(beta):
        return precision, recall, recall
    if beta == 0:
        return precision, recall, precision
    f = divide(counts.f_beta(beta), "f-score", "true nor predicted")
    return precision, recall, f


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Collection[str] = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> tuple[Any, Any, Any, Array | None]:
    """Precision, recall, F-measure and support of each class, or averaged.

    With true positives TP, false positives FP and false negatives FN of a class:

        precision = TP / (TP + FP),   recall = TP / (TP + FN),
        F_beta = (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP),   support = TP + FN.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels (integers, booleans or strings), or multilabel indicator matrices.
    beta : float >= 0, default=1.0
        How many times as much recall counts as precision.
    labels : array-like, default=None
        The labels to report or average over, in that order; all that occur by default.
    pos_label : label, default=1
        The class to report if `average="binary"`.
    average : {"binary", "micro", "macro", "weighted", "samples"} or None, default=None
        None: one value a class. "binary": that of `pos_label`. "micro": from the counts of all classes together. "macro": the
        mean over classes. "weighted": the mean by support. "samples": the mean over rows (multilabel data).
    warn_for : collection of {"precision", "recall", "f-score"}
        Which of the three may warn.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        The value where a denominator is 0; "warn" is 0 with a warning. NaN is left out of averages.

    Returns
    -------
    precision, recall, fbeta_score : float, or ndarray of shape (n_labels,) if `average=None`
    support : ndarray of shape (n_labels,), or None if there is an average

    Examples
    --------
    The second model of the notes' example finds nine of ten positives and is wrong six times:

    >>> import numpy as np
    >>> from mercer.metrics import precision_recall_fscore_support
    >>> y_true = np.repeat([1, 1, 0, 0], [9, 1, 6, 984])
    >>> y_pred = np.repeat([1, 0, 1, 0], [9, 1, 6, 984])
    >>> precision, recall, f1, _ = precision_recall_fscore_support(y_true, y_pred, average="binary")
    >>> round(precision, 2), round(recall, 2), round(f1, 2)
    (0.6, 0.9, 0.72)
    """
    owner = "precision_recall_fscore_support"
    beta = check_value(owner, "beta", beta, Real(least=0) | Infinity())
    zero_division = check_value(owner, "zero_division", zero_division, ZeroDivision())
    counts = tally_averaged(
        y_true, y_pred, labels=labels, pos_label=pos_label, average=average, sample_weight=sample_weight, owner=owner
    )
    values = f_scores(counts, beta=beta, average=average, warn_for=warn_for, zero_division=zero_division)
    precision, recall, f = (averaged(value, counts, average, sample_weight) for value in values)
    return precision, recall, f, counts.n_true if average is None else None


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of rows predicted to be of a class that are: TP / (TP + FP).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    precision : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import precision_score
    >>> precision_score([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    precision, *_ = precision_recall_fscore_support(
        y_true,
        y_pred,
        labels=labels,
        pos_label=pos_label,
        average=average,
        warn_for=("precision",),
        sample_weight=sample_weight,
        zero_division=zero_division,
    )
    return precision


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The share of a class's rows that are predicted to be of it (sensitivity): TP / (TP + FN).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    recall : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import recall_score
    >>> recall_score([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    _, recall, *_ = precision_recall_fscore_support(
        y_true,
        y_pred,
        labels=labels,
        pos_label=pos_label,
        average=average,
        warn_for=("recall",),
        sample_weight=sample_weight,
        zero_division=zero_division,
    )
    return recall


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The weighted harmonic mean of precision and recall.

        F_beta = (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    beta : float >= 0
        How many times as much recall counts as precision; 0 gives precision, infinity recall.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    fbeta_score : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    >>> from mercer.metrics import fbeta_score
    >>> round(fbeta_score([1, 1, 0, 0], [1, 0, 0, 0], beta=2), 4)
    0.5556
    """
    *_, f, _ = precision_recall_fscore_support(
        y_true,
        y_pred,
        beta=beta,
        labels=labels,
        pos_label=pos_label,
        average=average,
        warn_for=("f-score",),
        sample_weight=sample_weight,
        zero_division=zero_division,
    )
    return f


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: str | float = "warn",
) -> Any:
    """The harmonic mean of precision and recall: 2 TP / (2 TP + FN + FP).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    labels, pos_label, average, sample_weight, zero_division
        As in :func:`precision_recall_fscore_support`; the default average is "binary".

    Returns
    -------
    f1_score : float, or ndarray of shape (n_labels,) if `average=None`

    Examples
    --------
    The first model of the notes' example is never wrong and finds three of ten positives:

    >>> import numpy as np
    >>> from mercer.metrics import f1_score
    >>> y_true = np.repeat([1, 1, 0], [3, 7, 990])
    >>> y_pred = np.repeat([1, 0, 0], [3, 7, 990])
    >>> round(f1_score(y_true, y_pred), 2)
    0.46
    """
    return fbeta_score(
        y_true,
        y_pred,
        beta=1.0,
        labels=labels,
        pos_label=pos_label,
        average=average,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )
