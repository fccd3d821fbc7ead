"""Agglomerative clustering: the nearest clusters are merged until one is left."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_memory

from mercer._arrays import FloatArray, validate
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._hierarchy import Hierarchy
from mercer._parallel import effective_threads
from mercer._params import (
    ArrayLike,
    Bool,
    Function,
    Having,
    Instance,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    Real,
    Rule,
    check_params,
)
from mercer._trace import Certificate, Outcome, Status
from mercer.cluster._dissimilarities import METRICS, Metric
from mercer.cluster._linkage import LINKAGES, OF_MEANS, build, require_metric

Labels = npt.NDArray[np.int64]
MANY_CLUSTERS = 100  # or a fiftieth of the rows: from there on a tree along a graph ends where it is cut


class AgglomerativeClustering(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Agglomerative clustering: a hierarchy of clusters, from single rows up.

    The two nearest clusters are merged, again and again. How far a merged cluster :math:`a \cup b` is from :math:`c` is said by
    the linkage; for Ward's, :math:`d(a, b)^2 = 2 \frac{|a| |b|}{|a| + |b|} \|\bar a - \bar b\|^2`, twice what the merge adds
    to the sum of squares within clusters.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Where to cut the hierarchy; None with `distance_threshold`.
    metric : str or callable, default="euclidean"
        A name of :func:`mercer.metrics.pairwise.pairwise_distances` or of the neighbour search; "precomputed": X holds
        distances; a function of X that returns the distances of all rows, or one of two rows. Ward's linkage needs "euclidean".
    memory : str or object with `cache`, default=None
        Where hierarchies are cached.
    connectivity : {array-like, sparse matrix} of shape (n_samples, n_samples), callable or None, default=None
        A graph of neighbours, or a function that makes it of X: only clusters that it connects are merged.
    compute_full_tree : bool or "auto", default="auto"
        With connectivity: whether to go on after `n_clusters` clusters are left. "auto": unless they are many. Must be true
        with a `distance_threshold`.
    linkage : {"ward", "complete", "average", "single", "weighted", "centroid", "median"}, default="ward"
        Distances between clusters: Ward's; the greatest, mean or least distance of their rows; the mean of the distances
        of the two parts ("weighted"); the distance of means ("centroid"), or of middles of the parts' middles ("median").
    distance_threshold : float or None, default=None
        Clusters at this distance or farther are not merged.
    compute_distances : bool, default=False
        Whether `distances_` is stored without a threshold too.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
    n_clusters_ : int
    n_leaves_ : int
    n_connected_components_ : int
        Of the connectivity graph as it was given.
    children_ : int array of shape (n_merges, 2)
        What each merge merged: rows below `n_leaves_`, and merge i - n_leaves_ from there on.
    distances_ : array of shape (n_merges,)
        How far apart they were. With `distance_threshold` or `compute_distances`.
    linkage_matrix_ : array of shape (n_merges, 4)
        The hierarchy in SciPy's format, which :func:`suggest_n_clusters`, :func:`cut_linkage` and
        :func:`mercer.plots.plot_dendrogram` take: two nodes, their distance, rows under the merge.
    certificate_ : Certificate
        How far a merge is at most below one within it (an inversion): none but for centroids, medians and graphs.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Single linkage by a metric's name is a minimum spanning tree, O(n) memory, about O(n log n) time in few features. Ward's of
    up to 32 features measures clusters by their means: O(n d) memory, O(n^2 d) time. The others keep half a matrix of
    distances, 4 n^2 bytes, and nothing else of that size: O(n^2) time, for centroids and medians as a rule. What has no room is
    refused before it begins. All mutual nearest neighbours are merged side by side; heights then order the merges. Rows are
    measured about their mean, in double precision.

    Where several pairs are equally near any of them may come first, as in SciPy; hierarchies are the same otherwise.

    Differences from scikit-learn: linkages "weighted", "centroid" and "median", whose thresholds undo merges of high parts too;
    metrics of two rows; `compute_full_tree=False` holds for single linkage too.

    References
    ----------
    D. Müllner, "Modern hierarchical, agglomerative clustering algorithms", 2011, arXiv:1109.2378.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import AgglomerativeClustering
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [4, 2], [4, 4], [4, 0]])
    >>> model = AgglomerativeClustering(compute_distances=True).fit(X)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> model.distances_.round(2)
    array([2.  , 2.  , 3.46, 3.46, 5.2 ])
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": Null() | Integer(1),
        "metric": OneOf(*METRICS) | Function(),
        "memory": Null() | Instance(str) | Having("cache"),
        "connectivity": Null() | Function() | ArrayLike() | Having("tocsr"),
        "compute_full_tree": Bool() | OneOf("auto"),
        "linkage": OneOf(*LINKAGES),
        "distance_threshold": Null() | Real(least=0),
        "compute_distances": Bool(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Metric = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: bool | str = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> AgglomerativeClustering:
        """Merge the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of distances
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        check_cut(self, params)
        X = validate(self, X, ensure_min_samples=2)
        fitted: AgglomerativeClustering = self._fit_objects(X, X, params)
        return fitted

    def _fit_objects(self, X: Any, objects: FloatArray, params: SimpleNamespace) -> Any:
        """Merge the rows of `objects`, which are those of X, or its columns."""
        task = FitTask.start(self, X)
        tree, n_components, is_full = _grow(self, objects, params)
        if params.distance_threshold is not None and params.connectivity is None:
            n_clusters, labels = tree.count_above(params.distance_threshold), tree.cut_at(params.distance_threshold)
        elif params.distance_threshold is not None:  # along a graph heights may fall: as many merges are undone as are too high
            n_clusters = int(np.count_nonzero(tree.heights >= params.distance_threshold)) + 1
            labels = tree.cut(n_clusters)
        else:
            n_clusters, labels = params.n_clusters, tree.cut(params.n_clusters) if is_full else tree.tops()
        attributes = {
            "labels_": labels,
            "n_clusters_": n_clusters,
            "n_leaves_": tree.n_leaves,
            "n_connected_components_": n_components,
            "children_": tree.children,
            "linkage_matrix_": tree.matrix,
        }
        if params.distance_threshold is not None or params.compute_distances:
            attributes["distances_"] = tree.heights
        return self._finish(task, attributes, hierarchy_outcome(params, tree), unset=["distances_"])

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Merge the rows of X and return the labels of its clusters."""
        labels: Labels = self.fit(X).labels_
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


def check_cut(estimator: Any, params: SimpleNamespace) -> None:
    """Refuse parameters that do not go together."""
    owner = type(estimator).__name__
    if (params.n_clusters is None) == (params.distance_threshold is None):
        raise InvalidParameterError(
            f"{owner}: Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None; "
            f"they are {params.n_clusters!r} and {params.distance_threshold!r}."
        )
    if params.distance_threshold is not None and not getattr(params, "compute_full_tree", True):
        raise InvalidParameterError(f"{owner}: compute_full_tree must be True if distance_threshold is set; it is False.")
    if hasattr(params, "linkage"):
        require_metric(owner, params.linkage, params.metric)


def _grow(estimator: Any, X: FloatArray, params: SimpleNamespace) -> tuple[Hierarchy, int, bool]:
    """The hierarchy, the pieces of the graph, and whether it goes up to a single cluster."""
    n, owner = len(X), type(estimator).__name__
    connectivity = params.connectivity(X) if callable(params.connectivity) else params.connectivity
    is_full = connectivity is None or params.distance_threshold is not None or params.compute_full_tree
    if is_full == "auto":
        is_full = params.n_clusters < max(MANY_CLUSTERS, 0.02 * n)
    if params.n_clusters is not None and params.n_clusters > n:
        raise ValueError(
            f"{owner}: Cannot extract more clusters than samples: n_clusters={params.n_clusters} was given for {n} rows."
        )
    cached = check_memory(params.memory).cache(build)
    tree, n_components = cached(
        owner,
        X,
        linkage=params.linkage,
        metric=params.metric,
        connectivity=connectivity,
        n_merges=n - 1 if is_full else n - params.n_clusters,
        n_threads=effective_threads(params.n_jobs),
    )
    return tree, n_components, bool(is_full)


def hierarchy_outcome(params: SimpleNamespace, tree: Hierarchy) -> Outcome:
    """What a hierarchy reached: heights rise, or it is of a kind that may have inversions."""
    may_fall = getattr(params, "linkage", "") in OF_MEANS or getattr(params, "connectivity", None) is not None
    tol = np.inf if may_fall else 0.0
    inversion = tree.inversion
    status = Status.CONVERGED.given(is_reached=inversion <= tol)
    method = f"{params.linkage} linkage" if hasattr(params, "linkage") else "divisive analysis"
    return Outcome(Certificate(method, status, None, "largest inversion of two merges", inversion, tol))
