"""Wide problems with an l2 penalty, solved in the span of their rows.

With fewer rows than columns the coefficients are combinations of the rows, w = X' a (X less its shift), and all that is needed
of X are its products K = X X'. One output takes Newton's steps in the shares a. For several, the factor K = L L' gives
coordinates u = L' a with |u| = |w| and L u = X w: the same problem again, of n columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._solvers.cholesky import Cholesky
from mercer._solvers.descent import Descent, dot
from mercer._solvers.lbfgs import Lbfgs, Preconditioner, SoftmaxLbfgs
from mercer._solvers.linear_loss import DenseLinearRows, Evaluation
from mercer._solvers.softmax import LOGISTIC, SoftmaxLoss
from mercer._trace import Record

JITTER = 1e-13  # of the mean squared norm of a row: rows less their mean depend on one another
ROUGH_TOL = 1e-5  # from which on products of single precision may do
ROUGH_SHARE = 0.01  # of the penalty's part that their rounding may be
LARGEST_ENTRY = 4.0  # of a vector over its root mean square, as a rule
INNER = 0.5  # of the tolerance, so that what the jitter leaves does not matter


class RowSpaces:
    """The span of the rows of dense X less a shift, by products of single or of double precision."""

    def __init__(self, X: FloatArray, shift: FloatArray, *, n_threads: int) -> None:
        self._X, self._shift, self._n_threads = X, shift, n_threads

    @lazy_property
    def _rough(self) -> RowSpace:
        return RowSpace(self._X, self._shift, np.float32, n_threads=self._n_threads)

    @lazy_property
    def _exact(self) -> RowSpace:
        return RowSpace(self._X, self._shift, np.float64, n_threads=self._n_threads)

    def fit_for(self, problem: SoftmaxLoss, tol: float) -> RowSpace:
        """The cheaper one where its rounding is far below the tolerance and what the penalty adds to the products."""
        if problem.is_binary and tol >= ROUGH_TOL and self._rough.rounding_of(problem) <= ROUGH_SHARE:
            return self._rough
        return self._exact


class RowSpace:
    """The span of the rows by their products; O(n^2 d) once."""

    def __init__(self, X: FloatArray, shift: FloatArray, dtype: type[np.floating[Any]], *, n_threads: int) -> None:
        self._rows, self._n_threads = np.subtract(X, shift, dtype=dtype), n_threads
        products = np.empty((len(self._rows), len(self._rows)), dtype=dtype)
        kernels.gram(1.0, self._rows.T, None, None, 0.0, products, n_threads)
        self._products = products.astype(np.float64, copy=False)

    def rounding_of(self, problem: SoftmaxLoss) -> float:
        """What the products are rounded by, over what the penalty adds to them where the loss is most curved."""
        weight = 1.0 if problem.weights is None else float(problem.weights.max())
        rounded = float(np.finfo(self._rows.dtype).eps) * float(np.einsum("ii->i", self._products).max())
        rounding = rounded * weight / (4 * problem.l2)
        return rounding if np.isfinite(rounding) else np.inf

    @lazy_property
    def _factor(self) -> FloatArray:
        products = self._products.copy()
        diagonal = np.einsum("ii->i", products)
        diagonal += JITTER * float(diagonal.mean()) or 1.0
        return Cholesky(products).lower

    @lazy_property
    def _within(self) -> DenseLinearRows:
        return DenseLinearRows(self._factor, is_shifted=False, n_threads=self._n_threads)

    def descent(self, problem: SoftmaxLoss, start: FloatArray, tol: float) -> SharesNewton | SoftmaxLbfgs:
        """A descent on the same objective of shares or coordinates, and intercepts."""
        if not np.isfinite(self._products).all():
            raise FloatingPointError("the products of the rows of X overflow")
        point = self._inside(problem, start.reshape(problem.shape)).ravel()
        if problem.is_binary:
            return SharesNewton(SharesLoss(self._products, problem), point, tol=tol)
        loss = problem.on(self._within)
        preconditioner = Preconditioner(self._within, problem.weights, has_intercept=problem.has_intercept)
        return SoftmaxLbfgs(loss, point, tol=tol, preconditioner=preconditioner)

    def _inside(self, problem: SoftmaxLoss, lines: FloatArray) -> FloatArray:
        """What stands for coefficients, a line an output with the intercept last; what is not in the span is left out."""
        coef, intercepts = lines[:, :-1], lines[:, -1]
        if not coef.any():
            return np.column_stack([np.zeros((len(lines), len(self._rows))), intercepts])
        inner = solve_triangular(self._factor, self._rows @ coef.T, lower=True, check_finite=False)
        return np.column_stack([(self._shares(inner) if problem.is_binary else inner).T, intercepts])

    def outside(self, problem: SoftmaxLoss, point: FloatArray) -> FloatArray:
        """The coefficients and intercepts that a point of a descent inside stands for."""
        lines = point.reshape(problem.n_outputs, -1)
        inner = lines[:, :-1].T
        shares = inner if problem.is_binary else self._shares(inner)
        return np.column_stack([shares.T.astype(self._rows.dtype) @ self._rows, lines[:, -1]]).ravel()

    def _shares(self, coordinates: FloatArray) -> FloatArray:
        shares: FloatArray = solve_triangular(self._factor, coordinates, lower=True, trans="T", check_finite=False)
        return shares


@dataclass(frozen=True)
class SharesEvaluation(Evaluation):
    """What is known at some shares; the rest r = slopes + l2 a is zero at the minimum, where X' r is the gradient of w."""

    rest: FloatArray = field(default_factory=lambda: np.empty(0))


