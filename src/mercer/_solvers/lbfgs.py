"""L-BFGS for smooth losses, and for softmax preconditioned by what the classes and the columns say of the Hessian."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import Descent, SmoothProblem, dot
from mercer._solvers.linear_loss import Evaluation, LinearLoss, LinearRows, SparseLinearRows
from mercer._solvers.newton import HessianFactor, newton_direction
from mercer._solvers.parted_rows import PartedLinearRows
from mercer._solvers.softmax import SoftmaxLoss
from mercer._solvers.sparse_dual import Labels
from mercer._trace import Record

MEMORY = 10
LEAST_CURVATURE = 1e-12  # of a column against the largest, where there is no penalty
MOST_GRAM_COLUMNS = 400  # beyond, only the norms of the columns are used


MOST_PASSES = 4  # that make intercepts optimal at the end


class Preconditioner:
    """An approximate inverse of the Hessian of softmax: that of (C / S) (x) G + l2 I.

    C is the curvature of the classes summed over the rows, at the present point; G the Gram matrix of X, centred where there
    are intercepts, or its diagonal where X has many columns; S the total weight. It would be exact if rows and curvatures were
    independent. In the eigenvectors of C and of G, the inverse is a division. O(d^3) once, then O(K d^2 + K^3).
    """

    def __init__(self, rows: LinearRows, weights: FloatArray | None, *, has_intercept: bool) -> None:
        self._total = float(rows.n_rows if weights is None else weights.sum())
        self._vectors: FloatArray | None = None
        if rows.n_features <= MOST_GRAM_COLUMNS:
            sums = _column_products(rows, weights)
            if not np.isfinite(sums).all():
                raise FloatingPointError("the products of the columns of X overflow")
            # Without intercepts nothing takes up a common shift of the rows: it is curved as any other direction.
            self._means = sums[-1, :-1] / self._total if has_intercept else np.zeros(rows.n_features)
            gram = sums[:-1, :-1] - self._total * np.outer(self._means, self._means)
            self.squares, self._vectors = np.linalg.eigh(gram)
        else:
            means, squares = _column_moments(rows, weights)
            self._means = means if has_intercept else np.zeros(rows.n_features)
            self.squares = squares + self._total * (means - self._means) ** 2
        self.squares = np.maximum(self.squares, 0)

    def solve(self, gradient: FloatArray, curvature: FloatArray, l2: float) -> FloatArray:
        """The approximate inverse times a gradient, both with a line an output and the intercept last."""
        shares, classes = np.linalg.eigh(curvature)
        shares = np.maximum(shares, 1e-8 * shares[-1]) / self._total
        of_intercept = gradient[:, -1]
        # About the means of the columns, intercept and coefficients are independent.
        parts = classes.T @ (gradient[:, :-1] - np.outer(of_intercept, self._means))
        if self._vectors is not None:
            parts = parts @ self._vectors
        scales = shares[:, None] * self.squares + l2
        if not l2 > 0:  # columns that depend on others
            scales = np.maximum(scales, float(scales.max()) * 1e-12)
        parts = parts / np.maximum(scales, np.finfo(np.float64).tiny)
        if self._vectors is not None:
            parts = parts @ self._vectors.T
        coef = classes @ parts
        intercept = classes @ ((classes.T @ of_intercept) / np.maximum(shares * self._total, np.finfo(np.float64).tiny))
        return np.column_stack([coef, intercept - coef @ self._means])


def _column_products(rows: LinearRows, weights: FloatArray | None) -> FloatArray:
    """X' diag(weights) X, the column of ones last."""
    if isinstance(rows, PartedLinearRows):
        return rows.gram(weights)
    return rows.weighted_sums(np.zeros(rows.n_rows), np.ones(rows.n_rows) if weights is None else weights)[1]


