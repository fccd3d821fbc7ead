"""X in bins, as the grower reads it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._trees.categories import CategoryCoder

N_SAMPLED = 200_000  # rows that decide where columns are cut; all where there are no more


def bin_rows(
    X: FloatArray, weights: FloatArray | None, coder: CategoryCoder, *, max_bins: int, seed: int, n_threads: int
) -> Any:
    """The rows of X in bins of about equal weight, a bin for each category."""
    n, d = X.shape
    edges = np.empty((d, 254))
    counts = np.empty(d, dtype=np.int32)
    kernels.find_bin_edges(X, _sample(n, seed), weights, coder.flags, max_bins, edges, counts, n_threads)
    for j, categories in enumerate(coder.categories):
        if categories is not None:
            counts[j] = _check_count(j, len(categories), max_bins, coder)
    return kernels.BinnedRows(X, edges, counts, coder.flags, n_threads)


def _sample(n: int, seed: int) -> Any:
    """One row drawn from each of `N_SAMPLED` stretches of equal length."""
    if n <= N_SAMPLED:
        return None
    places = np.random.RandomState(seed).random_sample(N_SAMPLED)
    return np.minimum(((np.arange(N_SAMPLED) + places) * (n / N_SAMPLED)).astype(np.int64), n - 1)


def _check_count(column: int, count: int, max_bins: int, coder: CategoryCoder) -> int:
    if count > max_bins:
        raise ValueError(
            f"Column {coder.describe(column)} has {count} categories; with max_bins={max_bins} at most {max_bins} can be told "
            "apart. Join rare categories, or leave the column out of categorical_features."
        )
    return count
