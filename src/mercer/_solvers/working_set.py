"""Proximal Newton on working sets of columns: softmax with l1 and elastic-net penalties where X is sparse or wide.

The loss is replaced by its quadratic model, and coordinate descent over the coefficients that are in use or violate their
optimality condition most minimises the model with the penalty. X is read by columns, never centred.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._matrix import Columns
from mercer._native import kernels
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS, ROUNDING, dot
from mercer._solvers.sparse_dual import Labels, violations
from mercer._trace import Record

LEAST_ADMITTED = 100
MOST_SWEEPS = 100
MOST_IDLE = 5  # steps in a row that change the objective by no more than rounding
INNER = 0.1  # how far below the present violation a model is solved
LEAST_DAMPING = 1e-4  # the share of the largest possible curvature that a model has at least; more where steps turn out short


class WorkingSetNewton:
    """Minimises the loss + l1 |w|_1 + l2/2 |w|^2 over the coefficients w and free intercepts.

    It is done when the largest violation of the optimality conditions of the mean loss and the duality gap over the objective
    are within `tol`.
    """

    def __init__(
        self,
        columns: Columns,
        labels: Labels,
        coef: FloatArray,
        intercept: FloatArray,
        *,
        l1: float,
        l2: float,
        has_intercept: bool,
        tol: float,
    ) -> None:
        self._columns, self._labels, self._has_intercept = columns, labels, has_intercept
        self._l1, self._l2, self._tol = l1, l2, tol
        self.coef, self.intercept = coef.copy(), intercept.copy()
        self._raw = columns.values(coef, intercept)
        self._damping = LEAST_DAMPING
        self._n_idle = 0
        self.is_stuck = False
        self._assess()

    @property
    def objective(self) -> float:
        return self._value + self._l1 * float(np.abs(self.coef).sum()) + self._l2 * float((self.coef**2).sum()) / 2

    @property
    def residual(self) -> float:
        """The larger of the violation, for a total weight of one, and the relative gap."""
        return max(self.violation, self.gap / max(abs(self.objective), self._labels.total_weight * ROUNDING))

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.residual <= self._tol

    def step(self) -> Record:
        before, violation = self.objective, self.violation
        length = self._move()
        self._damping = max(self._damping / 10, LEAST_DAMPING) if length == 1 else min(self._damping * 10, 1.0)
        self._assess()
        noise = ROUNDING * max(abs(before), self._labels.total_weight * ROUNDING)
        self._n_idle = self._n_idle + 1 if before - self.objective <= noise and self.violation > violation / 2 else 0
        self.is_stuck = length == 0 or self._n_idle == MOST_IDLE
        return {
            "objective": self.objective,
            "violation": self.violation,
            "gap": self.gap,
            "step": length,
            "n_active": int(np.count_nonzero(self.coef)),
        }

    def _assess(self) -> None:
        """Make the intercepts optimal and measure violation and gap there."""
        if self._has_intercept:
            move = self._labels.optimal_intercept(self._raw)
            self.intercept += move
            self._raw += move
        self._value, self._slopes, _ = self._labels.loss(self._raw)
        self._products = self._columns.products(self._slopes)
        gradient = self._products + self._l2 * self.coef
        self.violation = float(violations(self.coef, gradient, self._l1).max()) / self._labels.total_weight
        dual = self._labels.dual(self._slopes, self._products, self._l1, self._l2)
        self.gap = max(self.objective - dual, 0.0)

    def _move(self) -> float:
        """Minimise the model and go there as far as the objective follows; the length of the step."""
        outputs, columns = self._members()
        probabilities, weighted = self._labels.model(self._slopes)
        target, change = self.coef[outputs, columns], np.zeros(probabilities.shape)
        shifts = np.zeros(len(self.coef))
        kernels.descend_on_columns(
            self._columns.native,
            self._labels.row_weights,
            probabilities,
            weighted,
            change,
            columns,
            outputs,
            self._products[outputs, columns],
            target,
            self._slopes.sum(axis=0) if self._has_intercept else None,
            shifts,
            self._l1,
            self._l2,
            self._damping,
            INNER * self.violation * self._labels.total_weight,
            MOST_SWEEPS,
        )
        return self._search(outputs, columns, target, shifts, change)

    def _members(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Outputs and columns of the coefficients in use, and of as many of those that violate their condition most."""
        coef = self.coef.ravel()
        excess = np.where(coef == 0, np.abs(self._products.ravel()) - self._l1, -np.inf)
        is_member = coef != 0
        n_new = min(int(np.count_nonzero(excess > 0)), max(LEAST_ADMITTED, int(np.count_nonzero(is_member))))
        if n_new:
            is_member[np.argpartition(-excess, n_new - 1)[:n_new]] = True
        outputs, columns = np.nonzero(is_member.reshape(self.coef.shape))
        return outputs.astype(np.int32), columns.astype(np.int32)

    def _search(
        self,
        outputs: npt.NDArray[np.int32],
        columns: npt.NDArray[np.int32],
        target: FloatArray,
        shifts: FloatArray,
        change: FloatArray,
    ) -> float:
        """The first of the lengths 1, 1/2, 1/4, ... that brings a share of what the gradient promises."""
        coef = self.coef[outputs, columns]
        start = self._value + self._penalty(coef)
        promise = float((self._slopes.T * change).sum()) + self._penalty(target) - self._penalty(coef)
        noise = ROUNDING * max(abs(start), self._labels.total_weight * ROUNDING)
        length = 1.0
        for _ in range(MOST_HALVINGS):
            raw = self._raw + length * change.T
            moved = coef + length * (target - coef) if length < 1 else target  # zeros stay zeros
            if self._labels.loss(raw)[0] + self._penalty(moved) <= start + ARMIJO * length * promise + noise:
                self.coef[outputs, columns] = moved
                self.intercept += length * shifts
                self._raw = raw
                return length
            length /= 2
        return 0.0

    def _penalty(self, coef: FloatArray) -> float:
        return self._l1 * float(np.abs(coef).sum()) + self._l2 * dot(coef, coef) / 2
