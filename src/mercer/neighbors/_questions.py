"""What estimators on neighbours can be asked: the k nearest rows, all rows within a radius, and the graphs of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._params import Infinity, OneOf, Real, check_value
from mercer.neighbors._base import MOST_ENTRIES, NeighborsEstimator, parts_of
from mercer.neighbors._search import IntArray
from mercer.neighbors._votes import Neighbourhoods

RADIUS = Real(least=0) | Infinity()
MODES = OneOf("connectivity", "distance")
FIRST_QUERIES = 256  # to see how many rows are within a radius


class NearestOf(NeighborsEstimator):
    """Estimators that know a number of neighbours."""

    n_neighbors: int

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest rows of each query, nearest first; of equal distances, the lower row first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            With `metric="precomputed"`, the distances to the fitted rows. None asks for the neighbours of the fitted rows, none
            of which is its own.
        n_neighbors : int, default=None
            How many; None is what the estimator was made with.
        return_distance : bool, default=True

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors)
            Only with `return_distance=True`.
        rows : array of shape (n_queries, n_neighbors)
            Row numbers of the fitted rows.
        """
        self._require_fitted()
        distances, rows = self._nearest(self._check_queries(X), self._number_of_neighbors(n_neighbors))
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> sp.csr_matrix:
        """The graph in which each query has an edge to each of its nearest rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            As in `kneighbors`.
        n_neighbors : int, default=None
            How many; None is what the estimator was made with.
        mode : {"connectivity", "distance"}, default="connectivity"
            What edges weigh: one, or the distance.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
            Edges of a query are in the order of their distances.
        """
        self._require_fitted()
        mode = check_value(type(self).__name__, "mode", mode, MODES)
        return self._graph_of_nearest(self._check_queries(X), self._number_of_neighbors(n_neighbors), mode, X is None)

    def _graph_of_nearest(self, queries: Any, k: int, mode: str, leave_out_self: bool) -> sp.csr_matrix:
        distances, rows = self._nearest(queries, k, leave_out_self=leave_out_self)
        data = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, k)
        return sp.csr_matrix((data, rows.ravel(), starts), shape=(len(rows), self.n_samples_fit_))

    def _number_of_neighbors(self, given: Any) -> int:
        """What was asked for, or the parameter, which may have been set since the fit."""
        k = self.n_neighbors if given is None else given
        if type(k) is int and k > 0:
            return k
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value; got {k!r}.")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}.")
        return int(k)

    def _nearest(self, queries: Any, k: int, *, leave_out_self: bool = True) -> tuple[FloatArray, IntArray]:
        """Distances and rows for checked queries; None are the fitted rows, which may leave themselves out."""
        n, is_own = self.n_samples_fit_, queries is None and leave_out_self
        if k > n - is_own:
            sign, n_queries = ("<", n) if is_own else ("<=", n if queries is None else queries.shape[0])
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit = {n}, "
                f"n_samples = {n_queries}."
            )
        return self._search.nearest(self._as_searched(queries), k, leave_out_self=is_own, n_threads=self._n_threads)

    def _neighbourhoods(self, X: Any) -> Iterator[Neighbourhoods]:
        """The nearest rows of queries, so many queries at a time that memory is bounded."""
        self._require_fitted()
        queries, k = self._check_queries(X), self._number_of_neighbors(None)
        n_each = max(1, MOST_ENTRIES // max(k, self._search.most))
        found = (self._nearest(part, k) for part in parts_of(queries, n_each))
        return (Neighbourhoods(rows, distances) for distances, rows in found)


class WithinOf(NeighborsEstimator):
    """Estimators that know a radius."""

    radius: float

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All rows within a radius of each query, its border included.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            With `metric="precomputed"`, the distances to the fitted rows. None asks for the neighbours of the fitted rows, none
            of which is its own.
        radius : float or array of shape (n_queries,), default=None
            For all queries, or for each; None is what the estimator was made with.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Whether rows come in the order of their distances, and not of their numbers.

        Returns
        -------
        distances : array of shape (n_queries,) of arrays
            Only with `return_distance=True`.
        rows : array of shape (n_queries,) of arrays
            Row numbers of the fitted rows.
        """
        self._require_fitted()
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        starts, rows, distances = self._within(self._check_queries(X), self._radius_of(radius), sort=sort_results)
        lists = as_lists(rows, starts)
        return (as_lists(distances, starts), lists) if return_distance else lists

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> sp.csr_matrix:
        """The graph in which each query has an edge to each row within a radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            As in `radius_neighbors`.
        radius : float, default=None
            None is what the estimator was made with.
        mode : {"connectivity", "distance"}, default="connectivity"
            What edges weigh: one, or the distance.
        sort_results : bool, default=False
            Whether edges of a query come in the order of their distances; only with `mode="distance"`.

        Returns
        -------
        graph : CSR matrix of shape (n_queries, n_samples_fit)
        """
        self._require_fitted()
        mode = check_value(type(self).__name__, "mode", mode, MODES)
        return self._graph_within(self._check_queries(X), self._radius_of(radius), mode, X is None, sort=sort_results)

    def _graph_within(self, queries: Any, radius: float, mode: str, leave_out_self: bool, *, sort: bool = False) -> Any:
        starts, rows, distances = self._within(queries, radius, leave_out_self=leave_out_self, sort=sort and mode == "distance")
        data = np.ones(len(rows)) if mode == "connectivity" else distances
        return sp.csr_matrix((data, rows, starts), shape=(len(starts) - 1, self.n_samples_fit_))

    def _radius_of(self, given: Any) -> Any:
        radius = self.radius if given is None else given
        if isinstance(radius, np.ndarray) and radius.ndim == 1:
            return np.array([check_value(type(self).__name__, "radius", float(each), RADIUS) for each in radius])
        return float(check_value(type(self).__name__, "radius", radius, RADIUS))

    def _within(
        self, queries: Any, radius: Any, *, leave_out_self: bool = True, sort: bool = False
    ) -> tuple[IntArray, IntArray, FloatArray]:
        if isinstance(radius, np.ndarray):
            return self._within_each(queries, radius, leave_out_self=leave_out_self, sort=sort)
        is_own = queries is None and leave_out_self
        queries = self._as_searched(queries)
        found = self._search.within(queries, radius, leave_out_self=is_own, sort=sort, n_threads=self._n_threads)
        starts, rows, distances = found
        return starts.view(np.int64), rows.view(np.int64), distances  # by the name of the type that NumPy's own have

    def _within_each(
        self, queries: Any, radii: FloatArray, *, leave_out_self: bool, sort: bool
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """As `_within` with a radius for each query."""
        n = self.n_samples_fit_ if queries is None else queries.shape[0]
        if len(radii) != n:
            raise ValueError(f"radius holds {len(radii)} values; it must be one number, or one for each of the {n} queries.")
        found = self._within(queries, float(radii.max(initial=0)), leave_out_self=leave_out_self, sort=sort)
        starts, rows, distances = found
        is_near = distances <= np.repeat(radii, np.diff(starts))
        return np.concatenate([[0], np.cumsum(is_near)])[starts], rows[is_near], distances[is_near]

    def _surroundings(self, X: Any, *, sort: bool = False) -> Iterator[Neighbourhoods]:
        """The rows within the radius of queries, so many queries at a time that memory is bounded by what one of them has."""
        self._require_fitted()
        return self._surroundings_of(self._check_queries(X), self._radius_of(None), sort)

    def _surroundings_of(self, queries: Any, radius: float, sort: bool) -> Iterator[Neighbourhoods]:
        n = self.n_samples_fit_ if queries is None else queries.shape[0]
        first, n_each = 0, n if queries is None else FIRST_QUERIES
        while first < n:
            part = queries if queries is None else queries[first : first + n_each]
            starts, rows, distances = self._within(part, radius, sort=sort)
            yield Neighbourhoods(rows, distances, starts)
            first += n_each
            n_each = max(1, int(MOST_ENTRIES * (len(starts) - 1) / max(len(rows), len(starts))))


def as_lists(values: npt.NDArray[Any], starts: IntArray) -> npt.NDArray[np.object_]:
    """An array of arrays, one a query, which share the memory of `values`."""
    lists = np.empty(len(starts) - 1, dtype=object)
    for place, (first, last) in enumerate(itertools.pairwise(starts.tolist())):
        lists[place] = values[first:last]
    return lists
