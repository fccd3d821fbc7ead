"""Mean shift: seeds that climb to where rows are densest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClusterMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FLOATS, FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._matrix import native_rows
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import ArrayLike, Bool, Integer, Null, NumberOfJobs, RandomState, Real, Rule, check_params, check_value
from mercer._random import as_random_state
from mercer._trace import Certificate, Outcome, Status, warn
from mercer.cluster._lloyd import refuse_if_overflowing
from mercer.neighbors._search import KdIndex, Search

IntArray = npt.NDArray[np.int64]

_STILL = 1e-3  # of the bandwidth: a seed that moves no further has arrived


class MeanShift(ClusterMixin, MercerEstimator):  # type: ignore[misc]
    r"""Clustering by seeds that move to the mean of the rows around them until they rest where rows are densest.

    A move is :math:`x \leftarrow \frac{1}{|B(x)|} \sum_{i \in B(x)} x_i`, where B(x) are the rows within the bandwidth of x: a
    step uphill on the density estimate with an Epanechnikov kernel.

    Parameters
    ----------
    bandwidth : float or None, default=None
        The radius; None is what `estimate_bandwidth` says. Where that is 0, each row that is another one is a cluster.
    seeds : array-like of shape (n_seeds, n_features) or None, default=None
        Where to start; None is every row, or with `bin_seeding` the occupied points of a grid.
    bin_seeding : bool, default=False
        Start at the points of a grid of the bandwidth to which rows are rounded: fewer seeds.
    min_bin_freq : int, default=1
        How many rows such a point must have.
    cluster_all : bool, default=True
        Rows beyond the bandwidth of every centre join the nearest; otherwise their label is -1.
    n_jobs : int or None, default=None
        The number of threads; None uses all that Mercer may use. The result does not depend on it.
    max_iter : int, default=300
        The most moves of a seed, besides the last.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The densest first.
    labels_ : int array of shape (n_samples,)
    n_iter_ : int
        The most moves of a seed, without the last, as the peer counts.
    bandwidth_ : float
        The radius.
    intensity_ : int array of shape (n_clusters,)
        The rows within the bandwidth of each centre before its last move.
    certificate_ : Certificate
        How far the seed that moved farthest went in its last move, against a thousandth of the bandwidth.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A move looks at the boxes of a k-d tree that the ball cuts; a box within it adds its sum as a whole. In few dimensions that
    is O(sqrt(n)) or so, at worst O(n d). Centres nearer than the bandwidth to a denser one are dropped. Sums are in double
    precision about the mean of X.

    References
    ----------
    D. Comaniciu and P. Meer, "Mean shift: a robust approach toward feature space analysis", IEEE PAMI 24, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cluster import MeanShift
    >>> X = np.array([[1.0, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]])
    >>> model = MeanShift(bandwidth=2).fit(X)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> model.predict([[0, 0], [5, 5]])
    array([1, 0])
    """

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        "bandwidth": Real(above=0) | Null(),
        "seeds": Null() | ArrayLike(),
        "bin_seeding": Bool(),
        "min_bin_freq": Integer(1),
        "cluster_all": Bool(),
        "n_jobs": NumberOfJobs(),
        "max_iter": Integer(0),
    }

    def __init__(
        self,
        *,
        bandwidth: float | None = None,
        seeds: npt.ArrayLike | None = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        n_jobs: int | None = None,
        max_iter: int = 300,
    ) -> None:
        self.bandwidth = bandwidth
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.n_jobs = n_jobs
        self.max_iter = max_iter

    @fit_method
    def fit(self, X: Any, y: Any = None) -> MeanShift:
        """Find the clusters of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = check_X(self, X)
        refuse_if_overflowing(self, X, np.zeros(X.shape[1]))
        task = FitTask.start(self, X)
        n_threads = effective_threads(params.n_jobs)
        bandwidth = _bandwidth(X, n_threads=n_threads) if params.bandwidth is None else params.bandwidth
        mean = X.mean(axis=0, dtype=np.float64)
        climb = _Climb(X.astype(np.float64, copy=False) - mean, bandwidth, n_threads)
        centres, intensity, n_iter, last_move = climb.run(self._seeds(X, params, bandwidth) - mean, params.max_iter)
        if len(centres) == 0:
            raise ValueError(
                f"MeanShift: No point was within bandwidth={bandwidth:f} of any seed. Try a different seeding strategy or "
                "increase the bandwidth."
            )
        found = (centres + mean).astype(X.dtype)
        labels, distances = climb.nearest(found - mean)
        if not params.cluster_all:
            labels = np.where(distances <= bandwidth, labels, -1)
        attributes = {
            "cluster_centers_": found,
            "labels_": labels,
            "n_iter_": n_iter,
            "bandwidth_": float(bandwidth),
            "intensity_": intensity,
        }
        tol = _STILL * bandwidth
        status = Status.MAX_ITER.given(is_reached=last_move <= tol)
        certificate = Certificate("mean shift with a flat kernel", status, None, "largest last move of a seed", last_move, tol)
        warning = None
        if not certificate.converged and params.max_iter > 0:
            warning = (
                f"a seed still moved by {last_move:.3g} > {tol:.3g} after max_iter={params.max_iter} moves; raise max_iter."
            )
        return self._finish(task, attributes, Outcome(certificate, warning=warning))

    def _seeds(self, X: FloatArray, params: Any, bandwidth: float) -> FloatArray:
        if params.seeds is not None:
            seeds = check_array(params.seeds, dtype=np.float64, input_name="seeds")
            if seeds.shape[1] != X.shape[1]:
                raise ValueError(f"MeanShift: seeds have {seeds.shape[1]} columns; X has {X.shape[1]}.")
            return np.asarray(seeds)
        if params.bin_seeding:
            return np.asarray(get_bin_seeds(X, bandwidth, params.min_bin_freq), dtype=np.float64)
        return X.astype(np.float64, copy=False)

    def predict(self, X: Any) -> IntArray:
        """The nearest centre of each row."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        centres = self.cluster_centers_.astype(X.dtype, copy=False)
        shift = centres.mean(axis=0)
        labels = np.empty(X.shape[0], dtype=np.int32)
        targets = np.ascontiguousarray(centres - shift)
        kernels.nearest_centres(native_rows(X, shift), targets, labels, effective_threads(self.n_jobs))
        return labels.astype(np.int64)


class _Climb:
    """Rows about their mean, and seeds that climb among them."""

    def __init__(self, rows: FloatArray, bandwidth: float, n_threads: int) -> None:
        self._rows, self._bandwidth, self._n_threads = rows, bandwidth, n_threads
        self._index = KdIndex.build(rows, n_threads=n_threads)

    def run(self, seeds: FloatArray, max_iter: int) -> tuple[FloatArray, IntArray, int, float]:
        """The centres, the densest first, their intensities, the most moves, and the largest last move."""
        means = np.array(seeds, order="C")
        counts, n_iter = np.zeros(len(seeds), dtype=np.int64), np.zeros(len(seeds), dtype=np.int64)
        moves = np.zeros(len(seeds))
        if self._bandwidth == 0:  # as many rows as the estimate goes by are equal: each that is another is a cluster
            rows, equal = np.unique(self._rows, axis=0, return_counts=True)
            return *self._distinct(rows, equal), 0, 0.0
        tree = self._index.points_tree
        kernels.shift_means(tree, self._bandwidth, max_iter, means, counts, moves, n_iter, self._n_threads)
        found = counts > 0
        centres, intensity = self._distinct(means[found], counts[found])
        return centres, intensity, int(n_iter.max(initial=0)), float(moves.max(initial=0.0))

    def _distinct(self, means: FloatArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
        """Of the means by falling intensity, then falling coordinates, those that no kept one is near to."""
        keys = np.column_stack([counts, means])
        order = np.lexsort(keys.T[::-1])[::-1]
        means, counts = means[order], counts[order]
        differs = np.ones(len(means), dtype=bool)
        differs[1:] = (means[1:] != means[:-1]).any(axis=1)
        means, counts = means[differs], counts[differs]
        is_kept = np.ones(len(means), dtype=bool)
        for i in range(len(means)):
            if is_kept[i]:
                squares = np.square(means[i + 1 :] - means[i]).sum(axis=1)
                is_kept[i + 1 :] &= np.sqrt(squares) > self._bandwidth
        return means[is_kept], counts[is_kept]

    def nearest(self, centres: FloatArray) -> tuple[IntArray, FloatArray]:
        """The nearest centre of each row, and its distance."""
        distances, labels = Search.of(centres, algorithm="brute", k=1).nearest(self._rows, 1, n_threads=self._n_threads)
        return labels[:, 0], distances[:, 0]


def mean_shift(
    X: Any,
    *,
    bandwidth: float | None = None,
    seeds: npt.ArrayLike | None = None,
    bin_seeding: bool = False,
    min_bin_freq: int = 1,
    cluster_all: bool = True,
    max_iter: int = 300,
    n_jobs: int | None = None,
) -> tuple[FloatArray, IntArray]:
    """`MeanShift` as a function.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    bandwidth, seeds, bin_seeding, min_bin_freq, cluster_all, max_iter, n_jobs
        As in `MeanShift`.

    Returns
    -------
    cluster_centers : array of shape (n_clusters, n_features)
    labels : int array of shape (n_samples,)

    Examples
    --------
    >>> from mercer.cluster import mean_shift
    >>> centers, labels = mean_shift([[1.0, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]], bandwidth=2)
    >>> labels
    array([1, 1, 1, 0, 0, 0])
    """
    model = MeanShift(
        bandwidth=bandwidth,
        seeds=seeds,
        bin_seeding=bin_seeding,
        min_bin_freq=min_bin_freq,
        cluster_all=cluster_all,
        n_jobs=n_jobs,
        max_iter=max_iter,
    ).fit(X)
    return model.cluster_centers_, model.labels_


def estimate_bandwidth(
    X: Any,
    *,
    quantile: float = 0.3,
    n_samples: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> np.floating[Any]:
    """A bandwidth for `MeanShift`: the mean distance of the rows to the farthest of the share `quantile` nearest to each.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    quantile : float in [0, 1], default=0.3
        The share of the rows.
    n_samples : int or None, default=None
        How many rows, drawn, to go by; None is all.
    random_state : int, RandomState or None, default=0
        Draws these rows.
    n_jobs : int or None, default=None
        The number of threads.

    Returns
    -------
    bandwidth : float32 or float64
        In the precision of X.

    Examples
    --------
    >>> from mercer.cluster import estimate_bandwidth
    >>> print(estimate_bandwidth([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]], quantile=0.5).round(2))
    1.62
    """
    owner = "estimate_bandwidth"
    quantile = check_value(owner, "quantile", quantile, Real(least=0, most=1))
    n_samples = check_value(owner, "n_samples", n_samples, Integer(1) | Null())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
    X = check_array(X, dtype=FLOATS)
    if n_samples is not None:
        X = X[random.permutation(X.shape[0])[:n_samples]]
    bandwidth: np.floating[Any] = X.dtype.type(_bandwidth(X, quantile, n_threads=effective_threads(n_jobs)))
    return bandwidth


def _bandwidth(X: FloatArray, quantile: float = 0.3, *, n_threads: int) -> float:
    k = max(1, int(X.shape[0] * quantile))
    search = Search.of(X, k=k, n_threads=n_threads)
    total, step = 0.0, max(1, 4_000_000 // k)
    for begin in range(0, len(X), step):
        distances, _ = search.nearest(X[begin : begin + step], k, n_threads=n_threads)
        total += float(distances[:, -1].sum())
    return total / len(X)


def get_bin_seeds(X: Any, bin_size: float, min_bin_freq: int = 1) -> FloatArray:
    """The points of a grid to which rows are rounded, as seeds of `MeanShift`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    bin_size : float
        The width of the grid; 0 takes the rows themselves.
    min_bin_freq : int, default=1
        How many rows a point must have.

    Returns
    -------
    bin_seeds : array of shape (n_seeds, n_features)
        In the order of the first row of each; X itself if each row would have a point of its own.

    Examples
    --------
    >>> from mercer.cluster import get_bin_seeds
    >>> get_bin_seeds([[1.1, 1.0], [0.9, 1.1], [3.0, 3.1]], bin_size=1)
    array([[1., 1.],
           [3., 3.]])
    """
    rows: FloatArray = np.asarray(X)
    if bin_size == 0:
        return rows
    binned = np.round(rows / bin_size)
    points, first, counts = np.unique(binned, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    points, counts = points[order], counts[order]
    seeds = points[counts >= min_bin_freq]
    if len(seeds) == len(rows):
        warn(f"Binning data failed with provided bin_size={bin_size:f}, using data points as seeds.")
        return rows
    return seeds.astype(np.float64) * bin_size
