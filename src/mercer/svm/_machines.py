"""From dual problems to a fit: the parts of a machine (one for each pair of classes), solved one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._trace import Certificate, Outcome, Record, Status
from mercer.svm._block_smo import BLOCK, BlockSMO
from mercer.svm._dual import Dual, Index
from mercer.svm._lines import AllLines, LineCache, Lines

HARD_COSTS = (1e3, 1e6, 1e9)  # over the mean of the kernel's diagonal: what stands for C = inf, as far as it binds
HARD_STEPS = 1_000_000  # for each of them: separable data need far fewer
INDEFINITE = -1e-4  # a curvature below this share of K_ii + K_jj is no rounding error


@dataclass
class Part:
    """One dual problem, over some rows of the machine's; `make` gives it for costs of C (or of what stands for C = inf)."""

    rows: Index
    make: Callable[[float], Dual]
    dual: Dual = field(init=False)
    end: tuple[FloatArray, FloatArray] | None = None  # duals and values where it was left
    solver: BlockSMO | None = None  # while it is being solved
    n_steps: int = 0
    n_earlier: int = 0  # steps, with smaller costs that stood for C = inf
    least_curvature: float = np.inf
    is_out_of_time: bool = False
    is_settled: bool = False  # by rounding

    def over(self, rows: Index, own: Index) -> Part:
        """The same problem with a value for each of `rows`, of which those at the places `own` are its own."""

        def make(cost: float) -> Dual:
            dual = self.make(cost)
            return replace(dual, rows=own[dual.rows])

        return Part(rows, make)

    @property
    def has_begun(self) -> bool:
        return self.solver is not None or self.end is not None

    @property
    def duals(self) -> FloatArray:
        return self._point[0] if self.solver is None else self.solver.duals

    @property
    def values(self) -> FloatArray:
        """K b, one for each of `rows`."""
        return self._point[1] if self.solver is None else self.solver.values

    @property
    def _point(self) -> tuple[FloatArray, FloatArray]:
        assert self.end is not None
        return self.end

    def leave(self) -> None:
        """Hold the point of the solver, and not its lines."""
        if self.solver is not None:
            self.end, self.solver = (self.solver.duals, self.solver.values), None

    def take_from(self, solver: BlockSMO) -> None:
        self.dual, self.solver = solver.dual, solver
        self.n_steps = self.n_earlier + solver.n_steps
        self.least_curvature = min(self.least_curvature, solver.least_curvature)
        self.is_out_of_time, self.is_settled = solver.is_out_of_time, solver.is_settled

    @property
    def slopes(self) -> FloatArray:
        return self.dual.slopes(self.values)

    @property
    def biases(self) -> list[float]:
        return self.dual.biases(self.duals, self.slopes)

    @property
    def row_duals(self) -> FloatArray:
        """b of each row: of regression, the sum of its two variables."""
        return np.bincount(self.dual.rows, weights=self.duals, minlength=len(self.rows))

    @property
    def squared_norm(self) -> float:
        """|w|^2 = b'Kb in the space of the kernel."""
        return float(self.duals @ self.values[self.dual.rows])


class InseparableError(Exception):
    """C = inf has no solution."""


