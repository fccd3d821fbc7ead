"""What regressions with a smooth objective share: data and a warm start in, and what a fit tells about itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from mercer._arrays import Finite, FloatArray, check_weights, check_X_y
from mercer._linear import SPARSE
from mercer._solvers.linear_loss import LinearRows
from mercer._trace import Certificate, Outcome, Record, Status


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, FloatArray, FloatArray | None]:
    """X in its own precision, targets and weights in double precision. NaN in dense X is left for the sums to find."""
    finite: Finite = "check" if sp.issparse(X) else "deferred"
    X, y = check_X_y(estimator, X, y, sparse=SPARSE, finite=finite)
    return X, y.astype(np.float64, copy=False), check_weights(sample_weight, X.shape[0], np.float64)


def warm_point(estimator: Any, rows: LinearRows, params: SimpleNamespace) -> FloatArray | None:
    """Coefficients and intercept of the earlier fit, for rows less their shift; None where none is asked for or there."""
    if not params.warm_start or not hasattr(estimator, "coef_"):
        return None
    coef = estimator.coef_.astype(np.float64)
    if coef.shape != (rows.n_features,):
        raise ValueError(
            f"{type(estimator).__name__}: warm_start=True needs the features of the earlier fit, {len(coef)}, and X has "
            f"{rows.n_features}; set warm_start=False."
        )
    return np.append(coef, float(estimator.intercept_) + rows.shift @ coef if params.fit_intercept else 0.0)


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
    status = status.given(is_reached=is_reached)  # rounding may end it early, and the solver may have been asked for more
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
