"""BIRCH: a tree of small clusters, and a clustering of these."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Bool, Fittable, Integer, Null, NumberOfJobs, Real, Rule, check_params
from mercer._saved import saved
from mercer._trace import Certificate, Outcome, Status
from mercer.cluster._lloyd import refuse_if_overflowing

IntArray = npt.NDArray[np.int64]

_BLOCK = 1 << 20  # values that are made double, and dense, at a time


@saved("mercer.cluster.FeatureTree")
class FeatureTree:
    """The tree of clustering features, about a common origin. What it was built from is not kept."""

    def __init__(
        self, origin: FloatArray, threshold: float, branching_factor: int, state: tuple[Any, ...] | None = None
    ) -> None:
        self.origin, self.threshold, self.branching_factor = origin, threshold, branching_factor
        self._tree = kernels.CfTree(len(origin), threshold, branching_factor, *(state or ()))

    def __reduce__(self) -> Any:
        return FeatureTree, (self.origin, self.threshold, self.branching_factor, self.state)

    @property
    def state(self) -> tuple[Any, ...]:
        """The tree as arrays."""
        return tuple(self._tree.state())

    def copy(self) -> FeatureTree:
        return FeatureTree(self.origin, self.threshold, self.branching_factor, self.state)

    def insert(self, X: Any) -> None:
        """Add rows, dense or sparse, one after another."""
        step = max(1, _BLOCK // max(1, X.shape[1]))
        for begin in range(0, X.shape[0], step):
            part = X[begin : begin + step]
            dense = part.toarray() if sp.issparse(part) else part
            self._tree.insert(np.ascontiguousarray(dense.astype(np.float64, copy=False) - self.origin))

    def leaf_entries(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of each small cluster: how many rows, their sum of squared deviations, and the mean."""
        weights, deviations, means = self._tree.leaf_entries()
        return weights, deviations, means + self.origin


