"""X of tree models: a dense or a sparse matrix, as the kernels read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FLOATS, LARGEST_INDEX, FloatArray
from mercer._native import kernels
from mercer._rows import with_own_structure

INDICES = (np.int32, np.int64)
Rows = Any  # a float array, a sparse matrix, or kernels.SparseRows


def kernel_rows(X: Rows, is_wanted: npt.NDArray[np.uint8] | None = None) -> Any:
    """X as kernels take it: a dense matrix as it is, a sparse one by its entries, those of the columns that are wanted.

    What is ready already passes through. The kernel copies the entries and checks the copy, whatever X holds.
    """
    if not sp.issparse(X):
        return X
    X = X.tocsr()
    try:
        return kernels.SparseRows(X.data, X.indices, X.indptr, X.shape[1], is_wanted)
    except ValueError:  # the columns of a row do not rise, or X is broken, which a full check says better
        X = with_own_structure(X).copy()
        X.sum_duplicates()
        return kernels.SparseRows(X.data, X.indices, X.indptr, X.shape[1], is_wanted)


def is_ready_sparse(estimator: Any, X: Any) -> bool:
    """Whether X is a sparse matrix that `kernel_rows` takes as it is for an estimator fitted without names of features."""
    return (
        sp.issparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.indices.dtype in INDICES
        and X.indices.dtype == X.indptr.dtype
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and max(*X.shape, X.nnz) <= LARGEST_INDEX
        and not hasattr(estimator, "feature_names_in_")
    )


def dense(X: Rows) -> FloatArray:
    """Sparse rows written out; dense ones as they are."""
    return np.asarray(X.toarray()) if sp.issparse(X) else X
