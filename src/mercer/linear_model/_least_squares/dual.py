"""Least squares with or without an l2 penalty by the products of rows: for fewer rows than columns.

The minimiser of ||b - A w||^2 / 2 + alpha ||w||^2 / 2 is w = A' v for (A A' + alpha I) v = b, and alpha = 0 gives the solution
of least norm. Centred rows, times the roots u of the weights, add up to zero: A A' u = 0 and b' u = 0. A multiple of u u' added
to the matrix therefore changes no solution, and takes the direction u out of its condition number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.linear_model._least_squares.rows import RowProducts, Rows

EPS = float(np.finfo(np.float64).eps)
MAX_REFINEMENTS = 8
PRECISE = 1e-13  # a relative step of the duals from which there is nothing left to gain for the coefficients


class DualFit(NamedTuple):
    """Coefficients and what was measured at them; one row for each target."""

    coef: FloatArray  # A' v
    residuals: FloatArray  # b - A coef', by the rows themselves
    violation: FloatArray  # residuals - alpha v: what is left of the equations
    last_step: float  # what a further step would change, against the largest dual variable


class DualSystem:
    """A A' + alpha I with its Cholesky factor after scaling to unit diagonal, for some of the targets."""

    def __init__(self, rows: Rows, products: RowProducts, alpha: float, targets: FloatArray | None = None) -> None:
        self._rows, self.products, self._alpha = rows, products, alpha
        self.targets = products.targets if targets is None else targets
        n = len(products.gram)
        self._factor, self._scales, self._start = np.empty((n, n)), np.empty(n), np.empty_like(self.targets)
        self.rcond = 0.0
        if alpha > 0 or products.gram.trace() > products.noise:
            results = self._factor, self._scales, self._start
            self.rcond = kernels.solve_scaled(self._matrix(), self.targets, *results, effective_threads(None))

    @property
    def is_definite(self) -> bool:
        return self.rcond > 0

    def _matrix(self) -> FloatArray:
        gram, n = self.products.gram, len(self.products.gram)
        if self._rows.is_centred:
            roots = self.products.roots * np.sqrt(max(gram.trace(), 0.0) / self.products.weight)
            matrix: FloatArray = np.multiply.outer(roots, roots)
            matrix += gram
        else:
            matrix = gram.copy()
        matrix.flat[:: n + 1] += self._alpha
        return matrix

    def solve(self, precise: float = PRECISE) -> DualFit | None:
        """Refined by what the rows themselves leave of the equations, until a step would change no more than `precise`.

        None where that does not converge. A step reads the rows twice.
        """
        means, duals, last = self.products.means, self._start, np.inf
        factor = (self._factor.T, False)  # in Fortran order, so that it is not copied
        for _ in range(MAX_REFINEMENTS):
            coef = self._rows.adjoint(means, duals)
            residuals = self.targets - self._rows.apply(means, coef)
            violation = residuals - self._alpha * duals
            step = cho_solve(factor, (violation * self._scales).T, check_finite=False).T * self._scales
            size = np.abs(step / self._scales).max() / max(np.abs(duals / self._scales).max(), np.finfo(np.float64).tiny)
            if size <= precise or size > last / 4:
                break
            duals, last = duals + step, size
        return DualFit(coef, residuals, violation, float(size)) if min(size, last) < 1e-4 else None
