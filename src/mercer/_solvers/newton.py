"""Damped Newton steps by Cholesky: for smooth losses with a Hessian of moderate size (iteratively reweighted least squares)."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.linear_loss import Evaluation, LinearLoss
from mercer._trace import Record

ARMIJO = 1e-4  # the share of the decrease promised by the gradient that a step has to bring
MOST_HALVINGS = 40
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class Newton:
    """Newton's method with backtracking; a step costs one pass over X that gives value, gradient and Hessian, O(n d^2).

    It is done when the largest entry of the gradient of the mean loss is within `tol` and, where the penalty gives one, the
    duality gap is within `tol` of the objective. It also ends where rounding lets the objective fall no further (`is_stuck`).
    """

    def __init__(self, problem: LinearLoss, start: FloatArray, *, tol: float) -> None:
        self.problem, self.point, self._tol = problem, start, tol
        self.at = problem.evaluate(start, with_hessian=True)
        self.is_stuck = False

    @property
    def gradient_norm(self) -> float:
        """The largest entry of the gradient, for a total weight of one."""
        return float(np.abs(self.at.gradient).max()) / self.problem.total_weight

    @property
    def relative_gap(self) -> float | None:
        """The duality gap over the objective (or over its unit, the total weight, where the objective is smaller)."""
        gap = self.problem.gap(self.at)
        return None if gap is None else gap / max(abs(self.at.value), self.problem.total_weight * ROUNDING)

    @property
    def is_done(self) -> bool:
        if self.is_stuck:
            return True
        gap = self.relative_gap
        return self.gradient_norm <= self._tol and (gap is None or gap <= self._tol)

    def step(self) -> Record:
        direction = _newton_direction(self.at)
        slope = float(self.at.gradient @ direction)
        length, at = self._search(direction, slope)
        if at is None:
            self.is_stuck = True
        else:
            self.point, self.at = self.point + length * direction, at
        record = {"objective": self.at.value, "gradient": self.gradient_norm, "step": length}
        gap = self.problem.gap(self.at)
        return record if gap is None else {**record, "gap": gap}

    def _search(self, direction: FloatArray, slope: float) -> tuple[float, Evaluation | None]:
        """The first of the lengths 1, 1/2, 1/4, ... that brings enough; none where rounding hides every decrease."""
        length, start = 1.0, self.at.value
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        for halving in range(MOST_HALVINGS):
            at = self.problem.evaluate(self.point + length * direction, with_hessian=halving == 0)
            is_better = at.value <= start + ARMIJO * length * slope
            is_equal = abs(at.value - start) <= noise and np.abs(at.gradient).max() < np.abs(self.at.gradient).max()
            if is_better or is_equal:
                return length, at if at.hessian is not None else self.problem.evaluate(
                    self.point + length * direction, with_hessian=True
                )
            if -slope * length <= noise:
                break
            length /= 2
        return 0.0, None


def _newton_direction(at: Evaluation) -> FloatArray:
    """Minus the inverse Hessian times the gradient; with as much added to a singular Hessian's diagonal as it takes."""
    hessian, d = at.hessian, len(at.gradient)
    assert hessian is not None
    factor, scales, direction = np.empty((d, d)), np.empty(d), np.empty(d)
    diagonal = np.einsum("jj->j", hessian)
    floor = float(diagonal.max()) or 1.0
    for shift in (0.0, *(10.0**power for power in range(-12, 1, 2))):
        matrix = hessian if shift == 0 else hessian + np.diag(shift * np.maximum(diagonal, floor * 1e-8))
        if kernels.solve_scaled(matrix, -at.gradient[None, :], factor, scales, direction[None, :]) > np.finfo(np.float64).eps:
            break
    else:
        direction = -at.gradient / floor
    return direction
