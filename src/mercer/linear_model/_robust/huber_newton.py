"""Newton's method for Huber's regression: few steps settle which rows are outliers, and between them it is nearly quadratic."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import Descent
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.newton import newton_direction
from mercer._trace import Record
from mercer.linear_model._robust.huber_loss import HuberEvaluation, HuberLoss

LEAST_SHARE = 0.5  # of the scale that one step leaves: its model is good near the present scale only


class HuberNewton(Descent):
    """Damped Newton steps in (w, b, sigma), with sigma above a bound that is out of the way unless the fit is perfect.

    It is done when the largest entry of the projected gradient is within `tol` and, where the penalty gives one, the duality
    gap is within `tol` of the objective; for `tol`, what rounding leaves will do.
    """

    needs_hessian = True
    problem: HuberLoss
    at: HuberEvaluation

    @property
    def is_at_bound(self) -> bool:
        """Whether sigma would fall further if it could."""
        return bool(self.point[-1] <= self.problem.least_scale and self.at.gradient[-1] >= 0)

    @property
    def gradient_norm(self) -> float:
        """The largest entry of the gradient, that of a sigma at its bound apart."""
        gradient = self.at.gradient[:-1] if self.is_at_bound else self.at.gradient
        return float(np.abs(gradient).max())

    @property
    def tol(self) -> float:
        return max(self._tol, self.problem.resolution(self.at))

    def step(self) -> Record:
        before, length = self.point, self._advance(self._direction())["step"]
        if self.is_stuck:
            self.is_stuck = self.gradient_norm <= self.tol or not self._take_majorised_step()
        else:
            self.is_stuck = np.array_equal(before, self.point)
        return {**self._record(length), "scale": float(self.point[-1])}

    def _take_majorised_step(self) -> bool:
        """Coefficients by a quadratic bound, then the best scale: slower than Newton's steps, and never too long.

        For points where all but a few rows are outliers, so that the Hessian says nothing about the rest.
        """
        problem = self.problem
        coef = self.point[:-1] + newton_direction(problem.majoriser(self.point))
        point = np.append(coef, problem.best_scale(coef, 1e-12))
        at = problem.evaluate(point, with_hessian=True)
        if not at.value < self.at.value:
            return False
        self.point, self.at = point, at
        return True

    def _direction(self) -> FloatArray:
        """Newton's; where it would take sigma too low, the minimum of the same model with sigma at the least allowed."""
        sigma, floor = self.point[-1], self.problem.least_scale
        least = max(LEAST_SHARE * sigma, floor)
        if not self.is_at_bound:
            direction = newton_direction(self.at)
            if sigma + direction[-1] >= least:
                return direction
        fall, at = min(least - sigma, 0.0), self.at
        assert at.hessian is not None
        gradient, hessian = at.gradient + fall * at.hessian[-1], at.hessian.copy()
        gradient[-1] = -fall
        hessian[-1], hessian[:, -1], hessian[-1, -1] = 0, 0, 1
        return newton_direction(Evaluation(at.value, gradient, hessian))

    def _moved(self, length: float, direction: FloatArray) -> FloatArray:
        point = super()._moved(length, direction)
        point[-1] = max(point[-1], self.problem.least_scale)
        return point
