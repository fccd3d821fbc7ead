"""Classes: labels as places among the sorted ones, labels from scores, and columns for classes that a model has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import unique_labels

Labels = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]

FEW_CLASSES = 8
FEW_NUMBERS = 1024  # from the least label to the largest, that are counted rather than sorted


def code_labels(y: Labels) -> tuple[Labels, Codes]:
    """The sorted classes of y, which was checked, and the place of each label among them."""
    if y.dtype.kind in "iu" and y.dtype != np.uint64 and len(y):
        numbers = y.astype(np.intp)  # a copy: another thread may write to y, and the range sizes what is counted
        low, high = int(numbers.min()), int(numbers.max())
        if high - low <= max(len(y), FEW_NUMBERS):
            classes, codes = _count_numbers(numbers - low, high - low + 1)
            return (classes + low).astype(y.dtype), codes
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def _count_numbers(numbers: Codes, end: int) -> tuple[Codes, Codes]:
    """Those of the numbers 0 to `end` - 1 that are there, and the place of each among them, without a sort. O(n + end)."""
    is_there = np.bincount(numbers, minlength=end) > 0
    codes: Codes = (np.cumsum(is_there) - 1)[numbers]
    return np.flatnonzero(is_there), codes


def require_two_classes(owner: str, classes: Labels) -> None:
    """Refuse a y of fewer than two classes."""
    if len(classes) == 0:
        raise ValueError(f"{owner}: y is empty, 0 samples (shape=(0,)) while a minimum of 2 is required.")
    if len(classes) == 1:
        raise ValueError(
            f"{owner}: y holds 1 class only, {classes.tolist()[0]!r}; it needs samples of at least 2 classes in the data."
        )


def known_classes(estimator: Any, classes: Any) -> Labels:
    """The classes of the first call of partial_fit, sorted, which later calls may repeat."""
    known: Labels | None = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known
    given: Labels = unique_labels(classes)
    if known is not None and not np.array_equal(known, given):
        raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return given


def choose_codes(scores: npt.NDArray[Any], n_classes: int, *, zero_is_second: bool = False) -> Codes:
    """The class of each row: by the sign of one score for two classes, positive for the second, else by the largest score.

    Of one class it is that class, whatever the score.
    """
    if n_classes == 1:
        return np.zeros(len(scores), dtype=np.intp)
    if scores.ndim == 2 and not (scores.shape[1] == 1 and n_classes == 2):
        return largest_codes(scores)
    values = scores if scores.ndim == 1 else scores[:, 0]
    return (values >= 0 if zero_is_second else values > 0).astype(np.intp)


def largest_codes(scores: npt.NDArray[Any]) -> Codes:
    """The place of the largest of each line, the first of equals; few columns are faster compared one after another."""
    if not 1 < scores.shape[1] <= FEW_CLASSES:
        largest: Codes = scores.argmax(axis=1)
        return largest
    best, places = np.ascontiguousarray(scores[:, 0]), np.zeros(len(scores), dtype=np.int8)
    for code in range(1, scores.shape[1]):
        column = np.ascontiguousarray(scores[:, code])
        places = np.maximum(places, (column > best) * np.int8(code))  # a later place is a larger number
        best = np.maximum(best, column)
    return places.astype(np.intp)


def choose_labels(scores: npt.NDArray[Any], classes: Labels, *, zero_is_second: bool = False) -> Labels:
    """The label of each row (see `choose_codes`)."""
    return np.asarray(classes).take(choose_codes(scores, len(classes), zero_is_second=zero_is_second))


def pad_classes(
    scores: npt.NDArray[Any], places: npt.NDArray[Any], n_classes: int, *, dtype: npt.DTypeLike | None = None
) -> npt.NDArray[Any]:
    """A column for each of `n_classes`, from those of the classes at `places`: one that a model has not seen has zeros."""
    full = np.zeros((len(scores), n_classes), dtype=scores.dtype if dtype is None else dtype)
    full[:, places] = scores
    return full
