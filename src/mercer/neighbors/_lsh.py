"""Locality-sensitive hashing: neighbours that are found fast, and most of the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, check_X
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Instance, Integer, Null, NumberOfJobs, OneOf, RandomState, Rule, check_params
from mercer._saved import saved
from mercer.neighbors._measures import Measure, find_measure
from mercer.neighbors._search import FlatIndex, Search, by_precision

Ints = npt.NDArray[np.int64]
METRICS = ("euclidean", "l2", "sqeuclidean", "seuclidean", "mahalanobis", "cosine", "correlation")
MOST_BITS = 24
BUCKET = 16  # rows that a bucket is to have
SAMPLE = 1000  # rows that say where a plane halves all of them


@saved("mercer.neighbors.LshIndex")
class LshIndex:
    """Rows, as the metric measures them, in the buckets of several tables of planes."""

    def __init__(self, measure: Measure, X: FloatArray, planes: FloatArray, offsets: FloatArray, n_tables: int) -> None:
        self.measure, self.X, self.planes, self.offsets, self.n_tables = measure, X, planes, offsets, n_tables
        kind = kernels.LshTables32 if X.dtype == np.float32 else kernels.LshTables64
        self._tables = kind(X, planes, offsets, n_tables, effective_threads(None))

    def __reduce__(self) -> Any:
        return LshIndex, (self.measure, self.X, self.planes, self.offsets, self.n_tables)

    def nearest(
        self, queries: FloatArray, k: int, n_probes: int, *, left_out: Ints | None = None, n_threads: int = 1
    ) -> tuple[FloatArray, Ints]:
        """Of the rows in the buckets of each query, which the measure has mapped already, the k nearest."""
        distances, rows = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)
        self._tables.nearest(self.measure.kernel, *by_precision(queries), n_probes, left_out, distances, rows, n_threads)
        return distances, rows

    def recall(self, rows: Ints, k: int, n_probes: int, *, n_threads: int = 1) -> float:
        """The share of the k nearest neighbours of some rows, without themselves, that are found, or others as near."""
        queries = self.X[rows]
        found, _ = self.nearest(queries, k, n_probes, left_out=rows, n_threads=n_threads)
        exact, places = Search(Measure("euclidean", self.measure.formula), FlatIndex(self.X)).nearest(
            queries, k + 1, n_threads=n_threads
        )
        is_other = places != rows[:, None]
        is_other[is_other.all(axis=1), -1] = False  # it lies behind k duplicates
        farthest = exact[is_other].reshape(len(rows), k)[:, -1:]
        return float((found <= farthest).mean())


class LSH(MercerEstimator):
    """Approximate nearest neighbours by random hyperplanes: a row is looked for in the buckets that a query falls in.

    Each of `n_tables` tables divides the rows by `n_bits` random planes, every one of which has half of them on either side. A
    query is compared with the rows of its own bucket in each table and of those buckets that the nearest planes part from it.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours `kneighbors` gives, and `recall_` is measured for.
    n_tables : int, default=8
        More find more, and cost memory and time in proportion.
    n_bits : int or None, default=None
        Planes of a table, 24 at most; None leaves about 16 rows in a bucket.
    n_probes : int, default=8
        Buckets of a table that are looked into: 1 is a query's own alone.
    metric : {"euclidean", "l2", "sqeuclidean", "seuclidean", "mahalanobis", "cosine", "correlation"}, default="euclidean"
    metric_params : dict, default=None
        Parameters of the metric.
    n_recall : int, default=200
        How many rows, drawn at random, `recall_` is measured by.
    random_state : int, RandomState or None, default=None
    n_jobs : int, default=None
        Threads; None means as many as there are processors. The result does not depend on it.

    Attributes
    ----------
    recall_ : float
        The share of the true nearest neighbours that were found for the rows drawn, themselves left out.
    n_bits_ : int
    index_ : LshIndex
    n_samples_fit_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Notes
    -----
    O(d n_tables n_bits) for the buckets of a query and O(d) for each row in them: n / 2^n_bits a bucket. Distances are exact;
    only rows may be missing. A query whose buckets hold fewer rows than asked for is compared with all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.neighbors import LSH
    >>> X = np.random.RandomState(0).normal(size=(500, 8))
    >>> lsh = LSH(n_neighbors=3, random_state=0).fit(X)
    >>> distances, rows = lsh.kneighbors(X[:1])
    >>> int(rows[0, 0]), bool(lsh.recall_ > 0.5)
    (0, True)

    References
    ----------
    Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002. Lv et al., "Multi-probe LSH", VLDB 2007.
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_neighbors": Integer(1),
        "n_tables": Integer(1, most=1000),
        "n_bits": Null() | Integer(1, most=MOST_BITS),
        "n_probes": Integer(1),
        "metric": OneOf(*METRICS),
        "metric_params": Null() | Instance(dict),
        "n_recall": Integer(1),
        "random_state": RandomState(),
        "n_jobs": NumberOfJobs(),
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        n_tables: int = 8,
        n_bits: int | None = None,
        n_probes: int = 8,
        metric: str = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_recall: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_tables = n_tables
        self.n_bits = n_bits
        self.n_probes = n_probes
        self.metric = metric
        self.metric_params = metric_params
        self.n_recall = n_recall
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_method
    def fit(self, X: Any, y: Any = None) -> LSH:
        """Hash the rows, and measure how many neighbours are found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : LSH
        """
        params = check_params(self)
        X = check_X(self, X)
        task = FitTask.start(self, X)
        random, threads = check_random_state(params.random_state), effective_threads(params.n_jobs)
        measure = find_measure(params.metric, p=2, metric_params=params.metric_params, X=X)
        mapped = np.array(measure.mapped(X, threads))
        n_rows = len(mapped)
        n_bits = params.n_bits or int(np.clip(np.round(np.log2(n_rows / BUCKET)), 1, MOST_BITS))
        planes = random.normal(size=(params.n_tables * n_bits, mapped.shape[1]))
        some = mapped[random.choice(n_rows, size=min(SAMPLE, n_rows), replace=False)]
        offsets = np.array([np.median((some * plane).sum(axis=1)) for plane in planes], dtype=np.float64)
        index = LshIndex(measure, mapped, planes, offsets, params.n_tables)
        drawn = random.choice(n_rows, size=min(params.n_recall, n_rows), replace=False).astype(np.int64)
        k = min(params.n_neighbors, n_rows - 1)
        recall = index.recall(drawn, k, params.n_probes, n_threads=threads) if k > 0 else 1.0
        return self._finish(task, {"index_": index, "n_bits_": n_bits, "recall_": recall, "n_samples_fit_": n_rows})

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest rows that are found.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            The queries; None is the fitted rows, which are not their own neighbours.
        n_neighbors : int, default=None
            None is that of the estimator.
        return_distance : bool, default=True

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors)
            If `return_distance`.
        rows : array of int64 of shape (n_queries, n_neighbors)
            Nearest first.
        """
        check_is_fitted(self)
        threads = effective_threads(self.n_jobs)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        n_there = self.n_samples_fit_ - (X is None)
        if not isinstance(k, (int, np.integer)) or not 1 <= k <= n_there:
            raise ValueError(f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n_there}.")
        left_out = np.arange(self.n_samples_fit_) if X is None else None
        queries = self.index_.X if X is None else self.index_.measure.mapped(check_X(self, X, reset=False), threads)
        distances, rows = self.index_.nearest(queries, int(k), self.n_probes, left_out=left_out, n_threads=threads)
        return (distances, rows) if return_distance else rows
