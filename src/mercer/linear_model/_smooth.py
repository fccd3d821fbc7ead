"""From a solver of a smooth problem to what a fit tells about itself."""

from __future__ import annotations

from typing import Protocol

from mercer._trace import Certificate, Outcome, Record, Status


class SmoothSolver(Protocol):
    """What is read off a solver that has ended."""

    @property
    def gradient_norm(self) -> float: ...
    @property
    def relative_gap(self) -> float | None: ...


def smooth_outcome(
    solver: SmoothSolver,
    status: Status,
    history: list[Record],
    *,
    method: str,
    tol: float,
    primal: float,
    gap: float | None,
) -> Outcome:
    """Objective, gradient and gap, and what to warn about."""
    residual, relative_gap = solver.gradient_norm, solver.relative_gap
    is_reached = residual <= tol and (relative_gap is None or relative_gap <= tol)
    if status is Status.CONVERGED and not is_reached:  # rounding ended it
        status = Status.INEXACT
    if status is Status.MAX_ITER and is_reached:  # the solver had been asked for more
        status = Status.CONVERGED
    certificate = Certificate(
        method=method,
        status=status,
        primal=primal,
        condition="largest entry of the gradient",
        residual=residual,
        tol=tol,
        dual=None if gap is None else primal - gap,
        gap=gap,
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
