"""A run of a method on a logistic regression, and what it reached."""

from __future__ import annotations

from typing import Any

from mercer._base import FitTask, Fitted, run_solver
from mercer._solvers.working_set import WorkingSetNewton
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.linear_model._logistic.point import Point, Strength

LEAST_TOL = 1e-10  # what rounding leaves of a tolerance

METHODS = {
    "newton": "Newton's method (iteratively reweighted least squares)",
    "quasi-newton": "preconditioned L-BFGS",
    "row-space": "second-order descent in the span of the rows",
    "gd": "gradient descent with a fixed step",
    "proximal": "proximal Newton, coordinate descent on the Hessian",
    "cd": "proximal Newton, coordinate descent on working sets of columns",
}


class Run:
    """A method under way or finished on one problem with one penalty."""

    def __init__(self, problem: Any, method: str, strength: Strength, solver: Any, tol: float) -> None:
        self.problem, self.method, self.strength, self.solver, self.tol = problem, method, strength, solver, tol
        self.status, self.history = Status.STOPPED, list[Record]()

    def finish(self, task: FitTask, *, max_iter: int, verbose: int, fitted: Fitted) -> None:
        """Iterate to the end; what ended by rounding alone has converged only if it came near enough."""
        status, self.history = run_solver(self.solver, task, max_iter=max_iter, verbose=verbose, fitted=fitted)
        self.status = status.given(is_reached=self.solver.residual <= self.reachable_tol)

    @property
    def reachable_tol(self) -> float:
        return max(self.tol, LEAST_TOL)

    @property
    def problem_shape(self) -> tuple[int, int] | None:
        return None if isinstance(self.solver, WorkingSetNewton) else self.solver.problem.shape

    @property
    def point(self) -> Point:
        if isinstance(self.solver, WorkingSetNewton):
            coef, intercept = self.solver.coef, self.solver.intercept
        else:
            coef, intercept = self.solver.problem.to_user(self.solver.point)
        point: Point = self.problem.to_classes(coef, intercept, self.strength)
        return point

    def outcome(self, max_iter: int) -> Outcome:
        solver, gap = self.solver, self.solver.gap
        certificate = Certificate(
            method=METHODS[self.method],
            status=self.status,
            primal=float(solver.objective),
            condition=self._condition,
            residual=float(solver.residual),
            tol=self.reachable_tol,
            dual=None if gap is None else float(solver.objective - gap),
            gap=gap,
        )
        warning = self._warning(max_iter)
        return Outcome(certificate, self.history, warning)

    @property
    def _condition(self) -> str:
        what = "gradient" if self.strength.l1 == 0 else "violation of the optimality conditions"
        mean = f"{what} of the mean loss"
        return mean if self.solver.gap is None else f"larger of relative duality gap and {mean}"

    def _warning(self, max_iter: int) -> str | None:
        if self.strength.is_none and self.problem.is_separated(self.point):
            return (
                "the classes are perfectly separable: without a penalty the likelihood has no maximum and the coefficients "
                "grow without bound. Those given are where the iterations ended; set a finite C."
            )
        if self.status is Status.MAX_ITER:
            return (
                f"stopped at max_iter={max_iter}: the {self._condition} is {self.solver.residual:.3g}, not within "
                f"{self.reachable_tol:.3g}. Increase max_iter, scale the columns of X (say by StandardScaler), or lower C."
            )
        if self.status is Status.INEXACT:
            return (
                f"rounding lets the objective fall no further: the {self._condition} is {self.solver.residual:.3g}, not within "
                f"{self.reachable_tol:.3g}. Scale the columns of X (say by StandardScaler), raise tol, or lower C."
            )
        return None
