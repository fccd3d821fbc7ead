"""Rows that can be searched: the one face of the engine, for every estimator that asks for neighbours.

Order is by distance and then by row number, and every distance comes from the same formula in double precision: neighbours and
the bits of their distances do not depend on the algorithm or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer.neighbors._measures import Measure, find_measure

IntArray = npt.NDArray[np.int64]
ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")


@saved("mercer.neighbors.FlatIndex")
class FlatIndex:
    """Rows without a tree: every one is measured."""

    algorithm = "brute"

    def __init__(self, X: FloatArray, *, n_threads: int = 1) -> None:
        self.X = X
        kind = kernels.FlatPoints32 if X.dtype == np.float32 else kernels.FlatPoints64
        self.points = kind(X, n_threads)

    def __reduce__(self) -> Any:
        return FlatIndex, (self.X,)

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape


@saved("mercer.neighbors.KdIndex")
class KdIndex:
    """Rows in a k-d tree, as flat arrays: what it was built from is not kept."""

    algorithm = "kd_tree"

    def __init__(
        self, leaf_points: int, rows: npt.NDArray[np.int32], points: FloatArray, boxes: FloatArray, n_features: int
    ) -> None:
        kind = kernels.KdTree32 if points.dtype == np.float32 else kernels.KdTree64
        self.points_tree = kind(leaf_points, rows, points, boxes, n_features)

    @classmethod
    def build(cls, X: FloatArray, *, leaf_points: int = 32, split: str = "widest", n_threads: int = 1) -> KdIndex:
        """The tree of the rows of X, halved along the widest feature or along that of the largest variance."""
        made = cls.__new__(cls)
        kind = kernels.KdTree32 if X.dtype == np.float32 else kernels.KdTree64
        made.points_tree = kind(X, leaf_points, split == "variance", n_threads)
        return made

    def __reduce__(self) -> Any:
        return KdIndex, (self.leaf_points, self.rows, self.points, self.boxes, self.n_features)

    leaf_points = property(lambda self: self.points_tree.leaf_points)
    rows = property(lambda self: self.points_tree.rows)
    points = property(lambda self: self.points_tree.points)
    boxes = property(lambda self: self.points_tree.boxes)
    n_features = property(lambda self: self.points_tree.n_features)

    @property
    def shape(self) -> tuple[int, int]:
        return self.points_tree.n_points, self.points_tree.n_features


@saved("mercer.neighbors.Search")
class Search:
    """Rows that can be searched. How, is a detail: `algorithm` says it.

    Parameters
    ----------
    measure : Measure
        The metric.
    index : FlatIndex or KdIndex
        The rows.
    """

    def __init__(self, measure: Measure, index: Any) -> None:
        self.measure, self.index = measure, index
        self._kernel = measure.kernel
        self._native = getattr(index, "points_tree", None) or index.points

    def __reduce__(self) -> Any:
        return Search, (self.measure, self.index)

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        k: int = 5,
        n_threads: int = 1,
    ) -> Search:
        """Make rows of X ready, which is checked already: float32 or float64, of any strides. `k` is what will be asked for."""
        measure = find_measure(metric, p=p, metric_params=metric_params, X=X)
        if algorithm == "auto":
            algorithm = _choose_algorithm(measure, X, k)
        if algorithm not in measure.algorithms:
            raise InvalidParameterError(
                f"algorithm={algorithm!r} cannot search by metric={metric!r}; it must be one of "
                f"{('auto', *measure.algorithms)}."
            )
        if algorithm == "brute":
            return cls(measure, FlatIndex(X, n_threads=n_threads))
        return cls(measure, KdIndex.build(X, leaf_points=leaf_size, n_threads=n_threads))

    @property
    def algorithm(self) -> str:
        """What was chosen: "brute", "kd_tree" or "ball_tree"."""
        return str(self.index.algorithm)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_rows, n_features = self.index.shape
        return n_rows, n_features

    def nearest(
        self, queries: FloatArray | None, k: int, *, leave_out_self: bool = False, n_threads: int = 1
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest rows of each query, nearest first: distances and row numbers, both of shape (n_queries, k).

        Queries of None are the rows themselves, which `leave_out_self` keeps from being their own neighbours.
        """
        n_queries = self._check(queries)
        n_there = self.shape[0] - (1 if leave_out_self and queries is None else 0)
        if not 0 <= k <= n_there:
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n_there}.")
        distances, rows = np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64)
        self._native.nearest(self._kernel, *_by_precision(queries), leave_out_self, distances, rows, n_threads)
        return distances, rows

    def within(
        self,
        queries: FloatArray | None,
        radius: float,
        *,
        leave_out_self: bool = False,
        sort: bool = False,
        n_threads: int = 1,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """All rows at most `radius` away from each query: where each query's begin (and the end), rows, distances.

        In the order of their numbers, or of their distances (`sort`).
        """
        self._check(queries)
        starts, rows, distances = self._native.within(
            self._kernel, *_by_precision(queries), float(radius), leave_out_self, sort, n_threads
        )
        return starts, rows, distances

    def count_within(self, queries: FloatArray | None, radius: float, *, n_threads: int = 1) -> IntArray:
        """How many rows are at most `radius` away from each query."""
        counts = np.empty(self._check(queries), dtype=np.int64)
        self._native.count_within(self._kernel, *_by_precision(queries), float(radius), counts, n_threads)
        return counts

    def _check(self, queries: FloatArray | None) -> int:
        """The number of queries."""
        n_rows, n_features = self.shape
        if queries is None:
            return n_rows
        if queries.shape[1] != n_features:
            raise ValueError(f"queries have {queries.shape[1]} features; the rows that are searched have {n_features}.")
        return len(queries)


def _by_precision(queries: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
    """Queries as the kernels take them: in the place of single or of double precision."""
    if queries is None:
        return None, None
    return (queries, None) if queries.dtype == np.float32 else (None, queries)


def _choose_algorithm(measure: Measure, X: Any, k: int) -> str:
    n_rows, n_features = X.shape
    if "kd_tree" in measure.algorithms and n_features <= 15 and n_rows >= 200 and k < n_rows // 2:
        return "kd_tree"
    return "brute"
