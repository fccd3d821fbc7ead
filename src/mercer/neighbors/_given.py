"""Distances that are not the engine's: given as a matrix or a graph, or computed by a function of the user's.

Both answer as every other index does: in the order of the distances, and then of the row numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._saved import saved

IntArray = npt.NDArray[np.int64]
Found = tuple[IntArray, IntArray, FloatArray]

# Of distances that a user's function has computed and nothing has been chosen from yet.
BLOCK_BYTES = 1 << 26


class Answers(Protocol):
    """An index that answers by itself, without one object of the kernels behind it."""

    def nearest(self, queries: Any, k: int, *, leave_out_self: bool = False, n_threads: int = 1) -> tuple[FloatArray, IntArray]:
        """The k nearest rows of each query: distances, rows."""
        ...

    def within(
        self, queries: Any, radius: float, *, leave_out_self: bool = False, sort: bool = False, n_threads: int = 1
    ) -> Found:
        """All rows at most `radius` away from each query: starts, rows, distances."""
        ...

    def count_within(self, queries: Any, radius: float, *, n_threads: int = 1) -> IntArray:
        """How many they are."""
        ...


def _nearest_in(lines: Any, k: int, first: int, n_threads: int) -> tuple[FloatArray, IntArray]:
    """The k nearest of each line of distances, of which line i leaves out point first + i where first >= 0."""
    distances, rows = np.empty((lines.shape[0], k)), np.empty((lines.shape[0], k), dtype=np.int64)
    kernels.nearest_given(*_as_kernels_take(lines), first, distances, rows, n_threads)
    return distances, rows


def _within_in(lines: Any, radius: float, first: int, sort: bool, n_threads: int) -> Found:
    starts, rows, distances = kernels.given_within(*_as_kernels_take(lines), first, radius, sort, n_threads)
    return starts, rows, distances


def join_found(parts: list[Found]) -> Found:
    """What is within a radius of some queries and of others, as of all of them."""
    counts = np.concatenate([np.diff(starts) for starts, _, _ in parts])
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts, np.concatenate([rows for _, rows, _ in parts]), np.concatenate([values for _, _, values in parts])


def _as_kernels_take(lines: Any) -> tuple[Any, ...]:
    if sp.issparse(lines):
        return lines.data, lines.indices.astype(np.int32, copy=False), lines.indptr.astype(np.int32, copy=False), lines.shape[1]
    return (lines,)


@saved("mercer.neighbors.GivenIndex")
class GivenIndex:
    """Distances between the rows themselves: a square matrix, or a sparse graph whose entries are the distances that are known.

    Queries are distances too, one line each: to all rows, or to those that their graph has.
    """

    algorithm = "brute"

    def __init__(self, X: Any) -> None:
        self.X = X

    def __reduce__(self) -> Any:
        return GivenIndex, (self.X,)

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[1], self.X.shape[1]

    def nearest(self, queries: Any, k: int, *, leave_out_self: bool = False, n_threads: int = 1) -> tuple[FloatArray, IntArray]:
        lines, first = self._asked(queries, leave_out_self)
        distances, rows = _nearest_in(lines, k, first, n_threads)
        if sp.issparse(lines) and k > 0 and (rows[:, -1] < 0).any():
            fewest = int((rows >= 0).sum(axis=1).min())
            raise ValueError(
                f"{k} neighbors per samples are required, but some samples have only {fewest} neighbors in precomputed graph "
                "matrix. Decrease number of neighbors used or recompute the graph with more neighbors."
            )
        return distances, rows

    def within(
        self, queries: Any, radius: float, *, leave_out_self: bool = False, sort: bool = False, n_threads: int = 1
    ) -> Found:
        lines, first = self._asked(queries, leave_out_self)
        return _within_in(lines, radius, first, sort, n_threads)

    def count_within(self, queries: Any, radius: float, *, n_threads: int = 1) -> IntArray:
        lines, _ = self._asked(queries, False)
        if sp.issparse(lines):
            return np.diff(_within_in(lines, radius, -1, False, n_threads)[0])
        return np.concatenate([np.empty(0, dtype=np.int64), *(np.sum(part <= radius, axis=1) for _, part in _parts(lines))])

    def _asked(self, queries: Any, leave_out_self: bool) -> tuple[Any, int]:
        """The lines of distances, and whom the first one leaves out."""
        return (self.X, 0 if leave_out_self else -1) if queries is None else (queries, -1)


def _parts(lines: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    n_lines = max(1, BLOCK_BYTES // max(1, 8 * lines.shape[1]))
    for first in range(0, len(lines), n_lines):
        yield first, lines[first : first + n_lines]


class FunctionIndex:
    """Rows among which a function of two rows measures, a block of distances at a time.

    It is asked for every pair of a query and a row, the query first; sparse rows are given as sparse matrices of one row. It is
    not saved in files, which hold no functions.
    """

    algorithm = "brute"

    def __init__(self, X: FloatArray, function: Callable[..., float], parameters: Mapping[str, Any]) -> None:
        self.X, self.function, self.parameters = X, function, dict(parameters)

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_features = self.X.shape
        return n_rows, n_features

    def nearest(self, queries: Any, k: int, *, leave_out_self: bool = False, n_threads: int = 1) -> tuple[FloatArray, IntArray]:
        found = [
            _nearest_in(lines, k, first if leave_out_self and queries is None else -1, n_threads)
            for first, lines in self._lines(queries)
        ]
        return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])

    def within(
        self, queries: Any, radius: float, *, leave_out_self: bool = False, sort: bool = False, n_threads: int = 1
    ) -> Found:
        found = [
            _within_in(lines, radius, first if leave_out_self and queries is None else -1, sort, n_threads)
            for first, lines in self._lines(queries)
        ]
        return join_found(found)

    def count_within(self, queries: Any, radius: float, *, n_threads: int = 1) -> IntArray:
        return np.concatenate([np.sum(lines <= radius, axis=1) for _, lines in self._lines(queries)])

    def _lines(self, queries: Any) -> Iterator[tuple[int, FloatArray]]:
        """The distances of all rows to some queries at a time, with the first query's number."""
        rows = _each_row(self.X)
        asking = rows if queries is None else _each_row(queries)
        n_lines = max(1, BLOCK_BYTES // (8 * len(rows)))
        for first in range(0, max(len(asking), 1), n_lines):
            some = asking[first : first + n_lines]
            lines = np.empty((len(some), len(rows)))
            for line, query in zip(lines, some, strict=True):
                line[:] = [self.function(query, row, **self.parameters) for row in rows]
            yield first, lines


def _each_row(X: Any) -> Any:
    return [X[[i], :] for i in range(X.shape[0])] if sp.issparse(X) else X
