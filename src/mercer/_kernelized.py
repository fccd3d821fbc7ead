"""What estimators with a kernel share: the rule of the parameter, rows as the kernel takes them, products with its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length

from mercer._arrays import FloatArray, check_X, require_no_overflow, validate
from mercer._native import kernels as native
from mercer._parallel import effective_threads
from mercer._params import Function, Instance, InvalidParameterError, OneOf
from mercer._rows import count_rows, take_rows
from mercer.kernels import KERNELS, Kernel, KernelMatrix, Precomputed, as_kernel

KERNEL = OneOf(*KERNELS) | Instance(Kernel) | Function()

_BAND = 1 << 20  # values of a kernel that are held at a time, in the cache, where a product with them is all that is wanted


def is_gram(kernel: Any) -> bool:
    """Whether a kernel parameter says that X is the kernel matrix itself."""
    return bool(kernel == "precomputed") if isinstance(kernel, str) else isinstance(kernel, Precomputed)


def kernel_of(estimator: Any, params: Any, **own: Any) -> Kernel:
    """The kernel of an estimator's checked parameters; `own` are those of a kernel that is named. Functions take rows."""
    if params.kernel_params is not None and isinstance(params.kernel, (str, Kernel)):
        raise InvalidParameterError(
            f"{type(estimator).__name__}: kernel_params={params.kernel_params!r} is not valid with kernel={params.kernel!r}; "
            "it must be None, since its arguments are those of a function."
        )
    return as_kernel(params.kernel, by="rows", params=params.kernel_params, **own)


def gram(estimator: Any, kernel: Kernel, X: Any) -> FloatArray:
    """The kernel matrix of the rows of a fit, a copy where it is given; an error says so where values overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        K = kernel.on(X).rows(np.arange(count_rows(X))) if is_gram(kernel) else kernel(X)
    if not np.isfinite(K).all():
        if kernel.takes == "numbers":
            require_no_overflow(estimator, X, "the values of the kernel")
        raise ValueError(f"{type(estimator).__name__}: the kernel {kernel!r} gave NaN or infinity.")
    return K


def without_nan(estimator: Any, X: Any, values: FloatArray) -> FloatArray:
    """Values that were computed from rows; an error where they overflowed on the way."""
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(values.sum())  # cheaper than a look at each of them
    if not is_finite and np.isnan(values).any():
        require_no_overflow(estimator, X, "what is computed from it")
    return values


def check_rows(estimator: Any, kernel: Kernel, X: Any, *, reset: bool) -> Any:
    """X as the kernel takes it: a checked matrix in C order, or a list of sequences, of which there must be one."""
    if kernel.takes == "sequences":
        return check_sequences(estimator, X)
    return _in_c_order(check_X(estimator, X, sparse="csr", reset=reset))


def check_rows_y(estimator: Any, kernel: Kernel, X: Any, y: Any) -> tuple[Any, FloatArray]:
    """As `check_rows`, with numeric targets, one or several a row, in the float type of the kernel's values."""
    if kernel.takes == "sequences":
        X = check_sequences(estimator, X)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(X, y)
        return X, y
    X, y = validate(estimator, X, y, sparse="csr", multi_output=True, y_numeric=True)
    return _in_c_order(X), np.ascontiguousarray(y, dtype=X.dtype)


def own_rows(X: Any) -> Any:
    """Rows for a fitted estimator to keep, which nobody else writes to."""
    return list(X) if isinstance(X, list) else X.copy()


def resolved(estimator: Any, kernel: Kernel, X: Any) -> Kernel:
    """A kernel for the rows of a fit: columns by number, and numbers for what is said in terms of the rows."""
    return kernel.by_number(getattr(estimator, "feature_names_in_", None)).resolved(X)


def _in_c_order(X: Any) -> Any:
    return X if sp.issparse(X) else np.ascontiguousarray(X)


def check_sequences(estimator: Any, X: Any) -> list[Any]:
    """Rows that need not be numbers, as a list: there must be one."""
    rows = [] if isinstance(X, (str, bytes)) else list(X)
    if not rows:
        raise ValueError(f"{type(estimator).__name__}: X={X!r} is not valid; it must be a list of sequences, at least one.")
    return rows


def multiply(left: FloatArray, right: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """left @ right by the native product, whose bits do not depend on the number of threads; vectors are columns."""
    columns = right if right.ndim == 2 else right[:, None]
    columns = columns.astype(left.dtype, copy=False)
    found = np.empty((left.shape[0], columns.shape[1]), dtype=left.dtype) if out is None else out
    native.multiply(1.0, left, columns, 0.0, found, effective_threads(None))
    return found if right.ndim == 2 else found[:, 0]


def bands(X: Any, n_columns: int) -> Iterator[slice]:
    """Runs of rows whose kernel with `n_columns` others is held at a time."""
    n_rows, step = count_rows(X), max(256, _BAND // max(n_columns, 1))
    return (slice(begin, min(begin + step, n_rows)) for begin in range(0, n_rows, step))


def times_kernel(matrix: KernelMatrix, X: Any, right: FloatArray) -> FloatArray:
    """The kernel of the rows of X with those of the matrix, times a matrix with a line for each of these."""
    product = matrix.times(X, right)
    return times_values(matrix.against, X, matrix.n_rows, right) if product is None else product


def times_values(values: Callable[[Any], FloatArray], X: Any, n_columns: int, right: FloatArray) -> FloatArray:
    """values(X) @ right, some rows of X at a time, so that the memory is that of the result."""
    outputs = 1 if right.ndim == 1 else right.shape[1]
    result: FloatArray | None = None
    for rows in bands(X, n_columns):
        part = X if rows.stop - rows.start == count_rows(X) else take_rows(X, np.arange(rows.start, rows.stop))
        block = values(part)
        if result is None:
            result = np.empty((count_rows(X), outputs), dtype=block.dtype)
        multiply(block, right.reshape(len(right), outputs), out=result[rows])
    assert result is not None
    return result[:, 0] if right.ndim == 1 else result
