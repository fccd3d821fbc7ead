"""Newton's method for Huber's regression: few steps settle which rows are outliers, and between them it is nearly quadratic."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS, ROUNDING
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.newton import newton_direction
from mercer._trace import Record
from mercer.linear_model._robust.huber_loss import HuberLoss

LEAST_SHARE = 0.5  # of the scale that one step leaves: its model is good near the present scale only


class HuberNewton:
    """Damped Newton steps in (w, b, sigma), with sigma above a bound that is out of the way unless the fit is perfect.

    It is done when the largest entry of the projected gradient is within `tol` and, where the penalty gives one, the duality
    gap is within `tol` of the objective; for `tol`, what rounding leaves will do. It also ends where rounding lets the
    objective fall no further (`is_stuck`).
    """

    def __init__(self, problem: HuberLoss, start: FloatArray, *, tol: float) -> None:
        self.problem, self.point, self._tol = problem, start, tol
        self.at = problem.evaluate(start)
        self.is_stuck = False

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
        """What the gradient has to reach."""
        return max(self._tol, self.problem.resolution(self.point, self.at))

    @property
    def gap(self) -> float | None:
        return self.problem.gap(self.point, self.at)

    @property
    def relative_gap(self) -> float | None:
        gap = self.gap
        return None if gap is None else gap / max(abs(self.at.value), self.problem.total_weight * ROUNDING)

    @property
    def is_done(self) -> bool:
        if self.is_stuck:
            return True
        gap = self.relative_gap
        return self.gradient_norm <= self.tol and (gap is None or gap <= self.tol)

    def step(self) -> Record:
        direction = self._direction()
        length, at = self._search(direction, float((self.at.gradient * direction).sum()))
        if at is not None:
            before, self.point, self.at = self.point, self._moved(length, direction), at
            self.is_stuck = np.array_equal(before, self.point)
        elif self.gradient_norm <= self.tol or not self._take_majorised_step():
            self.is_stuck = True
        record = {"objective": self.at.value, "gradient": self.gradient_norm, "scale": float(self.point[-1]), "step": length}
        gap = self.gap
        return record if gap is None else {**record, "gap": gap}

    def _take_majorised_step(self) -> bool:
        """Coefficients by a quadratic bound, then the best scale: slower than Newton's steps, and never too long.

        For points where all but a few rows are outliers, so that the Hessian says nothing about the rest.
        """
        problem = self.problem
        coef = self.point[:-1] + newton_direction(problem.majoriser(self.point))
        point = np.append(coef, problem.best_scale(coef, 1e-12))
        at = problem.evaluate(point)
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
        point: FloatArray = self.point + length * direction
        point[-1] = max(point[-1], self.problem.least_scale)
        return point

    def _search(self, direction: FloatArray, slope: float) -> tuple[float, Evaluation | None]:
        """The first of the lengths 1, 1/2, 1/4, ... that brings enough; none where rounding hides every decrease."""
        length, start = 1.0, self.at.value
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        for _ in range(MOST_HALVINGS):
            at = self.problem.evaluate(self._moved(length, direction))
            is_better = at.value <= start + ARMIJO * length * slope
            is_equal = abs(at.value - start) <= noise and np.abs(at.gradient).max() < np.abs(self.at.gradient).max()
            if is_better or is_equal:
                return length, at
            if -slope * length <= noise:
                break
            length /= 2
        return 0.0, None
