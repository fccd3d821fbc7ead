"""HDBSCAN: density clusters of every scale, and of them those that last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X, require_no_overflow
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._parallel import effective_threads
from mercer._params import (
    Bool,
    Function,
    Infinity,
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
from mercer.cluster._density import BLOCK, METRICS, Metric, RowDistances, require_tree
from mercer.cluster._spanning import SpanningTree

Labels = npt.NDArray[np.int64]
NOISE, INFINITE, MISSING = -1, -2, -3


class HDBSCAN(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""HDBSCAN: clusters of any shape and density, and noise.

    Single linkage by the mutual reachability
    :math:`\max(\mathrm{core}(a), \mathrm{core}(b), d(a, b) / \alpha)`, where the core distance of a row is the distance of its
    `min_samples`-th nearest, itself included. Going up in density :math:`\lambda = 1 / d`, a cluster loses rows or splits;
    chosen are the clusters of the largest stability, the sum over their rows of how much :math:`\lambda` they last.

    Parameters
    ----------
    min_cluster_size : int, default=5
        The least rows of a cluster: smaller groups fall out as noise.
    min_samples : int or None, default=None
        The neighbours of core distances; None is `min_cluster_size`. More makes rows in thin regions noise.
    cluster_selection_epsilon : float, default=0.0
        Clusters that split below this distance are not told apart.
    max_cluster_size : int or None, default=None
        The most rows of a cluster of "eom".
    metric : str or callable, default="euclidean"
        As of :class:`DBSCAN`: a k-d tree for the Minkowski family, distances row by row for others, or "precomputed": X holds
        distances, of which a sparse X has those that are edges.
    metric_params : dict or None, default=None
        Further parameters of the metric.
    alpha : float, default=1.0
        Distances are divided by it.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        Taken where the metric has such a tree; what is used is decided by the metric.
    leaf_size : int, default=40
        Points of a leaf of the tree: a matter of speed alone.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        The most stable clusters (excess of mass), or the leaves of the tree: many small ones.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster.
    store_centers : {"centroid", "medoid", "both"} or None, default=None
        Which centres of clusters to compute.
    copy : bool or "warn", default="warn"
        X is neither changed nor copied, whatever this says.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The cluster of each row, numbered by their first rows. -1 is noise, -2 a row that holds infinity, -3 one that holds NaN.
    probabilities_ : array of shape (n_samples,)
        How firmly each row is in its cluster, from 0 for noise to 1; NaN for rows with NaN.
    centroids_, medoids_ : arrays of shape (n_clusters, n_features)
        Means of clusters weighted by probability, and rows of the least weighted distance to the others. With `store_centers`.
    spanning_tree_ : array of shape (n_rows - 1, 3)
        The minimum spanning tree of mutual reachability between the finite rows, counted among themselves: from the lightest
        edge on, its two rows and its weight.
    certificate_ : Certificate
        The weight of the spanning tree, and how many rows are in clusters.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The spanning tree is exact: Boruvka's rounds on one k-d tree, O(n) memory, about O(n log n) time in few dimensions. Metrics
    without boxes are Prim's method with one row of distances at a time, O(n^2) time. From the tree to labels it is O(n log n).

    Differences from scikit-learn: many edges of a spanning tree weigh the same, as core distances do. They are merged at once,
    so that clusters do not depend on the order of the rows; there one edge comes first by chance, and the same rows in another
    order may give other clusters. Core distances are not divided by `alpha` (there they are by some algorithms only).

    References
    ----------
    R. Campello, D. Moulavi, J. Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import HDBSCAN
    >>> random = np.random.RandomState(0)
    >>> X = np.concatenate([random.randn(50, 2), 0.2 * random.randn(50, 2) + 6, [[30.0, 30.0]]])
    >>> model = HDBSCAN(min_cluster_size=15).fit(X)
    >>> int(model.labels_.max()) + 1, int(model.labels_[-1])
    (2, -1)
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "min_cluster_size": Integer(2),
        "min_samples": Null() | Integer(1),
        "cluster_selection_epsilon": Real(least=0),
        "max_cluster_size": Null() | Integer(1),
        "metric": OneOf(*METRICS) | Function(),
        "metric_params": Null() | Mapped(),
        "alpha": Real(above=0),
        "algorithm": OneOf("auto", "brute", "kd_tree", "ball_tree"),
        "leaf_size": Integer(1),
        "n_jobs": NumberOfJobs(),
        "cluster_selection_method": OneOf("eom", "leaf"),
        "allow_single_cluster": Bool(),
        "store_centers": Null() | OneOf("centroid", "medoid", "both"),
        "copy": Bool() | OneOf("warn"),
    }

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: Metric = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool | str = "warn",
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.alpha = alpha
        self.max_cluster_size = max_cluster_size
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    @fit_method
    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
            Rows with NaN or infinity take no part and are labelled as such; a precomputed distance may be infinite.
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr", finite="deferred")
        _check_options(params, X)
        rows = _Rows.of(X, is_table=params.metric != "precomputed")
        _check_enough(params, rows.X.shape[0])
        task = FitTask.start(self, X)
        tree = _span(rows.X, params)
        found, firmness = tree.labels(vars(params))
        labels, probabilities = rows.spread(found, firmness)
        attributes = {"labels_": labels, "probabilities_": probabilities, "spanning_tree_": tree.table}
        attributes |= _centers(rows.X, found, firmness, params)
        return self._finish(task, attributes, _outcome(tree, labels), unset=("centroids_", "medoids_"))

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Find the clusters of X and return its labels."""
        labels: Labels = self.fit(X).labels_
        return labels

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> Labels:
        """The clusters at one density: those of DBSCAN without border rows, of the same spanning tree.

        Parameters
        ----------
        cut_distance : float
            Mutual reachabilities below it hold rows together: DBSCAN's `eps`.
        min_cluster_size : int, default=5
            Smaller groups are noise.

        Returns
        -------
        labels : int array of shape (n_samples,)
            As `labels_`.
        """
        check_is_fitted(self)
        owner = "HDBSCAN.dbscan_clustering"
        cut = check_value(owner, "cut_distance", cut_distance, Real() | Infinity())
        size = check_value(owner, "min_cluster_size", min_cluster_size, Integer(1))
        labels: Labels = self.labels_.copy()
        labels[labels >= NOISE] = SpanningTree.from_table(self.spanning_tree_).cut(cut, size)
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


