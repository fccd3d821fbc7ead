"""The confusion table of each class, from one pass over the labels: every measure of predicted classes is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn

from mercer._confusion import ClassCounts
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.metrics._labels import Array, check_labels, code, is_multilabel, places_of
from mercer.metrics._weights import check_sample_weight


@dataclass(frozen=True)
class Tally(ClassCounts):
    """The counts of each class, and which class it is.

    `classes` are the labels that the counts are of, `present` all labels that occur. Without weights the numbers are int64. For
    multilabel data with `samplewise`, there is one entry a row instead of one a class.
    """

    classes: Array
    present: Array
    is_multilabel: bool = False

    @property
    def kind(self) -> str:
        """What scikit-learn calls such a target."""
        if self.is_multilabel:
            return "multilabel-indicator"
        return "binary" if len(self.present) <= 2 else "multiclass"

    def of(self, labels: Any) -> Tally:
        """The same of some labels, in their order; one that does not occur has nothing."""
        labels = np.asarray(labels)
        places = places_of(labels, self.classes)

        def pick(values: Array) -> Array:
            return np.append(values, np.zeros(1, dtype=values.dtype))[places]  # place -1 is the zero

        return Tally(pick(self.n_true), pick(self.n_predicted), pick(self.hits), self.total, labels, self.present)

    def summed(self) -> Tally:
        """All classes taken as one ("micro"): each row then counts once for each class."""
        totals = np.broadcast_to(self.total, self.hits.shape)
        n_true, n_predicted, hits, total = (
            np.sum(values, keepdims=True) for values in (self.n_true, self.n_predicted, self.hits, totals)
        )
        return Tally(n_true, n_predicted, hits, total, self.classes, self.present, self.is_multilabel)


def tally(y_true: Any, y_pred: Any, sample_weight: Any = None, *, labels: Any = None, samplewise: bool = False) -> Tally:
    """Count the classes of two vectors of labels, or of two indicator matrices. O(n)."""
    if is_multilabel(y_true) or is_multilabel(y_pred):
        return _tally_indicators(y_true, y_pred, sample_weight, labels, samplewise)
    if samplewise:
        raise ValueError("average='samples' is for multilabel data only: there are no samplewise metrics of one label a row.")
    coding = code(check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred"))
    weights = check_sample_weight(sample_weight, len(coding.values[0]))
    counts = np.empty((3, coding.size), dtype=np.int64)
    kernels.tally_labels(*coding.values, coding.low, counts, effective_threads(None))
    is_present = (counts[0] + counts[1]) > 0
    sums: Array = counts
    total: Any = len(coding.values[0])
    if weights is not None:
        sums, total = np.empty(counts.shape), weights.sum()
        kernels.weigh_labels(*coding.values, weights, coding.low, sums, effective_threads(None))
    present = coding.names[is_present]
    n_true, n_predicted, hits = sums[:, is_present]
    found = Tally(n_true, n_predicted, hits, total, present, present)
    return found if labels is None else found.of(labels)


def tally_single(y_true: Any, y_pred: Any, sample_weight: Any, owner: str) -> Tally:
    counts = tally(y_true, y_pred, sample_weight)
    if counts.is_multilabel:
        raise ValueError(f"{owner}: multilabel-indicator is not supported; y_true and y_pred must hold one label a row.")
    return counts


def _tally_indicators(y_true: Any, y_pred: Any, sample_weight: Any, labels: Any, samplewise: bool) -> Tally:
    tables = sklearn.metrics.multilabel_confusion_matrix(
        y_true, y_pred, sample_weight=sample_weight, labels=labels, samplewise=samplewise
    )
    hits, total = tables[:, 1, 1], tables.sum(axis=(1, 2))
    n_true, n_predicted = hits + tables[:, 1, 0], hits + tables[:, 0, 1]
    classes = np.arange(len(hits)) if labels is None or samplewise else np.asarray(labels)
    return Tally(n_true, n_predicted, hits, total, classes, np.arange(np.shape(y_true)[1]), is_multilabel=True)


@dataclass(frozen=True)
class Pairs:
    """The labels that occur, which of them in `y_true`, and the confusion matrix over them."""

    names: Array
    is_true: Array
    table: Array


def tally_pairs(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Pairs:
    """Count the pairs of labels: rows of the table are true labels, columns predicted ones. O(n + k^2)."""
    coding = code(check_labels(y_true, "y_true"), check_labels(y_pred, "y_pred"))
    weights = check_sample_weight(sample_weight, len(coding.values[0]))
    n_threads = effective_threads(None)
    is_true = coding.counts(0) > 0
    is_present = is_true | (coding.counts(1) > 0)
    names = coding.names[is_present]
    values, low = coding.values, coding.low
    if len(names) < coding.size:  # a table without the places that stand empty
        places = (np.cumsum(is_present) - 1).astype(np.int64)
        values, low = tuple(places[value - low] for value in values), 0
    table = np.empty((len(names), len(names)), dtype=np.int64 if weights is None else np.float64)
    if weights is None:
        kernels.tally_pairs(*values, low, table, n_threads)
    else:
        kernels.weigh_pairs(*values, weights, low, table, n_threads)
        if np.asarray(sample_weight).dtype.kind in "iub":
            table = (
                np.rint(table).astype(np.int64)
                if np.abs(weights).sum() <= 2**53
                else _whole_sums(values, low, sample_weight, table)
            )
    return Pairs(names, is_true[is_present], table)


def _whole_sums(values: tuple[Array, ...], low: int, sample_weight: Any, table: Array) -> Array:
    """Sums of whole weights in integers, where doubles would lose units; what exceeds 64 bits wraps around."""
    sums: Array = np.zeros(table.shape, dtype=np.int64)
    np.add.at(sums, tuple(value - low for value in values), np.ravel(sample_weight).astype(np.int64))
    return sums
