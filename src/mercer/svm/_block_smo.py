"""Block SMO: the solver of all kernel machines.

A working set of some hundred variables that violate the optimality condition most is solved by sequential minimal optimisation
with its square of the kernel in the cache; then the values of all rows are brought up to date by one pass over the lines of
the kernel that changed. Half of a working set stays in the next one. Variables at bounds that no other one would move leave
the problem, and rows without any leave the lines (shrinking); all come back near the end, and once more at it.

Lines are kept in single precision: where the condition holds for them, the values are computed anew from all changes in the
precision of X, and the iterations go on from there until it holds for those. What single precision has lost is lost of the
last changes only, so that the end is as exact as X allows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trace import Record
from mercer.svm._dual import Dual, Index
from mercer.svm._lines import LineCache, Lines, add_lines_of

BLOCK, LARGE_BLOCK = 512, 768  # variables in a working set: at first, and where many have not been enough
MANY_BLOCKS = 8  # ill-conditioned problems have more free variables than one holds, and hand them to and fro
LEAST_STEPS = 10_000_000  # pairs of variables moved, by default: LIBSVM's own limit, or 100 for each variable
SHARE_LEFT = 0.1  # of the violation before a block, which is left within it
PATIENCE = 30  # blocks without a gain, before rounding is suspected
BLOCK_STEPS = (
    200  # pairs at most for each variable of a block: ill-conditioned ones that are left early come back again and again
)
SHRINK_EVERY = 8  # blocks
WORTH_SHRINKING = 0.8  # the share of the rows that may be left where it pays to leave the others
NEAR = 10.0  # times the tolerance, at which all variables come back for the first time


@dataclass
class Active:
    """The variables that blocks are chosen from, in the numbering of their own, and the values of their rows."""

    dual: Dual
    duals: FloatArray
    values: FloatArray
    numbers: Index | None = None  # of the variables among all; None for all
    rows: Index | None = None  # of the values among all


class BlockSMO:
    """The solver of one problem. `exact` is the kernel matrix; `lines` are those of it, or near them.

    Parameters
    ----------
    dual : Dual
    exact : KernelMatrix or None
        None where nothing is more exact than the lines.
    lines : Lines
    tol : float
        The largest violation at the end.
    max_steps : int or None
        The most pairs of variables that are moved.
    max_time : float
        The most seconds.
    shrinking : bool
        Whether variables leave the problem for a while.
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
        shrinking: bool = True,
        n_threads: int,
        start: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.dual, self._exact, self._lines, self._tol, self._n_threads = dual, exact, lines, tol, n_threads
        self._is_rough = exact is not None and lines.store.dtype != exact.dtype
        self._settled_violation = np.inf
        self._least_violation, self._n_since = np.inf, 0
        self.is_settled = False
        self._max_steps = max(LEAST_STEPS, 100 * len(dual.rows)) if max_steps is None else max_steps
        self._deadline = time.perf_counter() + max_time
        self._shrinks, self._n_blocks, self._is_near, self._block_size = shrinking, 0, False, BLOCK
        self.n_steps, self.least_curvature = 0, np.inf
        self.is_done, self.is_out_of_time, self.is_out_of_steps = False, False, False
        if start is None:
            self._exact_duals, self._exact_values = np.zeros(len(dual.rows)), np.zeros(lines.store.shape[1])
            self._begin(Active(dual, dual.start.copy(), self._exact_values.copy()))
            if dual.start.any():
                self._settle_values()
        else:
            self._exact_duals, self._exact_values = dual.stretched(*start)
            self._begin(Active(dual, self._exact_duals.copy(), self._exact_values.copy()))

    def _begin(self, active: Active) -> None:
        """Go on with these variables."""
        self._active, dual = active, active.dual
        self._problem = (dual.rows, dual.linear, dual.low, dual.up)
        self._block = self._empty_block()
        self._kept = np.empty(0, dtype=np.int32)
        if active.numbers is None:  # from here on its changes are added up
            self._objective = dual.objective(active.duals, active.values)
            self._least_objective, self._n_idle = np.inf, 0

    def _empty_block(self) -> Index:
        """Variables of one row share its line: where all rows have lines, a block may have more variables than lines."""
        store = self._lines.store
        most = self._block_size if len(store) >= store.shape[1] else min(self._block_size, len(store))
        return np.empty(min(most, len(self._active.dual.rows)), dtype=np.int32)

    # ---- the point of all variables

    @property
    def duals(self) -> FloatArray:
        active = self._active
        if active.numbers is None:
            return active.duals
        duals = self._shrunk_duals.copy()
        duals[active.numbers] = active.duals
        return duals

    @property
    def values(self) -> FloatArray:
        """K b, of all rows: computed for those that have left the problem."""
        return self._active.values if self._active.numbers is None else self._all_values(self._lines.add_all)

    def _all_values(self, add_all: Any) -> FloatArray:
        """The values at the last exact point, and what changes since then add to them."""
        duals = self.duals
        changes = np.bincount(self.dual.rows, weights=duals - self._exact_duals, minlength=len(self._exact_values))
        rows = np.flatnonzero(changes).astype(np.int32)
        values = self._exact_values.copy()
        add_all(rows, changes[rows], values, self._n_threads)
        return values

    def _settle_values(self) -> None:
        """Bring the values of all rows to the precision of the kernel."""

        def add_exact(rows: Index, changes: FloatArray, values: FloatArray, n_threads: int) -> None:
            add_lines_of(self._exact, rows, changes, values, n_threads)

        values = self._all_values(self._lines.add_all if self._exact is None else add_exact)
        self._exact_duals, self._exact_values = self.duals.copy(), values
        self._widen(values.copy())

    def _widen(self, values: FloatArray) -> None:
        """Go on with all variables, given the values of all rows."""
        duals = self.duals
        if self._active.numbers is not None:
            self._lines.release()
        self._begin(Active(self.dual, duals, values))

    def _shrink(self) -> None:
        """Leave the variables at bounds that none would move with, where enough rows are left without any."""
        now = self._active
        can_move = np.flatnonzero(now.dual.can_move(now.duals, now.dual.slopes(now.values))).astype(np.int32)
        has_any = np.zeros(len(now.values), dtype=bool)
        has_any[now.dual.rows[can_move]] = True
        rows = np.flatnonzero(has_any).astype(np.int32)
        if len(rows) > WORTH_SHRINKING * len(now.values) or len(rows) < 2:
            return
        self._shrunk_duals = self.duals
        self._lines.restrict(rows)
        place = np.cumsum(has_any, dtype=np.int32) - 1
        self._begin(
            Active(
                now.dual.among(can_move, place),
                now.duals[can_move],
                now.values[rows],
                can_move if now.numbers is None else now.numbers[can_move],
                rows if now.rows is None else now.rows[rows],
            )
        )

    # ---- iterations

    def step(self) -> Record:
        """Solve one block; where none is left to gain from, see whether it is so for all variables and in full precision."""
        self._n_blocks += 1
        if self._n_blocks == MANY_BLOCKS:
            self._block_size = LARGE_BLOCK
            self._block = self._empty_block()
        violation, target = self._choose(), 0.8 * self._tol if self._is_rough else self._tol
        is_near = not self._is_near and not violation > NEAR * self._tol
        if is_near:
            self._is_near = True
            if self._active.numbers is not None:
                self._widen(self.values)
        if self._shrinks and violation > target and (is_near or self._n_blocks % SHRINK_EVERY == 0):
            self._shrink()
            violation = self._choose()
        if self._is_rough and (not violation > target or self._is_lost_in_rounding(violation)):
            self._settle_values()
            violation, target = self._choose(), self._tol
            if violation > 0.5 * self._settled_violation:
                self._take_exact_lines()
            self._settled_violation = violation
        elif self._active.numbers is not None and not violation > target:
            self._widen(self.values)
            violation = self._choose()
        n_steps = 0
        if violation > target:
            n_steps = self._solve(violation, target)
        self.is_done = self.is_done or not violation > target or self._is_idle()
        if self.is_done and self._active.numbers is not None:
            self._settle_values()
        return {
            "objective": self._objective,
            "violation": max(violation, 0.0),
            "n_steps": float(n_steps),
        }

    def _is_idle(self) -> bool:
        """Whether blocks have not lowered the objective for long, with exact lines: rounding is all that is left."""
        if self._objective < self._least_objective - 1e-15 * abs(self._objective):
            self._least_objective, self._n_idle = self._objective, 0
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
        size = float(np.abs(self._lines.store[0]).max()) * float(np.linalg.norm(self._active.duals))
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
        active = self._active
        self._n_block, self._n_first, violation = kernels.choose_block(
            *self._problem, active.dual.group_end, active.values, active.duals, self._kept, self._block
        )
        if not np.isfinite(active.values).all():
            raise FloatingPointError("the values of the kernel overflow")
        return float(violation)

    def _solve(self, violation: float, target: float) -> int:
        active, block = self._active, self._block[: self._n_block]
        slots = self._lines.fetch(active.dual.rows[block])
        before = active.duals[block]
        room = min(self._max_steps - self.n_steps, BLOCK_STEPS * len(block))
        n_steps, curvature, gain = kernels.solve_block(
            *self._problem,
            self._lines.store,
            slots,
            block,
            self._n_first,
            active.values,
            max(SHARE_LEFT * violation, 0.5 * target),
            room,
            active.duals,
            self._n_threads,
        )
        changes = active.duals[block] - before
        moved = np.flatnonzero(changes)
        kernels.add_lines(self._lines.store, slots[moved], changes[moved], active.values, self._n_threads)
        self.n_steps += n_steps
        self._objective -= gain
        self.least_curvature = min(self.least_curvature, curvature)
        kept = np.empty(len(self._block) // 2, dtype=np.int32)
        self._kept = kept[: kernels.keep_part(*self._problem, active.duals, block, self._kept, kept)]
        self.is_out_of_steps = self.n_steps >= self._max_steps
        self.is_out_of_time = time.perf_counter() > self._deadline
        self.is_done = self.is_out_of_steps or self.is_out_of_time
        return int(n_steps)
