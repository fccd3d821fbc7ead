"""Proximal Newton steps: for smooth losses with an l1 penalty. A quadratic model of the loss and the penalty as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._solvers.descent import ARMIJO, MOST_HALVINGS
from mercer._solvers.linear_loss import Evaluation, LinearLoss, make_linear_rows
from mercer._trace import Record

INNER = 1e-8  # of what the first sweep of the inner problem gained: one that gains less is the last
MOST_SWEEPS = 500
MOST_COLUMNS = 500  # with more, only those matter that are not zero or want to move
FIRST_COLUMNS = 100
ROUNDING = 8 * float(np.finfo(np.float64).eps)


class SparseNewton:
    """A step costs one pass over X for the Hessian of the columns in play, and coordinate descent on that.

    `strengths` holds the penalty of each coefficient, the intercept last. Of more than 500 columns, those in play are those
    with coefficients and those whose gradient exceeds their penalty, the worst first. `is_stuck` says that rounding lets the
    objective fall no further.
    """

    def __init__(self, problem: LinearLoss, strengths: FloatArray, start: FloatArray, *, X: Any, n_threads: int) -> None:
        self.problem, self.point, self._strengths = problem, start, strengths
        self._X, self._n_threads = X, n_threads
        self._is_whole = problem.rows.n_features <= MOST_COLUMNS
        self.at = problem.evaluate(start, with_hessian=self._is_whole)
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
        columns, hessian = self._in_play()
        direction = np.zeros_like(self.point)
        direction[columns] = self._direction(columns, hessian)
        change = self._strengths @ (np.abs(self.point + direction) - np.abs(self.point))
        promised = float(self.at.gradient @ direction + change)
        length, at = self._search(direction, promised)
        if at is None:
            self.is_stuck = True
        else:
            self.point, self.at = self.point + length * direction, at
        n_nonzero = float(np.count_nonzero(self.point[:-1]))
        return {"objective": self.objective, "step": length, "n_nonzero": n_nonzero}

    def _in_play(self) -> tuple[FloatArray, FloatArray]:
        """The coefficients that may move, and their Hessian."""
        if self._is_whole:
            assert self.at.hessian is not None
            return np.arange(len(self.point)), self.at.hessian
        excess = np.abs(self.at.gradient[:-1]) - self._strengths[:-1]
        is_nonzero = self.point[:-1] != 0
        n_more = max(FIRST_COLUMNS, int(is_nonzero.sum()))
        worst = np.argsort(-np.where(is_nonzero, -np.inf, excess), kind="stable")[:n_more]
        columns = np.union1d(np.flatnonzero(is_nonzero), worst[excess[worst] > 0])
        rows = make_linear_rows(self._X[:, columns], is_shifted=bool(self.problem.rows.shift.any()), n_threads=self._n_threads)
        of_columns = LinearLoss(
            rows, self.problem.y, self.problem.weights, self.problem.loss, 0.0, has_intercept=self.problem.has_intercept
        )
        columns = np.append(columns, len(self.point) - 1)
        hessian = of_columns.evaluate(self.point[columns], with_hessian=True).hessian
        assert hessian is not None
        return columns, hessian

    def _direction(self, columns: FloatArray, hessian: FloatArray) -> FloatArray:
        """The step that minimises the model; a trace on the diagonal keeps it bounded where the Hessian is singular."""
        diagonal = np.diag(hessian)
        model = hessian + np.diag(1e-8 * diagonal + 1e-12 * float(diagonal.max(initial=0.0)))
        step, product = np.empty(len(columns)), np.empty(len(columns))
        at = (self.at.gradient[columns], self.point[columns], self._strengths[columns])
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
            at = self.problem.evaluate(point, with_hessian=self._is_whole)
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
