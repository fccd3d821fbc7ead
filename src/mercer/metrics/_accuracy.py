"""The share of rows or labels that are right, or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from mercer._params import Bool, check_value
from mercer.metrics._labels import Array, is_multilabel
from mercer.metrics._tally import tally
from mercer.metrics._weights import check_sample_weight


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows with the right label (for multilabel data: with all labels right).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    normalize : bool, default=True
        If False, the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    score : float

    Examples
    --------
    Accuracy says little where one class is rare: all-negative predictions for 1,000 positives among 100,000 rows.

    >>> import numpy as np
    >>> from mercer.metrics import accuracy_score, recall_score
    >>> y_true, y_pred = np.repeat([1, 0], [1_000, 99_000]), np.zeros(100_000, dtype=int)
    >>> accuracy_score(y_true, y_pred), recall_score(y_true, y_pred)
    (0.99, 0.0)
    """
    check_value("accuracy_score", "normalize", normalize, Bool())
    if is_multilabel(y_true) or is_multilabel(y_pred):
        _, n_wrong, weights = _wrong_labels(y_true, y_pred, sample_weight)
        return _sum_or_share(n_wrong == 0, weights, normalize)
    counts = tally(y_true, y_pred, sample_weight)
    right, total = map(float, counts.accuracy)
    return right / total if normalize else right


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """The share of rows with a wrong label: 1 - accuracy.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    normalize : bool, default=True
        If False, the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> from mercer.metrics import zero_one_loss
    >>> zero_one_loss(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.25
    """
    check_value("zero_one_loss", "normalize", normalize, Bool())
    if is_multilabel(y_true) or is_multilabel(y_pred):
        _, n_wrong, weights = _wrong_labels(y_true, y_pred, sample_weight)
        return _sum_or_share(n_wrong > 0, weights, normalize)
    counts = tally(y_true, y_pred, sample_weight)
    wrong = float(counts.total - counts.hits.sum())
    return wrong / float(counts.total) if normalize else wrong


def error_rate(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of rows with a wrong label, under the name that the textbooks use; the same as :func:`zero_one_loss`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    rate : float

    Examples
    --------
    >>> from mercer.metrics import error_rate
    >>> error_rate([1, 1, 0, 0], [1, 0, 0, 0])
    0.25
    """
    return zero_one_loss(y_true, y_pred, sample_weight=sample_weight)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of labels that are wrong; with one label a row this is the error rate.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, or multilabel indicator matrices.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.metrics import hamming_loss
    >>> hamming_loss(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]]))
    0.25
    """
    if is_multilabel(y_true) or is_multilabel(y_pred):
        n_labels, n_wrong, weights = _wrong_labels(y_true, y_pred, sample_weight)
        return _sum_or_share(n_wrong / n_labels, weights, normalize=True)
    return zero_one_loss(y_true, y_pred, sample_weight=sample_weight)


def _wrong_labels(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[int, Array, Array | None]:
    """Of indicator matrices: the number of labels, how many of them are wrong in each row, and the weights of the rows."""
    kinds = type_of_target(y_true, "y_true"), type_of_target(y_pred, "y_pred")
    if kinds[0] != kinds[1]:
        raise ValueError(f"Classification metrics can't handle a mix of {kinds[0]} and {kinds[1]} targets.")
    check_consistent_length(y_true, y_pred)
    truth, found = (y.toarray() if sp.issparse(y) else np.asarray(y) for y in (y_true, y_pred))
    if truth.shape[1] != found.shape[1]:
        raise ValueError(f"y_true and y_pred have different numbers of labels: {truth.shape[1]} and {found.shape[1]}.")
    return truth.shape[1], np.count_nonzero(truth != found, axis=1), check_sample_weight(sample_weight, len(truth))


def _sum_or_share(values: Array, weights: Array | None, normalize: bool) -> float:
    weights = np.ones(len(values)) if weights is None else weights
    total = float(weights @ values)
    return total / float(weights.sum()) if normalize else total
