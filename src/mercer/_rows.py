"""Rows of any table: arrays, sparse matrices, frames of pandas and polars, lists. Knows no estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def with_own_structure(X: Any) -> Any:
    """Sparse X whose indices no other thread can write to; dense X as it is.

    Kernels check indices, and SciPy counts them, before they use them: what they read again must be the same. The numbers of
    compressed rows or columns are shared.
    """
    if not sp.issparse(X):
        return X
    if X.format not in ("csr", "csc"):
        return X.copy()
    own = type(X)((X.data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    check_structure(own)
    return own


def check_structure(matrix: Any) -> None:
    """Refuse compressed rows or columns that point outside of their arrays: SciPy's own products do not look."""
    matrix.check_format(full_check=True)
    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # SciPy looks at differences, which overflow, and not where it ends at 0
        raise ValueError("the index pointer of a sparse matrix decreases; it must be a non-decreasing sequence.")


def take_rows(table: Any, rows: Any) -> Any:
    """The rows of these indices, of the same kind as the table; None stays None."""
    if table is None:
        return None
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "shape"):  # NumPy, SciPy, polars
        return (with_own_structure(table).tocsr() if sp.issparse(table) else table)[rows]
    return [table[row] for row in np.asarray(rows)]


def count_rows(table: Any) -> int:
    """How many rows there are."""
    return int(table.shape[0] if hasattr(table, "shape") else len(table))


def size_in_bytes(table: Any) -> int:
    """The memory that a table takes; 0 where it cannot be told."""
    if sp.issparse(table):
        return int(table.data.nbytes if hasattr(table, "data") else 0)
    if hasattr(table, "memory_usage"):
        return int(table.memory_usage().sum())
    if hasattr(table, "estimated_size"):
        return int(table.estimated_size())
    return int(getattr(table, "nbytes", 0))