class Birch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Clustering in one pass: rows fall into a tree of small clusters, which are then clustered themselves.

    A row joins the small cluster at its leaf if the radius :math:`\sqrt{S / n}` stays within the threshold, S being the sum of
    squared deviations of its n rows from their mean; otherwise it begins one.

    Parameters
    ----------
    threshold : float, default=0.5
        The greatest radius of a small cluster.
    branching_factor : int, default=50
        The most entries of a node; one that has more is halved.
    n_clusters : int, estimator or None, default=3
        What the small clusters are clustered by: so many by `AgglomerativeClustering`, or a clusterer; None leaves them.
    compute_labels : bool, default=True
        Find the labels of the rows of a fit.
    n_jobs : int or None, default=None
        The number of threads of predictions; None uses all that Mercer may use. The tree is built by one.

    Attributes
    ----------
    subcluster_centers_ : array of shape (n_subclusters, n_features)
        The means of the small clusters.
    subcluster_labels_ : int array of shape (n_subclusters,)
        The cluster of each.
    subcluster_weights_, subcluster_radii_ : arrays of shape (n_subclusters,)
        The rows of each, and its radius.
    labels_ : int array of shape (n_samples,)
        With `compute_labels`; after `partial_fit`, those of the last part.
    tree_ : object
        The tree, which `partial_fit` goes on with.
    certificate_ : Certificate
        The squared deviations of the rows from the means of their small clusters, and the greatest radius against the
        threshold.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n d branching_factor log n) time, O(n_subclusters d) memory. An entry holds n, the mean and S (BETULA), in double
    precision about the first row: radii keep their digits however far the data are from zero, where sums of squares lose them.

    Differences from scikit-learn: `root_` and `dummy_leaf_`, its own objects, are not there. Radii that the peer rounds wrongly
    are right here, so that data far from zero give another tree.

    References
    ----------
    T. Zhang, R. Ramakrishnan and M. Livny, "BIRCH: an efficient data clustering method for very large databases", SIGMOD 1996.
    A. Lang and E. Schubert, "BETULA: numerically stable CF-trees for BIRCH clustering", SISAP 2020.

    Examples
    --------
    >>> from mercer.cluster import Birch
    >>> X = [[0.0, 1], [0.3, 1], [-0.3, 1], [0, -1], [0.3, -1], [-0.3, -1]]
    >>> model = Birch(n_clusters=None).fit(X)
    >>> model.predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "threshold": Real(above=0),
        "branching_factor": Integer(2),
        "n_clusters": Integer(1) | Null() | Fittable(),
        "compute_labels": Bool(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        branching_factor: int = 50,
        n_clusters: Any = 3,
        compute_labels: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.branching_factor = branching_factor
        self.n_clusters = n_clusters
        self.compute_labels = compute_labels
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Birch:
        """Build the tree of the rows of X, and cluster its leaves.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(X, None)

    @fit_method
    def partial_fit(self, X: Any = None, y: Any = None) -> Birch:
        """Add the rows of X to the tree, and cluster its leaves anew.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            None only clusters the leaves.
        y : ignored

        Returns
        -------
        self
        """
        tree: FeatureTree | None = getattr(self, "tree_", None)
        if X is not None:
            return self._learn(X, tree)
        check_is_fitted(self)
        params = check_params(self)
        assert tree is not None
        return self._conclude(FitTask.start(self, X), tree, params, None)

    def _learn(self, X: Any, tree: FeatureTree | None) -> Birch:
        params = check_params(self)
        X = check_X(self, X, sparse="csr", reset=tree is None)
        refuse_if_overflowing(self, X, np.zeros(X.shape[1]))
        task = FitTask.start(self, X)
        if tree is None:
            tree = FeatureTree(_first_row(X), params.threshold, params.branching_factor)
        else:
            tree = tree.copy()  # an error on the way leaves the estimator as it was
        tree.insert(X)
        return self._conclude(task, tree, params, X)

    def _conclude(self, task: FitTask, tree: FeatureTree, params: SimpleNamespace, X: Any) -> Birch:
        """Cluster the small clusters, and label rows."""
        weights, deviations, means = tree.leaf_entries()
        centres = means.astype(X.dtype if X is not None else self.subcluster_centers_.dtype)
        labels, warning = self._clustered(centres, params)
        radii = np.sqrt(deviations / weights)
        found: dict[str, Any] = {
            "tree_": tree,
            "subcluster_centers_": centres,
            "subcluster_labels_": labels,
            "subcluster_weights_": weights.astype(np.int64),
            "subcluster_radii_": radii,
        }
        if X is not None and params.compute_labels:
            found["labels_"] = labels[_nearest(X, centres, effective_threads(params.n_jobs))]
        # Radii are those that rows were let in by; a later mean is rounded.
        tol = tree.threshold * (1 + 1e-9)
        worst = float(radii.max())
        status = Status.INEXACT.given(is_reached=worst <= tol)
        certificate = Certificate("tree of clustering features", status, float(deviations.sum()), "greatest radius", worst, tol)
        unset = ("labels_",) if X is not None else ()
        return self._finish(task, found, Outcome(certificate, warning=warning), unset=unset)

    def _clustered(self, centres: FloatArray, params: SimpleNamespace) -> tuple[IntArray, str | None]:
        """The cluster of each small cluster, and what is to be said of them."""
        clusterer = params.n_clusters
        if clusterer is None:
            return np.arange(len(centres)), None
        if isinstance(clusterer, int):
            if len(centres) < clusterer:
                return np.arange(len(centres)), (
                    f"Number of subclusters found ({len(centres)}) by BIRCH is less than ({clusterer}). Decrease the threshold."
                )
            if len(centres) == 1:
                return np.zeros(1, dtype=np.int64), None
            from mercer.cluster import AgglomerativeClustering

            clusterer = AgglomerativeClustering(n_clusters=clusterer)
        return np.asarray(clusterer.fit_predict(centres)), None

    def predict(self, X: Any) -> IntArray:
        """The cluster of the small cluster whose mean is nearest to each row."""
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        labels: IntArray = self.subcluster_labels_[_nearest(X, self.subcluster_centers_, effective_threads(self.n_jobs))]
        return labels

    def transform(self, X: Any) -> FloatArray:
        """The distance of each row to the mean of each small cluster."""
        check_is_fitted(self)
        X = check_X(self, X, sparse="csr", reset=False)
        distances = np.empty((X.shape[0], len(self.subcluster_centers_)), dtype=X.dtype)
        rows, centres = _shifted(X, self.subcluster_centers_)
        kernels.centre_distances(rows, centres, distances, effective_threads(self.n_jobs))
        return distances

    @property
    def _n_features_out(self) -> int:
        return int(self.subcluster_centers_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _first_row(X: Any) -> FloatArray:
    return np.zeros(X.shape[1]) if sp.issparse(X) else np.array(X[0], dtype=np.float64)


def _shifted(X: Any, centres: FloatArray) -> tuple[Any, FloatArray]:
    """Rows and centres for the kernels, about the mean of the centres unless X is sparse."""
    centres = centres.astype(X.dtype, copy=False)
    if sp.issparse(X):
        return native_rows(X), np.ascontiguousarray(centres)
    shift = centres.mean(axis=0)
    return native_rows(X, shift), np.ascontiguousarray(centres - shift)


def _nearest(X: Any, centres: FloatArray, n_threads: int) -> npt.NDArray[np.int32]:
    labels = np.empty(X.shape[0], dtype=np.int32)
    rows, targets = _shifted(X, centres)
    kernels.nearest_centres(rows, targets, labels, n_threads)
    return labels
