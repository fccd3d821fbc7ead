"""Sparse rows searched as they are: queries meet the entries of the rows, and nothing becomes dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._saved import saved
from mercer.neighbors._measures import Measure

IntArray = npt.NDArray[np.int64]


@saved("mercer.neighbors.SparseIndex")
class SparseIndex:
    """Sparse rows without a tree, and how they are measured."""

    algorithm = "brute"

    def __init__(self, X: Any, measure: Measure) -> None:
        self.X, self.measure = _canonical(X), measure  # the very arrays that the kernel reads: rows are held once
        self._rows, self._kernel = _native(self.X), measure.kernel

    def __reduce__(self) -> Any:
        return SparseIndex, (self.X, self.measure)

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_features = self.X.shape
        return n_rows, n_features

    def nearest(self, queries: Any, k: int, *, leave_out_self: bool = False, n_threads: int = 1) -> tuple[FloatArray, IntArray]:
        asking, n_queries, left_out = self._asked(queries, leave_out_self)
        distances, rows = np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64)
        kernels.sparse_nearest(self._kernel, self._rows, asking, left_out, distances, rows, n_threads)
        return distances, rows

    def within(
        self, queries: Any, radius: float, *, leave_out_self: bool = False, sort: bool = False, n_threads: int = 1
    ) -> tuple[IntArray, IntArray, FloatArray]:
        asking, _, left_out = self._asked(queries, leave_out_self)
        starts, rows, distances = kernels.sparse_within(self._kernel, self._rows, asking, left_out, radius, sort, n_threads)
        return starts, rows, distances

    def count_within(self, queries: Any, radius: float, *, n_threads: int = 1) -> IntArray:
        asking, n_queries, _ = self._asked(queries, False)
        counts = np.empty(n_queries, dtype=np.int64)
        kernels.sparse_count_within(self._kernel, self._rows, asking, radius, counts, n_threads)
        return counts

    def _asked(self, queries: Any, leave_out_self: bool) -> tuple[Any, int, int]:
        """The queries as kernels see them, their number, and whom the first one leaves out: nobody where it is -1."""
        if queries is None:
            return self._rows, self.X.shape[0], 0 if leave_out_self else -1
        return _native(_canonical(queries)), queries.shape[0], -1


def _native(X: Any) -> Any:
    return kernels.CsrRows64(X.data, X.indices, X.indptr, X.shape[1])


def _canonical(X: Any) -> Any:
    """Sparse rows in double precision, columns in order and none twice, with indices that nobody else can write to."""
    X = sp.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices, starts = (np.array(part, dtype=np.int32) for part in (X.indices, X.indptr))
    rows = sp.csr_array((X.data, indices, starts), shape=X.shape)
    rows.has_canonical_format = True
    return rows
