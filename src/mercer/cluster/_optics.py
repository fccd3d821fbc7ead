"""OPTICS: the order in which density reaches rows, and clusters of that order."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from joblib import Memory
from sklearn.base import ClusterMixin
from sklearn.exceptions import DataConversionWarning

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import (
    Bool,
    Function,
    Having,
    Infinity,
    Instance,
    Integer,
    InvalidParameterError,
    Mapped,
    Null,
    NumberOfJobs,
    OneOf,
    Real,
    Rule,
    check_params,
    check_value,
)
from mercer._trace import Certificate, Outcome, Status, warn
from mercer.cluster._density import BOOLEAN, METRICS, Metric, PointTree, RowDistances, require_square, require_tree

Labels = npt.NDArray[np.int64]
Graph = tuple[Labels, FloatArray, FloatArray, Labels]  # ordering, core distances, reachability, predecessors

SIZE = Integer(2) | Real(least=0, most=1)  # a count, or a share of the rows
GRAPH_RULES: Mapping[str, Rule] = {
    "min_samples": SIZE,
    "max_eps": Real(least=0) | Infinity(),
    "metric": OneOf(*METRICS) | Function(),
    "p": Null() | Real(above=0),
    "metric_params": Null() | Mapped(),
    "algorithm": OneOf("auto", "brute", "ball_tree", "kd_tree"),
    "leaf_size": Integer(1),
    "n_jobs": NumberOfJobs(),
}


class OPTICS(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""OPTICS: density clustering at all scales at once.

    Rows are put in an order: next comes the row that is reached most cheaply from any row before it, where q is reached from p
    at :math:`\max(\mathrm{core}(p), d(p, q))` and the core distance of a row is the distance of its `min_samples`-th neighbour.
    Clusters are valleys of the reachability in that order.

    Parameters
    ----------
    min_samples : int >= 2 or float in [0, 1], default=5
        How many rows, itself included, a row's core distance encloses; a fraction is a share of the rows, 2 at least.
    max_eps : float, default=inf
        Rows farther apart do not reach each other.
    metric : str or callable, default="minkowski"
        As of :class:`DBSCAN`: a k-d tree for the Minkowski family, distances row by row for others, or "precomputed".
    p : float, default=2
        The power of "minkowski".
    metric_params : dict or None, default=None
        Further parameters of the metric.
    cluster_method : {"xi", "dbscan"}, default="xi"
        How clusters are taken from the order: by steepness, or by a level of reachability.
    eps : float or None, default=None
        The level of "dbscan"; None is `max_eps`.
    xi : float in [0, 1], default=0.05
        By what share reachability falls or rises at the sides of a valley.
    predecessor_correction : bool, default=True
        End valleys at a row that was reached from within them.
    min_cluster_size : int >= 2, float in (0, 1] or None, default=None
        The least rows of a valley, or their share; None is `min_samples`.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Taken where the metric has such a tree; what is used is decided by the metric.
    leaf_size : int, default=30
        Points of a leaf of the tree: a matter of speed alone.
    memory : str, object with a method `cache`, or None, default=None
        Where to keep the order, so that another way to take clusters from it need not find it again.
    n_jobs : int or None, default=None
        The number of threads that look for core distances; None uses all that Mercer may use. The order itself is sequential.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The cluster of each row; -1 is noise.
    ordering_ : int array of shape (n_samples,)
        The rows in their order.
    reachability_ : array of shape (n_samples,)
        Of each row, by row number; infinite for rows that nothing reaches.
    core_distances_ : array of shape (n_samples,)
        Infinite where above `max_eps`.
    predecessor_ : int array of shape (n_samples,)
        The row from which each was reached; -1 where none.
    cluster_hierarchy_ : int array of shape (n_clusters, 2)
        With "xi": the first and the last place of each valley in the order, smaller ones before those around them.
    certificate_ : Certificate
        The sum of all finite reachabilities, which the order keeps least.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Order, reachability and predecessors are scikit-learn's, ties included: of equal reachabilities the lowest row is next. Each
    row of the order proposes the nearest row that is not in it yet, found in the tree, instead of updating all others: about
    O(n log n) time where scikit-learn takes O(n^2), and O(n) memory. `mercer.plots.plot_reachability` draws the order.

    References
    ----------
    M. Ankerst, M. Breunig, H.-P. Kriegel, J. Sander, "OPTICS: ordering points to identify the clustering structure", SIGMOD
    1999.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import OPTICS
    >>> X = np.array([[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]])
    >>> OPTICS(min_samples=2).fit(X).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **GRAPH_RULES,
        "p": Real(least=1),
        "cluster_method": OneOf("dbscan", "xi"),
        "eps": Null() | Real(least=0) | Infinity(),
        "xi": Real(least=0, most=1),
        "predecessor_correction": Bool(),
        "min_cluster_size": Null() | Integer(2) | Real(above=0, most=1),
        "memory": Null() | Instance(str) | Having("cache"),
    }

    def __init__(
        self,
        *,
        min_samples: float = 5,
        max_eps: float = np.inf,
        metric: Metric = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        cluster_method: str = "xi",
        eps: float | None = None,
        xi: float = 0.05,
        predecessor_correction: bool = True,
        min_cluster_size: float | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        memory: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_eps = max_eps
        self.min_samples = min_samples
        self.min_cluster_size = min_cluster_size
        self.algorithm = algorithm
        self.metric = metric
        self.metric_params = metric_params
        self.p = p
        self.leaf_size = leaf_size
        self.cluster_method = cluster_method
        self.eps = eps
        self.xi = xi
        self.predecessor_correction = predecessor_correction
        self.memory = memory
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> OPTICS:
        """Find the order and the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        eps = params.max_eps if params.eps is None else params.eps
        if params.cluster_method == "dbscan" and eps > params.max_eps:
            raise InvalidParameterError(
                f"OPTICS: Specify an epsilon smaller than {params.max_eps}. Got {eps}: eps must be at most max_eps."
            )
        _warn_of_truth_values(params.metric, X)
        X = check_X(self, X, sparse="csr")
        task = FitTask.start(self, X)
        compute = _cached(params.memory)
        graph = compute(X, **{name: getattr(params, name) for name in GRAPH_RULES})
        ordering, core_distances, reachability, predecessor = graph
        attributes = {
            "ordering_": ordering,
            "core_distances_": core_distances,
            "reachability_": reachability,
            "predecessor_": predecessor,
        }
        if params.cluster_method == "dbscan":
            attributes["labels_"] = _labels_at(reachability, core_distances, ordering, eps)
        else:
            attributes["labels_"], attributes["cluster_hierarchy_"] = _xi_labels(
                reachability, predecessor, ordering, params, owner="OPTICS"
            )
        return self._finish(task, attributes, _outcome(reachability), unset=("cluster_hierarchy_",))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def compute_optics_graph(
    X: Any,
    *,
    min_samples: float,
    max_eps: float,
    metric: Metric,
    p: float | None,
    metric_params: Mapping[str, Any] | None,
    algorithm: str,
    leaf_size: int,
    n_jobs: int | None,
) -> Graph:
    """The order of OPTICS: which row is reached next, how and from which.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
    min_samples, max_eps, metric, p, metric_params, algorithm, leaf_size, n_jobs
        As of :class:`OPTICS`.

    Returns
    -------
    ordering, core_distances, reachability, predecessor : arrays of shape (n_samples,)
        As the attributes of :class:`OPTICS`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import compute_optics_graph
    >>> X = np.array([[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]])
    >>> settings = dict(metric="minkowski", p=2, metric_params=None, algorithm="auto", leaf_size=30, n_jobs=None)
    >>> compute_optics_graph(X, min_samples=2, max_eps=np.inf, **settings)[0]
    array([0, 1, 2, 5, 3, 4])
    """
    given = locals()
    owner = "compute_optics_graph"
    params = SimpleNamespace(**{name: check_value(owner, name, given[name], rule) for name, rule in GRAPH_RULES.items()})
    if params.metric == "precomputed":
        require_square(owner, X)
    require_tree(owner, params.metric, params.algorithm)
    k = as_count(owner, "min_samples", params.min_samples, X.shape[0])
    n_threads = effective_threads(params.n_jobs)
    tree = PointTree.by_params(X, params, n_threads)
    if tree is None:
        distances = RowDistances(X, metric=params.metric, p=params.p, metric_params=params.metric_params)
        graph = _order_by_rows(distances, k, params.max_eps)
    else:
        n = X.shape[0]
        graph = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.empty(n, dtype=np.int64)
        kernels.optics(*tree, k, params.max_eps, *graph, n_threads)
    if np.isinf(graph[2]).all():
        warn("All reachability values are inf. Set a larger max_eps or all data will be considered outliers.", UserWarning)
    return graph


