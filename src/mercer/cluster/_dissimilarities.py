"""How far rows are from one another, for hierarchies: by a metric's name, by a function, or as they were given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics.pairwise import paired_distances

from mercer._arrays import FloatArray
from mercer._memory import require_memory
from mercer._native import kernels
from mercer._parallel import thread_share
from mercer.cluster._density import METRICS as DENSITY_METRICS, RowDistances, require_square
from mercer.metrics.pairwise import pairwise_distances
from mercer.neighbors._measures import ALIASES, METRICS as SEARCH_METRICS

Metric = str | Callable[..., Any]

EUCLIDEAN = ("euclidean", "l2")
METRICS = tuple(
    sorted({*DENSITY_METRICS, *SEARCH_METRICS} - {"pyfunc", "wminkowski", "p", "infinity", "nan_euclidean", "kulsinski"})
)
PAIRED = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")
BLOCK = 1 << 20  # distances that are held at a time, beside half a matrix
FEW_FEATURES = 32  # Ward's linkage measures clusters of so many anew rather than keep a matrix
ROUNDING = 1e-8  # by which given distances may differ from those the other way


class Dissimilarities:
    """Distances of rows, measured when asked for.

    Parameters
    ----------
    owner : str
        Who asks, for messages.
    X : ndarray of shape (n_samples, n_features), or (n_samples, n_samples) of distances
    metric : str or callable
        A name; "precomputed"; a function of X that returns the distances of all rows, or one of two rows.
    """

    def __init__(self, owner: str, X: FloatArray, metric: Metric, *, n_threads: int) -> None:
        if callable(metric) and not _takes_two(metric):
            X, metric = np.asarray(metric(X), dtype=np.float64), "precomputed"
        self.owner, self.X, self.metric, self.n_threads = owner, X, metric, n_threads
        self.n_rows, self.scale = len(X), 1.0
        self.is_given = isinstance(metric, str) and metric == "precomputed"
        if self.is_given:
            require_square(owner, X)
            _require_distances(owner, X)
        elif self.is_euclidean:
            self.X, self.scale = _centred(X)
        require_directions(owner, self.X, metric)
        rows = RowDistances(self.X, metric=ALIASES.get(metric, metric) if isinstance(metric, str) else metric)
        self._X, self._metric, self._params = rows.X, rows.metric, rows.params

    @property
    def is_euclidean(self) -> bool:
        return isinstance(self.metric, str) and self.metric in EUCLIDEAN

    def between(self, rows: Any, columns: Any) -> FloatArray:
        """Of some rows and some others, in double precision."""
        if self.is_given:
            part = self.X[rows][:, columns]
        else:
            with thread_share(self.n_threads):
                part = pairwise_distances(self._X[rows], self._X[columns], metric=self._metric, **self._params)
        return np.ascontiguousarray(part, dtype=np.float64)

    def of_pairs(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> FloatArray:
        """Of pairs of rows; `left` ascends."""
        if self.is_given:
            return np.asarray(self.X[left, right], dtype=np.float64)
        if isinstance(self._metric, str) and self._metric in PAIRED:
            step = max(1, BLOCK // self._X.shape[1])
            parts = [slice(begin, begin + step) for begin in range(0, max(len(left), 1), step)]
            found = [
                paired_distances(self._X[left[part]], self._X[right[part]], metric=self._metric) for part in parts if len(left)
            ]
            return np.concatenate([np.zeros(0), *found]).astype(np.float64)
        rows, starts = np.unique(left, return_index=True)
        ends = [*starts[1:], len(left)]
        found = [self.between([row], right[begin:end])[0] for row, begin, end in zip(rows, starts, ends, strict=True)]
        return np.concatenate([np.zeros(0), *found])

    def blocks(self) -> Iterator[tuple[int, FloatArray]]:
        """Some whole rows of the lower triangle at a time: the first of them, and their distances to all up to the last."""
        step = max(1, min(256, BLOCK // self.n_rows))
        for begin in range(0, self.n_rows, step):
            end = min(begin + step, self.n_rows)
            yield begin, self.between(slice(begin, end), slice(0, end))

    def condensed(self, what: str, *, is_squared: bool = False) -> FloatArray:
        """All pairs, in half a matrix: the rows of the lower triangle, one after the other."""
        n = self.n_rows
        size = n * (n - 1) // 2
        require_memory(
            self.owner,
            8.0 * size,
            f"{what} keeps half a matrix of distances, which for {n:,} rows",
            "Use linkage='single' or 'ward', which keep none; a connectivity graph of neighbours; fewer rows; or cluster the "
            "centres of many small k-means clusters.",
        )
        values = np.empty(size)
        for begin, block in self.blocks():
            if is_squared:
                block *= block
            kernels.condense_rows(block, begin, n, values, self.n_threads)
        return values


def require_directions(owner: str, X: FloatArray, metric: Metric) -> None:
    """Refuse rows of zeros where angles are measured."""
    if isinstance(metric, str) and metric == "cosine" and not X.any(axis=1).all():
        raise ValueError(
            f"{owner}: metric='cosine' cannot be used when X contains zero vectors, which have no direction; row "
            f"{int(np.argmin(X.any(axis=1)))} is one. Leave such rows out, or take another metric."
        )


def _takes_two(metric: Callable[..., Any]) -> bool:
    """Whether a function asks for two rows, and not for X."""
    try:
        parameters = inspect.signature(metric).parameters.values()
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in kinds and each.default is inspect.Parameter.empty for each in parameters) >= 2


def _centred(X: FloatArray) -> tuple[FloatArray, float]:
    """Rows minus their mean, over a power of two where squares of their values would overflow or vanish; and that power."""
    largest = float(np.abs(X).max(initial=0.0))
    power = np.frexp(largest)[1] if largest > 0 and not 1e-100 < largest < 1e100 else 0
    scale = float(np.ldexp(1.0, min(max(int(power), -1000), 1000)))
    rows = np.array(X, dtype=np.float64, order="C") / scale
    rows -= rows.mean(axis=0)
    return rows, scale


def _require_distances(owner: str, X: FloatArray) -> None:
    """Refuse given distances that are negative, or not the same both ways."""
    step = max(1, BLOCK // max(len(X), 1))
    for begin in range(0, len(X), step):
        block, mirror = X[begin : begin + step], X[:, begin : begin + step].T
        if not np.isfinite(block).all():
            raise ValueError(f"{owner}: precomputed distances must be finite; X holds NaN or infinity.")
        if (block < 0).any():
            row, column = np.argwhere(block < 0)[0]
            raise ValueError(
                f"{owner}: precomputed distances must not be negative; X[{begin + row}, {column}] is {block[row, column]:.6g}."
            )
        is_off = np.abs(block - mirror) > ROUNDING * np.maximum(block, mirror)
        if is_off.any():
            row, column = np.argwhere(is_off)[0]
            raise ValueError(
                f"{owner}: precomputed distances must be symmetric; X[{begin + row}, {column}] is {block[row, column]:.6g} and "
                f"X[{column}, {begin + row}] is {mirror[row, column]:.6g}. Take (X + X.T) / 2 if either will do."
            )
