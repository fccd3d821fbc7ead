"""Logistic regression of many classes as separate fits of two: each class against the first, on the rows of these two alone.

C. B. Begg, R. Gray, "Calculation of polychotomous logistic regression parameters using individualized regressions",
Biometrika 71, 1984.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._rows import take_rows
from mercer._trace import Record
from mercer.linear_model._logistic.fit import LogisticProblem
from mercer.linear_model._logistic.point import Point, Strength
from mercer.linear_model._logistic.run import Run


class SeparateProblem:
    """One problem of two classes for each class but the first; seen as one from outside."""

    def __init__(
        self,
        owner: Any,
        X: Any,
        codes: npt.NDArray[Any],
        weights: FloatArray | None,
        n_classes: int,
        *,
        has_intercept: bool,
        n_threads: int,
    ) -> None:
        self.has_intercept = has_intercept
        self.parts = []
        for k in range(1, n_classes):
            index = np.flatnonzero((codes == 0) | (codes == k))
            if len(index) == 0:
                raise ValueError(
                    f"{type(owner).__name__}: parametrization='separate' fits each class against the first, and there are no "
                    f"rows of the first and of class number {k}; use folds with all classes, or parametrization='reference'."
                )
            rows, labels = take_rows(X, index), (codes[index] == k).astype(np.intp)
            of_rows = take_rows(weights, index)
            part = LogisticProblem(
                owner, rows, labels, of_rows, 2, is_reference=True, has_intercept=has_intercept, n_threads=n_threads
            )
            self.parts.append(part)

    def method_for(self, solver: str, strength: Strength) -> str:
        """The method that a solver's name stands for on the largest part."""
        return max(self.parts, key=lambda part: int(part.X.shape[0])).method_for(solver, strength)

    def run(self, method: str, strength: Strength, *, tol: float, start: Point | None, before: Run | None = None) -> Run:
        """A run of the method on all parts side by side."""
        runs = []
        for k, part in enumerate(self.parts, start=1):
            of_part = (
                None if start is None else Point(start.coef[[k]] - start.coef[[0]], start.intercept[[k]] - start.intercept[0])
            )
            earlier = before.solver.runs[k - 1] if before is not None else None
            runs.append(part.run(method, strength, tol=tol, start=of_part, before=earlier))
        return SeparateRun(self, method, strength, SideBySide(runs), tol)

    def is_separated(self, point: Point) -> bool:
        """Whether some class is told from the first without an error."""
        lines = zip(self.parts, point.coef[1:], point.intercept[1:], strict=True)
        return any(part.is_separated(Point(coef[None, :], np.array([intercept]))) for part, coef, intercept in lines)


class SideBySide:
    """Several solvers as one: a step moves each that is not done; values add up, and the largest residual counts."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs

    @property
    def is_done(self) -> bool:
        return all(run.solver.is_done for run in self.runs)

    @property
    def objective(self) -> float:
        return float(sum(run.solver.objective for run in self.runs))

    @property
    def residual(self) -> float:
        return max(float(run.solver.residual) for run in self.runs)

    @property
    def gap(self) -> float | None:
        gaps = [run.solver.gap for run in self.runs]
        return None if any(gap is None for gap in gaps) else float(sum(gaps))

    def step(self) -> Record:
        moving = [run for run in self.runs if not run.solver.is_done] or self.runs  # a fit makes a step at least
        for run in moving:
            run.solver.step()
        return {"objective": self.objective, "residual": self.residual, "n_open": float(len(moving))}


class SeparateRun(Run):
    """A method under way on all parts."""

    @property
    def point(self) -> Point:
        """One line a class; those of the first are zero."""
        points = [run.point for run in self.solver.runs]
        nothing = np.zeros_like(points[0].coef)
        return Point(
            np.vstack([nothing, *(point.coef for point in points)]), np.append(0.0, [point.intercept for point in points])
        )
