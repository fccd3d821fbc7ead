"""One penalised fit as its user sees it: watched by callbacks, with a certificate and the one warning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._base import FitTask, run_solver
from mercer._solvers.coordinate_descent import Descent, Reached
from mercer._trace import Certificate, Outcome, Record, Status

GAP = "duality gap"
GAIN = "what moves of single coefficients would gain"


@dataclass
class Run:
    """A finished descent: coefficients (features x targets) and what they reached, over the total weight."""

    coef: FloatArray
    reached: Reached
    total: float  # ||b||^2 over the weight
    status: Status
    history: list[Record]


def run_descent(
    descent: Descent,
    penalty: tuple[float, float],
    start: FloatArray | None,
    task: FitTask,
    *,
    tol: float,
    max_iter: int,
    verbose: int,
    fitted: Callable[[FloatArray, Reached], dict[str, Any]],
) -> Run:
    """Descend from `start` (None: from where the descent is); `fitted` gives attributes for coefficients and their figures."""
    descent.begin(penalty, tol, start)

    def attributes() -> dict[str, Any]:
        return fitted(descent.coef, descent.reached.over(descent.weight))

    status, history = run_solver(descent, task, max_iter=max_iter, verbose=verbose, fitted=attributes)
    status = status.given(is_reached=descent.has_converged)
    if not np.isfinite(descent.coef).all():
        raise ValueError(
            f"{type(task.estimator).__name__}: the coefficients are not finite: X or y holds values that are too large or too "
            "small. Scale them to moderate size first."
        )
    coef = descent.coef.copy()  # a path goes on from the descent's own
    return Run(coef, descent.reached.over(descent.weight), descent.total / descent.weight, status, history)


def outcome_of(runs: Sequence[Run], method: str, *, tol: float, max_iter: int) -> Outcome:
    """The certificate of all runs together: their figures add up, and the worst status counts."""
    gap, allowed = (float(sum(values)) for values in ([run.reached.gap for run in runs], [tol * run.total for run in runs]))
    dual = float(sum(run.reached.dual for run in runs))
    has_dual = bool(np.isfinite(dual))
    ranks = [Status.CONVERGED, Status.INEXACT, Status.MAX_ITER, Status.STOPPED]
    status = max((run.status for run in runs), key=ranks.index)
    certificate = Certificate(
        method=method,
        status=status,
        primal=float(sum(run.reached.primal for run in runs)),
        condition=GAP if has_dual else GAIN,
        residual=gap,
        tol=allowed,
        dual=dual if has_dual else None,
        gap=gap if has_dual else None,
    )
    history = [
        record if len(runs) == 1 else {"target": target, **record} for target, run in enumerate(runs) for record in run.history
    ]
    return Outcome(certificate, history, _warning(certificate, tol, max_iter))


def _warning(certificate: Certificate, tol: float, max_iter: int) -> str | None:
    if certificate.status is Status.MAX_ITER:
        return (
            f"after max_iter={max_iter} iterations the {certificate.condition} is {certificate.residual:.3g}, and it should be "
            f"{certificate.tol:.3g} (tol={tol:g}), or the coefficients still move. Increase max_iter, tol or the penalty, or "
            "scale the columns of X."
        )
    if certificate.status is Status.INEXACT and certificate.residual > certificate.tol:
        return (
            f"the {certificate.condition} ended at {certificate.residual:.3g}, where rounding stops it, and it should be "
            f"{certificate.tol:.3g} (tol={tol:g}). Increase tol."
        )
    return None
