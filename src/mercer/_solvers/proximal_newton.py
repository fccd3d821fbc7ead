"""Proximal Newton for smooth losses with an l1 penalty: a model with the full Hessian, and the penalty as it is."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS, ROUNDING, SmoothProblem, dot
from mercer._solvers.linear_loss import Evaluation
from mercer._solvers.sparse_dual import violations
from mercer._trace import Record

MOST_SWEEPS = 2000
INNER = 1e-3  # how far below the present violation the model is solved


class ProximalNewton:
    """Minimises F + sum_j l1_j |w_j|, for a smooth convex F; `l1` holds zeros for what has no penalty.

    A step costs one pass over X for the Hessian, and coordinate descent on that: for few columns. `is_stuck` says that rounding
    lets the objective fall no further.
    """

    def __init__(self, problem: SmoothProblem, l1: FloatArray, start: FloatArray, *, at: Evaluation | None = None) -> None:
        self.problem, self.point, self._l1 = problem, start, l1
        self.at = problem.evaluate(start, with_hessian=True) if at is None else at
        self.is_stuck = False
        self._is_penalised = l1 > 0
        self._measured_at: Evaluation | None = None

    @property
    def objective(self) -> float:
        return self.at.value + self._penalty(self.point)

    @property
    def violation(self) -> float:
        """The largest violation of the optimality conditions, measured once at each point."""
        if self._measured_at is not self.at:
            self._measured_at, self._violation = self.at, self._violation_of(self.point, self.at)
        return self._violation

    @property
    def is_done(self) -> bool:
        return self.is_stuck

    def step(self) -> Record:
        return self._record(self._advance(self._direction(self.at.hessian)))

    def _record(self, length: float) -> Record:
        n_nonzero = float(np.count_nonzero(self.point[self._is_penalised]))
        return {"objective": self.objective, "violation": self.violation, "step": length, "n_nonzero": n_nonzero}

    def _penalty(self, point: FloatArray) -> float:
        return dot(self._l1, np.abs(point))

    def _violation_of(self, point: FloatArray, at: Evaluation) -> float:
        return float(violations(point, at.gradient, self._l1).max())

    def _direction(self, hessian: FloatArray | None) -> FloatArray:
        """From here to the minimiser of the model with this Hessian."""
        assert hessian is not None
        target = self.point.copy()
        kernels.descend_on_hessian(hessian, self.at.gradient, self._l1, target, INNER * self.violation, MOST_SWEEPS)
        return target - self.point

    def _advance(self, direction: FloatArray) -> float:
        """Go the first of the lengths 1, 1/2, 1/4, ... that brings a share of what the model promises.

        Where rounding hides the decrease, a length will do that comes closer to the optimality conditions.
        """
        start, violation, length = self.objective, self.violation, 1.0
        noise = ROUNDING * max(abs(start), self.problem.total_weight * ROUNDING)
        promise = dot(self.at.gradient, direction) + self._penalty(self.point + direction) - self._penalty(self.point)
        for _ in range(MOST_HALVINGS):
            point = self.point + length * direction
            at = self.problem.evaluate(point, with_hessian=True)
            later = at.value + self._penalty(point)
            is_equal = abs(later - start) <= noise and self._violation_of(point, at) < violation
            if later <= start + ARMIJO * length * promise or is_equal:
                self.point, self.at = point, at
                return length
            if -promise * length <= noise:
                break
            length /= 2
        self.is_stuck = True
        return 0.0
