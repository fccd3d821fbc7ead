"""Condensing: the rows that are enough to classify the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._native import kernels

EXPONENTS = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
METRICS = ("minkowski", *EXPONENTS)

Rows = npt.NDArray[np.int64]


def condense(
    X: Any,
    codes: npt.NDArray[Any],
    *,
    start: Any,
    order: Any = None,
    n_neighbors: int = 1,
    until_stable: bool = False,
    metric: str = "euclidean",
    p: float = 2,
    n_threads: int = 1,
) -> Rows:
    """The rows to keep, in the order in which they were: those that the rows kept before them misclassify.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Checked, of floats.
    codes : array of shape (n_samples,)
        Classes from 0 on.
    start : array of int
        The rows kept to begin with, one at least.
    order : array of int, default=None
        The rows to visit, each once, in this order; None is all of them as they stand.
    n_neighbors : int, default=1
        How many of the nearest kept rows vote; of equal votes the lower class wins, and of equal distances the lower row.
    until_stable : bool, default=False
        Whether passes over `order` are repeated until one keeps no row (Hart), or there is one pass.
    metric, p
        One of `METRICS`; p is the exponent of "minkowski".
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    kept : array of int64
    """
    exponent = float(p) if metric == "minkowski" else EXPONENTS[metric]
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    start = np.ascontiguousarray(start, dtype=np.int64)
    order = np.arange(len(codes), dtype=np.int64) if order is None else np.ascontiguousarray(order, dtype=np.int64)
    rows = (X.data, X.indices, X.indptr, X.shape[1]) if sp.issparse(X) else (np.ascontiguousarray(X),)
    n_classes, kept = int(codes.max(initial=0)) + 1, np.empty(len(codes), dtype=np.int64)
    n_kept = kernels.condense(
        *rows, exponent, codes, n_classes, min(n_neighbors, len(codes)), start, order, until_stable, kept, n_threads
    )
    return kept[:n_kept].copy()
