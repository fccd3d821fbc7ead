"""What dual coordinate descents share: epochs over the rows that are not known to be optimal, and when to look at the gap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._matrix import native_rows
from mercer._solvers.pieces import LEAST_TOL, ROUNDING, Gap
from mercer._trace import Record

LAST_PRECISION = 1e-14
LONGEST_WAIT = 100  # epochs between two looks at the gap
AIM = 0.05  # of the tolerance: the gap that is aimed at; the objective is then as near as the peer's
LEAST_REFINEMENT, MOST_REFINEMENT = 0.5, 0.01  # of the precision: what may be asked for next
FEW_ROWS = 10  # so many rows need a free intercept to weigh as much as they do
LEAST_PRIOR = 0.1  # of that: for many rows
PATIENCE = 0.5  # of the last epoch's largest violation: a row that is optimal by more is left out for now


def squared_norms(X: Any) -> FloatArray:
    """The squared norms of the rows of X, dense or by rows; of its columns where it is given by these."""
    if not sp.issparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    starts = np.flatnonzero(np.diff(X.indptr))  # the sums of no entries at all are zero, which `reduceat` does not know
    norms = np.zeros(len(X.indptr) - 1)
    with np.errstate(over="ignore"):
        norms[starts] = np.add.reduceat(X.data[: X.indptr[-1]] ** 2, X.indptr[starts]) if len(starts) else 0.0
    return norms


class DualEpochs:
    """A solver: done when the duality gap is within `tol` of the objective.

    `prior` is the inverse strength of the penalty on the intercepts: 0 for none at all, None for free ones, which the method of
    multipliers finds. `scale` is that of the targets, and rounding is measured against `size`. `coef` and `gap` are the best
    point at which the gap was looked at.
    """

    first_precision: ClassVar[float]  # of the scale: the violation at which the gap is looked at for the first time

    coef: FloatArray
    gap: Gap

    def __init__(self, X: Any, *, prior: float | None, tol: float, seed: int, scale: float, size: float) -> None:
        self._is_free, self._tol, self._seed, self._scale = prior is None, max(tol, LEAST_TOL), seed, scale
        self._least_objective = max(ROUNDING * size / self._tol, float(np.finfo(np.float64).tiny))  # the rest is rounding
        self._X: Any = X if sp.issparse(X) else np.ascontiguousarray(X)
        self._rows, self._n, self._norms = native_rows(self._X), X.shape[0], squared_norms(X)
        if not np.isfinite(self._norms).all():
            raise FloatingPointError("the squares of X overflow")
        self._prior = self._free_prior(self._n) if prior is None else prior
        self._active, self._n_active, self._patience = np.arange(self._n, dtype=np.int32), self._n, np.inf
        self._precision, self._epoch, self._n_waited = self.first_precision * scale, 0, 0
        self.is_stuck = False

    def _free_prior(self, n_active: int) -> float:
        """What a free intercept weighs in an epoch, against the squared norms of rows.

        Every row that is visited moves the intercept by its share, and all of them pull at it: many need little each, or each
        would undo what the others did. Few would take for ever to bring the sum of the duals to zero.
        """
        largest = float(self._norms.mean()) or 1.0
        return largest * min(max(FEW_ROWS / max(n_active, 1), LEAST_PRIOR), 1.0)

    def _run_epoch(self, summary: FloatArray) -> None:
        """Visit the active rows; write how many stay active, and the largest violation."""
        raise NotImplementedError

    def _move_intercepts(self) -> float:
        """Move free intercepts by the sums of the duals; the largest of the moves."""
        raise NotImplementedError

    def look(self) -> None:
        """Compute both objectives at a feasible pair, and keep it if it is the best."""
        raise NotImplementedError

    def settle(self) -> None:
        """Look at the gap, unless this was done after the last epoch."""
        if self._n_waited > 0:
            self.look()

    @property
    def relative_gap(self) -> float:
        return self.gap.width / max(abs(self.gap.primal), self._least_objective)

    @property
    def is_done(self) -> bool:
        return self.is_stuck or self.relative_gap <= self._tol

    def step(self) -> Record:
        summary = np.empty(2)
        self._run_epoch(summary)
        self._epoch += 1
        n_active, violation = int(summary[0]), float(summary[1])
        if self._is_free:
            self._prior = self._free_prior(n_active)
            violation = max(violation, self._move_intercepts())
        self._schedule(n_active, violation)
        return {"objective": self.gap.primal, "gap": self.gap.width, "violation": violation, "n_active": float(n_active)}

    def _schedule(self, n_active: int, violation: float) -> None:
        """Bring shrunken rows back once the others are done, look at the gap once all are, and then ask for more.

        They come back after a long wait, too: free intercepts may have moved to where rows that are left out are not optimal.
        """
        self._n_waited += 1
        is_reached, is_whole = violation <= self._precision, self._n_active == self._n
        self._n_active, self._patience = n_active, PATIENCE * violation if violation > 0 else np.inf
        if (is_reached and is_whole) or self._n_waited >= LONGEST_WAIT:
            self._n_waited = 0
            self.look()
        if is_reached and is_whole:
            # The gap falls about as the violations do.
            wanted = AIM * self._tol / max(self.relative_gap, self._tol)
            self._precision *= min(max(wanted, MOST_REFINEMENT), LEAST_REFINEMENT)
            self.is_stuck = self._precision < LAST_PRECISION * self._scale
        elif (
            is_reached or n_active == 0 or self._n_waited == 0
        ):  # they shrink again in the very epoch that looks at all of them
            self._n_active = self._n