@dataclass(frozen=True)
class _Rows:
    """The rows that take part, and which of all those are."""

    X: Any
    is_missing: npt.NDArray[np.bool_]
    is_infinite: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, X: Any, *, is_table: bool) -> _Rows:
        none = np.zeros(X.shape[0], dtype=bool)
        if not is_table or np.isfinite(X.data if sp.issparse(X) else X).all():
            return cls(X, none, none)
        is_missing = _any_in_rows(X, np.isnan)
        is_infinite = _any_in_rows(X, np.isinf) & ~is_missing
        return cls(X[np.flatnonzero(~(is_missing | is_infinite))], is_missing, is_infinite)

    def spread(self, labels: Labels, probabilities: FloatArray) -> tuple[Labels, FloatArray]:
        """Over all rows."""
        is_finite = ~(self.is_missing | self.is_infinite)
        all_labels, all_probabilities = np.full(len(is_finite), INFINITE), np.zeros(len(is_finite))
        all_labels[is_finite], all_probabilities[is_finite] = labels, probabilities
        all_labels[self.is_missing], all_probabilities[self.is_missing] = MISSING, np.nan
        return all_labels, all_probabilities


def _any_in_rows(X: Any, test: Any) -> npt.NDArray[np.bool_]:
    if not sp.issparse(X):
        found: npt.NDArray[np.bool_] = test(X).any(axis=1)
        return found
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(rows[test(X.data)], minlength=X.shape[0]) > 0


def _check_options(params: SimpleNamespace, X: Any) -> None:
    """Refuse what does not go together."""
    require_tree("HDBSCAN", params.metric, params.algorithm)
    if params.metric == "precomputed":
        if params.store_centers is not None:
            raise InvalidParameterError("HDBSCAN: Cannot store centers when using a precomputed distance matrix.")
        _check_distances(X)
    elif sp.issparse(X) and params.algorithm in ("kd_tree", "ball_tree"):
        raise InvalidParameterError("HDBSCAN: Sparse data matrices only support algorithm `brute`.")


