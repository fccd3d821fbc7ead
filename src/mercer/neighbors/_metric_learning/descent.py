"""How a linear map is learnt: L-BFGS on an objective of all pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._solvers.lbfgs import Lbfgs
from mercer._solvers.linear_loss import Evaluation
from mercer._trace import Certificate, Outcome, Record, Status


class SortedRows:
    """Rows sorted by class, about their mean, in double precision: what the kernels take."""

    def __init__(self, X: FloatArray, codes: npt.NDArray[np.intp]) -> None:
        self.order = np.argsort(codes, kind="stable")
        rows = X[self.order].astype(np.float64)
        self.X = np.ascontiguousarray(rows - rows.mean(axis=0))
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)


# Writes the gradient for given images and map, and returns the objective.
Kernel = Callable[[FloatArray, FloatArray, FloatArray], float]


class MapObjective:
    """An objective of a linear map, flattened."""

    def __init__(self, X: FloatArray, kernel: Kernel, *, total_weight: float) -> None:
        self._X, self._kernel, self.total_weight = X, kernel, total_weight

    def evaluate(self, point: FloatArray, *, with_hessian: bool = False) -> Evaluation:
        """Value and gradient. O(n^2 (k + d))."""
        linear_map = np.ascontiguousarray(point.reshape(-1, self._X.shape[1]))
        gradient = np.empty_like(linear_map)
        with np.errstate(over="ignore", invalid="ignore"):
            images = np.ascontiguousarray(self._X @ linear_map.T)
            value = self._kernel(images, linear_map, gradient)
        return Evaluation(value, gradient.ravel(), None)

    def gap(self, at: Evaluation) -> float | None:
        """None: the objective is not convex."""
        return None


class MapDescent(Lbfgs):
    """L-BFGS that also ends where a step improves the objective by less than `tol` of it, as SciPy's does."""

    def __init__(
        self,
        problem: MapObjective,
        start: FloatArray,
        *,
        tol: float,
        callback: Callable[[FloatArray, int], Any] | None,
    ) -> None:
        super().__init__(problem, start.ravel(), tol=tol)
        self._callback, self._n_steps, self.has_settled = callback, 0, False

    @property
    def is_done(self) -> bool:
        return self.has_settled or super().is_done

    def step(self) -> Record:
        if super().is_done:  # at the start
            return self._record(0.0)
        before = self.objective
        record = super().step()
        self._n_steps += 1
        improvement, scale = before - self.objective, max(abs(before), abs(self.objective), 1.0)
        self.has_settled = not self.is_stuck and improvement <= self.tol * scale
        if self._callback is not None:
            self._callback(self.point.copy(), self._n_steps)
        return record

    def outcome(self, status: Status, history: list[Record], method: str, max_iter: int) -> Outcome:
        """What was reached."""
        is_reached = self.residual <= self.tol
        if status is Status.CONVERGED and not is_reached:
            status = Status.SETTLED if self.has_settled else Status.INEXACT
        status = status.given(is_reached=is_reached)
        certificate = Certificate(method, status, self.objective, "largest entry of the gradient", self.residual, self.tol)
        warning = None
        if status is Status.MAX_ITER:
            warning = (
                f"after max_iter={max_iter} steps the largest entry of the gradient is {self.residual:.3g}, above "
                f"tol={self.tol:g}, and the objective still improves. Raise max_iter or tol."
            )
        return Outcome(certificate, history, warning)
