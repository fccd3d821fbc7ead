"""Outliers by the density around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.metaestimators import available_if

from mercer._arrays import FloatArray, require_no_overflow
from mercer._base import FitTask, fit_method
from mercer._native import kernels
from mercer._params import Bool, Integer, OneOf, Real, Rule, check_params
from mercer._saved import saved
from mercer._trace import warn
from mercer.neighbors._base import MOST_ENTRIES, SEARCH_RULES, joined, parts_of
from mercer.neighbors._questions import NearestOf
from mercer.neighbors._search import IntArray, Search

DIFFERENT = -1e7  # the factor below which rows that are equal, not their density, have decided
NOBODY: IntArray = np.empty(0, dtype=np.int64)


@saved("mercer.neighbors.OutlierDensities")
@dataclass(frozen=True)
class OutlierDensities:
    """What the local outlier factors of queries are computed from.

    Parameters
    ----------
    search : Search
        The fitted rows, or the first of each group of equal ones.
    n_neighbors : int
        How many are asked for.
    reach : array of shape (n_rows,)
        The distance of the k-th neighbour of each.
    densities : array of shape (n_rows,)
        The local reachability density of each.
    counts : array of shape (n_rows,) or None
        How many equal rows each stands for; None: one.
    firsts : array of shape (n_rows,) or None
        Which of the fitted rows they are; None: all.
    """

    search: Search
    n_neighbors: int
    reach: FloatArray
    densities: FloatArray
    counts: FloatArray | None = None
    firsts: IntArray | None = None

    @classmethod
    def of(
        cls,
        search: Search,
        found: tuple[FloatArray, IntArray],
        n_threads: int,
        counts: FloatArray | None = None,
        firsts: IntArray | None = None,
    ) -> tuple[OutlierDensities, FloatArray]:
        """The densities and the outlier factors of rows whose neighbours are known."""
        distances, rows = found
        reach = np.ascontiguousarray(distances[:, -1])
        lists = _Lists.of_rows(distances, rows, counts)
        densities = lists.densities(reach, n_threads)
        made = cls(search, rows.shape[1], reach, densities, counts, firsts)
        return made, lists.factors(densities, densities, n_threads)

    def factors_of(self, queries: Any, n_threads: int) -> FloatArray:
        """The outlier factors of rows that the fit has not seen."""
        distances, rows = self.search.nearest(queries, self.n_neighbors, n_threads=n_threads)
        lists = _Lists(distances, rows, None if self.counts is None else self.counts[rows])
        return lists.factors(self.densities, lists.densities(self.reach, n_threads), n_threads)


@dataclass(frozen=True)
class _Lists:
    """As many neighbours of each query, of which one may stand for several equal rows."""

    distances: FloatArray
    rows: IntArray
    counts: FloatArray | None

    @classmethod
    def of_rows(cls, distances: FloatArray, rows: IntArray, counts: FloatArray | None) -> _Lists:
        """Of the rows themselves: where they stand for several, the others are neighbours at the distance zero."""
        if counts is None:
            return cls(distances, rows, None)
        n = len(rows)
        return cls(
            np.column_stack([np.zeros(n), distances]),
            np.column_stack([np.arange(n), rows]),
            np.column_stack([counts - 1, counts[rows]]),
        )

    def densities(self, reach: FloatArray, n_threads: int) -> FloatArray:
        """One over the mean of max(distance, reach of the neighbour)."""
        out = np.empty(len(self.rows))
        kernels.local_densities(self.rows, self.counts, self.distances, reach, out, n_threads)
        return out

    def factors(self, densities: FloatArray, own: FloatArray, n_threads: int) -> FloatArray:
        """The mean of the neighbours' densities over the own one."""
        out = np.empty(len(self.rows))
        kernels.outlier_factors(self.rows, self.counts, densities, own, out, n_threads)
        return out


def _is_novelty(name: str) -> Any:
    """A method for rows that the fit has not seen."""

    def check(self: LocalOutlierFactor) -> bool:
        if self.novelty:
            return True
        raise AttributeError(
            f"{name} is not available when novelty=False, use fit_predict if you want to predict on training data, whose "
            "scores are negative_outlier_factor_. Use novelty=True if you want to use LOF for novelty detection and predict "
            "on new unseen data."
        )

    return available_if(check)


