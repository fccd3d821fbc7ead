"""The way of a fit of linear support vector machines, and of many fits that differ in C."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from mercer._arrays import FloatArray, require_no_overflow
from mercer._base import FitTask, MercerEstimator
from mercer._candidates import Candidates
from mercer._trace import Outcome, Record, Status
from mercer.svm._linear_svm import SQUARED, Machine
from mercer.svm._lock_step import LockStep


@dataclass(frozen=True)
class MachineData:
    """What a fit is given, checked: the rows as the solvers have them, the targets (codes of classes or numbers), weights."""

    machine: Machine
    targets: Any
    weights: FloatArray | None
    classes: Any = None  # none in regression

    @property
    def X(self) -> Any:
        return self.machine.X

    @property
    def y(self) -> Any:
        """The targets as users know them."""
        return self.targets if self.classes is None else self.classes[self.targets]


class LinearMachine(MercerEstimator, ABC):
    """What support vector classification and regression share."""

    loss: str
    dual: bool | str

    @abstractmethod
    def _check(self) -> SimpleNamespace:
        """The parameters, checked one by one and against each other."""

    @abstractmethod
    def _check_data(self, X: Any, y: Any, sample_weight: Any, params: SimpleNamespace) -> MachineData: ...

    @abstractmethod
    def _lock_step(self, data: MachineData, params: SimpleNamespace, before: LockStep | None) -> LockStep:
        """The solvers, which start where those of another C ended, if their method can."""

    @abstractmethod
    def _attributes(self, data: MachineData, params: SimpleNamespace, coef: FloatArray, intercept: Any) -> dict[str, Any]: ...

    def _solve(self, data: MachineData, params: SimpleNamespace, before: LockStep | None = None) -> LockStep:
        """Find the coefficients and store them."""
        task = FitTask.start(self, data.X, data.y, n_subtasks=params.max_iter)
        try:
            solver = self._lock_step(data, params, before)
        except FloatingPointError:
            require_no_overflow(self, data.X, "the sums of their squares")
            raise

        def fitted() -> dict[str, Any]:
            coef, intercept = (part.astype(data.X.dtype, copy=False) for part in solver.solution())
            return self._attributes(data, params, coef, intercept if params.fit_intercept else 0.0)

        def outcome(status: Status, history: list[Record]) -> Outcome:
            solver.settle()
            return solver.outcome(status, history, params)

        self._fit_by(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted, outcome=outcome)
        return solver

    def sweep_parameters(self) -> list[str]:
        """The parameters that `sweep` takes: `C` where Newton's method solves, which can go on from another solution."""
        is_newton = self.loss in SQUARED and self.dual is not True and getattr(self, "multi_class", "ovr") == "ovr"
        return ["C"] if is_newton else []

    def sweep(self, X: Any, y: Any, name: str, values: Sequence[Any], *, sample_weight: Any = None) -> Iterator[Self]:
        """Fitted clones, one for each value of C in the order given: each goes on from the next smaller one.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        name : {"C"}
        values : sequence of float

        Returns
        -------
        iterator of estimators
        """
        candidates = Candidates(self, name, values, self.sweep_parameters(), check=type(self)._check)
        first, params = candidates.estimators[0], candidates.params[0]
        data = first._check_data(X, y, sample_weight, params)
        candidates.share_input(first)
        solver = None
        for place in np.argsort(candidates.values):
            solver = candidates.fit(place, LinearMachine._solve, data, candidates.params[place], solver)
        return iter(candidates.estimators)
