"""Damped Newton steps by Cholesky: for smooth losses with a Hessian of moderate size (iteratively reweighted least squares)."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import Descent
from mercer._solvers.linear_loss import Evaluation
from mercer._trace import Record


class Newton(Descent):
    """Newton's method with backtracking; a step costs one pass over X that gives value, gradient and Hessian, O(n d^2)."""

    needs_hessian = True

    def step(self) -> Record:
        return self._advance(newton_direction(self.at))


def newton_direction(at: Evaluation) -> FloatArray:
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
