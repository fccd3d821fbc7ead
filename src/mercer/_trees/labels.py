"""Labels and class shares from the values of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._labels import choose_labels


def labels_of(values: FloatArray, classes: Any) -> npt.NDArray[Any]:
    """The class of largest value, of shape (n_rows,) or (n_rows, n_outputs)."""
    if values.shape[1] == 1:
        return choose_labels(values[:, 0], classes)
    return np.stack([choose_labels(values[:, output], each) for output, each in enumerate(classes)], axis=1)


def shares_of(values: FloatArray, classes: Any) -> Any:
    """The shares of the classes: an array, or a list with one an output."""
    if values.shape[1] == 1:
        return np.ascontiguousarray(values[:, 0, : len(classes)])
    return [np.ascontiguousarray(values[:, output, : len(each)]) for output, each in enumerate(classes)]
