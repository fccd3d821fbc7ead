"""The search trees as objects of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._parallel import effective_threads
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer.neighbors._measures import Measure, is_metric_object, metrics_of
from mercer.neighbors._search import BallIndex, KdIndex
from mercer.neighbors._search_tree import Ints, SearchTree


@saved("mercer.neighbors.KDTree", is_model=True)
class KDTree(SearchTree):
    """A k-d tree: boxes within boxes, for metrics that grow with each difference of coordinates.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows. float32 is kept.
    leaf_size : int, default=40
        How many rows a leaf has at most, rounded up to whole blocks of eight.
    metric : str or DistanceMetric, default="minkowski"
        One of `valid_metrics`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in `kernel_density`.
    split : {"widest", "variance"}, default="widest"
        Along which feature rows are halved: that of the widest spread, or that of the largest variance.
    **kwargs
        Parameters of the metric, such as `p` of "minkowski" or `V` of "mahalanobis".

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
    sample_weight : ndarray of shape (n_samples,) or None
    sum_weight : float
    valid_metrics : list of str
    recall_ : float
        The share of the nearest rows that the last `query` with `max_leaves` found, measured on some of its queries.

    Notes
    -----
    Built in O(n d log n) by all threads. Nodes have eight children, whose boxes are measured side by side. Distances are of
    double precision and have the same bits as those of brute force; rows of the same distance come in their order.

    Examples
    --------
    >>> from mercer.neighbors import KDTree
    >>> tree = KDTree([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> distances, rows = tree.query([[0.0, 1.0]], k=2)
    >>> rows.tolist()
    [[0, 1]]

    References
    ----------
    Bentley, "Multidimensional binary search trees used for associative searching", Communications of the ACM, 1975.
    """

    algorithm = "kd_tree"
    valid_metrics = metrics_of("kd_tree")

    def __init__(
        self,
        X: Any,
        leaf_size: int = 40,
        metric: str = "minkowski",
        sample_weight: Any = None,
        split: str = "widest",
        **kwargs: Any,
    ) -> None:
        if split not in ("widest", "variance"):
            raise InvalidParameterError(f"split={split!r} is not valid; it must be one of ('widest', 'variance').")
        self.split = split
        self._grow(X, leaf_size, metric, sample_weight, kwargs)

    def __reduce__(self) -> Any:
        return KDTree, (self._X, self.leaf_size, self.metric, self.sample_weight, self.split)

    def _index(self, X: FloatArray, measure: Measure) -> KdIndex:
        return KdIndex.build(X, leaf_points=self.leaf_size, split=self.split, n_threads=effective_threads(None))

    @property
    def node_bounds(self) -> FloatArray:
        """The lows and the highs of each node of `node_data`: of shape (2, n_nodes, n_features)."""
        places = self._native.children()[0]
        boxes = np.asarray(self._search.index.boxes).reshape(-1, self._search.index.n_features, 2, 8)
        return np.moveaxis(boxes, (2, 0, 3, 1), (0, 1, 2, 3)).reshape(2, -1, boxes.shape[1])[:, places]

    def _radii(self, places: Ints) -> FloatArray:
        lows, highs = self.node_bounds.astype(np.float64)
        return np.asarray(np.linalg.norm(highs - lows, axis=1) / 2)


@saved("mercer.neighbors.BallTree", is_model=True)
class BallTree(SearchTree):
    """A ball tree: balls within balls, for metrics that obey the triangle inequality.

    Rows are halved along the line between two of them that are far from each other: x1, the farthest from any row, and x2, the
    farthest from x1. Each half has the mean of its rows as its centre, and the largest distance from it as its radius.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows. float32 is kept.
    leaf_size : int, default=40
        How many rows a leaf has at most, rounded up to whole blocks of eight.
    metric : str, callable or DistanceMetric, default="minkowski"
        One of `valid_metrics`, or a function of two rows, which is asked for every pair: nothing says that it obeys the
        triangle inequality.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in `kernel_density`.
    **kwargs
        Parameters of the metric, such as `p` of "minkowski" or `V` of "mahalanobis".

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features)
    sample_weight : ndarray of shape (n_samples,) or None
    sum_weight : float
    valid_metrics : list of str
    recall_ : float
        The share of the nearest rows that the last `query` with `max_leaves` found, measured on some of its queries.

    Notes
    -----
    Built in O(n d log n) by all threads. Bounds of balls are lowered by what rounding may have added: answers are those of
    brute force, to the last bit, and rows of the same distance come in the order of their numbers. "dice" and "braycurtis",
    which do not obey the triangle inequality, are searched by metrics that do and have the same order.

    Examples
    --------
    >>> from mercer.neighbors import BallTree
    >>> tree = BallTree([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]], metric="cosine")
    >>> tree.query([[0.0, 1.0]], k=2, return_distance=False).tolist()
    [[2, 1]]

    References
    ----------
    Omohundro, "Five balltree construction algorithms", International Computer Science Institute, 1989.
    """

    algorithm = "ball_tree"
    valid_metrics = metrics_of("ball_tree")
    takes_functions = True

    def __init__(
        self, X: Any, leaf_size: int = 40, metric: Any = "minkowski", sample_weight: Any = None, **kwargs: Any
    ) -> None:
        self._grow(X, leaf_size, metric, sample_weight, kwargs)

    def __reduce__(self) -> Any:
        return BallTree, (self._X, self.leaf_size, self.metric, self.sample_weight)

    def _index(self, X: FloatArray, measure: Measure) -> BallIndex:
        return BallIndex.build(X, measure, leaf_points=self.leaf_size, n_threads=effective_threads(None))

    @property
    def node_bounds(self) -> FloatArray:
        """The centre of each node of `node_data`, as the metric measures rows: of shape (1, n_nodes, n_features)."""
        places = self._native.children()[0]
        centres = np.asarray(self._search.index.centres).reshape(-1, self._search.index.n_features, 8)
        return centres.transpose(0, 2, 1).reshape(1, -1, centres.shape[1])[:, places]

    def _radii(self, places: Ints) -> FloatArray:
        return np.asarray(self._search.index.radii)[places]


def own_tree(X: Any) -> Any:
    """X; where it is one of scikit-learn's search trees, a tree of Mercer's of its rows, by its metric."""
    if isinstance(X, (np.ndarray, SearchTree)) or not hasattr(X, "two_point_correlation"):
        return X
    own = {"KDTree": KDTree, "BallTree": BallTree}[type(X).__name__.rstrip("0123456789")]
    state = X.__reduce__()[2]  # leaf size and metric have no public attribute
    metric = next(part for part in state if is_metric_object(part))
    return own(np.array(X.data), leaf_size=state[4], metric=metric)
