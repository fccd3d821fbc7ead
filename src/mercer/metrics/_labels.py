"""Class labels of any type as whole numbers, in one or two fast passes: what every measure of classes begins with.

Labels may be integers, booleans, whole floats or strings, in lists, arrays or Series. An indicator matrix of several labels a
row (multilabel data) is told apart here, and the counting of such is left to scikit-learn (`_tally.py`, `_accuracy.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from mercer._native import kernels
from mercer._parallel import effective_threads

Array = npt.NDArray[Any]

_MANY = 1 << 16  # places that may always be counted one by one


def is_multilabel(y: Any) -> bool:
    """Whether y is an indicator matrix of several labels a row."""
    if type(y) is np.ndarray and y.ndim == 1:
        return False
    if not sp.issparse(y) and np.ndim(y) < 2:
        return False
    return bool(type_of_target(y) == "multilabel-indicator")


def check_labels(y: Any, name: str) -> Array:
    """y as a vector of numbers or strings."""
    if sp.issparse(y):
        raise TypeError(f"{name} is a sparse matrix; labels must be a vector. Sparse input is for multilabel indicators only.")
    if isinstance(y, (str, bytes)) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"{name}={y!r} is not an array of labels; it must be a vector, a list or a Series.")
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and isinstance(y, (list, tuple)):
        labels = np.array(y, dtype=object)  # NumPy would turn numbers among strings into strings
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"{name} must be a vector of labels; got an array of shape {labels.shape}.")
    if labels.shape[0] == 0:
        raise ValueError(
            f"Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required: {name} has no rows."
        )
    return _plain(labels, name)


def _plain(labels: Array, name: str) -> Array:
    """Numbers as integers or booleans where they are whole, strings as an array of objects."""
    kind = labels.dtype.kind
    if kind == "O":
        labels = _from_objects(labels, name)
        kind = labels.dtype.kind
    if kind in "biu" or kind == "O":
        return labels
    if kind in "UT":
        return labels.astype(object)
    if kind == "f":
        with np.errstate(invalid="ignore"):
            is_whole = labels == np.trunc(labels)
        if not is_whole.all() or np.isinf(labels).any():
            raise ValueError(_not_labels(labels, is_whole & np.isfinite(labels), name))
        return labels
    if kind == "S":
        raise TypeError(f"{name} holds bytes, which are not supported as labels. Convert them to strings or integers.")
    raise ValueError(f"{name} holds values of dtype {labels.dtype}; labels must be integers, booleans or strings.")


def _from_objects(labels: Array, name: str) -> Array:
    values = labels.tolist()
    if all(isinstance(value, str) for value in values):
        return labels
    kinds = {str if isinstance(value, str) else type(value) for value in values}
    if str in kinds:
        others = next(repr(value) for value in values if not isinstance(value, str))
        raise ValueError(f"{name} holds strings and other values, such as {others}: a mix of label input types.")
    try:
        plain = np.array(values)
    except (TypeError, ValueError):
        plain = labels
    if plain.dtype.kind not in "biufS" or plain.ndim != 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name} holds values of type {names}; labels must be integers, booleans or strings, none missing.")
    return plain


def _not_labels(labels: Array, is_label: Array, name: str) -> str:
    value = labels[~is_label][0]
    if not np.isfinite(value):
        what = "NaN" if np.isnan(value) else f"infinity or a value too large for {labels.dtype!r}"
        return f"Input {name} contains {what}; every row needs a label."
    return (
        f"{name} holds {value!s}, which is not a class: classification metrics can't handle continuous targets. "
        "Turn scores into labels first, by a threshold say."
    )


@dataclass(frozen=True)
class Coding:
    """Vectors of labels as whole numbers from `low` on, and the label that each number stands for.

    Labels are sorted, and so are their numbers. Some of the numbers may stand for labels that do not occur.
    """

    values: tuple[Array, ...]  # int64, one for each vector of labels
    low: int
    names: Array  # the labels, one for each number

    @property
    def size(self) -> int:
        return len(self.names)

    def counts(self, number: int = 0) -> Array:
        """How often each label occurs in one of the vectors."""
        counts = np.empty(self.size, dtype=np.int64)
        kernels.count_labels(self.values[number], self.low, counts, effective_threads(None))
        return counts

    def number_of(self, label: Any) -> int:
        """The number of a label; one that never occurs where there is no such label."""
        place = places_of([label], self.names)[0]
        absent = self.low - 1 if self.low > np.iinfo(np.int64).min else self.low + self.size
        return self.low + place if place >= 0 else absent


def places_of(labels: Any, names: Array) -> list[int]:
    """Where each of the labels stands among sorted names; -1 where it does not."""
    places = {name: place for place, name in enumerate(names.tolist())} if len(names) <= _MANY else None
    found = []
    for label in np.asarray(labels).tolist() if not isinstance(labels, list) else labels:
        if places is not None:
            found.append(places.get(label, -1) if label.__hash__ is not None else -1)
        else:
            place = int(np.searchsorted(names, label))
            found.append(place if place < len(names) and names[place] == label else -1)
    return found


def code(*vectors: Array, names: tuple[str, ...] = ("y_true", "y_pred")) -> Coding:
    """Numbers for the labels of one or two vectors that `check_labels` has passed."""
    check_consistent_length(*vectors)
    are_strings = [vector.dtype.kind == "O" for vector in vectors]
    if any(are_strings):
        if not all(are_strings):
            found = " and ".join(f"{name}={vector[0]!r}, …" for name, vector in zip(names, vectors, strict=True))
            raise ValueError(f"Mix of label input types (string and number): {found}. Both must hold labels of the same kind.")
        return _code_strings(vectors)
    return _code_numbers(vectors)


def _code_strings(vectors: tuple[Array, ...]) -> Coding:
    lists = [vector.tolist() for vector in vectors]
    names = sorted(set().union(*lists))
    number = {name: place for place, name in enumerate(names)}
    values = (np.fromiter(map(number.__getitem__, labels), dtype=np.int64, count=len(labels)) for labels in lists)
    return Coding(tuple(values), 0, np.array(names))


def _code_numbers(vectors: tuple[Array, ...]) -> Coding:
    dtype = np.result_type(*vectors)
    low, high = int(min(vector.min() for vector in vectors)), int(max(vector.max() for vector in vectors))
    limits = np.iinfo(np.int64)
    n_places = high - low + 1
    if n_places > max(_MANY, 4 * sum(map(len, vectors))) or low < limits.min or high > limits.max:
        names = np.unique(np.concatenate([np.unique(vector) for vector in vectors]))
        return Coding(tuple(np.searchsorted(names, vector).astype(np.int64) for vector in vectors), 0, names)
    values = tuple(np.ascontiguousarray(vector, dtype=np.int64) for vector in vectors)
    return Coding(values, low, np.arange(low, high + 1).astype(dtype))
