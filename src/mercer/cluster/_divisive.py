"""Divisive clustering: the widest cluster is split until every row is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin

from mercer._arrays import validate
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._hierarchy import Hierarchy
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Function, Integer, Null, NumberOfJobs, OneOf, Real, Rule, check_params
from mercer.cluster._agglomerative import check_cut, hierarchy_outcome
from mercer.cluster._dissimilarities import METRICS, Dissimilarities, Metric

Labels = npt.NDArray[np.int64]


class DivisiveClustering(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Divisive analysis (DIANA): a hierarchy of clusters, from all rows down.

    The row that is farthest from the others on average leaves its cluster, and with it, one after another, those rows that are
    nearer to the ones that left than to the ones that stay: :math:`\bar d(i, C \setminus S) > \bar d(i, S)`. The height of a
    split is the diameter :math:`\max_{i, j \in C} d(i, j)` of what was split.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Where to cut the hierarchy; None with `distance_threshold`.
    metric : str or callable, default="euclidean"
        As of :class:`AgglomerativeClustering`.
    distance_threshold : float or None, default=None
        Clusters of this diameter or wider are split.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
    n_clusters_, n_leaves_ : int
    children_ : int array of shape (n_samples - 1, 2)
        Splits from the narrowest cluster to the widest, told as merges: rows below `n_leaves_`, and merge i - n_leaves_ from
        there on.
    distances_ : array of shape (n_samples - 1,)
        The diameters.
    linkage_matrix_ : array of shape (n_samples - 1, 4)
        The hierarchy in SciPy's format.
    divisive_coefficient_ : float
        The mean over rows of 1 - d(i) / diameter, where d(i) is the diameter of the cluster from which the row was split off to
        be alone: near one where there are clusters.
    certificate_ : Certificate
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Half a matrix of distances, 4 n^2 bytes. O(n^2) time where splits take off few rows, O(n^2 log n) where they halve, O(n^3)
    at worst.

    References
    ----------
    L. Kaufman, P. Rousseeuw, "Finding Groups in Data", 1990, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import DivisiveClustering
    >>> model = DivisiveClustering().fit(np.array([[0.0], [1.0], [3.0], [20.0], [24.0]]))
    >>> model.labels_, model.distances_
    (array([1, 1, 1, 0, 0]), array([ 1.,  3.,  4., 24.]))
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": Null() | Integer(1),
        "metric": OneOf(*METRICS) | Function(),
        "distance_threshold": Null() | Real(least=0),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Metric = "euclidean",
        distance_threshold: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> DivisiveClustering:
        """Split the rows of X.

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
        task = FitTask.start(self, X)
        tree = self._split(X, effective_threads(params.n_jobs))
        if params.distance_threshold is not None:
            n_clusters, labels = tree.count_above(params.distance_threshold), tree.cut_at(params.distance_threshold)
        else:
            n_clusters, labels = params.n_clusters, tree.cut(params.n_clusters)
        attributes = {
            "labels_": labels,
            "n_clusters_": n_clusters,
            "n_leaves_": tree.n_leaves,
            "children_": tree.children,
            "distances_": tree.heights,
            "linkage_matrix_": tree.matrix,
            "divisive_coefficient_": _coefficient(tree),
        }
        return self._finish(task, attributes, hierarchy_outcome(params, tree))

    def _split(self, X: Any, n_threads: int) -> Hierarchy:
        distances = Dissimilarities(type(self).__name__, X, self.metric, n_threads=n_threads)
        values, n = distances.condensed("divisive analysis"), distances.n_rows

        def write(*out: Any) -> None:
            kernels.split_matrix(values, n, *out, n_threads)

        tree = Hierarchy.made(n, n - 1, write)
        return Hierarchy(tree.children, tree.heights * distances.scale, tree.sizes, n)

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Split the rows of X and return the labels of its clusters."""
        labels: Labels = self.fit(X).labels_
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


def _coefficient(tree: Hierarchy) -> float:
    top = float(tree.heights[-1])
    if not top > 0:
        return 0.0
    last = tree.heights[tree.parents[: tree.n_leaves] - tree.n_leaves]
    return float(np.mean(1 - last / top))
