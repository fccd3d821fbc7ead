"""From a solver of a smooth problem to what a fit tells about itself."""

from __future__ import annotations

from mercer._solvers.newton import Newton
from mercer._trace import Certificate, Outcome, Record, Status


def smooth_outcome(solver: Newton, status: Status, history: list[Record], *, method: str, tol: float) -> Outcome:
    """Objective, gradient and gap, all for a total weight of one, and what to warn about."""
    weight, residual, relative_gap = solver.problem.total_weight, solver.gradient_norm, solver.relative_gap
    is_reached = residual <= tol and (relative_gap is None or relative_gap <= tol)
    if status is Status.CONVERGED and not is_reached:
        status = Status.INEXACT
    primal, gap = solver.at.value / weight, solver.problem.gap(solver.at)
    certificate = Certificate(
        method=method,
        status=status,
        primal=primal,
        condition="largest entry of the gradient",
        residual=residual,
        tol=tol,
        dual=None if gap is None else primal - gap / weight,
        gap=None if gap is None else gap / weight,
    )
    return Outcome(certificate, history, _warning(status, residual, relative_gap, tol, len(history)))


def _warning(status: Status, residual: float, relative_gap: float | None, tol: float, n_iter: int) -> str | None:
    reached = f"the largest entry of the gradient is {residual:.3g}"
    if relative_gap is not None:
        reached += f" and the relative duality gap {relative_gap:.3g}"
    if status is Status.MAX_ITER:
        return f"stopped at max_iter={n_iter}: {reached}, not within tol={tol:.3g}. Raise max_iter or tol, or scale X."
    if status is Status.INEXACT:
        return f"{reached}, not within tol={tol:.3g}, and rounding lets the objective fall no further. Scale X, or raise tol."
    return None
