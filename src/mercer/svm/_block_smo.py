"""Block SMO: the solver of all kernel machines.

A working set of some hundred variables that violate the optimality condition most is solved by sequential minimal optimisation
with its square of the kernel in the cache; then the values of all rows are brought up to date by one pass over the lines of
the kernel that changed. Half of a working set stays in the next one. Lines are kept in single precision: where the condition
holds for them, the values are computed anew from all changes in the precision of X, and the iterations go on from there until
it holds for those. What single precision has lost is lost of the last changes only, so that the end is as exact as X allows.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trace import Record
from mercer.svm._dual import Dual, Index

BLOCK = 512  # variables in a working set
LEAST_STEPS = 10_000_000  # pairs of variables moved, by default: LIBSVM's own limit, or 100 for each variable
SHARE_LEFT = 0.1  # of the violation before a block, which is left within it
BYTES_AT_ONCE = 1 << 25  # of lines that are computed for the exact values
FEW_ROWS = 1000  # up to which single precision would save nothing
PATIENCE = 30  # blocks without a gain, before rounding is suspected
ROUGH = 1e-4  # the largest relative error of lines in single precision


class Lines(Protocol):
    """Lines of a kernel matrix by number."""

    store: FloatArray

    def fetch(self, rows: Index) -> Index:
        """Where in `store` the lines of these rows are now; others may have made room for them."""


class AllLines:
    """A whole kernel matrix, computed before."""

    def __init__(self, matrix: FloatArray) -> None:
        self.store = matrix

    def fetch(self, rows: Index) -> Index:
        return rows


class LineCache:
    """Lines that are computed when they are first asked for; those computed longest ago make room for new ones.

    New lines are written one after another, where the product that computes them wants them, around a ring.
    """

    def __init__(self, matrix: Any, n_lines: int) -> None:
        self._matrix = matrix
        n_lines = min(n_lines, matrix.n_rows)
        self.store = np.empty((n_lines, matrix.n_rows), dtype=matrix.dtype)
        self._slots = np.full(matrix.n_rows, -1, dtype=np.int32)  # of rows
        self._rows = np.full(n_lines, -1, dtype=np.int32)  # in slots
        self._head = 0

    def fetch(self, rows: Index) -> Index:
        wanted = np.unique(rows)
        missing = wanted[self._slots[wanted] < 0]
        while True:  # lines of this call that are in the way of new ones are computed again, behind them
            runs = self._runs(len(missing))
            held = np.concatenate([self._rows[run] for run in runs])
            in_way = np.setdiff1d(np.intersect1d(held[held >= 0], wanted), missing)
            if not len(in_way):
                break
            missing = np.concatenate([missing, in_way])
        self._slots[held[held >= 0]] = -1
        first = 0
        for run in runs:
            own = missing[first : first + run.stop - run.start]
            if len(own):
                self._matrix.rows(own, out=self.store[run])
                self._rows[run] = own
                self._slots[own] = np.arange(run.start, run.stop)
            first += len(own)
        self._head = (self._head + len(missing)) % len(self.store)
        return self._slots[rows]

    def _runs(self, count: int) -> list[slice]:
        """The next `count` slots of the ring."""
        end = self._head + count
        size = len(self.store)
        return [slice(self._head, min(end, size)), slice(0, max(end - size, 0))]


def rough_matrix(kernel: Any, X: Any, exact: Any, n_threads: int) -> Any:
    """The kernel matrix `exact` of X in single precision; `exact` itself where that would lose too much, or save nothing."""
    if exact.dtype != np.float64 or kernel.takes != "numbers" or exact.n_rows <= FEW_ROWS:
        return exact
    sample = np.linspace(0, exact.n_rows - 1, min(exact.n_rows, 16)).astype(np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        rough = kernel.on(X.astype(np.float32), n_threads=n_threads)
        if rough.dtype != np.float32:
            return exact
        some, right = rough.rows(sample), exact.rows(sample)
        is_near = np.abs(some - right).max() <= ROUGH * np.abs(right).max()
    return rough if is_near else exact


class BlockSMO:
    """The solver of one problem. `exact` is the kernel matrix; `lines` are those of it, or near them.

    Parameters
    ----------
    dual : Dual
    exact : KernelMatrix
    lines : Lines
    tol : float
        The largest violation at the end.
    max_steps : int
        The most pairs of variables that are moved.
    max_time : float
        The most seconds.
    start : (duals, values), default=None
        Where to begin: a feasible point and K times it; None for the problem's own start.
    """

    method = "block SMO"

    def __init__(
        self,
        dual: Dual,
        exact: Any,
        lines: Lines,
        *,
        tol: float,
        max_steps: int | None,
        max_time: float = np.inf,
        n_threads: int,
        start: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.dual, self._exact, self._lines, self._tol, self._n_threads = dual, exact, lines, tol, n_threads
        self._is_rough = exact is not None and lines.store.dtype != exact.dtype
        self._settled_violation = np.inf
        self._least_violation, self._n_since = np.inf, 0
        self._least_objective, self._n_idle, self.is_settled = np.inf, 0, False
        self._max_steps = max(LEAST_STEPS, 100 * len(dual.rows)) if max_steps is None else max_steps
        self._deadline = time.perf_counter() + max_time
        self._problem = (dual.rows, dual.linear, dual.low, dual.up)
        self.n_steps, self.least_curvature = 0, np.inf
        self.is_done, self.is_out_of_time, self.is_out_of_steps = False, False, False
        # Variables of one row share its line: where there are lines of all rows, a block may have more variables than lines.
        has_all = len(lines.store) >= lines.store.shape[1]
        most = BLOCK if has_all else min(BLOCK, len(lines.store))
        self._block = np.empty(min(most, len(dual.rows)), dtype=np.int32)
        self._kept = np.empty(0, dtype=np.int32)
        if start is None:
            self.duals, self.values = dual.start.copy(), np.zeros(lines.store.shape[1])
            self._exact_duals = np.zeros_like(self.duals)
            if self.duals.any():
                self._settle_values()
        else:
            self.duals, self.values = start[0].copy(), start[1].copy()
            self._exact_duals = self.duals.copy()
        self._exact_values = self.values.copy()

    def _settle_values(self) -> None:
        """Bring the values to the precision of the kernel: what changed since they last had it is added anew."""
        changes = self._changes_of_rows(self.duals - self._exact_duals)
        rows = np.flatnonzero(changes).astype(np.int32)
        values = getattr(self, "_exact_values", np.zeros_like(self.values))
        n_rows = len(values)
        if self._exact is None:
            for some in np.array_split(rows, max(1, len(rows) // BLOCK)):
                kernels.add_lines(self._lines.store, self._lines.fetch(some), changes[some], values, self._n_threads)
        else:
            at_once = max(1, BYTES_AT_ONCE // (n_rows * self._exact.dtype.itemsize))
            out = np.empty((min(at_once, max(len(rows), 1)), n_rows), dtype=self._exact.dtype)
            for first in range(0, len(rows), at_once):
                some = rows[first : first + at_once]
                lines = self._exact.rows(some, out=out[: len(some)])
                kernels.add_lines(lines, np.arange(len(some), dtype=np.int32), changes[some], values, self._n_threads)
        self._exact_values, self._exact_duals = values, self.duals.copy()
        self.values = values.copy()

    def _changes_of_rows(self, changes: FloatArray) -> FloatArray:
        return np.bincount(self.dual.rows, weights=changes, minlength=len(self.values))

    def step(self) -> Record:
        """Solve one block; where none is left to gain from, see whether it is so in full precision."""
        violation, target = self._choose(), 0.8 * self._tol if self._is_rough else self._tol
        if self._is_rough and (not violation > target or self._is_lost_in_rounding(violation)):
            self._settle_values()
            violation, target = self._choose(), self._tol
            if violation > 0.5 * self._settled_violation:
                self._take_exact_lines()
            self._settled_violation = violation
        n_steps = 0
        if violation > target:
            n_steps = self._solve(violation, target)
        objective = self.dual.objective(self.duals, self.values)
        self.is_done = self.is_done or not violation > target or self._is_idle(objective)
        return {
            "objective": objective,
            "violation": max(violation, 0.0),
            "n_steps": float(n_steps),
        }

    def _is_idle(self, objective: float) -> bool:
        """Whether blocks have not lowered the objective for long, with exact lines: rounding is all that is left."""
        if objective < self._least_objective - 1e-15 * abs(objective):
            self._least_objective, self._n_idle = objective, 0
        elif not self._is_rough:
            self._n_idle += 1
        self.is_settled = self._n_idle >= PATIENCE
        return self.is_settled

    def _is_lost_in_rounding(self, violation: float) -> bool:
        """Whether blocks have gained nothing for long, where errors of lines in single precision may be the reason."""
        if violation < 0.9 * self._least_violation:
            self._least_violation, self._n_since = violation, 0
            return False
        self._n_since += 1
        if self._n_since < PATIENCE:
            return False
        self._n_since = 0
        size = float(np.abs(self._lines.store[0]).max()) * float(np.linalg.norm(self.duals))
        if violation > 16 * np.finfo(np.float32).eps * size:
            return False
        self._settled_violation = 0.0  # whatever is left in full precision is for exact lines
        return True

    def _take_exact_lines(self) -> None:
        """Go on with lines in the precision of the kernel, where those in single precision come no nearer.

        So it is where values hardly depend on large changes of the duals: a kernel of few dimensions, say.
        """
        n_bytes = self._lines.store.nbytes
        self._lines = LineCache(self._exact, max(n_bytes // (self._exact.n_rows * self._exact.dtype.itemsize), BLOCK))
        self._is_rough = False

    def _choose(self) -> float:
        """Choose a block; the largest violation of all variables."""
        self._n_block, self._n_first, violation = kernels.choose_block(
            *self._problem, self.dual.group_end, self.values, self.duals, self._kept, self._block
        )
        if np.isnan(self.values).any() or np.isinf(self.values).any():
            raise FloatingPointError("the values of the kernel overflow")
        return float(violation)

    def _solve(self, violation: float, target: float) -> int:
        block = self._block[: self._n_block]
        slots = self._lines.fetch(self.dual.rows[block])
        before = self.duals[block]
        room = min(self._max_steps - self.n_steps, 20 * len(block))
        n_steps, curvature, _ = kernels.solve_block(
            *self._problem,
            self._lines.store,
            slots,
            block,
            self._n_first,
            self.values,
            max(SHARE_LEFT * violation, 0.5 * target),
            room,
            self.duals,
        )
        changes = self.duals[block] - before
        moved = np.flatnonzero(changes)
        kernels.add_lines(self._lines.store, slots[moved], changes[moved], self.values, self._n_threads)
        self.n_steps += n_steps
        self.least_curvature = min(self.least_curvature, curvature)
        self._keep_half(block)
        self.is_out_of_steps = self.n_steps >= self._max_steps
        self.is_out_of_time = time.perf_counter() > self._deadline
        self.is_done = self.is_out_of_steps or self.is_out_of_time
        return int(n_steps)

    def _keep_half(self, block: Index) -> None:
        """The part of the block that stays: of those that are new in it, free variables before others."""
        duals = self.duals[block]
        is_free = (duals > self.dual.low[block]) & (duals < self.dual.up[block])
        is_new = ~np.isin(block, self._kept)
        order = np.argsort(-(2.0 * is_new + is_free), kind="stable")
        self._kept = np.sort(block[order[: len(self._block) // 2]])