def _column_moments(rows: LinearRows, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    if isinstance(rows, PartedLinearRows):
        return rows.column_squares(weights)
    return rows.column_moments(np.ones(rows.n_rows) if weights is None else weights)


class Lbfgs(Descent):
    """L-BFGS with backtracking; a step costs one pass over X that gives value and gradient, O(n d), as a rule."""

    def __init__(self, problem: SmoothProblem, start: FloatArray, *, tol: float, at: Evaluation | None = None) -> None:
        super().__init__(problem, start, tol=tol, at=at)
        self._pairs: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=MEMORY)

    def step(self) -> Record:
        point, gradient = self.point, self.at.gradient
        record = self._advance(-self._inverse_times(gradient))
        move, change = self.point - point, self.at.gradient - gradient
        if dot(move, change) > 1e-14 * np.sqrt(dot(move, move) * dot(change, change)):
            self._pairs.append((move, change))
        elif self.is_stuck and self._pairs:  # rounding in the pairs, perhaps: once more without them
            self._pairs.clear()
            self.is_stuck = False
        return record

    def _inverse_times(self, gradient: FloatArray) -> FloatArray:
        """The two loops of Nocedal."""
        q = gradient.copy()
        factors = []
        for move, change in reversed(self._pairs):
            factor = dot(move, q) / dot(move, change)
            q -= factor * change
            factors.append(factor)
        z = self._precondition(q)
        if self._pairs:
            move, change = self._pairs[-1]
            z *= dot(move, change) / dot(change, self._precondition(change))
        for (move, change), factor in zip(self._pairs, reversed(factors), strict=True):
            z += (factor - dot(change, z) / dot(move, change)) * move
        return z

    def _precondition(self, vector: FloatArray) -> FloatArray:
        """A first guess of the inverse Hessian times a vector: the identity, and a first step of length one."""
        return vector.copy() if self._pairs else vector / max(np.sqrt(dot(vector, vector)), np.finfo(np.float64).tiny)


class ScoringLbfgs(Lbfgs):
    """L-BFGS that starts from the inverse of an approximate Hessian, such as the expected one of Fisher scoring."""

    needs_hessian = True

    def _precondition(self, vector: FloatArray) -> FloatArray:
        return newton_direction(replace(self.at, gradient=-vector))


class ColumnCurvatures:
    """An approximate inverse of the Hessian: of its diagonal, for columns less their means, which leave the intercept alone.

    The first step along it has the length that the Hessian itself asks for. Two passes over X, then O(d).
    """

    def __init__(self, problem: LinearLoss, at: Evaluation) -> None:
        rows = problem.rows
        assert isinstance(rows, SparseLinearRows)
        assert at.row_curvatures is not None
        curvatures = np.maximum(at.row_curvatures, 0)  # of losses that are not convex, too
        total = max(float(curvatures.sum()), np.finfo(np.float64).tiny)
        means, squares = rows.column_moments(curvatures)
        self._means = means if problem.has_intercept else np.zeros_like(means)
        squares = squares + total * (means - self._means) ** 2 + problem.l2
        self._squares = np.maximum(squares, max(float(squares.max()) * LEAST_CURVATURE, np.finfo(np.float64).tiny))
        self._of_intercept, self._length = 1 / total if problem.has_intercept else 0.0, 1.0
        step = self.solve(at.gradient)
        bent = dot(step, rows.curvature_product(curvatures, step)) + dot(problem.l2 * step[:-1], step[:-1])
        self._length = dot(at.gradient, step) / bent if bent > 0 else 1.0

    def solve(self, vector: FloatArray) -> FloatArray:
        coef = (vector[:-1] - vector[-1] * self._means) / self._squares
        intercept = vector[-1] * self._of_intercept - dot(self._means, coef)
        return self._length * np.append(coef, intercept)


class SparseLbfgs(Lbfgs):
    """L-BFGS for sparse rows, at least as many as columns, from an approximate inverse of the Hessian.

    That of the curvatures of the columns, and where some steps do not end it and there is room, of the Hessian itself, which
    costs as much as several steps.
    """

    problem: LinearLoss

    def __init__(self, problem: LinearLoss, start: FloatArray, *, tol: float, may_take_hessian: bool) -> None:
        super().__init__(problem, start, tol=tol)
        self._may_take_hessian = may_take_hessian
        self._inverse: ColumnCurvatures | HessianFactor | None = None

    def _measured_gap(self) -> float | None:
        """With many columns the gradient alone is judged, as by plain L-BFGS."""
        curvatures = self.at.row_curvatures
        if curvatures is None or not self._may_take_hessian:
            return None
        return self.problem.gap(replace(self.at, curvature=np.array([[curvatures.sum()]])))

    def step(self) -> Record:
        record = super().step()
        if self._may_take_hessian and len(self._pairs) == MEMORY and not self.is_done:
            self.at = self.problem.evaluate(self.point, with_hessian=True)
            assert self.at.hessian is not None
            self._inverse = HessianFactor(self.at.hessian, self.at.gradient)
            self._pairs.clear()
        return record

    def _precondition(self, vector: FloatArray) -> FloatArray:
        if self._inverse is None:
            self._inverse = ColumnCurvatures(self.problem, self.at)
        return self._inverse.solve(vector)


