"""What a fit of bagging is given, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from mercer._compat import validate_data
from mercer._labels import code_labels
from mercer._trace import warn
from mercer._trees.training import Training, check_training
from mercer.ensemble._bagging.members import UNCHECKED


@dataclass(frozen=True)
class BagData:
    """One fit's data, checked: classes are numbers in y; `trees` is there where Mercer's own trees are grown."""

    X: Any
    y: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None
    trees: Training | None = None

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)


def check_data(owner: Any, X: Any, y: Any, base: Any, *, is_classifier: bool, grows: bool) -> BagData:
    """Data for the members of `owner`, in the form that its trees take if it grows them."""
    if grows:
        data = check_training(owner, X, y, None, is_classifier=is_classifier, categorical_features=base.categorical_features)
        y = _one_column(data.targets.values[:, 0] if data.has_one_output else data.targets.values, is_classifier=is_classifier)
        data = replace(data, has_one_output=y.ndim == 1)
        return BagData(data.X, y, data.classes[0] if data.classes else None, data)
    X, y = validate_data(owner, X, y, **UNCHECKED, multi_output=True, y_numeric=not is_classifier)
    y = _one_column(y, is_classifier=is_classifier)
    if not is_classifier:
        return BagData(X, y, None)
    check_classification_targets(y)
    classes, codes = code_labels(y)
    return BagData(X, codes, classes)


def _one_column(y: npt.NDArray[Any], *, is_classifier: bool) -> npt.NDArray[Any]:
    """A column vector as a vector; several columns are for regressors only."""
    if y.ndim == 1:
        return y
    if y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
            "example using ravel().",
            DataConversionWarning,
        )
        return y[:, 0]
    if is_classifier:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y
