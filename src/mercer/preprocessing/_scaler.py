"""What the scalers share: each is a shift and a scale of every column, and differs in how it finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.sparsefuncs import inplace_column_scale
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_transformed, check_X, require_finite
from mercer._base import MercerEstimator
from mercer._native import kernels
from mercer._parallel import effective_threads

# The kernels (x - shift) / scale and x * scale + shift.
Operation = Callable[..., bool]
DIVIDE: Operation = kernels.subtract_divide
MULTIPLY: Operation = kernels.multiply_add


class Scaler(OneToOneFeatureMixin, TransformerMixin, MercerEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of the scalers: input and output of `transform` and `inverse_transform`."""

    _sparse_formats: ClassVar[tuple[str, ...] | None] = ("csr", "csc")  # what comes out of `transform`

    def _shift_and_scale(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The fitted parameters of the columns; None where there is nothing to do."""
        raise NotImplementedError

    def _scale(self, X: Any, operation: Operation, **options: Any) -> Any:
        """X as `transform` takes it, scaled; the options are those of `scale_columns`."""
        _check_fitted(self)
        rows = check_X(self, X, sparse=self._sparse_formats, finite="deferred", reset=False)
        return scale_columns(self, X, rows, operation, *self._shift_and_scale(), **options)

    def _scale_back(self, X: Any, operation: Operation, **options: Any) -> Any:
        """X as `inverse_transform` takes it, scaled; the options are those of `scale_columns`."""
        _check_fitted(self)
        rows = check_transformed(self, X, sparse=self._sparse_formats)
        return scale_columns(self, X, rows, operation, *self._shift_and_scale(), **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._sparse_formats is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_fitted(estimator: Scaler) -> None:
    if "n_features_in_" not in vars(estimator):  # the question in full costs more than scaling a small X
        check_is_fitted(estimator)


def scale_columns(
    estimator: Any,
    given: Any,
    rows: Any,
    operation: Operation,
    shift: FloatArray | None,
    scale: FloatArray | None,
    *,
    copy: bool,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> Any:
    """The operation on each column of `rows`, clipped to the limits; infinity is an error.

    Works in place where the caller allows it, or where `rows` is a converted copy of what was given.
    """
    if sp.issparse(rows):
        return _scale_sparse(estimator, given, rows, operation, scale, copy=copy, limits=limits)
    in_place = rows.flags.writeable and not (copy and _may_share_memory(given, rows))
    if in_place:
        require_finite(estimator, rows, allow_nan=True)
    out = rows if in_place else np.empty_like(rows, subok=False)
    n_columns, dtype = rows.shape[1], rows.dtype
    shift = np.zeros(n_columns, dtype) if shift is None else shift.astype(dtype, copy=False)
    scale = np.ones(n_columns, dtype) if scale is None else scale.astype(dtype, copy=False)
    has_infinity = operation(rows, shift, scale, *limits, out, effective_threads(None))
    if has_infinity:
        require_finite(estimator, rows, allow_nan=True)
    return out


def _may_share_memory(given: Any, rows: FloatArray) -> bool:
    return given is rows or not isinstance(given, np.ndarray) or np.may_share_memory(given, rows)


def _scale_sparse(
    estimator: Any,
    given: Any,
    rows: Any,
    operation: Operation,
    scale: FloatArray | None,
    *,
    copy: bool,
    limits: tuple[float, float],
) -> Any:
    """The same for sparse rows, whose zeros stay zero."""
    require_finite(estimator, rows, allow_nan=True)
    if not rows.data.flags.writeable or (copy and _may_share_memory(getattr(given, "data", None), rows.data)):
        rows = rows.copy()
    if scale is not None:
        inplace_column_scale(rows, 1.0 / scale if operation is DIVIDE else scale)
    if limits != (-np.inf, np.inf):
        np.clip(rows.data, *limits, out=rows.data)
    return rows


def without_zeros(scale: FloatArray) -> FloatArray:
    """The scales, with 1 in place of those that are zero up to rounding: constant columns."""
    return np.where(scale < 10 * np.finfo(scale.dtype).eps, scale.dtype.type(1), scale)
