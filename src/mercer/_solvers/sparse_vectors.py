"""Products of sparse rows with single vectors, by kernels that check the structure once."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels


class SparseVectors:
    """Sparse X by rows (CSR, float64, 32-bit indices)."""

    def __init__(self, X: Any) -> None:
        self._n_rows, self._n_columns = X.shape
        self._rows = kernels.SparseExamples(X.data, X.indices, X.indptr, self._n_columns)

    def values(self, vector: FloatArray, constant: float = 0.0) -> FloatArray:
        """X v plus a constant, a value for each row."""
        values = np.empty(self._n_rows)
        kernels.sparse_values(self._rows, vector, constant, values)
        return values

    def sums(self, vector: FloatArray) -> FloatArray:
        """X' v, a value for each column, added up in the order of the rows."""
        sums = np.empty(self._n_columns)
        kernels.sparse_sums(self._rows, vector, sums)
        return sums

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The weighted sums of the columns and of their squares."""
        sums, squares = np.empty(self._n_columns), np.empty(self._n_columns)
        kernels.sparse_moments(self._rows, weights, sums, squares)
        return sums, squares

    def curvature_product(self, curvatures: FloatArray, vector: FloatArray) -> FloatArray:
        """X' diag(curvatures) X v for rows (x, 1), the intercept's entry last, in one pass over the rows with a curvature."""
        product = np.empty(self._n_columns + 1)
        kernels.curvature_product(self._rows, curvatures, vector, product)
        return product