def cluster_optics_dbscan(*, reachability: Any, core_distances: Any, ordering: Any, eps: float) -> Labels:
    """Clusters of an order by a level of reachability: about those of DBSCAN with that `eps`.

    Parameters
    ----------
    reachability, core_distances, ordering : arrays of shape (n_samples,)
        Attributes of :class:`OPTICS`.
    eps : float
        The level.

    Returns
    -------
    labels : int array of shape (n_samples,)
        -1 is noise.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import OPTICS, cluster_optics_dbscan
    >>> model = OPTICS(min_samples=2).fit(np.array([[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]))
    >>> order = dict(reachability=model.reachability_, core_distances=model.core_distances_, ordering=model.ordering_)
    >>> cluster_optics_dbscan(eps=2.0, **order)
    array([-1,  0,  0,  1,  1, -1])
    """
    eps = check_value("cluster_optics_dbscan", "eps", eps, Real(least=0) | Infinity())
    return _labels_at(np.asarray(reachability), np.asarray(core_distances), np.asarray(ordering), eps)


def cluster_optics_xi(
    *,
    reachability: Any,
    predecessor: Any,
    ordering: Any,
    min_samples: float,
    min_cluster_size: float | None = None,
    xi: float = 0.05,
    predecessor_correction: bool = True,
) -> tuple[Labels, Labels]:
    """Clusters of an order by steepness: valleys of the reachability.

    Parameters
    ----------
    reachability, predecessor, ordering : arrays of shape (n_samples,)
        Attributes of :class:`OPTICS`.
    min_samples, min_cluster_size, xi, predecessor_correction
        As of :class:`OPTICS`.

    Returns
    -------
    labels : int array of shape (n_samples,)
        -1 is noise.
    clusters : int array of shape (n_clusters, 2)
        The first and the last place of each valley in the order, smaller ones before those around them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import OPTICS, cluster_optics_xi
    >>> model = OPTICS(min_samples=2).fit(np.array([[1.0, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]))
    >>> order = dict(reachability=model.reachability_, predecessor=model.predecessor_, ordering=model.ordering_)
    >>> labels, clusters = cluster_optics_xi(min_samples=2, **order)
    >>> clusters
    array([[0, 2],
           [3, 5],
           [0, 5]])
    """
    given = locals()
    owner = "cluster_optics_xi"
    rules = {
        "min_samples": SIZE,
        "min_cluster_size": Null() | SIZE,
        "xi": Real(least=0, most=1),
        "predecessor_correction": Bool(),
    }
    params = SimpleNamespace(**{name: check_value(owner, name, given[name], rule) for name, rule in rules.items()})
    return _xi_labels(np.asarray(reachability), np.asarray(predecessor), np.asarray(ordering), params, owner=owner)


