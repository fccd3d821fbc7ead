"""Damped Newton steps by Cholesky: for smooth losses with a Hessian of moderate size (iteratively reweighted least squares)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._solvers.descent import Descent, SmoothProblem, dot
from mercer._solvers.linear_loss import Evaluation
from mercer._trace import Record

NEAR = 0.02  # the share of the objective that a step may promise to gain for the Hessian to be kept
FAST = 0.2  # how far the gradient has to fall in a step for the Hessian to be kept


class Newton(Descent):
    """Newton's method with backtracking; a step costs one pass over X that gives value, gradient and Hessian, O(n d^2)."""

    needs_hessian = True

    def step(self) -> Record:
        return self._advance(newton_direction(self.at))


class LazyNewton(Descent):
    """Newton's method that keeps a Hessian while it will do; for problems whose gap needs none.

    Near the solution the Hessian hardly changes, and a pass for value and gradient alone is several times cheaper: the step is
    then taken with the last Hessian, and another one is made only where the gradient does not fall fast.
    """

    def __init__(self, problem: SmoothProblem, start: FloatArray, *, tol: float, at: Evaluation | None = None) -> None:
        super().__init__(problem, start, tol=tol, at=problem.evaluate(start, with_hessian=True) if at is None else at)
        assert self.at.hessian is not None
        self._hessian = self.at.hessian

    @property
    def known(self) -> Evaluation:
        """What is known here, with the Hessian in use."""
        return replace(self.at, hessian=self._hessian)

    def _measured_gap(self) -> float | None:
        return self.problem.gap(self.known)

    def step(self) -> Record:
        direction = newton_direction(self.known)
        before = self.gradient_norm
        self.needs_hessian = -dot(self.at.gradient, direction) > NEAR * abs(self.at.value)
        record = self._advance(direction)
        is_slow = self.gradient_norm > before * FAST
        if self.at.hessian is None and is_slow and self.residual > self._tol:
            self.at = self.problem.evaluate(self.point, with_hessian=True)
            self.is_stuck = False
        if self.at.hessian is not None:
            self._hessian = self.at.hessian
        return record


def newton_direction(at: Evaluation) -> FloatArray:
    """Minus the inverse Hessian times the gradient."""
    assert at.hessian is not None
    return HessianFactor(at.hessian, -at.gradient).first


class HessianFactor:
    """A Hessian's Cholesky factor, with as much added to a singular one's diagonal as it takes; its inverse times vectors."""

    def __init__(self, hessian: FloatArray, vector: FloatArray) -> None:
        d = len(vector)
        self._factor, self._scales, self.first = np.empty((d, d)), np.empty(d), np.empty(d)
        diagonal = np.einsum("jj->j", hessian)
        self._floor = float(diagonal.max()) or 1.0
        for shift in (0.0, *(10.0**power for power in range(-12, 1, 2))):
            matrix = hessian if shift == 0 else hessian + np.diag(shift * np.maximum(diagonal, self._floor * 1e-8))
            results = self._factor, self._scales, self.first[None, :]
            rcond = kernels.solve_scaled(matrix, vector[None, :], *results, effective_threads(None))
            self._is_definite = rcond > np.finfo(np.float64).eps
            if self._is_definite:
                break
        else:
            self.first = vector / self._floor

    def solve(self, vector: FloatArray) -> FloatArray:
        """The inverse times another vector than the `first`. O(d^2)."""
        if not self._is_definite:
            return vector / self._floor
        # The transposed factor is in Fortran order, and is not copied.
        solved: FloatArray = cho_solve((self._factor.T, False), vector * self._scales, check_finite=False) * self._scales
        return solved
