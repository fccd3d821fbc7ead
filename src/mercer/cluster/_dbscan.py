"""DBSCAN: clusters are what hangs together where it is dense."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClusterMixin

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Function, Integer, Mapped, Null, NumberOfJobs, OneOf, Real, Rule, check_params
from mercer._trace import Certificate, Outcome, Status, warn
from mercer.cluster._density import METRICS, Metric, PointTree, RowDistances, require_square, require_tree

Labels = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]
MOST_TABLED = 8192  # rows of which who is near whom is kept, one byte a pair


class DBSCAN(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""DBSCAN: clusters of any shape, and noise.

    A row is *core* if at least `min_samples` rows, itself included, are at most `eps` away. Core rows at most `eps` apart are
    of one cluster. A row that is not core but at most `eps` away from a core row is at the *border* of that row's cluster; all
    others are noise.

    Parameters
    ----------
    eps : float, default=0.5
        How far neighbours may be; `mercer.cluster.estimate_eps` proposes one.
    min_samples : int, default=5
        How many rows, or how much weight, within `eps` make a row core, itself included.
    metric : str or callable, default="euclidean"
        The Minkowski family ("euclidean", "manhattan", "chebyshev", "minkowski") is searched for in a k-d tree. Any other
        metric of :func:`mercer.metrics.pairwise.pairwise_distances`, and a function of two rows, is measured for all pairs of
        rows, some rows at a time. "precomputed": X holds distances, of which a sparse X has those that may be within `eps`.
    metric_params : dict or None, default=None
        Further parameters of the metric.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Taken where the metric has such a tree; what is used is decided by the metric, and changes no label.
    leaf_size : int, default=30
        Points of a leaf of the tree: a matter of speed alone.
    p : float or None, default=None
        The power of "minkowski"; None is 2.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.

    Attributes
    ----------
    labels_ : int array of shape (n_samples,)
        The cluster of each row, numbered by their first core rows; -1 is noise. A row at the border of several clusters is
        given to the first of them.
    core_sample_indices_ : int array of shape (n_core_samples,)
        The core rows.
    components_ : {array, sparse matrix} of shape (n_core_samples, n_features)
        A copy of them.
    certificate_ : Certificate
        How many clusters, and how many rows are core, border and noise.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    O(n log n) where neighbourhoods are small, in O(n) memory: no neighbourhood is ever kept. Neighbours are counted and joined
    leaf by leaf of the tree. A node of the tree no wider than `eps` is a cell whose points are all neighbours, and cells that
    are known to be of one cluster are passed over, so that a large `eps` costs little more than a small one.

    Labels are scikit-learn's. Distances are compared with `eps` as they would be printed, after the root.

    References
    ----------
    M. Ester, H.-P. Kriegel, J. Sander, X. Xu, "A density-based algorithm for discovering clusters in large spatial databases
    with noise", KDD 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import DBSCAN
    >>> X = np.array([[1.0, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    >>> DBSCAN(eps=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1, -1])
    """

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "eps": Real(above=0),
        "min_samples": Integer(1),
        "metric": OneOf(*METRICS) | Function(),
        "metric_params": Null() | Mapped(),
        "algorithm": OneOf("auto", "ball_tree", "kd_tree", "brute"),
        "leaf_size": Integer(1),
        "p": Null() | Real(above=0),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: Metric = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DBSCAN:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts among the neighbours of others. A row that weighs `min_samples` is core by itself; a negative
            weight may keep neighbours from being core.

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X, sparse="csr")
        _check_metric(params, X)
        weights = check_row_weights(sample_weight, X.shape[0])
        task = FitTask.start(self, X)
        labels, is_core = find_clusters(X, params, weights, effective_threads(params.n_jobs))
        core = np.flatnonzero(is_core)
        attributes = {"labels_": labels, "core_sample_indices_": core, "components_": X[core].copy()}
        return self._finish(task, attributes, _outcome(labels, is_core))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Labels:
        """Find the clusters of X and return its labels."""
        labels: Labels = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def dbscan(
    X: Any,
    eps: float = 0.5,
    *,
    min_samples: int = 5,
    metric: Metric = "minkowski",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[npt.NDArray[np.intp], Labels]:
    """The core rows of X and the labels of all rows, as :class:`DBSCAN` finds them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) of precomputed distances
    eps, min_samples, metric, metric_params, algorithm, leaf_size, p, n_jobs
        As of :class:`DBSCAN`.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts among the neighbours of others.

    Returns
    -------
    core_samples : int array of shape (n_core_samples,)
    labels : int array of shape (n_samples,)

    Examples
    --------
    >>> from mercer.cluster import dbscan
    >>> dbscan([[1.0, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]], eps=3, min_samples=2)
    (array([0, 1, 2, 3, 4]), array([ 0,  0,  0,  1,  1, -1]))
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p,
        n_jobs=n_jobs,
    ).fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_


def check_row_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Weights of any sign, in memory of our own."""
    if sample_weight is None:
        return None
    weights = np.asarray(np.full(n_rows, sample_weight) if np.isscalar(sample_weight) else sample_weight)
    if weights.dtype.kind == "c":
        raise ValueError("sample_weight holds complex numbers; every weight must be a real number.")
    try:
        weights = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("sample_weight must hold one number for each row of X.") from error
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n_rows},): one value for each row of X.")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity; every weight must be a finite number.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be another number.")
    return weights


