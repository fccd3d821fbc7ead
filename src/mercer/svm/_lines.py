"""Lines of a kernel matrix by number, for a solver that asks for the same ones again and again."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer.svm._dual import Index

BYTES_AT_ONCE = 1 << 25  # of lines that are computed and not kept
LINES_AT_ONCE = 64  # that are computed before they are taken to their places
FEW_ROWS = 1000  # up to which single precision would save nothing
ROUGH = 1e-4  # the largest relative error of lines in single precision


class Lines(Protocol):
    """Lines of a kernel matrix by number; of some rows alone, whose numbers begin at 0, between `restrict` and `release`."""

    store: FloatArray

    def fetch(self, rows: Index) -> Index:
        """Where in `store` the lines of these rows are now; others may have made room for them."""

    def restrict(self, rows: Index) -> None:
        """Keep these rows, in rising order, and their columns alone."""

    def release(self) -> None:
        """Take all rows again."""

    def add_all(self, rows: Index, changes: FloatArray, values: FloatArray, n_threads: int) -> None:
        """Add lines of the whole matrix times their changes to the values of all rows."""


def add_lines_of(matrix: Any, rows: Index, changes: FloatArray, values: FloatArray, n_threads: int) -> None:
    """Add lines of a kernel matrix, which are computed and not kept, times their changes to the values."""
    at_once = max(1, BYTES_AT_ONCE // (matrix.n_rows * matrix.dtype.itemsize))
    out = np.empty((min(at_once, max(len(rows), 1)), matrix.n_rows), dtype=matrix.dtype)
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        lines = matrix.rows(some, out=out[: len(some)])
        kernels.add_lines(lines, np.arange(len(some), dtype=np.int32), changes[first : first + at_once], values, n_threads)


class AllLines:
    """A whole kernel matrix, computed before."""

    def __init__(self, matrix: FloatArray) -> None:
        self.store = self._whole = matrix

    def fetch(self, rows: Index) -> Index:
        return rows

    def restrict(self, rows: Index) -> None:
        self.store = self._whole[np.ix_(rows, rows)]

    def release(self) -> None:
        self.store = self._whole

    def add_all(self, rows: Index, changes: FloatArray, values: FloatArray, n_threads: int) -> None:
        kernels.add_lines(self._whole, rows, changes, values, n_threads)


class LineCache:
    """Lines that are computed when they are first asked for; those not asked for longest make room for new ones."""

    def __init__(self, matrix: Any, n_lines: int) -> None:
        self._matrix = self._whole = matrix
        self._memory = np.empty(min(n_lines, matrix.n_rows) * matrix.n_rows, dtype=matrix.dtype)
        self._begin(0)

    def _begin(self, n_filled: int) -> None:
        """Divide the memory into lines, of which the first `n_filled` hold something."""
        n_rows = self._matrix.n_rows
        n_lines = min(len(self._memory) // n_rows, n_rows)
        self.store = self._memory[: n_lines * n_rows].reshape(n_lines, n_rows)
        self._slots = np.full(n_rows, -1, dtype=np.int32)  # of rows
        self._rows = np.full(n_lines, -1, dtype=np.int32)  # in slots
        self._last_use = np.zeros(n_lines, dtype=np.int64)  # of slots
        self._n_filled, self._clock = n_filled, 0

    def fetch(self, rows: Index) -> Index:
        slots = self._slots[rows]
        is_missing = slots < 0
        self._clock += 1
        self._last_use[slots[~is_missing]] = self._clock
        if is_missing.any():
            self._compute(np.unique(rows[is_missing]))
            slots = self._slots[rows]
        return slots

    def _compute(self, missing: Index) -> None:
        n_empty = min(len(self.store) - self._n_filled, len(missing))
        own, first = missing[:n_empty], self._n_filled
        if n_empty:
            self._matrix.rows(own, out=self.store[first : first + n_empty])
            self._enter(own, np.arange(first, first + n_empty))
            self._n_filled += n_empty
        rest = missing[n_empty:]
        if not len(rest):
            return
        oldest = np.sort(np.argpartition(self._last_use, len(rest) - 1)[: len(rest)])
        self._slots[self._rows[oldest]] = -1
        for first in range(0, len(rest), LINES_AT_ONCE):
            some = slice(first, first + LINES_AT_ONCE)
            self.store[oldest[some]] = self._matrix.rows(rest[some])
        self._enter(rest, oldest)

    def _enter(self, rows: Index, slots: Any) -> None:
        self._rows[slots], self._slots[rows], self._last_use[slots] = rows, slots, self._clock

    def restrict(self, rows: Index) -> None:
        place = np.full(self._matrix.n_rows, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows))
        held = place[self._rows[: self._n_filled]]
        slots = np.flatnonzero(held >= 0).astype(np.int32)
        kernels.compact_lines(self.store, slots, rows)
        last_use = self._last_use[slots]
        self._matrix = self._matrix.take(rows)
        self._begin(len(slots))
        self._enter(held[slots], np.arange(len(slots)))
        self._last_use[: len(slots)] = last_use - last_use.max(initial=0)

    def release(self) -> None:
        self._matrix = self._whole
        self._begin(0)

    def add_all(self, rows: Index, changes: FloatArray, values: FloatArray, n_threads: int) -> None:
        add_lines_of(self._whole, rows, changes, values, n_threads)


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
