"""Expectation maximisation: the one driver of mixtures and hidden Markov models.

A model knows its parameters, what the E step makes of the data (`expect`) and what the M step makes of that (`maximise`).
The driver knows when to stop: when the objective that both steps raise has come to rest.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import numpy as np

from mercer._trace import Certificate, Outcome, Record, Status

Statistics = TypeVar("Statistics")


class Model(Protocol[Statistics]):
    """Parameters that EM improves."""

    def expect(self) -> tuple[Statistics, float]:
        """What the M step needs, and the objective of the parameters as they are."""
        ...

    def maximise(self, statistics: Statistics, objective: float) -> float:
        """Move the parameters; the objective to watch: the one given, or that of the new parameters where it is at hand."""
        ...


class EM(Generic[Statistics]):
    """The solver: a step is an E step and the M step after it."""

    def __init__(self, model: Model[Statistics], *, tol: float, is_two_sided: bool = True, name: str = "lower_bound") -> None:
        self.model, self.objective, self.change = model, -np.inf, np.inf
        self._tol, self._is_two_sided, self._name = tol, is_two_sided, name

    @property
    def is_done(self) -> bool:
        """Whether the objective has come to rest; `is_two_sided` says that a fall by less than the tolerance is rest too, and a
        greater one is not."""
        return bool((abs(self.change) if self._is_two_sided else self.change) < self._tol)

    def step(self) -> Record:
        with np.errstate(under="ignore"):  # a share that rounds to nothing is nothing, whatever np.seterr asks for
            statistics, objective = self.model.expect()
            objective = self.model.maximise(statistics, objective)
        self.change, self.objective = objective - self.objective, objective
        change = {"change": self.change} if np.isfinite(self.change) else {}  # of the first there is none
        return {self._name: objective, **change}

    def certificate(self, method: str, status: Status, objective: float) -> Certificate:
        """What was reached; `objective` is that of the parameters at the end."""
        residual = abs(self.change) if self._is_two_sided else max(self.change, 0.0)
        return Certificate(
            method=method,
            status=status.given(is_reached=bool(residual < self._tol)),
            primal=-objective,
            condition="last change of the objective",
            residual=float(residual),
            tol=self._tol,
        )

    def outcome(self, method: str, status: Status, history: list[Record], objective: float, advice: str) -> Outcome:
        """As of `certificate`, with a warning that ends in `advice` where the iterations ran out."""
        certificate = self.certificate(method, status, objective)
        warning = None
        if certificate.status is Status.MAX_ITER and history:
            warning = (
                f"after {len(history)} iterations the objective still changes by {self.change:.3g} an iteration, "
                f"against tol={self._tol:g}. {advice}"
            )
        return Outcome(certificate, history, warning)
