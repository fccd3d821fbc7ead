"""What the search trees answer and hold, with the methods of scikit-learn's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from mercer._arrays import FLOATS, FloatArray, check_weights
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer.neighbors._density_kernels import KERNELS, log_norm
from mercer.neighbors._measures import Measure, by_name, find_measure
from mercer.neighbors._search import Search, by_slot

Ints = npt.NDArray[np.int64]
N_RECALL = 200  # queries that say how many neighbours a bounded search finds


@saved("mercer.neighbors.GrownTree")
class GrownTree:
    """What a tree is made of when it comes from a file: how it is searched, and its rows where these cannot be told from it."""

    def __init__(self, search: Search, data: FloatArray | None) -> None:
        self.search, self.data = search, data

    def __reduce__(self) -> Any:
        return GrownTree, (self.search, self.data)


class SearchTree:
    """What k-d trees and ball trees share."""

    algorithm: ClassVar[str]
    valid_metrics: ClassVar[list[str]]
    takes_functions: ClassVar[bool] = False  # as metrics

    def _grow(self, X: Any, leaf_size: int, metric: Any, sample_weight: Any, metric_params: Mapping[str, Any]) -> None:
        if not isinstance(leaf_size, (int, np.integer)) or leaf_size < 1:
            raise ValueError(f"leaf_size must be greater than or equal to 1; it is {leaf_size!r}.")
        self.leaf_size, self.metric = int(leaf_size), metric
        if isinstance(X, GrownTree):
            self._X = X
        else:
            self._X = self._grown(check_array(X, dtype=FLOATS, input_name="X"), metric, metric_params)
        self._search = self._X.search
        weights = check_weights(sample_weight, self._search.shape[0], np.float64)
        self.sample_weight: FloatArray | None = weights
        if sample_weight is not None and weights is None:  # all alike: as none, but for their sum
            self.sample_weight = np.full(self._search.shape[0], float(np.ravel(sample_weight)[0]))

    def _grown(self, X: FloatArray, metric: Any, given: Mapping[str, Any]) -> GrownTree:
        metric, metric_params = by_name(metric, given)
        if callable(metric) and self.takes_functions:
            _require_distance(metric, X[0], metric_params or {})
            return GrownTree(Search.of(X, metric=metric, metric_params=metric_params), np.array(X))
        measure = find_measure(metric, p=2, metric_params=metric_params, X=X)
        if self.algorithm not in measure.algorithms:
            raise InvalidParameterError(
                f"metric={metric!r} is not valid for {type(self).__name__}; it must be one of {self.valid_metrics}."
            )
        index = self._index(measure.mapped(X, effective_threads(None)), measure)
        return GrownTree(Search(measure, index), None if measure.row_map is None else np.array(X))

    def _index(self, X: FloatArray, measure: Measure) -> Any:
        raise NotImplementedError

    @property
    def _native(self) -> Any:
        if not hasattr(self._search.index, "points_tree"):
            raise ValueError("no balls are around rows that a function measures: only query and query_radius can be asked.")
        return self._search.index.points_tree

    # ---- what it holds

    @property
    def data(self) -> FloatArray:
        """The rows, in their order."""
        if self._X.data is not None:
            return self._X.data
        return self._rows_of(self._search.index)

    @staticmethod
    def _rows_of(index: Any) -> FloatArray:
        """In the order of X, from slots."""
        n_rows, n_features = index.shape
        slots = by_slot(index.points, n_features)[:n_rows]
        rows = np.empty((n_rows, n_features), dtype=slots.dtype)
        rows[index.rows] = slots
        rows.flags.writeable = False
        return rows

    @property
    def sum_weight(self) -> float:
        """The sum of the rows' weights; of none given, their number."""
        return float(self._search.shape[0] if self.sample_weight is None else self.sample_weight.sum())

    @property
    def idx_array(self) -> Ints:
        """Row numbers in the order of the leaves."""
        return np.asarray(self._native.rows, dtype=np.int64)

    @property
    def node_data(self) -> npt.NDArray[Any]:
        """Every node but the root: the range of `idx_array` that it holds, whether it is a leaf, and its radius."""
        places, begins, ends, is_leaf = self._native.children()
        kind = [("idx_start", np.int64), ("idx_end", np.int64), ("is_leaf", np.int64), ("radius", np.float64)]
        nodes = np.zeros(len(places), dtype=kind)
        nodes["idx_start"], nodes["idx_end"], nodes["is_leaf"] = begins, ends, is_leaf
        nodes["radius"] = self._radii(places)
        return nodes

    def _radii(self, places: Ints) -> FloatArray:
        raise NotImplementedError

    @property
    def node_bounds(self) -> FloatArray:
        """Of every node of `node_data` the bounds, along the second axis."""
        raise NotImplementedError

    def get_arrays(self) -> tuple[FloatArray, Ints, npt.NDArray[Any], FloatArray]:
        """`data`, `idx_array`, `node_data` and `node_bounds`."""
        return self.data, self.idx_array, self.node_data, self.node_bounds

    def get_tree_stats(self) -> tuple[int, int, int]:
        """How often queries left a node out (which is not counted here: 0), how many leaves there are, and how many splits."""
        is_leaf = self._native.children()[3]
        n_leaves = int(is_leaf.sum())
        return 0, n_leaves, max(n_leaves - 1, 0)

    # ---- what it answers

    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
        *,
        max_leaves: int | None = None,
    ) -> Any:
        """The k nearest rows of each query.

        Parameters
        ----------
        X : array-like of shape (..., n_features)
            The queries.
        k : int, default=1
        return_distance : bool, default=True
            Whether distances come with the rows.
        dualtree, breadth_first, sort_results : bool
            Ways through scikit-learn's trees. Here there is one way, which serves queries that are near to each other
            together; the answer is the same for all of them, nearest first, and rows of the same distance in their order.
        max_leaves : int, default=None
            How many leaves are looked into for a query at most, the nearest first; None is as many as it takes. Rows may then
            be missing: `recall_` is the share of the nearest that were found, measured on `N_RECALL` of the queries.

        Returns
        -------
        distances : ndarray of shape (..., k)
            If `return_distance`.
        rows : ndarray of shape (..., k)
        """
        queries, shape = self._queries(X)
        n_rows = self._search.shape[0]
        if not 1 <= k <= n_rows:
            raise ValueError(
                f"k must be less than or equal to the number of training points, {n_rows}, and at least 1; it is {k}."
            )
        if max_leaves is not None and max_leaves < 1:
            raise ValueError(f"max_leaves={max_leaves!r} is not valid; it must be a whole number >= 1, or None.")
        threads = effective_threads(None)
        distances, rows = self._search.nearest(queries, int(k), max_leaves=max_leaves, n_threads=threads)
        if max_leaves is not None and len(queries):
            self.recall_ = self._recall(queries, distances)
        rows = rows.reshape(*shape, k)
        return (distances.reshape(*shape, k), rows) if return_distance else rows

    def _recall(self, queries: FloatArray, found: FloatArray) -> float:
        """The share of the nearest rows, or others as near, that a bounded search found: of some queries, spread over all."""
        some = np.linspace(0, len(queries) - 1, min(N_RECALL, len(queries))).astype(np.int64)
        exact, _ = self._search.nearest(queries[some], found.shape[1], n_threads=effective_threads(None))
        return float((found[some] <= exact[:, -1:]).mean())

    def query_radius(
        self, X: Any, r: Any, return_distance: bool = False, count_only: bool = False, sort_results: bool = False
    ) -> Any:
        """All rows within a radius of each query.

        Parameters
        ----------
        X : array-like of shape (..., n_features)
            The queries.
        r : float or array-like of shape (...)
            The radius, or one for each query.
        return_distance : bool, default=False
            Whether distances come with the rows.
        count_only : bool, default=False
            Whether rows are only counted.
        sort_results : bool, default=False
            Whether rows come by their distances, or by their numbers. Needs `return_distance`.

        Returns
        -------
        counts : ndarray of int of shape (...)
            If `count_only`.
        rows : ndarray of arrays, of shape (...)
            Else.
        distances : ndarray of arrays, of shape (...)
            If `return_distance`.
        """
        if count_only and return_distance:
            raise ValueError("count_only and return_distance cannot both be true")
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True")
        queries, shape = self._queries(X)
        radii = np.asarray(r, dtype=np.float64)
        if radii.ndim and radii.shape != shape:
            raise ValueError(f"r must be broadcastable to X.shape[:-1], {shape}; it has shape {radii.shape}.")
        radii = np.broadcast_to(radii, shape).ravel()
        if count_only:
            counts = np.empty(len(queries), dtype=np.int64)
            for radius, some in _groups(radii):
                counts[some] = self._search.count_within(queries[some], radius, n_threads=effective_threads(None))
            return counts.reshape(shape)
        rows, distances = (np.empty(len(queries), dtype=object) for _ in range(2))
        for radius, some in _groups(radii):
            starts, *found = self._search.within(queries[some], radius, sort=sort_results, n_threads=effective_threads(None))
            for out, values in zip((rows, distances), found, strict=True):
                for place, first, last in zip(some, starts, starts[1:], strict=False):
                    out[place] = values[first:last].copy()
        rows, distances = rows.reshape(shape), distances.reshape(shape)
        return (rows, distances) if return_distance else rows

    def kernel_density(
        self,
        X: Any,
        h: float,
        kernel: str = "gaussian",
        atol: float = 0,
        rtol: float = 1e-8,
        breadth_first: bool = True,
        return_log: bool = False,
    ) -> FloatArray:
        """The sum of a kernel over all rows, sum_i w_i K(d(x, x_i) / h) / h^d, where K integrates to one.

        Parameters
        ----------
        X : array-like of shape (..., n_features)
            Where the sum is asked for.
        h : float
            The bandwidth.
        kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
        atol, rtol : float
            The error may be `atol + rtol * density` at most: nodes that differ by less are added as a whole. With zeros, nodes
            are left out only where they cannot change the last digit.
        breadth_first : bool
            The order in which scikit-learn visits nodes. Here the nearest come first, whatever it says.
        return_log : bool
            Whether to return logarithms, which do not vanish far from all rows.

        Returns
        -------
        density : ndarray of shape (...)
        """
        queries, shape = self._queries(X)
        logs = self._log_sums(queries, h, kernel, atol, rtol, leave_out_self=False)
        return (logs if return_log else np.exp(logs)).reshape(shape)

    def _log_sums(
        self, queries: FloatArray | None, h: float, kernel: str, atol: float, rtol: float, *, leave_out_self: bool
    ) -> FloatArray:
        if kernel not in KERNELS:
            raise ValueError(f"kernel = '{kernel}' not recognized; it must be one of {KERNELS}.")
        if not (h > 0 and math.isfinite(h)):
            raise ValueError(f"h={h!r} is not valid; a bandwidth must be a finite number > 0.")
        if not (atol >= 0 and rtol >= 0):
            raise ValueError(f"atol={atol!r} and rtol={rtol!r} must not be negative.")
        norm = log_norm(kernel, h, self._search.shape[1])
        absolute = atol * math.exp(min(-norm, 700.0))
        out = np.empty(self._search.shape[0] if queries is None else len(queries))
        threads = effective_threads(None)
        mapped = self._doubles(queries, threads)
        tree, metric = self._native, self._search.measure.kernel
        kernels.kernel_densities(
            tree, metric, mapped, leave_out_self, kernel, float(h), absolute, float(rtol), self.sample_weight, out, threads
        )
        return out + norm

    def two_point_correlation(self, X: Any, r: Any, dualtree: bool = False) -> Ints:
        """How many pairs of a query and a row are at most r apart, for each of several r.

        Parameters
        ----------
        X : array-like of shape (..., n_features)
            The queries.
        r : array-like of shape (n_radii,)
        dualtree : bool
            A way through scikit-learn's trees, without a meaning here: the counts are the same.

        Returns
        -------
        counts : ndarray of int of shape (n_radii,)
        """
        queries, _ = self._queries(X)
        if np.ndim(r) != 1:
            raise ValueError("r must be a 1-dimensional array")
        radii = np.ascontiguousarray(r, dtype=np.float64)
        counts = np.empty(len(radii), dtype=np.int64)
        threads = effective_threads(None)
        mapped = self._doubles(queries, threads)
        kernels.count_pairs(self._native, self._search.measure.kernel, mapped, radii, counts, threads)
        return counts

    def _doubles(self, queries: FloatArray | None, n_threads: int) -> FloatArray | None:
        """Queries as the metric measures them, in double precision."""
        return None if queries is None else np.asarray(self._search.measure.mapped(queries, n_threads), dtype=np.float64)

    def _queries(self, X: Any) -> tuple[FloatArray, tuple[int, ...]]:
        """Queries as a matrix, and the shape of the answers."""
        given = np.asarray(X)
        n_features = self._search.shape[1]
        if given.ndim < 1 or given.shape[-1] != n_features:
            raise ValueError(
                f"query data dimension must match training data dimension: X has shape {given.shape}, and rows have "
                f"{n_features} features."
            )
        flat = check_array(given.reshape(-1, n_features), dtype=FLOATS, input_name="X", ensure_min_samples=0)
        return flat, given.shape[:-1]


def _require_distance(metric: Any, row: FloatArray, metric_params: Mapping[str, Any]) -> None:
    if not isinstance(metric(row, row, **metric_params), (float, int, np.number)):
        raise TypeError("Custom distance function must accept two vectors and return a float.")


def _groups(radii: FloatArray) -> list[tuple[float, Ints]]:
    """Each radius, and the queries that ask for it."""
    if len(radii) == 0:
        return []
    if (radii == radii[0]).all():
        return [(float(radii[0]), np.arange(len(radii)))]
    values, which = np.unique(radii, return_inverse=True)
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(1, len(values)))
    return [(float(value), some) for value, some in zip(values, np.split(order, bounds), strict=True)]
