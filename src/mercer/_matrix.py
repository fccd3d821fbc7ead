"""X as solvers and kernels see it: dense in any memory order or sparse, shifted without a copy, and the products with it.

`native_rows` is what kernels over rows take. A `Matrix` has the rows (x - shift, 1): vectors of coefficients end with the
intercept, and so do sums over the rows. Sums are in double precision, whatever the type of X, and have the same bits for any
number of threads. Families that sum something of their own over rows derive from the two matrices here. Knows no model.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._parallel import effective_threads


def native_rows(X: Any, shift: FloatArray | None = None) -> Any:
    """The kernels' view of X (float32 or float64): dense rows minus `shift`, in place, or sparse rows (CSR) as they are."""
    is_double = X.dtype == np.float64
    if sp.issparse(X):
        return (kernels.CsrRows64 if is_double else kernels.CsrRows32)(X.data, X.indices, X.indptr, X.shape[1])
    return (kernels.DenseRows64 if is_double else kernels.DenseRows32)(X, shift)


class Matrix(Protocol):
    """What dense and sparse X answer alike: sums over the rows (x - shift, 1)."""

    n_rows: int
    n_features: int
    shift: FloatArray

    def values(self, coef: FloatArray) -> FloatArray:
        """The linear values of the rows, in double precision."""
        ...

    def output_values(self, coef: FloatArray) -> FloatArray:
        """The linear values of the rows for several outputs, of shape (n_rows, n_outputs)."""
        ...

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        """X' slopes."""
        ...

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        """X' slopes and X' diag(curvatures) X, for slopes and curvatures of the rows themselves."""
        ...

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted means of the (shifted) columns, and the weighted sums of their squared deviations from them."""
        ...

    def pick(self, index: Any) -> FloatArray:
        """Some rows as a dense matrix in double precision."""
        ...


class DenseMatrix:
    """Dense X of any memory order and float type, read in place. The shift is about the means of the columns."""

    def __init__(self, X: FloatArray, *, is_shifted: bool, n_threads: int) -> None:
        self._X, self._n_threads = X, n_threads
        self.n_rows, self.n_features = X.shape
        some = X[:: max(1, self.n_rows // 1024)]  # near enough to the means to shift by
        self.shift = some.mean(axis=0, dtype=np.float64) if is_shifted else np.zeros(self.n_features)

    def values(self, coef: FloatArray) -> FloatArray:
        raw = np.empty(self.n_rows)
        kernels.linear_values(self._X, self.shift, coef, raw, self._n_threads)
        return raw

    def output_values(self, coef: FloatArray) -> FloatArray:
        return np.column_stack([self.values(np.ascontiguousarray(line)) for line in coef])

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        sums = np.empty(self.n_features + 1)
        kernels.slope_sums(self._X, self.shift, slopes, sums, self._n_threads)
        return sums

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = np.empty(self.n_features + 1), np.empty((self.n_features + 1, self.n_features + 1))
        kernels.weighted_sums(self._X, self.shift, slopes, curvatures, gradient, hessian, self._n_threads)
        return gradient, hessian

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight, mean, deviation = (np.empty(self.n_features) for _ in range(3))
        kernels.column_moments(self._X, weights.astype(self._X.dtype, copy=False), weight, mean, deviation, self._n_threads)
        return mean - self.shift, deviation

    def pick(self, index: Any) -> FloatArray:
        picked = self._X[index] - self.shift
        return np.column_stack([picked, np.ones(len(picked))])


class SparseMatrix:
    """Sparse X by rows: never shifted and never made dense; only products of its columns are a dense matrix."""

    def __init__(self, X: Any, *, n_threads: int | None = None) -> None:
        self._X = X.tocsr().astype(np.float64, copy=False)
        self._rows = native_rows(self._X)
        self._n_threads = n_threads  # None: as many as the worker that asks for products may have
        self.n_rows, self.n_features = X.shape
        self.shift = np.zeros(self.n_features)

    def values(self, coef: FloatArray) -> FloatArray:
        return self.row_values(coef[:-1], float(coef[-1]))

    def output_values(self, coef: FloatArray) -> FloatArray:
        raw: FloatArray = np.ascontiguousarray(self._X @ coef[:, :-1].T + coef[:, -1])
        return raw

    def slope_sums(self, slopes: FloatArray) -> FloatArray:
        return np.append(self.column_sums(slopes), slopes.sum())

    def output_sums(self, slopes: FloatArray) -> FloatArray:
        """X' slopes for slopes of several outputs (n_rows x n_outputs), a line an output."""
        return np.column_stack([(self._transposed @ slopes).T, slopes.sum(axis=0)])

    def weighted_sums(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.n_features
        hessian = np.empty((d + 1, d + 1))
        hessian[:d, :d] = self.products(curvatures)
        hessian[d, :d] = hessian[:d, d] = self.column_sums(curvatures)
        hessian[d, d] = curvatures.sum()
        return self.slope_sums(slopes), hessian

    def column_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = weights.sum()
        sums, squares = self.moment_sums(weights)
        return sums / total, np.maximum(squares - sums**2 / total, 0)

    def pick(self, index: Any) -> FloatArray:
        picked = self._X[index].toarray()
        return np.column_stack([picked, np.ones(len(picked))])

    def curvature_diagonal(self, curvatures: FloatArray) -> FloatArray:
        """The diagonal of X' diag(curvatures) X."""
        return np.append(self.moment_sums(curvatures)[1], curvatures.sum())

    def curvature_product(self, curvatures: FloatArray, vector: FloatArray) -> FloatArray:
        """X' diag(curvatures) X times a vector, in one pass over the rows that have a curvature."""
        product = np.empty(self.n_features + 1)
        kernels.curvature_product(self._rows, curvatures, vector, product)
        return product

    # Without the column of ones.

    def row_values(self, vector: FloatArray, constant: float = 0.0) -> FloatArray:
        """X v plus a constant, a value for each row."""
        values = np.empty(self.n_rows)
        kernels.row_values(self._rows, vector, constant, values, self._threads)
        return values

    def column_sums(self, vector: FloatArray) -> FloatArray:
        """X' v, a value for each column, added up in the order of the rows."""
        sums = np.empty(self.n_features)
        kernels.column_sums(self._rows, vector, sums)
        return sums

    def moment_sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted sums of the columns and of their squares."""
        sums, squares = np.empty(self.n_features), np.empty(self.n_features)
        kernels.moment_sums(self._rows, weights, sums, squares)
        return sums, squares

    def products(self, weights: FloatArray | None = None) -> FloatArray:
        """X' diag(weights) X."""
        products = np.empty((self.n_features, self.n_features))
        kernels.weighted_products(self._rows, weights, products, self._threads)
        return products

    @property
    def _threads(self) -> int:
        return effective_threads(None) if self._n_threads is None else self._n_threads

    @lazy_property
    def _transposed(self) -> Any:
        return self._X.T  # by columns: its products add up in the order of the rows, as those of single vectors do


class Columns:
    """X by columns for the kernels, in double precision; never shifted."""

    def __init__(self, X: Any, *, n_threads: int) -> None:
        self.n_rows, self.n_columns = X.shape
        self._n_threads = n_threads
        if sp.issparse(X):
            X = sp.csc_matrix(X, dtype=np.float64)
            X.sort_indices()
            self.native = kernels.SparseColumns(X.data, X.indices, X.indptr, self.n_rows)
        else:
            self.native = kernels.DenseColumns(np.asfortranarray(X, dtype=np.float64))
        self._X = X

    def values(self, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        """The linear values of the rows for several outputs, of shape (n_rows, n_outputs)."""
        raw: FloatArray = np.ascontiguousarray(self._X @ coef.T + intercept, dtype=np.float64)
        return raw

    def products(self, slopes: FloatArray) -> FloatArray:
        """X' slopes, with a line an output."""
        out = np.empty((self.n_columns, slopes.shape[1]))
        kernels.column_products(self.native, np.ascontiguousarray(slopes), out, self._n_threads)
        return np.ascontiguousarray(out.T)
