"""Graphs of neighbours: of rows at once, and as a step of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer._arrays import require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._params import Bool, Integer, OneOf, Rule, check_params, check_value
from mercer.neighbors._base import SEARCH_RULES, NeighborsEstimator
from mercer.neighbors._questions import MODES, RADIUS, NearestOf, WithinOf
from mercer.neighbors._unsupervised import NearestNeighbors

INCLUDE_SELF = Bool() | OneOf("auto")


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Mapping[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """The graph in which each row has an edge to each of its nearest rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, or a fitted estimator that knows their neighbours.
    n_neighbors : int
        How many edges a row has.
    mode : {"connectivity", "distance"}, default="connectivity"
        What edges weigh: one, or the distance.
    metric, p, metric_params, n_jobs
        As in `NearestNeighbors`.
    include_self : bool or "auto", default=False
        Whether a row is its own first neighbour; "auto" is yes for "connectivity".

    Returns
    -------
    graph : CSR matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> from mercer.neighbors import kneighbors_graph
    >>> kneighbors_graph([[0], [3], [1]], 2, include_self=True).toarray()
    array([[1., 0., 1.],
           [0., 1., 1.],
           [1., 0., 1.]])
    """
    owner, options = "kneighbors_graph", {"metric": metric, "p": p, "metric_params": metric_params}
    mode, leaves_out = _check_options(owner, mode, include_self)
    k = check_value(owner, "n_neighbors", n_neighbors, Integer(1))
    search = _fitted(X, NearestOf, options, {"n_neighbors": k, "n_jobs": n_jobs})
    return search._graph_of_nearest(None, k, mode, leaves_out)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: Mapping[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """The graph in which each row has an edge to each row within a radius.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, or a fitted estimator that knows their neighbours.
    radius : float
        How long edges are at most.
    mode : {"connectivity", "distance"}, default="connectivity"
        What edges weigh: one, or the distance.
    metric, p, metric_params, n_jobs
        As in `NearestNeighbors`.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour; "auto" is yes for "connectivity".

    Returns
    -------
    graph : CSR matrix of shape (n_samples, n_samples)

    Examples
    --------
    >>> from mercer.neighbors import radius_neighbors_graph
    >>> radius_neighbors_graph([[0], [3], [1]], 1.5, include_self=True).toarray()
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    owner, options = "radius_neighbors_graph", {"metric": metric, "p": p, "metric_params": metric_params}
    mode, leaves_out = _check_options(owner, mode, include_self)
    radius = check_value(owner, "radius", radius, RADIUS)
    search = _fitted(X, WithinOf, options, {"radius": radius, "n_jobs": n_jobs})
    return search._graph_within(None, radius, mode, leaves_out)


def _check_options(owner: str, mode: Any, include_self: Any) -> tuple[str, bool]:
    """The mode, and whether rows leave themselves out."""
    mode = check_value(owner, "mode", mode, MODES)
    include_self = check_value(owner, "include_self", include_self, INCLUDE_SELF)
    return mode, not (mode == "connectivity" if include_self == "auto" else include_self)


def _fitted(X: Any, kind: type[NeighborsEstimator], options: Mapping[str, Any], others: Mapping[str, Any]) -> Any:
    """A search among rows, or the one given, which must measure as was asked for."""
    if not isinstance(X, kind):
        return NearestNeighbors(**options, **others).fit(X)
    X._require_fitted()
    for name, value in options.items():
        if (known := getattr(X, name)) != value:
            raise ValueError(f"Got {value!r} for {name}, while the estimator has {known!r} for the same parameter.")
    return X


def _overflows(X: Any) -> bool:
    """Whether distances of rows may be infinite: nothing that takes a graph could use them."""
    values = getattr(X, "data", X) if sp.issparse(X) else X
    if not isinstance(values, np.ndarray) or values.size == 0:
        return False
    largest = float(np.fmax.reduce(np.abs(values), axis=None))
    return not largest < np.sqrt(np.finfo(np.float64).max / (4 * X.shape[1]))


class _GraphTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborsEstimator):  # type: ignore[misc]
    """Steps whose columns are the fitted rows."""

    mode: str

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make rows ready to be searched.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = self._check_rows(X)
        task = FitTask.start(self, X)
        searched = self._searched(X, params, getattr(params, "n_neighbors", None))
        if _overflows(X):
            require_no_overflow(self, X, "the squared distances between rows")
        return self._finish(task, searched)

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Make rows ready, and the edges from each to its neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        graph : CSR matrix of shape (n_samples, n_samples)
        """
        return self.fit(X).transform(X)


class KNeighborsTransformer(NearestOf, _GraphTransformer):
    """Rows as lines of the graph of their nearest neighbours.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        What edges weigh: the distance, or one.
    n_neighbors : int, default=5
        How many edges a line has; one more with `mode="distance"`, as a fitted row is its own neighbour.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, or a function of two rows.
    p : float, default=2
        The power of Minkowski's distance.
    metric_params : dict, default=None
        Parameters of the metric.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric, Minkowski's by its own name for 1, 2 and infinity.
    effective_metric_params_ : dict
        Its parameters.
    effective_algorithm_ : {"ball_tree", "kd_tree", "brute"}
        The algorithm that was chosen.
    n_samples_fit_ : int
        The number of fitted rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The graph can be given to estimators with `metric="precomputed"`, so that many of them share one search.

    References
    ----------
    J. B. Tenenbaum, V. de Silva, J. C. Langford: A global geometric framework for nonlinear dimensionality reduction. Science
    290, 2000.

    Examples
    --------
    >>> from mercer.neighbors import KNeighborsTransformer
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"mode": MODES, "n_neighbors": Integer(1), **SEARCH_RULES}

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> sp.csr_matrix:
        """The edges from each row to its nearest fitted rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Edges of a row are in the order of their distances; a fitted row has one to itself.
        """
        self._require_fitted()
        n_more = 1 if self.mode == "distance" else 0
        return self.kneighbors_graph(X, mode=self.mode, n_neighbors=self._number_of_neighbors(None) + n_more)


class RadiusNeighborsTransformer(WithinOf, _GraphTransformer):
    """Rows as lines of the graph of all neighbours within a radius.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        What edges weigh: the distance, or one.
    radius : float, default=1.0
        How long edges are at most.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, or a function of two rows.
    p : float, default=2
        The power of Minkowski's distance.
    metric_params : dict, default=None
        Parameters of the metric.
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors.

    Attributes
    ----------
    effective_metric_ : str or callable
        The metric, Minkowski's by its own name for 1, 2 and infinity.
    effective_metric_params_ : dict
        Its parameters.
    effective_algorithm_ : {"ball_tree", "kd_tree", "brute"}
        The algorithm that was chosen.
    n_samples_fit_ : int
        The number of fitted rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The graph can be given to estimators with `metric="precomputed"`, so that many of them share one search.

    References
    ----------
    J. L. Bentley, D. F. Stanat, E. H. Williams: The complexity of finding fixed-radius near neighbors. Information Processing
    Letters 6, 1977.

    Examples
    --------
    >>> from mercer.neighbors import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=1.5).fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {"mode": MODES, "radius": RADIUS, **SEARCH_RULES}

    def __init__(
        self,
        *,
        mode: str = "distance",
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> sp.csr_matrix:
        """The edges from each row to all fitted rows within the radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Edges of a row are in the order of their distances; a fitted row has one to itself.
        """
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)
