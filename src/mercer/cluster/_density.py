"""What density clustering asks of data: a k-d tree where the metric has boxes, distances row by row where it has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import InvalidParameterError
from mercer.metrics.pairwise import pairwise_distances
from mercer.neighbors._algorithm import is_tree_faster
from mercer.neighbors._measures import ALIASES, find_measure, metrics_of
from mercer.neighbors._search import KdIndex

Metric = str | Callable[..., float]

AXIAL = ("euclidean", "manhattan", "chebyshev", "minkowski")
AXIAL_NAMES = (*AXIAL, *(alias for alias, name in ALIASES.items() if name in AXIAL))
BOOLEAN = ("dice", "jaccard", "matching", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")
METRICS = (
    *AXIAL_NAMES,
    *BOOLEAN,
    "braycurtis",
    "canberra",
    "correlation",
    "cosine",
    "hamming",
    "haversine",
    "mahalanobis",
    "nan_euclidean",
    "precomputed",
    "pyfunc",
    "seuclidean",
    "sqeuclidean",
    "wminkowski",
)
# What trees measure by, Mercer's or scikit-learn's; a tree for another metric is an error, though none would be used.
OF_TREES = {"kd_tree": metrics_of("kd_tree"), "ball_tree": [*metrics_of("ball_tree"), "pyfunc", "wminkowski"]}
LEAST_FEATURES = 15  # of rows that tiles of products may span
MOST_DENSE = 1 << 28  # bytes of sparse rows as dense ones, which a tree holds
BLOCK = 1 << 21  # distances that are held at a time


@dataclass(frozen=True)
class PointTree:
    """Rows in a k-d tree and the metric, as kernels take them: `kernels.dbscan(*tree, …)`."""

    tree: Any
    metric: Any

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        metric: Any,
        p: float | None = 2,
        metric_params: Mapping[str, Any] | None = None,
        leaf_size: int = 32,
        n_threads: int = 1,
    ) -> PointTree | None:
        """The tree of rows; None where the metric has no boxes, and for sparse rows that are too large to be made dense."""
        if not isinstance(metric, str) or metric not in AXIAL_NAMES:
            return None
        if sp.issparse(X):
            if X.shape[0] * X.shape[1] * X.dtype.itemsize > MOST_DENSE:
                return None
            X = X.toarray()
        measure = find_measure(metric, p=2.0 if p is None else p, metric_params=metric_params, X=X)
        return cls(KdIndex.build(X, leaf_points=leaf_size, n_threads=n_threads).points_tree, measure.kernel)

    @classmethod
    def by_params(cls, X: Any, params: SimpleNamespace, n_threads: int) -> PointTree | None:
        """The same by the parameters of an estimator."""
        options = {name: getattr(params, name) for name in ("metric", "p", "metric_params", "leaf_size")}
        return cls.of(X, **options, n_threads=n_threads)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.tree, self.metric))


def is_for_products(
    X: Any, *, metric: Any, k: int, p: float | None = 2, metric_params: Mapping[str, Any] | None = None, leaf_size: int = 32
) -> bool:
    """Whether tiles of products span rows faster than a k-d tree: Euclidean rows of many features that a search cannot part.

    To find the nearest row of another component a tree looks into more leaves than for neighbours: some eight times as many, by
    what both took for 5,000 and 20,000 rows of 10 to 100 features.
    """
    if sp.issparse(X) or not isinstance(metric, str) or metric not in AXIAL_NAMES or X.shape[1] < LEAST_FEATURES:
        return False
    measure = find_measure(metric, p=2.0 if p is None else p, metric_params=metric_params, X=X)
    return measure.formula == "euclidean" and not is_tree_faster(measure, X, min(k, X.shape[0] - 1), "kd_tree", factor=8)


class RowDistances:
    """Distances of some rows to all, measured when asked for: O(n) memory for one row, whatever the metric.

    Parameters
    ----------
    X : array or CSR matrix
        The rows, or with "precomputed" the distances. Sparse distances that are not stored are infinite, but for the diagonal.
    metric : str or callable
        As in :func:`mercer.metrics.pairwise.pairwise_distances`.
    p, metric_params
        Parameters of the metric.
    """

    def __init__(self, X: Any, *, metric: Any, p: float | None = 2, metric_params: Mapping[str, Any] | None = None) -> None:
        self.X, self.metric, self.params = X, metric, dict(metric_params or {})
        self.n_rows = int(X.shape[0])
        if metric == "pyfunc":
            self.metric = self.params.pop("func", None)
            if not callable(self.metric):
                raise InvalidParameterError("metric='pyfunc' needs metric_params={'func': f}, a function of two rows.")
        if sp.issparse(X) and isinstance(metric, str) and ALIASES.get(metric, metric) == "minkowski":
            self._name_power(float(self.params.pop("p", 2.0 if p is None else p)))
        elif metric == "seuclidean" and "V" not in self.params:
            self.params["V"] = np.var(X, axis=0, ddof=1)
        elif metric == "mahalanobis":
            self._invert_covariance()
        elif isinstance(metric, str) and metric in BOOLEAN and not sp.issparse(X):
            self.X = X.astype(bool)
            self.metric = "hamming" if metric == "matching" else metric  # of truth values the same

    def _name_power(self, p: float) -> None:
        if p not in (1.0, 2.0):
            raise InvalidParameterError(f"p={p:g} needs dense X; sparse X is measured with p=1 or p=2, or by another metric.")
        self.metric = "manhattan" if p == 1 else "euclidean"

    def _invert_covariance(self) -> None:
        if "VI" not in self.params:
            covariance = self.params.pop("V", None)
            covariance = np.cov(self.X.T) if covariance is None else np.asarray(covariance)
            self.params["VI"] = np.linalg.inv(np.atleast_2d(covariance)).T

    def rows(self, begin: int, end: int) -> FloatArray:
        """The distances of rows [begin, end) to all rows."""
        if self.metric != "precomputed":
            return np.asarray(
                pairwise_distances(self.X[begin:end], self.X, metric=self.metric, **self.params), dtype=np.float64
            )
        if not sp.issparse(self.X):
            return np.asarray(self.X[begin:end], dtype=np.float64)
        distances = np.full((end - begin, self.n_rows), np.inf)
        part = self.X[begin:end].tocoo()
        distances[np.arange(end - begin), np.arange(begin, end)] = 0.0
        distances[part.row, part.col] = part.data
        return distances

    def row(self, i: int) -> FloatArray:
        """The distances of one row."""
        distances: FloatArray = self.rows(i, i + 1)[0]
        return distances

    def blocks(self) -> Iterator[tuple[int, int, FloatArray]]:
        """All of them, some rows at a time: the first and the end of the rows, and their distances."""
        step = max(1, BLOCK // self.n_rows)
        for begin in range(0, self.n_rows, step):
            end = min(begin + step, self.n_rows)
            yield begin, end, self.rows(begin, end)

    def kth_smallest(self, k: int) -> FloatArray:
        """Of each row, itself included."""
        return np.concatenate([np.partition(part, k - 1, axis=1)[:, k - 1] for _, _, part in self.blocks()])


def require_square(owner: str, X: Any) -> None:
    """Refuse precomputed distances that are no square."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"{owner}: Precomputed distances must be a square matrix, one row and one column for each row of the data; X has "
            f"shape {X.shape}."
        )


def require_tree(owner: str, metric: Any, algorithm: str) -> None:
    """Refuse a tree for a metric that has none."""
    takes = OF_TREES.get(algorithm)
    if takes is None or metric in takes or (owner != "HDBSCAN" and algorithm == "ball_tree" and callable(metric)):
        return
    kind = {"kd_tree": "KDTree", "ball_tree": "BallTree"}[algorithm]
    raise InvalidParameterError(
        f"{owner}: {metric} is not a valid metric for a {kind}-based algorithm. Please select a different metric. It must "
        f"be one of {sorted(takes)}, or algorithm must be 'auto'."
    )