def _check_metric(params: SimpleNamespace, X: Any) -> None:
    if params.metric == "precomputed":
        require_square("DBSCAN", X)
    require_tree("DBSCAN", params.metric, params.algorithm)
    if params.p is not None and params.metric_params and "p" in params.metric_params:
        warn(
            "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
            SyntaxWarning,
        )


def find_clusters(X: Any, params: SimpleNamespace, weights: FloatArray | None, n_threads: int) -> tuple[Labels, Marks]:
    """The label of each row and whether it is core."""
    tree = PointTree.by_params(X, params, n_threads)
    if tree is None:
        return _by_rows(X, params, np.ones(X.shape[0]) if weights is None else weights)
    labels, is_core = np.empty(X.shape[0], dtype=np.int64), np.empty(X.shape[0], dtype=np.uint8)
    kernels.dbscan(*tree, params.eps, float(params.min_samples), weights, labels, is_core, n_threads)
    return labels, is_core


def _by_rows(X: Any, params: SimpleNamespace, weights: FloatArray) -> tuple[Labels, Marks]:
    """The same from distances that are given, or measured for some rows at a time."""
    labels = np.empty(X.shape[0], dtype=np.int64)
    if params.metric == "precomputed" and sp.issparse(X):
        starts, rows = _stored_neighbors(X, params.eps)
        sums = np.add.reduceat(weights[rows], starts[:-1])  # no list is empty: every row is its own neighbour
        is_core = (sums >= params.min_samples).astype(np.uint8)
        kernels.label_reached(starts, rows, is_core, labels)
        return labels, is_core
    distances = RowDistances(X, metric=params.metric, p=params.p, metric_params=params.metric_params)
    is_near = np.empty((X.shape[0],) * 2, dtype=np.uint8) if X.shape[0] <= MOST_TABLED else None
    is_core = np.empty(X.shape[0], dtype=np.uint8)
    for begin, end, part in distances.blocks():
        near = part <= params.eps
        is_core[begin:end] = near @ weights >= params.min_samples
        if is_near is not None:
            is_near[begin:end] = near
    if is_near is not None:
        kernels.label_reached(is_near, is_core, labels)
    else:
        _reach(distances, params.eps, is_core, labels)
    return labels, is_core


def _stored_neighbors(X: Any, eps: float) -> tuple[Labels, Labels]:
    """Of sparse distances: where each row's neighbours begin, and their numbers. A row is its own neighbour, stored or not."""
    graph = X.tocoo()
    own = np.arange(X.shape[0])
    keep = (graph.data <= eps) & (graph.row != graph.col)
    rows = np.concatenate([graph.row[keep], own])
    columns = np.concatenate([graph.col[keep], own])
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    return starts.astype(np.int64), columns[order].astype(np.int64)


def _reach(distances: RowDistances, eps: float, is_core: Marks, labels: Labels) -> None:
    """Label what core rows reach, with the distances of one row at a time."""
    labels[:] = -1
    n_clusters = 0
    for first in np.flatnonzero(is_core):
        if labels[first] >= 0:
            continue
        labels[first], pending = n_clusters, [first]
        while pending:
            near = distances.row(int(pending.pop())) <= eps
            new = np.flatnonzero(near & (labels < 0))
            labels[new] = n_clusters
            pending.extend(new[is_core[new] != 0])
        n_clusters += 1


def _outcome(labels: Labels, is_core: Marks) -> Outcome:
    n_core, n_noise = int(is_core.sum()), int((labels < 0).sum())
    n_border, n_clusters = len(labels) - n_core - n_noise, int(labels.max(initial=-1)) + 1
    method = f"DBSCAN: {n_clusters} clusters; {n_core} rows are core, {n_border} border, {n_noise} noise"
    n_lost = int(np.count_nonzero(labels[is_core != 0] < 0))
    return Outcome(Certificate(method, Status.CONVERGED, None, "core rows without a cluster", n_lost, 0))
