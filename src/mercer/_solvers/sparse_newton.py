"""Proximal Newton steps: for smooth losses with an l1 penalty. A quadratic model of the loss and the penalty as it is."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS
from mercer._solvers.linear_loss import Evaluation, LinearLoss
from mercer._trace import Record

INNER = 1e-8  # of what the first sweep of the inner problem gained: one that gains less is the last
MOST_SWEEPS = 500
ROUNDING = 8 * float(np.finfo(np.float64).eps)


class SparseNewton:
    """A step costs one pass over X for the Hessian, and coordinate descent on that: for few columns.

    `strengths` holds the penalty of each coefficient, the intercept last. `is_stuck` says that rounding lets the objective fall
    no further.
    """

    def __init__(self, problem: LinearLoss, strengths: FloatArray, start: FloatArray) -> None:
        self.problem, self.point, self._strengths = problem, start, strengths
        self.at = problem.evaluate(start, with_hessian=True)
        self.is_stuck = False

    @property
    def is_done(self) -> bool:
        return self.is_stuck

    @property
    def objective(self) -> float:
        return self._objective(self.point, self.at)

    def _objective(self, point: FloatArray, at: Evaluation) -> float:
        return at.value + float(self._strengths @ np.abs(point))

    def step(self) -> Record:
        direction = self._direction()
        change = self._strengths @ (np.abs(self.point + direction) - np.abs(self.point))
        promised = float(self.at.gradient @ direction + change)
        length, at = self._search(direction, promised)
        if at is None:
            self.is_stuck = True
        else:
            self.point, self.at = self.point + length * direction, at
        n_nonzero = float(np.count_nonzero(self.point[:-1]))
        return {"objective": self.objective, "step": length, "n_nonzero": n_nonzero}

    def _direction(self) -> FloatArray:
        """The step that minimises the model; a trace on the diagonal keeps it bounded where the Hessian is singular."""
        hessian = self.at.hessian
        assert hessian is not None
        diagonal = np.diag(hessian)
        model = hessian + np.diag(1e-8 * diagonal + 1e-12 * float(diagonal.max(initial=0.0)))
        step, product = np.empty_like(self.point), np.empty_like(self.point)
        at = (self.at.gradient, self.point, self._strengths)
        kernels.minimise_quadratic_l1(model, *at, INNER, MOST_SWEEPS, step, product)
        return step

    def _search(self, direction: FloatArray, promised: float) -> tuple[float, Evaluation | None]:
        """The first of the lengths 1, 1/2, 1/4, ... that brings enough of what the model promised.

        Where rounding hides the decrease, the whole step will do if it comes closer to the optimality conditions.
        """
        start, length = self.objective, 1.0
        noise = ROUNDING * start
        for _ in range(MOST_HALVINGS):
            point = self.point + length * direction
            at = self.problem.evaluate(point, with_hessian=True)
            objective = self._objective(point, at)
            if promised >= -noise:
                is_closer = self._violation(point, at) < 0.5 * self._violation(self.point, self.at)
                return (1.0, at) if is_closer and abs(objective - start) <= 4 * noise else (0.0, None)
            if objective <= start + ARMIJO * length * promised:
                return length, at
            length /= 2
        return 0.0, None

    def _violation(self, point: FloatArray, at: Evaluation) -> float:
        """The distance of minus the gradient from the subgradients of the penalty."""
        moving = np.abs(at.gradient + self._strengths * np.sign(point))
        resting = np.maximum(np.abs(at.gradient) - self._strengths, 0)
        return float(np.where(point != 0, moving, resting).max())
