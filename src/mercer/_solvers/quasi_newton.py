"""L-BFGS for a smooth loss of linear values: for so many columns that a Hessian would be too large."""

from __future__ import annotations

from collections import deque

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.linear_loss import Evaluation, LinearLoss
from mercer._trace import Record

ARMIJO = 1e-4
MEMORY = 20
MOST_HALVINGS = 40
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class QuasiNewton:
    """L-BFGS with backtracking; a step costs one pass over X that gives value and gradient, O(n d), as a rule.

    It is done when the largest entry of the gradient of the mean loss is within `tol`; without a Hessian there is no bound of
    the duality gap. It also ends where rounding lets the objective fall no further (`is_stuck`).
    """

    def __init__(self, problem: LinearLoss, start: FloatArray, *, tol: float) -> None:
        self.problem, self.point, self._tol = problem, start, tol
        self.at = problem.evaluate(start)
        self.is_stuck = False
        self._pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)

    @property
    def gradient_norm(self) -> float:
        """The largest entry of the gradient, for a total weight of one."""
        return float(np.abs(self.at.gradient).max()) / self.problem.total_weight

    @property
    def relative_gap(self) -> float | None:
        return None

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.gradient_norm <= self._tol

    def step(self) -> Record:
        direction = -self._inverse_times(self.at.gradient)
        length, at = self._search(direction, float((self.at.gradient * direction).sum()))
        if at is None and self._pairs:  # rounding in the pairs, perhaps: the next step does without them
            self._pairs.clear()
        elif at is None:
            self.is_stuck = True
        else:
            self._remember(length * direction, at.gradient - self.at.gradient)
            self.point, self.at = self.point + length * direction, at
        return {"objective": self.at.value, "gradient": self.gradient_norm, "step": length}

    def _remember(self, move: FloatArray, change: FloatArray) -> None:
        product = float((move * change).sum())
        if product > 1e-12 * float(np.linalg.norm(move) * np.linalg.norm(change)):
            self._pairs.append((move, change, product))

    def _inverse_times(self, gradient: FloatArray) -> FloatArray:
        """The two loops of Nocedal; the first step has a length of one at most."""
        if not self._pairs:
            return gradient / max(float(np.linalg.norm(gradient)), np.finfo(np.float64).tiny)
        result, factors = gradient.copy(), []
        for move, change, product in reversed(self._pairs):
            factors.append(float((move * result).sum()) / product)
            result -= factors[-1] * change
        _, change, product = self._pairs[-1]
        result *= product / float((change * change).sum())
        for (move, change, product), factor in zip(self._pairs, reversed(factors), strict=True):
            result += (factor - float((change * result).sum()) / product) * move
        return result

    def _search(self, direction: FloatArray, slope: float) -> tuple[float, Evaluation | None]:
        """The first of the lengths 1, 1/2, 1/4, ... that brings enough; none where rounding hides every decrease."""
        length, start = 1.0, self.at.value
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        for _ in range(MOST_HALVINGS):
            at = self.problem.evaluate(self.point + length * direction)
            is_better = at.value <= start + ARMIJO * length * slope
            is_equal = abs(at.value - start) <= noise and np.abs(at.gradient).max() < np.abs(self.at.gradient).max()
            if (is_better or is_equal) and np.isfinite(at.gradient).all():
                return length, at
            if -slope * length <= noise:
                break
            length /= 2
        return 0.0, None