def _is_outlier_detection(self: LocalOutlierFactor) -> bool:
    if not self.novelty:
        return True
    raise AttributeError(
        "fit_predict is not available when novelty=True. Use novelty=False if you want to predict on the training set."
    )


class LocalOutlierFactor(OutlierMixin, NearestOf):  # type: ignore[misc]  # scikit-learn has no types
    r"""Outliers by density: a row whose neighbours have denser neighbourhoods than its own is one.

    With :math:`N(x)` the k nearest rows of x and :math:`r(z)` the distance of the k-th neighbour of a row z,

    .. math::
        \rho(x) = \Big(\frac1k \sum_{z \in N(x)} \max(d(x, z), r(z))\Big)^{-1}, \qquad
        \mathrm{LOF}(x) = \frac1k \sum_{z \in N(x)} \frac{\rho(z)}{\rho(x)}.

    It is about 1 inside of a cluster, and larger the thinner the surroundings are compared with those of the neighbours.

    Parameters
    ----------
    n_neighbors : int, default=20
        The number k of neighbours; all other rows where there are fewer.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How rows are searched; it changes the time, and nothing of the answer.
    leaf_size : int, default=30
        How many rows a leaf of a tree holds at most.
    metric : str, callable or DistanceMetric, default="minkowski"
        The distance: a name, "precomputed" for X that holds distances, or a function of two rows.
    p : float, default=2
        The power of Minkowski's distance.
    metric_params : dict, default=None
        Parameters of the metric.
    contamination : "auto" or float, default="auto"
        The share of outliers among the fitted rows, which sets the threshold `offset_`; "auto" sets it to -1.5.
    novelty : bool, default=False
        Whether new rows are judged (`predict`, `decision_function`, `score_samples`) and not the fitted ones (`fit_predict`).
    n_jobs : int or None, default=None
        The number of threads; None is as many as there are processors. Scores do not depend on it.
    duplicates : {"auto", "rows", "distinct"}, default="auto"
        What equal rows are: neighbours like others ("rows"), or one place that counts as often as there are rows at it
        ("distinct"): then N(x) are all rows at the k nearest other places, and those at the place of x. "auto" is "distinct"
        where some row has k equal ones or more, so that the distance of its k-th neighbour would be zero and its density
        without bound.

    Attributes
    ----------
    negative_outlier_factor_ : array of shape (n_samples,)
        Minus the factors of the fitted rows: the lower, the more of an outlier.
    n_neighbors_ : int
        The number of neighbours that was taken.
    offset_ : float
        Rows whose negative factor is below are outliers.
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
    One search for all rows, and O(n k) for the factors. As in scikit-learn, 1e-10 is added to mean reachability distances; with
    "rows", k equal rows have a density of 1e10 for that reason, and their neighbours factors as large.

    References
    ----------
    M. M. Breunig, H.-P. Kriegel, R. T. Ng, J. Sander: LOF: identifying density-based local outliers. SIGMOD 2000; the distance
    of k distinct places is their remedy for equal rows.

    Examples
    --------
    >>> from mercer.neighbors import LocalOutlierFactor
    >>> model = LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    >>> model.negative_outlier_factor_.round(4).tolist()
    [-0.9821, -1.037, -73.3697, -0.9821]
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "n_neighbors": Integer(1),
        **SEARCH_RULES,
        "contamination": OneOf("auto") | Real(above=0, most=0.5),
        "novelty": Bool(),
        "duplicates": OneOf("auto", "rows", "distinct"),
    }

    _densities: OutlierDensities

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        contamination: str | float = "auto",
        novelty: bool = False,
        n_jobs: int | None = None,
        duplicates: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.contamination = contamination
        self.novelty = novelty
        self.n_jobs = n_jobs
        self.duplicates = duplicates

    @fit_method
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the densities and the outlier factors of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With `metric="precomputed"`, the distances between all rows.
        y : ignored

        Returns
        -------
        self
        """
        params = check_params(self)
        X = self._check_rows(X)
        task = FitTask.start(self, X)
        searched = self._searched(X, params, params.n_neighbors)
        n, search = searched["n_samples_fit_"], searched["_search"]
        if n < 2:
            raise ValueError(
                "Expected n_neighbors < n_samples_fit, but n_neighbors = 1, n_samples_fit = 1, n_samples = 1: a row alone has "
                "no neighbours. Found array with 1 sample(s) while a minimum of 2 is required."
            )
        if params.n_neighbors > n:
            warn(
                f"n_neighbors ({params.n_neighbors}) is greater than the total number of samples ({n}). n_neighbors will be "
                "set to (n_samples - 1) for estimation."
            )
        k = min(params.n_neighbors, n - 1)
        densities, scores = self._judge(X, search, k, params)
        if not np.isfinite(scores).all() and hasattr(X, "shape"):
            require_no_overflow(self, X, "the distances between rows")
        scores = scores.astype(X.dtype, copy=False) if hasattr(X, "dtype") else scores
        if params.contamination == "auto":
            offset = -1.5
        else:
            offset = float(np.percentile(scores, 100.0 * params.contamination))
        if scores.min() < DIFFERENT and not params.novelty:
            warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more accurate "
                "results, or set duplicates='distinct'."
            )
        found = {"n_neighbors_": k, "negative_outlier_factor_": scores, "offset_": offset, "_densities": densities}
        return self._finish(task, {**searched, **found})

    def _judge(self, X: Any, search: Search, k: int, params: SimpleNamespace) -> tuple[OutlierDensities, FloatArray]:
        """The densities, and minus the factors of the rows."""
        n_threads = self._n_threads
        found = search.nearest(None, k, leave_out_self=True, n_threads=n_threads)
        is_crowded = params.duplicates == "distinct" or (params.duplicates == "auto" and not (found[0][:, -1] > 0).all())
        firsts, members = _places(search, n_threads) if is_crowded and hasattr(X, "shape") else (NOBODY, NOBODY)
        if len(firsts) < 2:  # all rows are at one place, if they were looked at
            densities, factors = OutlierDensities.of(search, found, n_threads)
            return densities, -factors
        rows = X[firsts][:, firsts] if self._is_precomputed else X[firsts]
        distinct = self._search_of(rows, params, k)
        around = distinct.nearest(None, min(k, len(firsts) - 1), leave_out_self=True, n_threads=n_threads)
        counts = np.bincount(members, minlength=len(firsts)).astype(np.float64)
        densities, factors = OutlierDensities.of(distinct, around, n_threads, counts, firsts)
        return densities, -factors[members]

    @available_if(_is_outlier_detection)  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:
        """-1 for outliers among the rows, +1 for others; only with `novelty=False`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        return self.fit(X)._labels(self.negative_outlier_factor_)

    @_is_novelty("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any = None) -> npt.NDArray[np.int64]:
        """-1 for outliers among new rows, +1 for others; only with `novelty=True`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            None judges the fitted rows, none of which is its own neighbour.

        Returns
        -------
        labels : array of shape (n_queries,)
        """
        self._require_fitted()
        return self._labels(self.negative_outlier_factor_ if X is None else self.score_samples(X))

    @_is_novelty("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """`score_samples` less `offset_`: negative for outliers; only with `novelty=True`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        scores : array of shape (n_queries,)
        """
        scores: FloatArray = self.score_samples(X) - self.offset_
        return scores

    @_is_novelty("score_samples")  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> FloatArray:
        """Minus the outlier factors of new rows, which may be neighbours of nobody; only with `novelty=True`.

        A row that was fitted is its own neighbour here: `negative_outlier_factor_` has the scores of fitted rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)

        Returns
        -------
        scores : array of shape (n_queries,)
        """
        self._require_fitted()
        queries, n_threads = self._check_queries(X), self._n_threads
        if self._is_precomputed and self._densities.firsts is not None:
            queries = queries[:, self._densities.firsts]
        parts = parts_of(queries, max(1, MOST_ENTRIES // self.n_neighbors_))
        scores = joined([-self._densities.factors_of(self._as_searched(part), n_threads) for part in parts])
        return scores.astype(queries.dtype, copy=False)

    def _labels(self, scores: FloatArray) -> npt.NDArray[np.int64]:
        return np.where(scores < self.offset_, -1, 1)


def _places(search: Search, n_threads: int) -> tuple[IntArray, IntArray]:
    """The first row at each place, and the place of each row: of equal distances the lowest row comes first."""
    distances, nearest = search.nearest(None, 1, n_threads=n_threads)
    leaders = np.where(distances[:, 0] == 0, nearest[:, 0], np.arange(len(nearest)))
    firsts, members = np.unique(leaders, return_inverse=True)
    return firsts, members
