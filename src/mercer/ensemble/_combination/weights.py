"""The weights of a mixture: what the solver reached, as a certificate."""

from __future__ import annotations

from types import SimpleNamespace

from mercer._solvers.simplex import SimplexNewton
from mercer._trace import Certificate, Outcome, Record, Status


def weights_outcome(solver: SimplexNewton, status: Status, history: list[Record], params: SimpleNamespace) -> Outcome:
    """What the weights reached."""
    status = status.given(is_reached=solver.relative_gap <= params.tol)
    certificate = Certificate(
        method="Newton's method with an active set on the simplex",
        status=status,
        primal=solver.at.value,
        condition="gap over the risk of the best member",
        residual=solver.relative_gap,
        tol=params.tol,
        dual=solver.at.value - solver.at.gap,
        gap=solver.at.gap,
    )
    warning = None
    if status in (Status.MAX_ITER, Status.INEXACT):
        ended = f"{params.max_iter} iterations" if status is Status.MAX_ITER else "no further progress"
        warning = (
            f"after {ended} other weights might be better by {solver.relative_gap:.3g} of the risk of the best member, not "
            f"within tol={params.tol:.3g}. Raise max_iter or tol."
        )
    return Outcome(certificate, history, warning)
