"""Kernels and windows: who is in the window of a query, and what the rows in it predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._saved import saved
from mercer.neighbors._search import Search

KERNELS = ("gaussian", "box", "epanechnikov", "tricube")
WORTH_A_SEARCH = 0.1  # the share of the rows in a window above which all of them are measured
PAIRS_AT_A_TIME = 4_000_000  # of queries and rows in their windows

Lists = tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64] | None, FloatArray | None]
EVERY_ROW: Lists = (None, None, None)


@saved("mercer.kernel_regression.Sample")
@dataclass(frozen=True)
class Sample:
    """The rows to learn from, in double precision: X by columns, a line of targets a row, weights that are not zero."""

    X: FloatArray
    y: FloatArray
    weights: FloatArray | None

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, weights: FloatArray | None) -> Sample:
        """Copies, without rows that weigh nothing."""
        if weights is not None and not weights.all():
            counts = weights > 0
            X, y, weights = X[counts], y[counts], weights[counts]
        targets = y[:, None] if y.ndim == 1 else y
        return cls(np.array(X, dtype=np.float64, order="F"), np.array(targets, dtype=np.float64, order="C"), weights)

    def distinct(self) -> Sample:
        """Every row once, in sorted order, with the weight of all its repetitions (of x and y)."""
        n_features = self.X.shape[1]
        rows, places, counts = np.unique(np.hstack([self.X, self.y]), axis=0, return_inverse=True, return_counts=True)
        weights = None if self.weights is None else np.bincount(places.ravel(), self.weights)
        if weights is None and len(rows) < len(self.y):
            weights = counts.astype(np.float64)
        return Sample(np.asfortranarray(rows[:, :n_features]), np.ascontiguousarray(rows[:, n_features:]), weights)

    @lazy_property
    def search(self) -> Search:
        """The rows, ready to be searched."""
        return Search.of(np.ascontiguousarray(self.X))

    @lazy_property
    def _log_weights(self) -> FloatArray | None:
        return None if self.weights is None else np.log(self.weights)

    def predict(
        self, queries: FloatArray, kernel: str, bandwidth: float, *, degree: int, empty: str, n_threads: int
    ) -> FloatArray:
        """The value at each query, of shape (n_queries, n_targets)."""
        out = np.empty((len(queries), self.y.shape[1]))
        if kernel == "gaussian":  # locally weighted regression, whose weights are exp(-d^2 / tau^2)
            tau = np.sqrt(2.0) * bandwidth
            kernels.locally_weighted(self.X, self.y, self._log_weights, tau, degree == 1, queries, out, n_threads)
            return out
        is_empty = np.zeros(len(queries), dtype=np.uint8)
        for part, lists in self.windows(queries, bandwidth, n_threads=n_threads):
            kernels.window_fits(
                *(kernel, bandwidth, degree == 1, self.X, self.y, self.weights, *lists),
                *(queries[part], out[part], is_empty[part], n_threads),
            )
        if empty == "nearest" and is_empty.any():
            alone = np.flatnonzero(is_empty)
            _, rows = self.search.nearest(np.ascontiguousarray(queries[alone]), 1, n_threads=n_threads)
            out[alone] = self.y[rows[:, 0]]
        return out

    def left_out(self, kernel: str, bandwidths: FloatArray, *, degree: int, n_threads: int) -> FloatArray:
        """The prediction for each row without it at every bandwidth, of shape (n_rows, n_targets, n_bandwidths)."""
        order = np.argsort(-bandwidths, kind="stable")
        widths = np.ascontiguousarray(bandwidths[order])
        distances, rows = self.search.nearest(None, 1, leave_out_self=True, n_threads=n_threads)
        nearest = (np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(distances[:, 0]))
        n_rows, n_targets = self.y.shape
        out = np.empty((n_rows, n_targets * len(widths)))
        every = [(slice(0, n_rows), EVERY_ROW)]
        parts: Any = every if kernel == "gaussian" else self.windows(self.X, widths[0], n_threads=n_threads)
        for part, lists in parts:
            kernels.left_out_fits(
                *(kernel, widths, degree == 1, self.X, self.y, self.weights, *lists),
                *(*nearest, part.start, out[part], n_threads),
            )
        predictions = np.empty((n_rows, n_targets, len(widths)))
        predictions[:, :, order] = out.reshape(n_rows, n_targets, len(widths))
        return predictions

    def windows(self, queries: FloatArray, radius: float, *, n_threads: int) -> Iterator[tuple[slice, Lists]]:
        """Runs of queries with the rows in their windows; every row where windows are wide."""
        n_queries, n_rows = len(queries), len(self.y)
        some = np.ascontiguousarray(queries[:: max(1, n_queries // 64)])
        inside = float(self.search.count_within(some, radius, n_threads=n_threads).mean()) if n_queries else 0.0
        if inside > WORTH_A_SEARCH * n_rows:
            yield slice(0, n_queries), EVERY_ROW
            return
        step = int(np.clip(PAIRS_AT_A_TIME / (inside + 1), 64, 8192))
        for first in range(0, n_queries, step):
            part = slice(first, min(first + step, n_queries))
            yield part, self.search.within(np.ascontiguousarray(queries[part]), radius, n_threads=n_threads)


def default_bandwidths(sample: Sample, kernel: str, n_threads: int) -> FloatArray:
    """From half the usual distance of neighbours to the spread of all rows, four in every factor of two, 32 at most.

    Wider for kernels that end. The factor has its reason: squared bandwidths that double after every other one let the kernels
    square the weights of a Gaussian instead of taking another exponential.
    """
    distances, _ = sample.search.nearest(None, 1, leave_out_self=True, n_threads=n_threads)
    mean = np.average(sample.X, axis=0, weights=sample.weights)
    spread = float(np.sqrt(np.average(((sample.X - mean) ** 2).sum(axis=1), weights=sample.weights)))
    if not spread > 0:
        return np.ones(1)
    positive = distances[distances > 0]
    near = float(np.median(positive)) if positive.size else spread
    scale = 1.0 if kernel == "gaussian" else 2.0
    n_steps = int(np.clip(np.ceil(4 * np.log2(2 * spread / min(near, spread))), 4, 31))
    return scale * spread * np.exp2(-np.arange(n_steps, -1, -1) / 4)