def as_count(owner: str, name: str, size: float, n_rows: int) -> int:
    """A count of rows, of a count or of a share."""
    if size > n_rows:
        raise InvalidParameterError(f"{owner}: {name} must be no greater than the number of samples ({n_rows}). Got {size}")
    count = max(2, int(size * n_rows)) if size <= 1 else int(size)
    if count > n_rows:
        raise ValueError(f"{owner}: n_samples={n_rows} is too few: {name}={size} means {count} rows at least.")
    return count


def _cached(memory: Any) -> Any:
    """The function that finds the order, which `memory` may remember."""
    if memory is None:
        return compute_optics_graph
    return (Memory(location=memory, verbose=0) if isinstance(memory, str) else memory).cache(compute_optics_graph)


def _warn_of_truth_values(metric: Any, X: Any) -> None:
    if isinstance(metric, str) and metric in BOOLEAN and getattr(X, "dtype", None) != np.bool_:
        warn(
            f"Data will be converted to boolean for metric {metric}, to avoid this warning, you may convert the data prior to "
            "calling fit.",
            DataConversionWarning,
        )


def _round(distances: FloatArray) -> FloatArray:
    """To as many decimals as a double has digits: ties that rounding hides are ties again."""
    return np.around(distances, decimals=np.finfo(np.float64).precision)