class Machines:
    """The solver of a fit: its parts one after another, each to the same tolerance.

    `before` is one of the same parts with a smaller C, which has ended: each part goes on from its own there.
    """

    def __init__(
        self,
        exact: Any,
        rough: Any,
        parts: list[Part],
        params: SimpleNamespace,
        n_threads: int,
        before: Machines | None = None,
    ) -> None:
        self.parts, self._exact, self._rough = parts, exact, rough
        self._params, self._n_threads = params, n_threads
        self._budget = int(params.cache_size * 2**20)
        self._place, self._all = 0, None
        self._lines: Lines | None
        self._before, self._lines = before, None
        n_bytes = exact.n_rows**2 * self._rough.dtype.itemsize
        if before is not None:
            self._all, self._lines = before._all, before._lines if len(parts) == 1 else None
        elif len(parts) > 1 and n_bytes <= self._budget:
            self._all = self._rough.rows(np.arange(exact.n_rows, dtype=np.int32))
        self._levels = self._cost_levels()
        self._level = 0
        self._start()

    def _cost_levels(self) -> list[float]:
        C = getattr(self._params, "C", 1.0)
        if np.isfinite(C):
            return [C]
        size = float(np.abs(self._exact.diagonal()).mean())
        return [cost / max(size, np.finfo(float).tiny) for cost in HARD_COSTS]

    def _start(self) -> None:
        """The solver of the part that is next; of a larger cost it begins where the last one ended."""
        part, params = self.parts[self._place], self._params
        whole = len(part.rows) == self._exact.n_rows
        exact = self._exact if whole else self._exact.take(part.rows)
        start = None
        if self._level > 0:
            start = (part.duals, part.values)
        elif self._before is not None:
            start = (self._before.parts[self._place].duals, self._before.parts[self._place].values)
        if self._lines is None:
            self._lines = self._lines_of(part, whole)
        self._solver: BlockSMO | None = BlockSMO(
            part.make(self._levels[self._level]),
            exact,
            self._lines,
            tol=params.tol,
            max_steps=(HARD_STEPS if len(self._levels) > 1 else None) if params.max_iter == -1 else params.max_iter,
            max_time=np.inf if params.max_time is None else params.max_time,
            shrinking=params.shrinking,
            n_threads=self._n_threads,
            start=start,
        )
        part.take_from(self._solver)

    def _lines_of(self, part: Part, whole: bool) -> Lines:
        if self._all is not None:
            return AllLines(self._all[np.ix_(part.rows, part.rows)])
        matrix = self._rough if whole else self._rough.take(part.rows)
        in_cache = self._budget // (matrix.n_rows * matrix.dtype.itemsize)
        return LineCache(matrix, max(in_cache, BLOCK))

    @property
    def is_done(self) -> bool:
        return self._solver is None

    def step(self) -> Record:
        assert self._solver is not None
        record, part = self._solver.step(), self.parts[self._place]
        part.take_from(self._solver)
        if len(self.parts) > 1:
            record = {"part": float(self._place), **record}
        if self._solver.is_done:
            self._next(part)
        return record

    def _next(self, part: Part) -> None:
        is_bound = len(self._levels) > 1 and bool((np.abs(part.duals) == np.maximum(part.dual.up, -part.dual.low)).any())
        is_short = len(self._levels) > 1 and self._params.max_iter == -1 and part.n_steps - part.n_earlier >= HARD_STEPS
        part.n_earlier = part.n_steps
        if is_short or (is_bound and self._level + 1 == len(self._levels)):
            raise InseparableError
        part.leave()
        self._level = self._level + 1 if is_bound else 0
        self._place += not is_bound
        self._solver = None
        if not is_bound and len(self.parts) > 1:
            self._lines = None
        if self._place < len(self.parts):
            self._start()

    def outcome(self, status: Status, history: list[Record]) -> Outcome:
        """The certificate over all parts: values and gaps add up, the largest violation counts."""
        params, parts = self._params, self.parts[: self._place + 1]
        slopes = [part.slopes for part in parts]
        violation = max(part.dual.violation(part.duals, each) for part, each in zip(parts, slopes, strict=True))
        gap = sum(part.dual.gap(part.duals, each) for part, each in zip(parts, slopes, strict=True))
        dual = -sum(part.dual.objective(part.duals, part.values) for part in parts)
        status = status.given(is_reached=violation <= params.tol)
        if status is Status.INEXACT and not any(part.is_settled for part in parts):
            status = Status.MAX_ITER
        certificate = Certificate(
            method=BlockSMO.method,
            status=status,
            primal=dual + gap,
            condition="largest violation of the optimality conditions",
            residual=violation,
            tol=params.tol,
            dual=dual,
            gap=gap,
        )
        return Outcome(certificate, history, self._warning(status, certificate))

    def _warning(self, status: Status, certificate: Certificate) -> str | None:
        least = min(part.least_curvature for part in self.parts)
        if least < INDEFINITE:
            return (
                f"the kernel is not positive semi-definite: rows i, j were met whose K_ii + K_jj - 2 K_ij is {least:.3g} times "
                "K_ii + K_jj. The fit is a stationary point that need not be the best one; its certificate holds no bound. "
                "Take another kernel, or other parameters of it."
            )
        if status is Status.INEXACT:
            return (
                f"rounding ended the iterations at a violation of {certificate.residual:.3g}, not within "
                f"tol={certificate.tol:.3g}; the duality gap is {certificate.gap:.3g} of an objective of "
                f"{certificate.primal:.6g}. Raise tol, scale the columns of X, or lower C."
            )
        if status is not Status.MAX_ITER:
            return None
        params = self._params
        if any(part.is_out_of_time for part in self.parts):
            limit = f"max_time={params.max_time:g} seconds"
        elif params.max_iter == -1:
            limit = f"{sum(part.n_steps for part in self.parts)} steps, the most that are taken by default"
        else:
            limit = f"max_iter={params.max_iter}"
        return (
            f"Solver terminated early: after {limit} the largest violation is {certificate.residual:.3g}, not within "
            f"tol={certificate.tol:.3g}, and the duality gap {certificate.gap:.3g} of an objective of "
            f"{certificate.primal:.6g}. Consider pre-processing your data with StandardScaler or MinMaxScaler, lower C, or "
            "raise the limit."
        )
