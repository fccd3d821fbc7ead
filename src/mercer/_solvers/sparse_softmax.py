"""Proximal Newton for softmax with l1 and elastic-net penalties, to a duality gap."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import ROUNDING
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.proximal_newton import ProximalNewton
from mercer._solvers.softmax import SoftmaxLoss
from mercer._solvers.sparse_dual import Labels
from mercer._trace import Record

DAMPING = 1e-2


class SoftmaxProximalNewton(ProximalNewton):
    """The smooth part is softmax with its l2 penalty; O(n K^2 d^2) a step.

    It is done when the largest violation of the optimality conditions of the mean loss is within `tol`, and then the duality
    gap within `tol` of the objective; both with optimal intercepts.
    """

    problem: SoftmaxLoss

    def __init__(
        self, problem: SoftmaxLoss, labels: Labels, start: FloatArray, *, l1: float, tol: float, at: Evaluation | None = None
    ) -> None:
        strengths = np.full(problem.shape, l1)
        strengths[:, -1] = 0
        super().__init__(problem, strengths.ravel(), start, at=at)
        self._labels, self._tol, self._scalar_l1 = labels, tol, l1
        self.gap: float | None = None

    @property
    def mean_violation(self) -> float:
        """The largest violation of the optimality conditions, for a total weight of one."""
        return self.violation / self.problem.total_weight

    @property
    def residual(self) -> float:
        """The larger of the violation and the relative gap, if it was measured."""
        if self.gap is None:
            return self.mean_violation
        return max(self.mean_violation, self.gap / max(abs(self.objective), self.problem.total_weight * ROUNDING))

    @property
    def is_done(self) -> bool:
        return self.gap is not None and (self.is_stuck or self.residual <= self._tol)

    def step(self) -> Record:
        self.gap = None
        length = self._advance(self._direction(self.at.hessian))
        if self.is_stuck and self.mean_violation > self._tol:
            # Rows that are nearly certain make the model flat, but only nearby.
            self.is_stuck = False
            length = self._advance(self._direction(self._damped_hessian()))
        if self.is_stuck or self.mean_violation <= self._tol:
            self._certify()
        record = {**self._record(length), "violation": self.mean_violation}
        return record if self.gap is None else {**record, "gap": self.gap}

    def _damped_hessian(self) -> FloatArray:
        """With a share of the largest possible curvature added to it."""
        assert self.at.hessian is not None
        means, squares = self.problem.rows.column_moments(self._labels.row_weights)
        most = np.append(squares + self.problem.total_weight * means**2, self.problem.total_weight) / 4
        damped: FloatArray = self.at.hessian + DAMPING * np.diag(np.tile(most, self.problem.n_outputs))
        return damped

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