def _order_by_rows(distances: RowDistances, k: int, max_eps: float) -> Graph:
    """The order from the distances of one row at a time. O(n^2) time, O(n) memory."""
    n = distances.n_rows
    core = distances.kth_smallest(k)
    core[core > max_eps] = np.inf
    core = _round(core)
    reachability, predecessor, ordering = np.full(n, np.inf), np.full(n, -1), np.empty(n, dtype=np.int64)
    left = np.arange(n)
    for place in range(n):
        i = int(np.argmin(reachability[left]))
        point = ordering[place] = left[i]
        left = np.delete(left, i)
        if np.isinf(core[point]):
            continue
        measured = distances.row(point)[left]
        reach = _round(np.maximum(measured, core[point]))
        better = (measured <= max_eps) & (reach < reachability[left])
        reachability[left[better]] = reach[better]
        predecessor[left[better]] = point
    return ordering, core, reachability, predecessor


def _labels_at(reachability: FloatArray, core_distances: FloatArray, ordering: Labels, eps: float) -> Labels:
    labels = np.zeros(len(core_distances), dtype=np.int64)
    is_far, is_core = reachability > eps, core_distances <= eps
    labels[ordering] = np.cumsum(is_far[ordering] & is_core[ordering]) - 1
    labels[is_far & ~is_core] = -1
    return labels


def _xi_labels(
    reachability: FloatArray, predecessor: Labels, ordering: Labels, params: SimpleNamespace, *, owner: str
) -> tuple[Labels, Labels]:
    n = len(reachability)
    min_samples = as_count(owner, "min_samples", params.min_samples, n)
    size = params.min_samples if params.min_cluster_size is None else params.min_cluster_size
    min_cluster_size = as_count(owner, "min_cluster_size", size, n)
    places = np.empty(n + 1, dtype=np.int64)
    places[ordering], places[-1] = np.arange(n), -1  # a predecessor of -1 is nowhere
    plot = np.ascontiguousarray(reachability[ordering], dtype=np.float64)
    clusters = _valleys(plot, places[predecessor[ordering]], params, min_samples, min_cluster_size)
    labels = np.full(n, -1, dtype=np.int64)
    n_clusters = 0
    for first, last in clusters:
        if (labels[first : last + 1] < 0).all():  # the smallest valleys are the clusters
            labels[first : last + 1] = n_clusters
            n_clusters += 1
    labels[ordering] = labels.copy()
    return labels, clusters


def _valleys(plot: FloatArray, predecessor: Labels, params: SimpleNamespace, min_samples: int, min_cluster_size: int) -> Labels:
    """First and last place of each valley: there are rarely more than places, and where there are, they are found again."""
    room = len(plot)
    while True:
        clusters = np.empty((room, 2), dtype=np.int64)
        found = kernels.xi_clusters(
            plot, predecessor, params.xi, min_samples, min_cluster_size, params.predecessor_correction, clusters
        )
        if found <= room:
            return clusters[:found].copy()
        room = found


def _outcome(reachability: FloatArray) -> Outcome:
    is_reached = np.isfinite(reachability)
    n_starts = int(len(reachability) - is_reached.sum())
    method = f"OPTICS: an order of {len(reachability)} rows, of which {n_starts} are reached from none"
    total = float(reachability[is_reached].sum())
    return Outcome(Certificate(method, Status.CONVERGED, total, "rows that are not in the order", 0, 0))
