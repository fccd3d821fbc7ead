"""What a fit reached and how: certificate, history, status, the one outer loop for solvers, and the one place that warns."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from mercer._native import kernels
from mercer._saved import saved

Record = dict[str, float]

logger = logging.getLogger("mercer")

ROUNDING = 1e-12  # of an objective: what its sum over rows may be off by


@saved("Status")
class Status(Enum):
    """How a fit ended."""

    CONVERGED = "converged"
    MAX_ITER = "stopped at max_iter"
    STOPPED = "stopped by a callback"
    INEXACT = "ended short of its tolerance"
    SETTLED = "stopped where passes improved no further"

    @property
    def is_success(self) -> bool:
        return self is Status.CONVERGED

    def given(self, *, is_reached: bool) -> Status:
        """How a fit ended, now that the end was measured: whether it has converged is a matter of the tolerance alone."""
        if is_reached and self in (Status.MAX_ITER, Status.INEXACT, Status.SETTLED):
            return Status.CONVERGED
        return Status.INEXACT if self is Status.CONVERGED and not is_reached else self


@saved("Certificate")
@dataclass(frozen=True, repr=False)
class Certificate:
    """What a fit reached, and why it may be trusted.

    Attributes
    ----------
    method : str
        The algorithm that ran.
    status : Status
        How it ended; "converged" always means that the residual is at most the tolerance.
    primal : float or None
        The value of the objective at the solution; None for a method that minimises none.
    condition : str
        The optimality condition that was measured, in words.
    residual : float
        What is left of it; zero at an exact solution.
    tol : float
        What the residual had to reach.
    dual, gap : float or None
        The dual value and the duality gap, for convex problems whose dual is at hand.
    """

    method: str
    status: Status
    primal: float | None
    condition: str
    residual: float
    tol: float
    dual: float | None = None
    gap: float | None = None

    def __post_init__(self) -> None:
        if self.gap is None or self.primal is None:
            return
        if -ROUNDING * abs(self.primal) <= self.gap < 0:  # primal and dual are rounded apart
            object.__setattr__(self, "gap", 0.0)

    @property
    def converged(self) -> bool:
        return self.status.is_success

    def __repr__(self) -> str:
        sign = "<=" if self.residual <= self.tol else ">"
        lines = [f"Certificate: {self.status.value} ({self.method})"]
        if self.primal is not None:
            lines.append(f"  objective {self.primal:.10g}")
        lines.append(f"  {self.condition} {self.residual:.3g} {sign} {self.tol:.3g}")
        if self.gap is not None:
            lines.append(f"  duality gap {self.gap:.3g} (dual {self.dual:.10g})")
        return "\n".join(lines)


@dataclass
class Outcome:
    """A finished fit, as a solver hands it back: nothing is printed and nothing warned about on the way."""

    certificate: Certificate
    history: list[Record] = field(default_factory=list)  # one record an iteration; none for a direct method
    warning: str | None = None  # the one thing to tell the user, with the figure reached and the remedy

    def attributes(self) -> dict[str, Any]:
        """What it leaves on an estimator."""
        iterations = {"n_iter_": len(self.history), "history_": self.history} if self.history else {}
        return {"certificate_": self.certificate, **iterations}


class Solver(Protocol):
    """An iterative method: what one step does and when it is done."""

    def step(self) -> Record:
        """Do one iteration and tell about it."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether the stopping rule holds after the last step."""
        ...


def iterate(
    solver: Solver, *, max_iter: int, watch: Callable[[Record], bool], begin: Callable[[], None] | None = None
) -> tuple[Status, list[Record]]:
    """Run a solver. `begin` is told of every step before it, `watch` sees its record and returns True to stop early."""
    history: list[Record] = []
    for _ in range(max_iter):
        if begin is not None:
            begin()
        record = solver.step()
        history.append(record)
        if solver.is_done:
            watch(record)
            return Status.CONVERGED, history
        if watch(record):
            return Status.STOPPED, history
    return Status.MAX_ITER, history


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn; the warning points to the first line outside Mercer and scikit-learn."""
    warnings.warn(message, category, stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("mercer", "sklearn"):
        frame, depth = frame.f_back, depth + 1
    return depth


def log(verbose: int, message: str, *values: Any) -> None:
    """Log at level INFO if the user asked for it. Where logging was never set up, `verbose` sets up standard error."""
    if not verbose:
        return
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    logger.info(message, *values)


@contextmanager
def native_progress(callback: Callable[[int, int], None] | None) -> Iterator[None]:
    """Have long kernels called in this block (and thread) report (done, total) a few times a second."""
    before = kernels.exchange_progress(callback)
    try:
        yield
    finally:
        kernels.exchange_progress(before)
