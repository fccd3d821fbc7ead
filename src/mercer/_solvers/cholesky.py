"""Symmetric positive definite systems by native kernels: on all threads, with the same bits for any number of them."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads


class Cholesky:
    """The factor L of a symmetric A = L L'. Raises LinAlgError where A is not positive definite. O(n^3)."""

    def __init__(self, matrix: FloatArray) -> None:
        self._lower = np.array(matrix, dtype=np.float64, order="C")
        if not kernels.factor_cholesky(self._lower, effective_threads(None)):
            raise np.linalg.LinAlgError("the matrix is not positive definite")

    @property
    def lower(self) -> FloatArray:
        """L itself, with zeros above its diagonal."""
        return np.tril(self._lower)

    def solve(self, sides: FloatArray) -> FloatArray:
        """The solution of A x = b for a vector b, or for each column of a matrix."""
        rows = np.array(sides.T, dtype=np.float64, order="C", ndmin=2)
        kernels.solve_lower(self._lower, rows, effective_threads(None))
        kernels.solve_lower_transposed(self._lower, rows, effective_threads(None))
        return rows.T.reshape(sides.shape)
