"""Runs of Lloyd's iterations from several starts: where they begin, and what one leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer._arrays import FloatArray
from mercer._base import FitTask, run_solver
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Record, Status, log, native_progress, warn
from mercer.cluster._lloyd import Labels, Lloyd, Problem, seed_plusplus


def run_lloyd(problem: Problem, params: SimpleNamespace, n_threads: int, start: FloatArray, task: FitTask) -> Run:
    """One run of Lloyd's iterations."""
    tol = params.tol * problem.mean_variance
    solver = Lloyd(problem, start, tol=tol, always_bounded=params.algorithm == "elkan", n_threads=n_threads)

    def fitted() -> dict[str, Any]:
        return fitted_centres(*solver.result())

    status, history = run_solver(solver, task, max_iter=params.max_iter, verbose=params.verbose, fitted=fitted)
    # Labels may come to rest while a centre without rows is still being moved.
    status = status.given(is_reached=solver.shift <= tol)
    return Run(*solver.result(), status=status, history=history, shift=solver.shift, tol=tol)


class Run:
    """A finished run."""

    def __init__(
        self,
        centres: FloatArray,
        labels: Labels,
        inertia: float,
        *,
        status: Status,
        history: list[Record],
        shift: float,
        tol: float,
    ) -> None:
        self.centres, self.labels, self.objective = centres, labels, inertia
        self._status, self.history, self._shift, self._tol = status, history, shift, tol

    def attributes(self) -> dict[str, Any]:
        return fitted_centres(self.centres, self.labels, self.objective)

    def outcome(self, params: SimpleNamespace) -> Outcome:
        certificate = Certificate(
            method="Lloyd's iterations, a local minimum",
            status=self._status,
            primal=self.objective,
            condition="squared shift of the centres",
            residual=self._shift,
            tol=self._tol,
        )
        return Outcome(certificate, self.history, self._warning(params))

    def _warning(self, params: SimpleNamespace) -> str | None:
        n_found = np.count_nonzero(np.bincount(self.labels))
        if n_found < params.n_clusters:
            return (
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({params.n_clusters}). Possibly due "
                "to duplicate points in X; ask for fewer clusters."
            )
        return None


def fitted_centres(centres: FloatArray, labels: Labels, inertia: float) -> dict[str, Any]:
    return {"cluster_centers_": centres, "labels_": labels, "inertia_": inertia}


class Starts:
    """The centres to start from, one set a run, shifted as the problem is."""

    def __init__(
        self, owner: str, problem: Problem, params: SimpleNamespace, n_threads: int, *, random: Any = None, n_auto: int = 10
    ) -> None:
        self._owner, self._n_auto = owner, n_auto  # starts that are not k-means++, where nobody says how many
        self._problem, self._n_clusters, self._init, self._n_threads = problem, params.n_clusters, params.init, n_threads
        self._random = as_random_state(params.random_state) if random is None else random
        self._verbose = params.verbose
        is_given = not isinstance(params.init, str) and not callable(params.init)
        if is_given:
            self._init = self._checked(params.init)
        self.count = self._count(params.n_init, is_given)

    def _count(self, n_init: int | str, is_given: bool) -> int:
        if is_given:
            if isinstance(n_init, int) and n_init > 1:
                warn(
                    "Explicit initial center position passed: performing only one init in "
                    f"{self._owner} instead of n_init={n_init}, which would all be the same; leave n_init at 'auto'.",
                    RuntimeWarning,
                )
            return 1
        if isinstance(n_init, int):
            return n_init
        return 1 if isinstance(self._init, str) and self._init == "k-means++" else self._n_auto

    def _checked(self, centres: Any) -> FloatArray:
        centres = check_array(centres, dtype=self._problem.X.dtype, order="C", input_name="init")
        wanted = (self._n_clusters, self._problem.n_features)
        if centres.shape != wanted:
            raise ValueError(
                f"{self._owner}: init holds centres of shape {centres.shape}; with n_clusters={wanted[0]} and this X "
                f"it must be {wanted}."
            )
        return self._problem.to_shifted(centres)

    def __iter__(self) -> Any:
        return (self.draw() for _ in range(self.count))

    def draw(self) -> FloatArray:
        problem, k = self._problem, self._n_clusters
        if callable(self._init):
            return self._checked(self._init(problem.X, k, random_state=self._random))
        if not isinstance(self._init, str):
            return np.array(self._init)
        if self._init == "k-means++":
            with native_progress(lambda done, total: log(self._verbose, "k-means++: %d of %d centres", done + 1, total + 1)):
                return problem.to_shifted(problem.pick(seed_plusplus(problem, k, self._random, self._n_threads)))
        n = problem.X.shape[0]
        share = np.ones(n) if problem.weights is None else problem.weights.astype(np.float64)
        return problem.to_shifted(problem.pick(self._random.choice(n, size=k, replace=False, p=share / share.sum())))
