"""Targets of neighbours: classes of one or several outputs as codes, and numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from mercer._labels import Labels
from mercer._trace import warn

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class ClassTargets:
    """The classes of each output, and the place of every row's label among them."""

    classes: list[Labels]
    codes: list[Codes]
    is_2d: bool

    @classmethod
    def of(cls, y: Any) -> ClassTargets:
        """Of labels of shape (n_samples,) or (n_samples, n_outputs)."""
        y = y.toarray() if sp.issparse(y) else np.asarray(y)
        is_2d = y.ndim == 2 and y.shape[1] != 1
        if y.ndim == 2 and not is_2d:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
                "example using ravel().",
                DataConversionWarning,
            )
        check_classification_targets(y if is_2d else y.ravel())
        coded = [np.unique(column, return_inverse=True) for column in y.reshape(len(y), -1).T]
        return cls([classes for classes, _ in coded], [codes.astype(np.int32).ravel() for _, codes in coded], is_2d)

    def attributes(self) -> dict[str, Any]:
        return {
            "classes_": self.classes if self.is_2d else self.classes[0],
            "outputs_2d_": self.is_2d,
            "_codes": self.codes,
        }


def number_attributes(y: Any) -> dict[str, Any]:
    """What regressors store of targets: a matrix with a line for each row, whether it was a vector, and its precision."""
    y = y.toarray() if sp.issparse(y) else np.asarray(y)
    numbers = np.asarray(y, dtype=np.float64)
    return {
        "_targets": np.ascontiguousarray(numbers.reshape(len(numbers), -1)),
        "_is_vector": y.ndim == 1,
        "_dtype": np.float32 if y.dtype == np.float32 else np.float64,
    }