class SoftmaxLbfgs(Lbfgs):
    """L-BFGS that starts from an approximate inverse of the Hessian of softmax."""

    problem: SoftmaxLoss

    def __init__(
        self,
        problem: SoftmaxLoss,
        start: FloatArray,
        *,
        tol: float,
        preconditioner: Preconditioner,
        at: Evaluation | None = None,
    ) -> None:
        super().__init__(problem, start, tol=tol, at=at)
        self._preconditioner = preconditioner

    def step(self) -> Record:
        record = super().step()
        if self.is_done and self.problem.l2 > 0 and self.problem.has_intercept:
            self._settle_intercepts()
            return self._record(record["step"])
        return record

    def _settle_intercepts(self) -> None:
        """Make the intercepts optimal, so that the gap is one. Two passes over X."""
        problem = self.problem
        if isinstance(problem.rows, PartedLinearRows):
            return self._settle_by_passes()
        lines = self.point.reshape(problem.shape).copy()
        labels = Labels(problem.codes, problem.weights, has_reference=problem.has_reference, n_threads=1)
        lines[:, -1] += labels.optimal_intercept(problem.rows.output_values(lines))
        self.point = lines.ravel()
        self.at = problem.evaluate(self.point)

    def _settle_by_passes(self) -> None:
        """The same by Newton's steps in the intercepts, each a pass, for rows whose values are not kept."""
        for _ in range(MOST_PASSES):
            gradient = self.at.gradient.reshape(self.problem.shape)[:, -1]
            if np.abs(gradient).max() <= np.finfo(np.float64).eps * self.problem.total_weight:
                return
            assert self.at.curvature is not None
            lines = self.point.reshape(self.problem.shape).copy()
            lines[:, -1] -= np.linalg.lstsq(self.at.curvature, gradient, rcond=1e-12)[0]
            later = self.problem.evaluate(lines.ravel())
            if not later.value <= self.at.value:
                return
            self.point, self.at = lines.ravel(), later

    def _precondition(self, vector: FloatArray) -> FloatArray:
        problem, curvature = self.problem, self.at.curvature
        assert curvature is not None
        lines = self._preconditioner.solve(vector.reshape(problem.shape), curvature, problem.l2)
        if not problem.has_intercept:
            lines[:, -1] = 0
        return lines.ravel()


class GradientDescent(Descent):
    """Steps of one length along minus the gradient: 1 / L, for a bound L of the curvature, never fails to descend."""

    problem: SoftmaxLoss

    def __init__(self, problem: SoftmaxLoss, start: FloatArray, *, tol: float, curvature: float) -> None:
        super().__init__(problem, start, tol=tol)
        self.length = 1 / curvature

    def _measured_gap(self) -> float | None:
        """None with free intercepts: plain steps leave them short of optimal, and then there is no bound."""
        return None if self.problem.has_intercept else super()._measured_gap()

    def step(self) -> Record:
        self.point = self.point - self.length * self.at.gradient
        self.at = self.problem.evaluate(self.point)
        return self._record(self.length)


def curvature_bound(problem: SoftmaxLoss) -> float:
    """The largest curvature of F: a half (one output: a quarter) of the largest eigenvalue of (X, 1)' S (X, 1), plus l2."""
    rows = problem.rows
    ones = np.ones(rows.n_rows) if problem.weights is None else problem.weights
    if rows.n_features <= MOST_GRAM_COLUMNS:
        _, sums = rows.weighted_sums(np.zeros(rows.n_rows), ones)
        largest = float(np.linalg.eigvalsh(sums if problem.has_intercept else sums[:-1, :-1])[-1])
    else:  # the trace bounds it
        means, squares = rows.column_moments(ones)
        largest = float((squares + ones.sum() * means**2).sum() + ones.sum() * problem.has_intercept)
    return largest / (4 if problem.n_outputs == 1 else 2) + problem.l2
