"""Wide problems with an l2 penalty, solved in the span of their rows.

With fewer rows than columns the coefficients are combinations of the rows, w = X' a (X less its shift). With the factor of
K = X X' = L L', the coordinates u = L' a have |u| = |w| and L u = X w: the same problem again, of n columns.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer._arrays import FloatArray
from mercer._solvers.lbfgs import Lbfgs, Preconditioner, SoftmaxLbfgs
from mercer._solvers.linear_loss import DenseLinearRows, Evaluation
from mercer._solvers.newton import LazyNewton
from mercer._solvers.softmax import SoftmaxLoss
from mercer._trace import Record

JITTER = 1e-13  # of the mean squared norm of a row: rows less their mean depend on one another
INNER = 0.5  # of the tolerance, so that what the jitter leaves does not matter


class RowSpace:
    """The span of the rows of dense X less a shift; O(n^2 d) once."""

    def __init__(self, X: FloatArray, shift: FloatArray, *, n_threads: int) -> None:
        self._rows = np.subtract(X, shift, dtype=np.float64)
        products = self._rows @ self._rows.T
        if not np.isfinite(products).all():
            raise FloatingPointError("the products of the rows of X overflow")
        diagonal = np.einsum("ii->i", products)
        diagonal += JITTER * float(diagonal.mean()) or 1.0
        self._factor = cholesky(products, lower=True, check_finite=False)
        self._within = DenseLinearRows(self._factor, is_shifted=False, n_threads=n_threads)

    def descent(self, problem: SoftmaxLoss, start: FloatArray, tol: float) -> LazyNewton | SoftmaxLbfgs:
        """A descent on the same objective of coordinates and intercepts."""
        loss = problem.on(self._within)
        point = self.inside(start.reshape(problem.shape)).ravel()
        if problem.n_outputs == 1:
            return LazyNewton(loss, point, tol=tol)
        return SoftmaxLbfgs(loss, point, tol=tol, preconditioner=Preconditioner(self._within, problem.weights))

    def inside(self, lines: FloatArray) -> FloatArray:
        """The coordinates of coefficients, a line an output with the intercept last; what is not in the span is left out."""
        if not lines[:, :-1].any():
            return np.column_stack([np.zeros((len(lines), len(self._factor))), lines[:, -1]])
        inner = solve_triangular(self._factor, self._rows @ lines[:, :-1].T, lower=True, check_finite=False)
        return np.column_stack([inner.T, lines[:, -1]])

    def outside(self, lines: FloatArray) -> FloatArray:
        """The coefficients of coordinates."""
        shares = solve_triangular(self._factor, lines[:, :-1].T, lower=True, trans="T", check_finite=False)
        return np.column_stack([shares.T @ self._rows, lines[:, -1]])


class RowSpaceDescent:
    """Descent on the coordinates, which needs no look at X; where it ends, the problem itself is measured, and gone on with.

    One output takes Newton steps, O(n^3); several take preconditioned quasi-Newton steps, O(n^2).
    """

    def __init__(self, space: RowSpace, problem: SoftmaxLoss, start: FloatArray, *, tol: float) -> None:
        self.problem, self._space, self._tol = problem, space, tol
        self._descent: LazyNewton | Lbfgs = space.descent(problem, start, INNER * tol)
        self._is_inside = True

    @property
    def at(self) -> Evaluation:
        return self._descent.at

    @property
    def objective(self) -> float:
        return self._descent.objective

    @property
    def gap(self) -> float | None:
        return self._descent.gap

    @property
    def residual(self) -> float:
        return self._descent.residual

    @property
    def point(self) -> FloatArray:
        point = self._descent.point
        return self._space.outside(point.reshape(self.problem.n_outputs, -1)).ravel() if self._is_inside else point

    @property
    def is_done(self) -> bool:
        return not self._is_inside and self._descent.is_done

    def step(self) -> Record:
        record = self._descent.step()
        if self._is_inside and self._descent.is_done:
            self._descent, self._is_inside = Lbfgs(self.problem, self.point, tol=self._tol), False
        return record
