"""What fits compute with, made of a user's table in parts: the checks of `_arrays.py`, each part where it lies.

What holds of all rows (how many columns, their names, the type of X) is settled by a sample; every part is then checked against
that, as new rows are at predictions, whenever a pass comes to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._arrays import Finite, FloatArray, check_weights, class_factors, places_of_labels, validate
from mercer._parts.merging import Sums
from mercer._parts.passes import Parted, each, load, total


@dataclass(frozen=True)
class _CheckRows:
    """A part of X against what is known of its columns."""

    estimator: Any  # not fitted: it knows its name and the features alone
    sparse: Any
    finite: Finite
    dtype: Any

    def __call__(self, block: Any) -> Any:
        if len(block) == 0:
            return np.empty((0, self.estimator.n_features_in_), dtype=self.dtype)
        rows = validate(self.estimator, block, sparse=self.sparse, finite=self.finite, reset=False)
        return rows.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class _CheckTarget:
    """A part of y: one value a row; a finite number if `dtype` is one of numbers."""

    name: str
    is_numeric: bool

    def __call__(self, block: Any) -> Any:
        values = column_or_1d(np.asarray(block), warn=True)
        if not self.is_numeric:
            return values
        numbers = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{self.name}: input y contains NaN or infinity.")
        return numbers


@dataclass(frozen=True)
class _Cast:
    dtype: Any

    def __call__(self, block: Any) -> Any:
        return np.ascontiguousarray(block, dtype=self.dtype)


@dataclass(frozen=True)
class _Code:
    """The place of each label among the classes."""

    name: str
    classes: npt.NDArray[Any]

    def __call__(self, block: Any) -> Any:
        return places_of_labels(self.name, block, self.classes)


@dataclass(frozen=True)
class _CheckWeights:
    """Weights of a part; whether there is a positive one is asked of all parts together."""

    def __call__(self, block: Any) -> Any:
        values = np.asarray(block)
        return check_weights(values, len(values), np.float64) if values.any() else np.zeros(len(values))


def validate_parts(estimator: Any, X: Parted, *y: Any, sparse: Any, finite: Finite, reset: bool, **checks: bool) -> Any:
    """As `_arrays.validate`: the columns of X are settled by a sample, and the checks of its parts come with it."""
    sample = load(X.source.sample() if X.columns is None else X.source.sample()[list(X.columns)], X.steps)
    probe = clone(estimator)
    if not reset:
        vars(probe).update({name: value for name, value in vars(estimator).items() if name.endswith("_in_")})
    checked = validate(probe, sample, sparse=sparse, finite="allow-nan", reset=reset)
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        vars(estimator).update({name: value for name, value in vars(probe).items() if name.endswith("_in_")})
    rows = X.then(_CheckRows(probe, sparse, finite, checked.dtype), dtype=checked.dtype, n_columns=checked.shape[1])
    if not y:
        return rows
    if not isinstance(y[0], Parted):
        raise TypeError(f"{type(estimator).__name__}: X lies in parts and y does not; take y from the same table.")
    return rows, y[0].then(_CheckTarget(type(estimator).__name__, checks.get("y_numeric", False)))


def as_type(y: Parted, dtype: npt.DTypeLike) -> Parted:
    return y.then(_Cast(dtype), dtype=dtype)


def sorted_labels(estimator: Any, y: Parted) -> tuple[npt.NDArray[Any], Parted]:
    """The classes of all parts, and codes in parts; a part need not have them all. One pass over y."""
    found = list(each(np.unique, y))
    if not found:
        raise ValueError("Found array with 0 sample(s): no part has a row.")
    classes = np.unique(np.concatenate(found))
    check_classification_targets(classes)
    name = estimator if isinstance(estimator, str) else type(estimator).__name__
    return classes, y.then(_Code(name, classes), dtype=np.intp)


def weights_of_parts(sample_weight: Any) -> Parted | None:
    """Weights in parts as `_arrays.check_weights` has them; one pass over them."""
    if sample_weight is None:
        return None
    if not isinstance(sample_weight, Parted):
        raise TypeError("X lies in parts and sample_weight does not; take it from the same table.")
    weights = sample_weight.then(_CheckWeights(), dtype=np.float64)
    if not sum(each(np.sum, weights)) > 0:
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weights


def count_classes(codes: Any, weights: Any, n_classes: int) -> FloatArray:
    """The weight of each class."""
    return np.asarray(total(_counts, codes, weights, n_classes).values[0])


def weights_of_classes(class_weight: Any, classes: npt.NDArray[Any], codes: Parted, weights: Parted | None) -> Parted:
    """Each row has the weight of its class; an error with weights of its own, of which there is no product here."""
    if weights is not None:
        raise TypeError("class_weight and sample_weight together are not there for X in parts; multiply them beforehand.")
    return codes.then(_Taken(class_factors(class_weight, classes, codes, None)), dtype=np.float64)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Taken:
    of_class: FloatArray

    def __call__(self, codes: Any) -> FloatArray:
        of_rows: FloatArray = self.of_class[codes]
        return of_rows


def _counts(codes: npt.NDArray[np.intp], weights: FloatArray | None, n_classes: int) -> Sums:
    return Sums((np.bincount(codes, weights=weights, minlength=n_classes),))
