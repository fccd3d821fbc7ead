"""X minus a common centre as a linear operator, never centred in memory: what solvers, scores and residuals ask of it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads


class Operator(Protocol):
    """A = X - 1 centre', and its products with dense matrices of its own type; the bits depend on no number of threads."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def times(self, right: FloatArray) -> FloatArray:
        """A times a matrix with a line for each column of X."""
        ...

    def transposed_times(self, right: FloatArray) -> FloatArray:
        """A' times a matrix with a line for each row of X."""
        ...


class DenseOperator:
    """Dense rows of any memory order. The centre is taken off each value: rows far from the origin lose no digits."""

    def __init__(self, X: FloatArray, centre: FloatArray) -> None:
        self._X, self._centre = X, centre.astype(X.dtype, copy=False)
        self.shape, self.dtype = X.shape, X.dtype

    def times(self, right: FloatArray) -> FloatArray:
        out = np.empty((self.shape[0], right.shape[1]), self.dtype)
        kernels.multiply_centred(self._X, self._centre, right, out, effective_threads(None))
        return out

    def transposed_times(self, right: FloatArray) -> FloatArray:
        out = np.empty((self.shape[1], right.shape[1]), self.dtype)
        kernels.multiply_centred_transposed(self._X, self._centre, right, out, effective_threads(None))
        return out


class SparseOperator:
    """Sparse rows (CSR or CSC), which stay sparse: what the centre changes is taken off the products."""

    def __init__(self, X: Any, centre: FloatArray) -> None:
        self._X, self._centre = X, centre.astype(X.dtype, copy=False)
        self.shape, self.dtype = X.shape, X.dtype
        self._is_centred = bool(centre.any())

    def times(self, right: FloatArray) -> FloatArray:
        out = _sparse_product(self._rows, self.shape[0], right)
        if self._is_centred:
            out -= dense_product(self._centre[None, :], right)
        return out

    def transposed_times(self, right: FloatArray) -> FloatArray:
        out = _sparse_product(self._columns, self.shape[1], right)
        if self._is_centred:
            out -= np.outer(self._centre, right.sum(axis=0))
        return out

    @lazy_property
    def _rows(self) -> Any:
        return native_rows(self._X.tocsr())

    @lazy_property
    def _columns(self) -> Any:
        return native_rows(self._X.T.tocsr())


def operator_of(X: Any, centre: FloatArray | None = None) -> Operator:
    centre = np.zeros(X.shape[1], X.dtype) if centre is None else centre
    return SparseOperator(X, centre) if sp.issparse(X) else DenseOperator(X, centre)


def dense_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """The product of two dense matrices of the same type."""
    out = np.empty((len(left), right.shape[1]), left.dtype)
    kernels.multiply(1.0, left, right, 0.0, out, effective_threads(None))
    return out


def _sparse_product(rows: Any, n_rows: int, right: FloatArray) -> FloatArray:
    out = np.empty((n_rows, right.shape[1]), right.dtype)
    kernels.multiply_sparse(rows, np.ascontiguousarray(right), out, effective_threads(None))
    return out
