"""What descent methods for smooth convex objectives share: where they are, when they are done, and the search along a line."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.linear_loss import Evaluation
from mercer._trace import Record

ARMIJO = 1e-4  # the share of the decrease promised by the gradient that a step has to bring
MOST_HALVINGS = 40
ROUNDING = 64 * float(np.finfo(np.float64).eps)


def dot(one: FloatArray, other: FloatArray) -> float:
    """The product of two vectors, without the threads that BLAS would wake for it."""
    return float((one * other).sum())


class SmoothProblem(Protocol):
    """An objective that sums a loss over rows of some total weight."""

    total_weight: float

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        """The objective at a point."""
        ...

    def gap(self, at: Evaluation) -> float | None:
        """An upper bound of the objective there minus its minimum; None where there is none."""
        ...


class Descent:
    """A method that goes from point to point and evaluates the objective at each.

    It is done when the largest entry of the gradient of the mean loss is within `tol` and, where the penalty gives one, the
    duality gap is within `tol` of the objective. It also ends where rounding lets the objective fall no further (`is_stuck`).
    """

    needs_hessian = False

    def __init__(self, problem: SmoothProblem, start: FloatArray, *, tol: float, at: Evaluation | None = None) -> None:
        self.problem, self.point, self._tol = problem, start, tol
        self.at = problem.evaluate(start, with_hessian=self.needs_hessian) if at is None else at
        self.is_stuck = False
        self._measured_at: Evaluation | None = None
        self._gap: float | None = None

    @property
    def objective(self) -> float:
        return self.at.value

    @property
    def gap(self) -> float | None:
        """The problem's, measured once at each point."""
        if self._measured_at is not self.at:
            with np.errstate(over="ignore"):  # far from the solution of huge X: no bound yet
                self._measured_at, self._gap = self.at, self._measured_gap()
        return self._gap

    def _measured_gap(self) -> float | None:
        return self.problem.gap(self.at)

    @property
    def gradient_norm(self) -> float:
        """The largest entry of the gradient, for a total weight of one."""
        return float(np.abs(self.at.gradient).max()) / self.problem.total_weight

    @property
    def relative_gap(self) -> float | None:
        """The duality gap over the objective (or over its unit, the total weight, where the objective is smaller)."""
        gap = self.gap
        return None if gap is None else gap / max(abs(self.at.value), self.problem.total_weight * ROUNDING)

    @property
    def residual(self) -> float:
        """The larger of the gradient's norm and the relative gap: what has to fall to `tol`."""
        gap = self.relative_gap
        return self.gradient_norm if gap is None else max(self.gradient_norm, gap)

    @property
    def tol(self) -> float:
        """What the residual has to reach."""
        return self._tol

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.residual <= self.tol

    def _record(self, length: float) -> Record:
        record = {"objective": self.at.value, "gradient": self.gradient_norm, "step": length}
        gap = self.gap
        return record if gap is None else {**record, "gap": gap}

    def _advance(self, direction: FloatArray) -> Record:
        """Go as far along the direction as pays."""
        length, at = self._search(direction, dot(self.at.gradient, direction))
        if at is None:
            self.is_stuck = True
        else:
            self.point, self.at = self._moved(length, direction), at
        return self._record(length)

    def _moved(self, length: float, direction: FloatArray) -> FloatArray:
        return self.point + length * direction

    def _search(self, direction: FloatArray, slope: float) -> tuple[float, Evaluation | None]:
        """The first of the lengths 1, 1/2, 1/4, ... that brings enough; none where rounding hides every decrease."""
        length, start = 1.0, self.at.value
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        for halving in range(MOST_HALVINGS):
            point = self._moved(length, direction)
            at = self.problem.evaluate(point, with_hessian=self.needs_hessian and halving == 0)
            is_better = at.value < start and at.value <= start + ARMIJO * length * slope
            is_equal = abs(at.value - start) <= noise and np.abs(at.gradient).max() < np.abs(self.at.gradient).max()
            if is_better or is_equal:
                if self.needs_hessian and at.hessian is None:
                    at = self.problem.evaluate(point, with_hessian=True)
                return length, at
            if -slope * length <= noise:
                break
            length /= 2
        return 0.0, None
