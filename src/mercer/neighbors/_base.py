"""What all estimators on neighbours share: the parameters of the search, the rows that it was fitted to, and its queries."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FLOATS, FloatArray, check_X, validate
from mercer._base import MercerEstimator
from mercer._parallel import effective_threads
from mercer._params import _REFUSED, Infinity, Integer, Mapped, Null, NumberOfJobs, OneOf, Real, Rule, check_value
from mercer._trace import warn
from mercer.neighbors._measures import is_metric_object
from mercer.neighbors._search import ALGORITHMS, Search
from mercer.neighbors._trees import own_tree

KEEP_ZEROS = ("csr", "csc", "coo", "lil")  # formats that keep zeros as entries
MOST_ENTRIES = 1 << 22  # neighbours of queries that predictions hold at a time


class MetricRule(Rule):
    """The name of a metric, which is looked up where the search is made, a function of two rows, or scikit-learn's object."""

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, str) or callable(value) or is_metric_object(value) else _REFUSED

    def describe(self) -> str:
        return "the name of a metric, a callable or a DistanceMetric"


# The parameters that all of them have.
SEARCH_RULES: dict[str, Rule] = {
    "algorithm": OneOf(*ALGORITHMS),
    "leaf_size": Integer(1),
    "metric": MetricRule(),
    "p": Real(above=0) | Infinity() | Null(),
    "metric_params": Mapped() | Null(),
    "n_jobs": NumberOfJobs(),
}


class NeighborsEstimator(MercerEstimator):
    """Rows that can be asked for neighbours."""

    _input_tags: ClassVar[tuple[str, ...]] = ("sparse",)

    metric: Any
    metric_params: Any
    n_jobs: Any
    _search: Search
    n_samples_fit_: int

    def _check_rows(self, X: Any, *y: Any) -> Any:
        """X as the search takes it (or a fitted search), and what belongs to its rows where that is given."""
        X = own_tree(X)
        if _is_searched(X):
            return (X, *map(np.asarray, y)) if y else X
        if self._is_precomputed:
            X = check_precomputed(X)
        checks = {"multi_output": True} if y else {}
        return validate(self, X, *y, sparse="csr", finite=self._finite, **checks)

    @property
    def _finite(self) -> Any:
        return "allow-nan" if self.metric == "nan_euclidean" else "check"

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _searched(self, X: Any, params: SimpleNamespace, k: int | None) -> dict[str, Any]:
        """What a fit stores of the rows; `k` is what will be asked for, where that is known."""
        metric, metric_params = effective_metric(params)
        X = own_tree(X)
        search = X._search if _is_searched(X) else self._search_of(X, params, k)
        return {
            "_search": search,
            "n_features_in_": search.shape[1],
            "n_samples_fit_": search.shape[0],
            "effective_metric_": metric,
            "effective_metric_params_": metric_params,
            "effective_algorithm_": search.algorithm,
        }

    def _search_of(self, X: Any, params: SimpleNamespace, k: int | None) -> Search:
        if self._is_precomputed:
            X = check_precomputed(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be square: it holds the distances between all rows. Input is a "
                    f"{X.shape[0]}x{X.shape[1]} matrix."
                )
        given = params.metric_params or {}
        if "p" in given and params.p is not None and params.p != given["p"]:
            warn(
                f"Parameter p is found in metric_params. The corresponding parameter from __init__, {params.p!r}, is ignored.",
                SyntaxWarning,
            )
        p, algorithm = given.get("p", 2.0 if params.p is None else params.p), params.algorithm
        if algorithm == "ball_tree" and params.metric in ("minkowski", "p") and p < 1:
            raise ValueError(
                f'algorithm="ball_tree" does not support 0 < p < 1 for the Minkowski metric, which breaks the triangle '
                f'inequality there; p={p!r}. To resolve this problem either set p >= 1 or algorithm="kd_tree" or "brute".'
            )
        if sp.issparse(X) and algorithm not in ("auto", "brute"):
            warn("cannot use tree with sparse input: using brute force")
            algorithm = "brute"
        return Search.of(
            X,
            algorithm=algorithm,
            leaf_size=params.leaf_size,
            metric=params.metric,
            p=2.0 if params.p is None else params.p,
            metric_params=params.metric_params,
            k=5 if k is None else k,
            n_threads=effective_threads(params.n_jobs),
        )

    @property
    def _n_threads(self) -> int:
        """Of queries: `n_jobs` may have been set since the fit."""
        return effective_threads(check_value(type(self).__name__, "n_jobs", self.n_jobs, SEARCH_RULES["n_jobs"]))

    def _require_fitted(self) -> None:
        if "_search" not in self.__dict__:  # what scikit-learn asks takes longer than the search of one row
            check_is_fitted(self)

    def _check_queries(self, X: Any) -> Any:
        """Queries as the search takes them; None are the fitted rows."""
        if X is None:
            return None
        if self._is_precomputed:
            return self._check_distances(X)
        return check_X(self, X, sparse="csr", finite=self._finite, reset=False)

    def _as_searched(self, queries: Any) -> Any:
        """Queries of the kind of the rows: where these are dense, some sparse queries become so when it is their turn."""
        return queries.toarray() if sp.issparse(queries) and not hasattr(self._search.index, "nearest") else queries

    def _check_distances(self, X: Any) -> Any:
        D = check_precomputed(X)
        if D.shape[1] != self.n_samples_fit_:
            raise ValueError(
                f"X holds distances to {D.shape[1]} rows, but {type(self).__name__} was fitted to {self.n_samples_fit_}; there "
                "must be one column for each. X has "
                f"{D.shape[1]} features, but {type(self).__name__} is expecting {self.n_samples_fit_} features as input."
            )
        return D

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._is_precomputed
        tags.input_tags.allow_nan = isinstance(self.metric, str) and self.metric == "nan_euclidean"
        return tags


def _is_searched(X: Any) -> bool:
    """Whether X is a fitted estimator (or tree) whose search can be shared."""
    return not isinstance(X, np.ndarray) and isinstance(getattr(X, "_search", None), Search)


def effective_metric(params: SimpleNamespace) -> tuple[Any, dict[str, Any]]:
    """The metric and its parameters as scikit-learn names them: Minkowski's distance by what it is for its p."""
    given = dict(params.metric_params or {})
    if params.metric != "minkowski":
        return params.metric, given
    p, w = given.pop("p", 2.0 if params.p is None else params.p), given.pop("w", None)
    named = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
    if w is None and p in named:
        return named[p], given
    return "minkowski", {**given, "p": p, "w": w}


def check_precomputed(X: Any) -> Any:
    """A matrix of distances: dense, or sparse with those that are known."""
    if sp.issparse(X) and X.format not in KEEP_ZEROS:
        raise TypeError(
            f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros, which are "
            f"distances; it must be one of {KEEP_ZEROS}."
        )
    D = check_array(X, accept_sparse="csr", dtype=FLOATS)
    least = (D.data if sp.issparse(D) else D).min(initial=0)
    if least < 0:
        raise ValueError(f"Negative values in data passed to precomputed distance matrix: the least is {least:g}.")
    return D


def parts_of(queries: Any, n_each: int) -> Iterator[Any]:
    """Queries in parts of so many, as views; as they are where that is enough, or where they are the fitted rows (None)."""
    if queries is None or queries.shape[0] <= n_each:
        yield queries
        return
    for first in range(0, queries.shape[0], n_each):
        yield queries[first : first + n_each]


def joined(parts: list[FloatArray]) -> FloatArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
