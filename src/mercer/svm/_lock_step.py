"""Several support vector machines solved side by side, and the certificate over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from mercer._arrays import FloatArray
from mercer._solvers.pieces import LEAST_TOL, Gap
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.svm._machine_solvers import MachineSolver


class LockStep:
    """Several solvers as one: a step moves each that is not done."""

    def __init__(self, solvers: Sequence[MachineSolver]) -> None:
        self.solvers = solvers

    @property
    def is_done(self) -> bool:
        return all(solver.is_done for solver in self.solvers)

    def step(self) -> Record:
        moving = [solver for solver in self.solvers if not solver.is_done] or self.solvers  # a fit makes a step at least
        records = [solver.step() for solver in moving]
        if len(self.solvers) == 1:
            return records[0]
        return {"objective": self.total.primal, "gap": self.total.width, "n_open": float(len(records))}

    @property
    def total(self) -> Gap:
        return Gap(*np.sum([solver.gap for solver in self.solvers], axis=0).tolist())

    def settle(self) -> None:
        for solver in self.solvers:
            solver.settle()

    def solution(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients and intercepts, a line and a number for each problem."""
        coef, intercept = zip(*(solver.solution() for solver in self.solvers), strict=True)
        return np.vstack(coef), np.hstack(intercept)

    def outcome(self, status: Status, history: list[Record], params: SimpleNamespace) -> Outcome:
        """The certificate over all problems: values add up, the largest relative gap counts."""
        residual, tol = max(solver.relative_gap for solver in self.solvers), max(params.tol, LEAST_TOL)
        status = status.given(is_reached=residual <= tol)
        certificate = Certificate(
            method=self.solvers[0].method,
            status=status,
            primal=self.total.primal,
            condition="relative duality gap",
            residual=residual,
            tol=tol,
            dual=self.total.dual,
            gap=self.total.width,
        )
        return Outcome(certificate, history, _warning(status, residual, tol, params))


def _warning(status: Status, residual: float, tol: float, params: SimpleNamespace) -> str | None:
    if status is Status.MAX_ITER:
        return (
            f"the relative duality gap is {residual:.3g}, not within tol={tol:.3g}, after max_iter={params.max_iter} "
            "iterations. Raise max_iter or tol, scale the columns of X, or lower C."
        )
    if status is Status.INEXACT:
        return (
            f"rounding ended the iterations at a relative duality gap of {residual:.3g}, not within tol={tol:.3g}. Scale the "
            "columns of X, raise tol, or lower C."
        )
    return None