def _check_distances(X: Any) -> None:
    if np.isnan(X.data if sp.issparse(X) else X).any():
        raise ValueError("HDBSCAN: np.nan values found in precomputed-dense: X contains NaN; infinity stands for no distance.")
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "HDBSCAN: The precomputed distance matrix is expected to be symmetric, however it has shape "
            f"{X.shape}. Please verify that the distance matrix was constructed correctly."
        )
    if not _is_symmetric(X):
        raise ValueError(
            "HDBSCAN: The precomputed distance matrix is expected to be symmetric, however its values appear to be asymmetric. "
            "Please verify that the distance matrix was constructed correctly."
        )


def _is_symmetric(X: Any) -> bool:
    """Up to rounding; of a dense matrix some lines are compared at a time, as all of them would be matrices of its size."""
    if sp.issparse(X):
        return bool(np.allclose(abs(X - X.T).data, 0))
    step = max(1, BLOCK // X.shape[0])
    return all(np.allclose(X[first : first + step], X[:, first : first + step].T) for first in range(0, X.shape[0], step))


def _check_enough(params: SimpleNamespace, n_rows: int) -> None:
    if n_rows <= 1:
        raise ValueError(f"n_samples={n_rows} while HDBSCAN requires more than one sample")
    params.min_samples = params.min_cluster_size if params.min_samples is None else params.min_samples
    if params.min_samples > n_rows:
        raise InvalidParameterError(
            f"HDBSCAN: min_samples ({params.min_samples}) must be at most the number of samples in X ({n_rows})"
        )


def _span(X: Any, params: SimpleNamespace) -> SpanningTree:
    options: dict[str, Any] = {"min_samples": params.min_samples, "alpha": params.alpha}
    metric_params = dict(params.metric_params or {})
    if params.metric == "precomputed" and sp.issparse(X):
        tree = SpanningTree.of_graph(X, max_distance=metric_params.get("max_distance", 0.0), **options)
    else:
        options |= {"metric": params.metric, "metric_params": metric_params, "leaf_size": params.leaf_size}
        try:
            tree = SpanningTree.of(X, n_threads=effective_threads(params.n_jobs), **options)
        except OverflowError:
            require_no_overflow(HDBSCAN, X, "squares of differences")
            raise
    if np.isinf(tree.weights).any():
        warn(
            "The minimum spanning tree contains edge weights with value infinity. Potentially, you are missing too many "
            "distances in the initial distance matrix for the given neighborhood size.",
            UserWarning,
        )
    return tree


def _centers(X: Any, labels: Labels, probabilities: FloatArray, params: SimpleNamespace) -> dict[str, FloatArray]:
    """The centres of clusters that were asked for."""
    wanted = {"centroid": ("centroids_",), "medoid": ("medoids_",), "both": ("centroids_", "medoids_")}
    centers = {name: np.empty((labels.max() + 1, X.shape[1]), X.dtype) for name in wanted.get(params.store_centers, ())}
    for cluster in range(labels.max() + 1 if centers else 0):
        members = np.flatnonzero(labels == cluster)
        rows, firmness = X[members], probabilities[members]
        if "centroids_" in centers:
            centers["centroids_"][cluster] = (rows.T @ firmness) / firmness.sum()
        if "medoids_" in centers:
            distances = RowDistances(rows, metric=params.metric, metric_params=params.metric_params)
            sums = np.concatenate([part @ firmness for _, _, part in distances.blocks()])
            medoid = rows[[int(np.argmin(sums))]]
            centers["medoids_"][cluster] = medoid.toarray()[0] if sp.issparse(medoid) else medoid[0]
    return centers


def _outcome(tree: SpanningTree, labels: Labels) -> Outcome:
    n_clusters, n_noise = int(labels.max(initial=-1)) + 1, int((labels < 0).sum())
    method = f"HDBSCAN: {n_clusters} clusters; {len(labels) - n_noise} rows are in them, {n_noise} are noise"
    weight = float(tree.weights.sum())
    return Outcome(Certificate(method, Status.CONVERGED, weight, "rows that the spanning tree leaves out", 0, 0))
