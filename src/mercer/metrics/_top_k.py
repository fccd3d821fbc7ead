"""Accuracy that counts a row as right if its label is among the best few."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, check_consistent_length

from mercer._params import Bool, Integer, check_value
from mercer._trace import warn
from mercer.metrics._areas import check_given_labels, codes_among
from mercer.metrics._labels import Array, Coding, check_labels, code
from mercer.metrics._ranked import classes_of
from mercer.metrics._weights import check_sample_weight


def top_k_accuracy_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
) -> float:
    """The share of rows whose label is among the k with the greatest scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores, with columns in the order of the sorted labels. Of ties, the last column comes first.
    k : int, default=2
        How many labels count.
    normalize : bool, default=True
        If False, the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    labels : array-like of shape (n_classes,), default=None
        The sorted labels of the columns of `y_score`, where not all of them occur.

    Returns
    -------
    score : float

    Examples
    --------
    >>> from mercer.metrics import top_k_accuracy_score
    >>> scores = [[0.5, 0.2, 0.3], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4], [0.7, 0.2, 0.1]]
    >>> top_k_accuracy_score([0, 1, 2, 2], scores, k=2)
    0.75
    """
    k = check_value("top_k_accuracy_score", "k", k, Integer(1))
    check_value("top_k_accuracy_score", "normalize", normalize, Bool())
    coding = code(check_labels(y_true, "y_true"))
    classes = classes_of(coding)
    scores: Array = check_array(y_score, ensure_2d=False, dtype=[np.float64, np.float32])
    is_binary = len(classes) <= 2 and (labels is None or len(labels) <= 2)
    scores = _check_shape(scores, is_binary)
    check_consistent_length(coding.values[0], scores)
    n_columns = 2 if scores.ndim == 1 else scores.shape[1]
    if labels is not None:
        classes = check_given_labels(labels, classes, n_columns)
    elif len(classes) != n_columns:
        raise ValueError(
            f"Number of classes in 'y_true' ({len(classes)}) not equal to the number of classes in 'y_score' ({n_columns}). "
            "You can provide a list of all known classes by assigning it to the `labels` parameter."
        )
    if k >= len(classes):
        warn(
            f"'k' ({k}) greater than or equal to 'n_classes' ({len(classes)}) will result in a perfect score and is "
            "therefore meaningless.",
            UndefinedMetricWarning,
        )
    hits = _hits(coding, classes, scores, k)
    weights = check_sample_weight(sample_weight, len(hits))
    if normalize:
        return float(np.average(hits, weights=weights))
    return float(np.sum(hits if weights is None else weights[hits]))


def _check_shape(scores: Array, is_binary: bool) -> Array:
    if is_binary:
        if scores.ndim == 2 and scores.shape[1] != 1:
            raise ValueError(
                f"`y_true` is binary while y_score is 2d with {scores.shape[1]} classes. If `y_true` does not contain all the "
                "labels, `labels` must be provided."
            )
        return scores.ravel()
    if scores.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={scores.shape}`."
        )
    return scores


def _hits(coding: Coding, classes: Array, scores: Array, k: int) -> Array:
    """Whether each row's label is among its best k."""
    codes = codes_among(coding, classes)
    if scores.ndim == 1:
        threshold = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0
        hits: Array = (scores > threshold) == (codes == 1) if k == 1 else np.ones(len(scores), dtype=bool)
        return hits
    own = np.take_along_axis(scores, codes[:, None], axis=1)
    is_later = np.arange(scores.shape[1]) > codes[:, None]
    n_better = np.sum((scores > own) | ((scores == own) & is_later), axis=1)
    return np.asarray(n_better < k)
