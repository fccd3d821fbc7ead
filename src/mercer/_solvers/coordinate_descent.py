"""Coordinate descent for 1/2 ||b - A w||^2 plus a sparse penalty: on a Gram matrix, or by working sets on a design.

Both kinds of descent have the same face. `begin` sets the penalty and the tolerance and keeps the coefficients, so that a path
is a sequence of warm starts; `step` and `is_done` make it a solver for `_trace.iterate`; `solve` runs it unwatched.

Coefficients are a matrix with a line for each column of A and one value for each task (target), in double precision. A penalty
is a pair of numbers: (l1, l2) for l1 ||w|| + l2/2 ||w||^2, or (scale, p) for scale |w|^p.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trace import Record


class Penalty(Enum):
    """What is put on the coefficients."""

    ELASTIC_NET = "elastic net"
    POSITIVE = "elastic net of coefficients >= 0"
    GROUP = "elastic net of the norms of lines"
    LP = "lp"


WORKING_SETS = {
    Penalty.ELASTIC_NET: kernels.ElasticNetDescent,
    Penalty.POSITIVE: kernels.PositiveDescent,
    Penalty.GROUP: kernels.GroupDescent,
    Penalty.LP: kernels.LpDescent,
}


class Reached(NamedTuple):
    """What a point has reached: of the objective above, or of its ratio to a weight (`over`).

    `gap` is the duality gap. Where there is no dual, `dual` is not finite and `gap` is the sum over the coefficients of what
    the best move of each alone would gain. `update` is the largest move in the last full sweep against the largest coefficient.
    """

    primal: float
    dual: float
    gap: float
    update: float
    n_active: int
    is_stalled: bool

    def over(self, weight: float) -> Reached:
        return self._replace(primal=self.primal / weight, dual=self.dual / weight, gap=self.gap / weight)


NOTHING = Reached(np.inf, -np.inf, np.inf, np.inf, 0, False)


class Descent(Protocol):
    """The face of both kinds."""

    reached: Reached
    total: float  # ||b||^2
    weight: float  # what the figures of a record are divided by: the total weight of the rows
    moments: FloatArray  # A' b

    def begin(self, penalty: tuple[float, float], tol: float, coef: FloatArray | None = None) -> None:
        """Set the penalty, and stop when the gap is at most tol ||b||^2 and no coefficient moves by tol times the largest."""
        ...

    def step(self) -> Record: ...

    @property
    def has_converged(self) -> bool: ...

    @property
    def is_done(self) -> bool: ...

    def solve(self, max_iter: int) -> int:
        """Steps until it is done, at most `max_iter`; returns how many."""
        ...

    @property
    def coef(self) -> FloatArray: ...


class _Stopping:
    """The stopping rule, and the record of a step in the units of the mean (not the sum) of squares."""

    reached: Reached = NOTHING
    total: float
    weight: float
    _tol: float

    @property
    def has_converged(self) -> bool:
        return self.reached.gap <= self._tol * self.total and self.reached.update <= self._tol

    @property
    def is_done(self) -> bool:
        return self.has_converged or self.reached.is_stalled

    def _record(self) -> Record:
        reached = self.reached.over(self.weight)
        return {"objective": reached.primal, "gap": reached.gap, "n_active": reached.n_active}


class GramDescent(_Stopping):
    """Descent on G = A' A (square), moments A' b (a column for each task) and total = ||b||^2. A step is six sweeps at most."""

    def __init__(
        self, gram: FloatArray, moments: FloatArray, total: float, weight: float, kind: Penalty, seed: int | None
    ) -> None:
        self._gram, self.moments, self.total, self.weight = gram, moments, total, weight
        self._kind, self._seed = kind, seed
        self._coef, self._gradient = np.zeros_like(moments), np.empty_like(moments)
        self._penalty, self._tol = (0.0, 0.0), 0.0
        self._n_calls = 0

    def begin(self, penalty: tuple[float, float], tol: float, coef: FloatArray | None = None) -> None:
        self._penalty, self._tol, self.reached = penalty, tol, NOTHING
        if coef is not None:
            self._coef[:] = coef
        if self.total == 0:
            self._coef[:] = 0

    def _run(self, max_rounds: int) -> int:
        problem = (self._gram, self.moments, self.total, self._coef, self._gradient)
        stopping = (self._tol * self.total, self._tol, max_rounds, self._seed is not None, self._seed or 0, self._n_calls)
        self._n_calls += 1
        if self._kind is Penalty.LP:
            figures, n_rounds = kernels.gram_descent_lp(*problem, *self._penalty, *stopping)
        else:
            figures, n_rounds = kernels.gram_descent(*problem, *self._penalty, self._kind is Penalty.POSITIVE, *stopping)
        self.reached = Reached(*figures)
        return int(n_rounds)

    def step(self) -> Record:
        self._run(1)
        return self._record()

    def solve(self, max_iter: int) -> int:
        return self._run(max_iter)

    @property
    def coef(self) -> FloatArray:
        return self._coef


class WorkingSetDescent(_Stopping):
    """Descent by working sets on a native design, for targets b (a line for each task). A step is one round.

    The design belongs to this descent alone from here on: it holds its working columns.
    """

    def __init__(self, design: Any, target: FloatArray, kind: Penalty, seed: int | None, n_threads: int) -> None:
        self._n_threads, self._tol = n_threads, 0.0
        self._native = WORKING_SETS[kind](design, target, seed is not None, seed or 0, n_threads)
        self.weight = design.weight()
        self.moments = np.empty((design.n_columns(), len(target)))
        self.total = self._native.moments(self.moments)

    def begin(self, penalty: tuple[float, float], tol: float, coef: FloatArray | None = None) -> None:
        self._tol = tol
        self._native.set_penalty(*penalty)
        if self.total == 0:
            coef = np.zeros_like(self.moments)
        if coef is not None:
            self._native.set_coef(np.ascontiguousarray(coef, dtype=np.float64), self._n_threads)
        self.reached = Reached(*self._native.assess(self._n_threads))

    def step(self) -> Record:
        self.reached = Reached(*self._native.step(self._tol * self.total, self._tol, self._n_threads))
        return self._record()

    def solve(self, max_iter: int) -> int:
        # Coefficients for the penalty before may just pass for this one; a step is cheap and leaves much better ones.
        if self.reached.gap <= 0.01 * self._tol * self.total:
            return 0
        self.step()
        n_iter = 1
        while not self.is_done and n_iter < max_iter:
            self.step()
            n_iter += 1
        return n_iter

    @property
    def coef(self) -> FloatArray:
        coef = np.empty_like(self.moments)
        self._native.coef(coef)
        return coef
