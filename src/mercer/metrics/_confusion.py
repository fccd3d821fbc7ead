"""The confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Null, OneOf, check_value
from mercer._trace import warn
from mercer.metrics._labels import Array, is_multilabel, places_of
from mercer.metrics._tally import Pairs, tally_pairs


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: str | None = None
) -> Array:
    """How many rows of each class are predicted to be of each class.

    C[i, j] is the number (or weight) of rows with the i-th label that are predicted to have the j-th.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels (integers, booleans or strings).
    labels : array-like of shape (n_labels,), default=None
        The labels to count, in that order; others are left out. By default all that occur, sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of rows.
    normalize : {"true", "pred", "all"} or None, default=None
        Divide by the sums of rows, of columns, or by the sum of all.

    Returns
    -------
    C : ndarray of shape (n_labels, n_labels)
        int64, or float64 with weights that are not integers.

    Notes
    -----
    One pass over integer labels in O(n), shared among the threads; strings are numbered first. The table is dense:
    O(n_labels^2) of memory.

    Examples
    --------
    >>> from mercer.metrics import confusion_matrix
    >>> confusion_matrix(["cat", "ant", "cat", "cat"], ["ant", "ant", "cat", "cat"])
    array([[1, 0],
           [1, 2]])
    """
    check_value("confusion_matrix", "normalize", normalize, OneOf("true", "pred", "all") | Null())
    if is_multilabel(y_true) or is_multilabel(y_pred):
        raise ValueError("confusion_matrix: multilabel-indicator is not supported; use multilabel_confusion_matrix.")
    pairs = tally_pairs(y_true, y_pred, sample_weight)
    table = pairs.table if labels is None else _select(pairs, labels)
    if normalize is not None:
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        with np.errstate(invalid="ignore", divide="ignore"):
            table = np.nan_to_num(table / table.sum(axis=axis, keepdims=True))
    if table.shape == (1, 1):
        warn(
            "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, use the "
            "'labels' parameter to pass all known labels."
        )
    return table


def _select(pairs: Pairs, labels: Any) -> Array:
    """The rows and columns of some labels, in their order; zeros for one that does not occur."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError("'labels' should contain at least one label, as a vector.")
    places = np.array(places_of(labels, pairs.names))
    if not pairs.is_true[places[places >= 0]].any():
        raise ValueError(f"At least one label specified must be in y_true; none of labels={labels.tolist()!r} is.")
    padded = np.pad(pairs.table, (0, 1))  # place -1 is a row and a column of zeros
    selected: Array = padded[np.ix_(places, places)]
    return selected
