"""X of tree models: a dense or a sparse matrix, as the kernels read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels

Rows = Any  # a float array, a sparse matrix, or kernels.SparseRows


def kernel_rows(X: Rows) -> Any:
    """X as kernels take it: a dense matrix as it is, a sparse one by its entries. What is ready already passes through."""
    if not sp.issparse(X):
        return X
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return kernels.SparseRows(X.data, X.indices, X.indptr, X.shape[1])


def dense(X: Rows) -> FloatArray:
    """Sparse rows written out; dense ones as they are."""
    return np.asarray(X.toarray()) if sp.issparse(X) else X
