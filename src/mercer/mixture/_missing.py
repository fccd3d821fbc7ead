"""The E step of Gaussians on rows of which cells are missing: exact, pattern by pattern.

Rows that lack the same cells are one pattern. Their densities are those of the cells that are there; what the missing ones
add to the sums follows from these: given the observed cells, a missing one has the mean B (x_o - mean_o) about its own, with
B = S_mo S_oo^-1, and the covariance S_mm - B S_om.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._gaussians import CovarianceType, Gaussians, Moments, shares_of, whitening

Index = npt.NDArray[np.intp]


class Patterns:
    """The rows of X by the cells that they lack (NaN). O(n d log n)."""

    def __init__(self, X: FloatArray) -> None:
        self.X, is_missing = X, np.isnan(X)
        packed = np.packbits(is_missing, axis=1)
        _, first, of_row = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(of_row.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(of_row.ravel()))
        self._rows = np.split(order, ends[:-1])
        self._observed = [~is_missing[row] for row in first]

    def __iter__(self) -> Iterator[tuple[Index, npt.NDArray[np.bool_], FloatArray]]:
        """The rows of each pattern, the features that are there, and the cells."""
        for rows, observed in zip(self._rows, self._observed, strict=True):
            yield rows, observed, np.ascontiguousarray(self.X[np.ix_(rows, observed)])

    def filled(self, weights: FloatArray | None) -> FloatArray:
        """X with the mean of its column in each missing cell: somewhere to start from."""
        is_there = ~np.isnan(self.X)
        share = is_there if weights is None else is_there * weights[:, None]
        totals = share.sum(axis=0)
        means = np.divide(
            (np.where(is_there, self.X, 0) * share).sum(axis=0), totals, out=np.zeros(len(totals)), where=totals > 0
        )
        filled: FloatArray = np.where(is_there, self.X, means.astype(self.X.dtype))
        return filled


def log_densities(
    patterns: Patterns, means: FloatArray, covariances: FloatArray, kind: CovarianceType, log_weights: Any
) -> FloatArray:
    """log p_k of the cells that are there, (n, K)."""
    out = np.empty((len(patterns.X), len(means)), dtype=patterns.X.dtype)
    for rows, observed, cells in patterns:
        out[rows] = _pattern_densities(cells, observed, means, covariances, kind, log_weights)
    return out


def expect(
    patterns: Patterns,
    weights: FloatArray | None,
    means: FloatArray,
    covariances: FloatArray,
    kind: CovarianceType,
    log_weights: FloatArray,
) -> tuple[Moments, float]:
    """As `Gaussians.expect`, with what is expected of the missing cells in the moments."""
    k, d = means.shape
    is_full = kind in ("full", "tied")
    matrices = np.broadcast_to(covariances, (k, d, d)) if is_full else np.broadcast_to(covariances.reshape(k, -1), (k, d))
    sums = Moments(means, np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d) if is_full else (k, d)))
    total = 0.0
    for rows, observed, cells in patterns:
        densities = _pattern_densities(cells, observed, means, covariances, kind, log_weights)
        logs, shares = shares_of(densities)
        weight = np.ones(len(rows)) if weights is None else weights[rows]
        total += float(weight @ logs.astype(np.float64))
        shares = shares * weight[:, None]
        if not observed.any():
            seen = Moments(means[:, observed], shares.sum(axis=0), np.zeros((k, 0)), np.zeros((k, 0, 0) if is_full else (k, 0)))
        else:
            seen = Moments.of(cells, shares, means[:, observed], kind)
        _add_completed(sums, seen, observed, matrices)
    return sums, total


def _pattern_densities(
    cells: FloatArray, observed: Any, means: FloatArray, covariances: FloatArray, kind: CovarianceType, log_weights: Any
) -> FloatArray:
    if not observed.any():
        return np.tile(np.broadcast_to(log_weights, len(means)).astype(cells.dtype), (len(cells), 1))
    part = covariances
    if kind in ("full", "tied"):
        part = covariances[..., observed, :][..., :, observed]
    elif kind == "diag":
        part = covariances[:, observed]
    return Gaussians(means[:, observed], whitening(part, kind), kind, log_weights).log_densities(cells)


def _add_completed(sums: Moments, seen: Moments, observed: Any, matrices: FloatArray) -> None:
    """Add the moments of rows that lack cells: those of the cells that are there, and what is expected of the others."""
    shares = seen.shares
    sums.shares[:] += shares
    sums.firsts[:, observed] += seen.firsts
    missing = ~observed
    if not sums.is_full:
        sums.seconds[:, observed] += seen.seconds
        sums.seconds[:, missing] += shares[:, None] * matrices[:, missing]
        return
    for k, matrix in enumerate(matrices):
        there = np.ix_(observed, observed)
        sums.seconds[k][there] += seen.seconds[k]
        if not missing.any():
            continue
        slopes = (
            np.linalg.solve(matrix[there], matrix[np.ix_(observed, missing)]).T
            if observed.any()
            else np.zeros((missing.sum(), 0))
        )
        sums.firsts[k, missing] += slopes @ seen.firsts[k]
        across = slopes @ seen.seconds[k]
        rest = matrix[np.ix_(missing, missing)] - slopes @ matrix[np.ix_(observed, missing)]
        sums.seconds[k][np.ix_(missing, observed)] += across
        sums.seconds[k][np.ix_(observed, missing)] += across.T
        sums.seconds[k][np.ix_(missing, missing)] += across @ slopes.T + shares[k] * rest