class SharesLoss:
    """Binary logistic regression of shares and intercept: sum_i s_i log(1 + exp(-y_i f_i)) + l2/2 a' K a, f = K a + b.

    `gap` is that of the coefficients X' a: |X' r|^2 = r' K r for the rest r.
    """

    def __init__(self, products: FloatArray, problem: SoftmaxLoss) -> None:
        self._products, self._problem = products, problem
        self._targets = 1.0 - problem.codes
        self.total_weight, self.n_columns = problem.total_weight, problem.rows.n_features

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> SharesEvaluation:
        problem, shares = self._problem, point[:-1]
        values = self._products @ shares
        penalty = problem.l2 * dot(shares, values) / 2
        slopes, curvatures = np.empty(len(shares)), np.empty(len(shares))
        loss = kernels.loss_of_values(LOGISTIC, self._targets, problem.weights, values + point[-1], slopes, curvatures, 1)
        rest = slopes + problem.l2 * shares
        of_intercept = slopes.sum() if problem.has_intercept else 0.0
        gradient = np.append(self._products @ rest, of_intercept)
        curvature = np.array([[curvatures.sum()]])
        return SharesEvaluation(loss + penalty, gradient, None, curvature, curvatures, rest)

    def squared_gradient(self, at: Evaluation) -> float:
        """That of the coefficients."""
        assert isinstance(at, SharesEvaluation)
        return max(dot(at.rest, at.gradient[:-1]), 0.0)

    def gap(self, at: Evaluation) -> float:
        assert at.curvature is not None
        of_intercept = float(at.gradient[-1]) ** 2 / max(float(at.curvature[0, 0]), np.finfo(np.float64).tiny)
        return self.squared_gradient(at) / (2 * self._problem.l2) + of_intercept

    def newton_direction(self, at: Evaluation) -> FloatArray:
        """Newton's step: (C K + l2 I) da + C db = -r and 1' (slopes + C (K da + db)) = 0, C the curvatures of the rows.

        By the factor of I + S K S with S^2 = C / l2, which is well conditioned whatever C is. O(n^3).
        """
        assert isinstance(at, SharesEvaluation)
        assert at.row_curvatures is not None
        products, l2, curvatures = self._products, self._problem.l2, at.row_curvatures
        roots = np.sqrt(curvatures / l2)
        matrix = products * roots
        matrix *= roots[:, None]
        np.einsum("ii->i", matrix)[:] += 1
        factor = Cholesky(matrix)
        sides = np.column_stack([at.rest, curvatures]) if self._problem.has_intercept else at.rest[:, None]
        inner = factor.solve(roots[:, None] * (products @ sides))
        solved = (sides - roots[:, None] * inner) / l2
        if not self._problem.has_intercept:
            return np.append(-solved[:, 0], 0.0)
        of_rest, of_curvatures = curvatures @ (products @ solved)
        left = max(float(curvatures.sum() - of_curvatures), np.finfo(np.float64).tiny)
        intercept = (of_rest - at.gradient[-1]) / left
        return np.append(-solved[:, 0] - intercept * solved[:, 1], intercept)


class SharesNewton(Descent):
    """Newton's method with backtracking on shares and intercept, which needs no look at X. O(n^3) a step."""

    problem: SharesLoss

    @property
    def gradient_norm(self) -> float:
        """About the largest entry of the gradient: of the coefficients, only the length of theirs is known here."""
        largest = LARGEST_ENTRY * float(np.sqrt(self.problem.squared_gradient(self.at) / self.problem.n_columns))
        return max(largest, abs(float(self.at.gradient[-1]))) / self.problem.total_weight

    def step(self) -> Record:
        try:
            direction = self.problem.newton_direction(self.at)
        except np.linalg.LinAlgError:  # huge products, or hardly a penalty
            self.is_stuck = True
            return self._record(0.0)
        return self._advance(direction)


class RowSpaceDescent:
    """Descent inside the span; where it ends, the problem itself is measured, and gone on with."""

    def __init__(self, space: RowSpace, problem: SoftmaxLoss, start: FloatArray, *, tol: float) -> None:
        self.problem, self._space, self._tol = problem, space, tol
        self._descent: SharesNewton | Lbfgs = space.descent(problem, start, INNER * tol)
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
        return self._space.outside(self.problem, self._descent.point) if self._is_inside else self._descent.point

    @property
    def is_done(self) -> bool:
        return not self._is_inside and self._descent.is_done

    def step(self) -> Record:
        record = self._descent.step()
        if self._is_inside and self._descent.is_done:
            self._descent, self._is_inside = Lbfgs(self.problem, self.point, tol=self._tol), False
        return record
