"""The class of rows that have no neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._labels import Labels
from mercer._params import _REFUSED, Rule
from mercer._trace import warn
from mercer.neighbors._targets import ClassTargets


class _Label(Rule):
    """Anything that can be a label, or several of them; whether it is one of y's type is seen with the data."""

    def accept(self, value: Any) -> Any:
        is_label = value is None or np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))
        return value if is_label else _REFUSED

    def describe(self) -> str:
        return "None, 'most_frequent', a label or a list of labels"


OUTLIER_LABEL: Rule = _Label()


def find_outlier_labels(given: Any, targets: ClassTargets) -> list[Any] | None:
    """The label for each output, or None where such rows are an error."""
    if given is None:
        return None
    if isinstance(given, str) and given == "most_frequent":
        pairs = zip(targets.classes, targets.codes, strict=True)
        return [classes[np.bincount(codes).argmax()] for classes, codes in pairs]
    labels = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given] * len(targets.classes)
    if len(labels) != len(targets.classes):
        raise ValueError(
            f"The length of outlier_label: {given!r} is inconsistent with the output length: {len(targets.classes)}."
        )
    for classes, label in zip(targets.classes, labels, strict=True):
        if not np.isscalar(label):
            raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label!r}.")
        if np.append(classes, label).dtype != classes.dtype and not _is_longer_text(label, classes):
            raise TypeError(f"The dtype of outlier_label {label!r} is inconsistent with classes {classes} in y.")
    return labels


def _is_longer_text(label: Any, classes: Labels) -> bool:
    return isinstance(label, str) and classes.dtype.kind == "U"


def _require_label(is_alone: npt.NDArray[np.bool_], labels: Sequence[Any] | None) -> Sequence[Any]:
    if labels is None:
        rows = np.flatnonzero(is_alone)
        shown = ", ".join(map(str, rows[:10])) + (", ..." if len(rows) > 10 else "")
        raise ValueError(
            f"No neighbors found for test samples [{shown}] ({len(rows)} in all): no row is within the radius. You can try "
            "using larger radius, giving a label for outliers (outlier_label), or considering removing them from your dataset."
        )
    return labels


def label_outliers(found: Labels, is_alone: npt.NDArray[np.bool_], labels: Sequence[Any] | None) -> Labels:
    """Labels with those of rows without neighbours put in."""
    labels = _require_label(is_alone, labels)
    lengthened = np.result_type(found, np.asarray(labels)) if found.dtype.kind == "U" else found.dtype
    found = found.astype(lengthened)
    found[is_alone] = labels if found.ndim == 2 else labels[0]
    return found


def share_outliers(
    shares: list[FloatArray], classes: list[Labels], is_alone: npt.NDArray[np.bool_], labels: Sequence[Any] | None
) -> None:
    """Give rows without neighbours the share one of their label."""
    for of_output, known, label in zip(shares, classes, _require_label(is_alone, labels), strict=True):
        place = np.flatnonzero(known == label)
        if len(place) == 1:
            of_output[is_alone, place[0]] = 1.0
        else:
            warn(
                f"Outlier label {label} is not in training classes. All class probabilities of outliers will be assigned "
                "with 0."
            )
