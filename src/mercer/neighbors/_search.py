"""Rows that can be searched: the one face of the engine, for every estimator that asks for neighbours.

Order is by distance and then by row number, and every distance comes from the same formula in double precision: neighbours and
the bits of their distances do not depend on the algorithm or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import InvalidParameterError
from mercer._random import as_random_state
from mercer._saved import saved
from mercer.neighbors._algorithm import choose_algorithm, is_by_products
from mercer.neighbors._given import BLOCK_BYTES, Answers, FunctionIndex, GivenIndex, join_found
from mercer.neighbors._measures import Measure, by_name, find_measure
from mercer.neighbors._sparse_rows import SparseIndex

IntArray = npt.NDArray[np.int64]
ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")


def by_slot(points: FloatArray, n_features: int) -> FloatArray:
    """A point a line, from blocks of eight points, feature after feature; the last block may be filled up."""
    return np.asarray(points).reshape(-1, n_features, 8).transpose(0, 2, 1).reshape(-1, n_features)


@saved("mercer.neighbors.FlatIndex")
class FlatIndex:
    """Rows without a tree: every one is measured."""

    algorithm = "brute"
    n_threads = 1  # that make it again, from a file

    def __init__(self, X: FloatArray, *, n_threads: int = 1) -> None:
        self.shape: tuple[int, int] = X.shape
        kind = kernels.FlatPoints32 if X.dtype == np.float32 else kernels.FlatPoints64
        self.points = kind(X, n_threads)

    def __reduce__(self) -> Any:
        return FlatIndex, (self.X,)

    @property
    def X(self) -> FloatArray:
        """The rows, which the kernel holds: whatever becomes of the array that they came from."""
        return np.ascontiguousarray(by_slot(self.points.points, self.shape[1])[: self.shape[0]])


@saved("mercer.neighbors.ProductIndex")
class ProductIndex:
    """Rows without a tree for metrics that are read off Euclidean lengths: tiles of products say which of them are measured."""

    algorithm = "brute"
    n_threads = 1  # that make it again, from a file

    def __init__(self, X: FloatArray, *, n_threads: int = 1) -> None:
        self.shape: tuple[int, int] = X.shape
        kind = kernels.ProductPoints32 if X.dtype == np.float32 else kernels.ProductPoints64
        self.points = kind(X, n_threads)

    def __reduce__(self) -> Any:
        return ProductIndex, (self.X,)

    @property
    def X(self) -> FloatArray:
        """The rows, which the kernel holds."""
        return np.asarray(self.points.values).reshape(self.shape)


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


@saved("mercer.neighbors.BallIndex")
class BallIndex:
    """Rows in a ball tree, as flat arrays: what it was built from is not kept. The radii are those of one metric."""

    algorithm = "ball_tree"

    def __init__(
        self,
        leaf_points: int,
        rows: npt.NDArray[np.int32],
        points: FloatArray,
        centres: FloatArray,
        radii: FloatArray,
        n_features: int,
    ) -> None:
        kind = kernels.BallTree32 if points.dtype == np.float32 else kernels.BallTree64
        self.points_tree = kind(leaf_points, rows, points, centres, radii, n_features)

    @classmethod
    def build(cls, X: FloatArray, measure: Measure, *, leaf_points: int = 32, n_threads: int = 1) -> BallIndex:
        """The tree of the rows of X, which the measure has mapped already."""
        made = cls.__new__(cls)
        kind = kernels.BallTree32 if X.dtype == np.float32 else kernels.BallTree64
        made.points_tree = kind(X, leaf_points, measure.kernel, n_threads)
        return made

    def __reduce__(self) -> Any:
        return BallIndex, (self.leaf_points, self.rows, self.points, self.centres, self.radii, self.n_features)

    leaf_points = property(lambda self: self.points_tree.leaf_points)
    rows = property(lambda self: self.points_tree.rows)
    points = property(lambda self: self.points_tree.points)
    centres = property(lambda self: self.points_tree.centres)
    radii = property(lambda self: self.points_tree.radii)
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
    index : FlatIndex, ProductIndex, KdIndex, BallIndex, SparseIndex, GivenIndex or FunctionIndex
        The rows.
    """

    most = 0  # neighbours that are found whatever is asked for

    def __init__(self, measure: Measure, index: Any) -> None:
        self.measure, self.index = measure, index
        self._answers: Answers | None = index if hasattr(index, "nearest") else None  # by itself
        if self._answers is None:
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
        """Make rows of X ready, which is checked already: float32 or float64, dense of any strides or sparse (CSR).

        `k` is what will be asked for. With metric="precomputed", X holds distances between the rows, and queries are lines of
        distances to them; a sparse X is a graph of the distances that are known. A metric may be a function of two rows, or an
        object of scikit-learn's `DistanceMetric`.
        """
        metric, metric_params = by_name(metric, metric_params)
        if (is_given := isinstance(metric, str) and metric == "precomputed") or callable(metric):
            _require_brute(algorithm, metric)
            if is_given:
                return cls(Measure("precomputed", "precomputed"), GivenIndex(X))
            return cls(Measure("callable", "callable"), FunctionIndex(X, metric, metric_params or {}))
        measure = find_measure(metric, p=p, metric_params=metric_params, X=X)
        X = measure.mapped(X, n_threads)
        if sp.issparse(X):
            _require_brute(algorithm, metric, "among sparse rows ")
            return cls(measure, SparseIndex(X, measure))
        if algorithm == "auto":
            algorithm = choose_algorithm(measure, X, k)
        if algorithm not in measure.algorithms:
            raise InvalidParameterError(
                f"algorithm={algorithm!r} cannot search by metric={metric!r}; it must be one of "
                f"{('auto', *measure.algorithms)}."
            )
        if algorithm == "brute":
            index = ProductIndex if is_by_products(measure, X.shape[1]) else FlatIndex
            return cls(measure, index(X, n_threads=n_threads))
        if algorithm == "ball_tree":
            return cls(measure, BallIndex.build(X, measure, leaf_points=leaf_size, n_threads=n_threads))
        return cls(measure, KdIndex.build(X, leaf_points=leaf_size, n_threads=n_threads))

    @property
    def algorithm(self) -> str:
        """What was chosen: "brute", "kd_tree" or "ball_tree"."""
        return str(self.index.algorithm)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_rows, n_features = self.index.shape
        return n_rows, n_features - self.measure.n_added

    def nearest(
        self,
        queries: FloatArray | None,
        k: int,
        *,
        leave_out_self: bool = False,
        max_leaves: int | None = None,
        n_threads: int = 1,
    ) -> tuple[FloatArray, IntArray]:
        """The k nearest rows of each query, nearest first: distances and row numbers, both of shape (n_queries, k).

        Queries of None are the rows themselves, which `leave_out_self` keeps from being their own neighbours. With `max_leaves`
        a tree is searched no further than so many of its leaves, those of the least bounds first, or as many as have k rows:
        the rows are near, but not always the nearest (`recall` says how often). Other indexes have no leaves and look at all.
        """
        n_queries = self._check(queries)
        if self._needs_dense(queries):
            found = [self.nearest(part, k, max_leaves=max_leaves, n_threads=n_threads) for part in _dense_parts(queries)]
            return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])
        n_there = self.shape[0] - (1 if leave_out_self and queries is None else 0)
        if not 0 <= k <= n_there:
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n_there}.")
        mapped = self.measure.mapped(queries, n_threads)
        if self._answers is not None:
            return self._answers.nearest(mapped, k, leave_out_self=leave_out_self, n_threads=n_threads)
        distances, rows = np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64)
        asked = (self._kernel, *by_precision(mapped), leave_out_self)
        if max_leaves is None or self.algorithm == "brute":
            self._native.nearest(*asked, distances, rows, n_threads)
        else:
            n_leaves = np.empty(n_queries, dtype=np.int64)
            self._native.nearest_in_leaves(*asked, max(1, max_leaves), n_leaves, distances, rows, n_threads)
        return distances, rows

    def recall(
        self,
        queries: FloatArray,
        k: int,
        *,
        max_leaves: int,
        n_sample: int = 1000,
        random_state: Any = None,
        n_threads: int = 1,
    ) -> float:
        """The share of the k nearest rows that a search of at most `max_leaves` finds, measured on a sample of the queries.

        A row as near as the k-th nearest counts as found, whichever of those that tie it is.
        """
        n_queries = self._check(queries)
        sample = np.sort(as_random_state(random_state).choice(n_queries, min(n_sample, n_queries), replace=False))
        found, _ = self.nearest(queries[sample], k, max_leaves=max_leaves, n_threads=n_threads)
        true, _ = self.nearest(queries[sample], k, n_threads=n_threads)
        return float((found <= true[:, -1:]).mean())

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
        if self._needs_dense(queries):
            return join_found([self.within(part, radius, sort=sort, n_threads=n_threads) for part in _dense_parts(queries)])
        mapped = self.measure.mapped(queries, n_threads)
        if self._answers is not None:
            return self._answers.within(mapped, float(radius), leave_out_self=leave_out_self, sort=sort, n_threads=n_threads)
        starts, rows, distances = self._native.within(
            self._kernel, *by_precision(mapped), float(radius), leave_out_self, sort, n_threads
        )
        return starts, rows, distances

    def count_within(self, queries: FloatArray | None, radius: float, *, n_threads: int = 1) -> IntArray:
        """How many rows are at most `radius` away from each query."""
        n_queries = self._check(queries)
        if self._needs_dense(queries):
            return np.concatenate([self.count_within(part, radius, n_threads=n_threads) for part in _dense_parts(queries)])
        mapped = self.measure.mapped(queries, n_threads)
        if self._answers is not None:
            return self._answers.count_within(mapped, float(radius), n_threads=n_threads)
        counts = np.empty(n_queries, dtype=np.int64)
        self._native.count_within(self._kernel, *by_precision(mapped), float(radius), counts, n_threads)
        return counts

    def _check(self, queries: FloatArray | None) -> int:
        """The number of queries."""
        n_rows, n_features = self.shape
        if queries is None:
            return n_rows
        if queries.shape[1] != n_features:
            raise ValueError(f"queries have {queries.shape[1]} features; the rows that are searched have {n_features}.")
        return int(queries.shape[0])

    def _needs_dense(self, queries: Any) -> bool:
        """Whether queries are sparse and the rows are not."""
        return self._answers is None and not isinstance(queries, np.ndarray) and sp.issparse(queries)


def _dense_parts(queries: Any) -> Iterator[FloatArray]:
    """Sparse rows made dense, some at a time."""
    queries = sp.csr_array(queries)
    n_rows = max(1, BLOCK_BYTES // max(1, 8 * queries.shape[1]))
    for first in range(0, max(queries.shape[0], 1), n_rows):
        yield queries[first : first + n_rows].toarray()


def by_precision(queries: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
    """Queries as the kernels take them: in the place of single or of double precision."""
    if queries is None:
        return None, None
    return (queries, None) if queries.dtype == np.float32 else (None, queries)


def _require_brute(algorithm: str, metric: Any, among: str = "") -> None:
    if algorithm not in ("auto", "brute"):
        raise InvalidParameterError(
            f"algorithm={algorithm!r} cannot search {among}by metric={metric!r}; it must be one of ('auto', 'brute')."
        )
