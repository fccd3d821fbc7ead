"""Proximal Newton for softmax with l1 and elastic-net penalties: coordinate descent on a model with the full Hessian."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS, ROUNDING, dot
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.softmax import SoftmaxLoss
from mercer._solvers.sparse_dual import Labels, violations
from mercer._trace import Record

MOST_SWEEPS = 10_000
DAMPING = 1e-2
INNER = 1e-3  # how far below the present violation the model is solved


class ProximalNewton:
    """Minimises F + l1 |w|_1, for the smooth F of softmax with its l2 penalty; O(n K^2 d^2) a step.

    It is done when the largest violation of the optimality conditions of the mean loss is within `tol`, and then the duality
    gap within `tol` of the objective; both with optimal intercepts.
    """

    def __init__(
        self, problem: SoftmaxLoss, labels: Labels, start: FloatArray, *, l1: float, tol: float, at: Evaluation | None = None
    ) -> None:
        self.problem, self.point, self._labels, self._tol, self._scalar_l1 = problem, start, labels, tol, l1
        strengths = np.full(problem.shape, l1)
        strengths[:, -1] = 0
        self._l1 = strengths.ravel()
        self.at = problem.evaluate(start, with_hessian=True) if at is None else at
        self.is_stuck = False
        self.gap: float | None = None

    @property
    def objective(self) -> float:
        return self.at.value + dot(self._l1, np.abs(self.point))

    @property
    def violation(self) -> float:
        """The largest violation of the optimality conditions, for a total weight of one."""
        return float(violations(self.point, self.at.gradient, self._l1).max()) / self.problem.total_weight

    @property
    def residual(self) -> float:
        """The larger of the violation and the relative gap, if it was measured."""
        if self.gap is None:
            return self.violation
        return max(self.violation, self.gap / max(abs(self.objective), self.problem.total_weight * ROUNDING))

    @property
    def is_done(self) -> bool:
        return self.gap is not None and (self.is_stuck or self.residual <= self._tol)

    def step(self) -> Record:
        self.gap = None
        length = self._advance(self._direction(damping=0.0))
        if self.is_stuck and self.violation > self._tol:  # rows that are nearly certain make the model flat, but only nearby
            self.is_stuck = False
            length = self._advance(self._direction(damping=DAMPING))
        if self.is_stuck or self.violation <= self._tol:
            self._certify()
        record = {"objective": self.objective, "violation": self.violation, "step": length}
        return record if self.gap is None else {**record, "gap": self.gap}

    def _direction(self, *, damping: float) -> FloatArray:
        """From here to the minimiser of the model, with `damping` times the largest possible curvature added to it."""
        hessian, target = self.at.hessian, self.point.copy()
        assert hessian is not None
        if damping > 0:
            means, squares = self.problem.rows.column_moments(self._labels.row_weights)
            most = np.append(squares + self.problem.total_weight * means**2, self.problem.total_weight) / 4
            hessian = hessian + damping * np.diag(np.tile(most, self.problem.n_outputs))
        tol = INNER * self.violation * self.problem.total_weight
        kernels.descend_on_hessian(hessian, self.at.gradient, self._l1, target, tol, MOST_SWEEPS)
        return target - self.point

    def _advance(self, direction: FloatArray) -> float:
        """The first of the lengths 1, 1/2, 1/4, ... that brings a share of what the model promises."""
        start, length = self.objective, 1.0
        norm = dot(self._l1, np.abs(self.point))
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        promise = dot(self.at.gradient, direction) + dot(self._l1, np.abs(self.point + direction)) - norm
        for _ in range(MOST_HALVINGS):
            point = self.point + length * direction
            at = self.problem.evaluate(point, with_hessian=True)
            later = at.value + dot(self._l1, np.abs(point))
            violation = violations(point, at.gradient, self._l1).max() / self.problem.total_weight
            if later <= start + ARMIJO * length * promise or (abs(later - start) <= noise and violation < self.violation):
                self.point, self.at = point, at
                return length
            if -promise * length <= noise:
                break
            length /= 2
        self.is_stuck = True
        return 0.0

    def _certify(self) -> None:
        """Make the intercepts optimal and measure the duality gap there. Two passes over X."""
        problem, labels = self.problem, self._labels
        lines = self.point.reshape(problem.shape).copy()
        raw = problem.rows.output_values(lines)
        if problem.has_intercept:
            move = labels.optimal_intercept(raw)
            lines[:, -1] += move
            raw += move
            if np.abs(move).max() > 0:
                self.point = lines.ravel()
                self.at = problem.evaluate(self.point, with_hessian=True)
        _, slopes, _ = labels.loss(raw)
        products = self.at.gradient.reshape(problem.shape)[:, :-1] - problem.l2 * lines[:, :-1]
        self.gap = max(self.objective - labels.dual(slopes, products, self._scalar_l1, problem.l2), 0.0)
