"""Metrics by name: what each is to the kernels, and which algorithms can search by it. The one registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import InvalidParameterError
from mercer._saved import saved
from mercer.neighbors._row_maps import Booleans, Directions, LinearMap, ScaledRows, SpherePoints

# Other names of the same metrics.
ALIASES = {
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "p": "minkowski",
    "sokalmichener": "rogerstanimoto",
}

TREES = ("kd_tree", "ball_tree")
BALLS = ("ball_tree",)


@saved("mercer.neighbors.Measure")
@dataclass(frozen=True)
class Measure:
    """A metric as the kernels take it.

    Parameters
    ----------
    name : str
        Under which it is registered.
    formula : str
        The kernel's formula.
    p : float
        The power of Minkowski's distance.
    weights : ndarray of shape (n_features,) or None
        What the features' terms are multiplied by.
    row_map : object or None
        What rows and queries become before they are measured (`_row_maps`); None: they stay as they are.
    """

    name: str
    formula: str
    p: float = 2.0
    weights: FloatArray | None = None
    row_map: Any = None

    @property
    def algorithms(self) -> tuple[str, ...]:
        """What can search by it, brute force included."""
        return ("brute", *_REGISTRY[self.name].trees)

    @property
    def takes_nan(self) -> bool:
        """Whether values may be missing."""
        return self.name == "nan_euclidean"

    @property
    def n_added(self) -> int:
        """How many features mapped rows have more."""
        return int(getattr(self.row_map, "n_added", 0))

    @property
    def kernel(self) -> Any:
        """The kernel's object; it is made once a call."""
        return kernels.SearchMetric(self.formula, self.p, self.weights)

    def mapped(self, rows: Any, n_threads: int = 1) -> Any:
        """Rows or queries as the kernels measure them: the same object, or a new one of double precision."""
        return rows if self.row_map is None or rows is None else self.row_map(rows, n_threads)


@dataclass(frozen=True)
class _Entry:
    """How a metric is made of its parameters, of the number of features and of p; and which trees take it."""

    make: Callable[[Mapping[str, Any], Any, float], Measure]
    parameters: tuple[str, ...] = ()
    trees: tuple[str, ...] = TREES


def _minkowski(given: Mapping[str, Any], X: Any, p: float) -> Measure:
    p = float(given.get("p", p))
    if not p > 0:
        raise InvalidParameterError(f"p={p!r} is not valid; it must be a number > 0.")
    weights = given.get("w")
    if weights is not None:
        return Measure("minkowski", "minkowski", p, _feature_weights("w", weights, X.shape[1]))
    formulas = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
    return Measure("minkowski", formulas.get(p, "minkowski"), p)


def _feature_weights(name: str, values: Any, n_features: int) -> FloatArray:
    weights = np.array(values, dtype=np.float64).ravel()
    if weights.shape != (n_features,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidParameterError(
            f"metric_params: {name}={values!r} is not valid; it must hold one finite number >= 0 for each of the {n_features} "
            "features."
        )
    return weights


def _standardised(given: Mapping[str, Any], X: Any, p: float) -> Measure:
    """Features over their deviations: of V, or of the rows that are searched. One that does not vary does not count."""
    if given.get("V") is not None:
        variances = _feature_weights("V", given["V"], X.shape[1])
        if (variances == 0).any():
            raise InvalidParameterError(
                f"metric_params: V={given['V']!r} is not valid; feature {int((variances == 0).argmax())} has no variance."
            )
    else:
        variances = np.var(_dense(X), axis=0, ddof=min(1, X.shape[0] - 1), dtype=np.float64)
    scale = np.divide(1, np.sqrt(variances), out=np.zeros(X.shape[1]), where=variances > 0)
    return Measure("seuclidean", "euclidean", row_map=ScaledRows(scale))


def _mahalanobis(given: Mapping[str, Any], X: Any, p: float) -> Measure:
    """The covariance V, its inverse VI, or (neither given) the covariance of the rows that are searched."""
    dense, n_features = _dense(X), X.shape[1]
    shift = np.asarray(
        np.mean(dense, axis=0, dtype=np.float64)
    )  # whatever it is, differences are the same, but for their rounding
    if given.get("VI") is not None:
        factor = _root("VI", _square("VI", given["VI"], n_features), is_inverse=True)
    elif given.get("V") is not None:
        factor = _root("V", _square("V", given["V"], n_features), is_inverse=False)
    else:
        factor = _root("V", np.atleast_2d(np.cov(np.asarray(dense, dtype=np.float64), rowvar=False)), is_inverse=False)
    return Measure("mahalanobis", "euclidean", row_map=LinearMap(shift, factor))


def _square(name: str, values: Any, n_features: int) -> FloatArray:
    matrix = np.array(values, dtype=np.float64)
    if matrix.shape != (n_features, n_features) or not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"metric_params: {name} has shape {matrix.shape}; it must be a matrix of finite numbers of shape "
            f"{(n_features, n_features)}, one line for each feature."
        )
    return (matrix + matrix.T) / 2


def _root(name: str, matrix: FloatArray, *, is_inverse: bool) -> FloatArray:
    """A with A A^T = VI: VI's Cholesky factor, or the inverse of V's; where VI is singular, by its eigenvectors."""
    identity = np.eye(len(matrix))
    try:
        lower = np.linalg.cholesky(matrix)
        root = lower if is_inverse else scipy.linalg.solve_triangular(lower, identity, lower=True).T
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        if not is_inverse or values.min() < -1e-12 * max(values.max(), 0):
            kind = "positive semi-definite" if is_inverse else "positive definite"
            raise InvalidParameterError(
                f"metric_params: {name} is not {kind}; its smallest eigenvalue is {values.min():.3g}, and what it would "
                "measure is no distance."
            ) from None
        root = vectors * np.sqrt(np.maximum(values, 0))
    return np.ascontiguousarray(root)


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _plain(
    name: str, formula: str | None = None, *, trees: tuple[str, ...] = TREES, p: float = 2.0, row_map: Any = None
) -> _Entry:
    """A metric without parameters."""
    return _Entry(lambda given, X, _: Measure(name, formula or name, p, row_map=row_map), trees=trees)


_REGISTRY: dict[str, _Entry] = {
    "euclidean": _plain("euclidean"),
    "sqeuclidean": _plain("sqeuclidean", "squared"),
    "manhattan": _plain("manhattan", p=1.0),
    "chebyshev": _plain("chebyshev", p=np.inf),
    "minkowski": _Entry(_minkowski, ("p", "w")),
    "seuclidean": _Entry(_standardised, ("V",)),
    "mahalanobis": _Entry(_mahalanobis, ("V", "VI")),
    "cosine": _plain("cosine", "half_squared", row_map=Directions()),
    "correlation": _plain("correlation", "half_squared", row_map=Directions(is_centred=True)),
    "haversine": _plain("haversine", "arc", row_map=SpherePoints()),
    "hamming": _plain("hamming"),
    "canberra": _plain("canberra", trees=BALLS),
    "braycurtis": _plain("braycurtis", trees=BALLS),
    "nan_euclidean": _plain("nan_euclidean", trees=()),
    **{
        name: _plain(name, trees=BALLS, row_map=Booleans())
        for name in ("jaccard", "dice", "matching", "rogerstanimoto", "russellrao", "sokalsneath")
    },
    **{name: _plain(name, trees=(), row_map=Booleans()) for name in ("kulsinski", "yule")},
}
METRICS = tuple(sorted({*_REGISTRY, *ALIASES}))


def metrics_of(algorithm: str) -> list[str]:
    """The names of the metrics that an algorithm can search by."""
    return [name for name in METRICS if algorithm in ("brute", *_REGISTRY[ALIASES.get(name, name)].trees)]


def is_metric_object(metric: Any) -> bool:
    """Whether a metric is an object of scikit-learn's `DistanceMetric`."""
    if isinstance(metric, str) or not hasattr(metric, "rdist_to_dist"):
        return False
    from sklearn.metrics import DistanceMetric  # by few asked for, and slow to import

    return isinstance(metric, DistanceMetric)


def by_name(metric: Any, metric_params: Mapping[str, Any] | None) -> tuple[Any, Mapping[str, Any] | None]:
    """A metric and its parameters; an object of `DistanceMetric` by the name that it has, or as the function that it calls.

    The object's class is called by the metric, and what pickle would store of it are p, a vector (w or V) and a matrix (VI), or
    a function and its parameters behind them.
    """
    if not is_metric_object(metric):
        return metric, metric_params
    if metric_params:
        raise InvalidParameterError(
            f"metric_params={dict(metric_params)!r} is not valid for metric={metric!r}, an object, which has its parameters "
            "itself; it must be None."
        )
    name = type(metric).__name__.rstrip("0123456789").removesuffix("Distance").lower()
    p, vector, matrix, *function = metric.__reduce__()[2]
    if name == "pyfunc":
        return function[0], dict(function[1])
    parameters = {"minkowski": {"p": p}, "seuclidean": {"V": vector}, "mahalanobis": {"VI": matrix}}.get(name, {})
    if name == "minkowski" and np.size(vector) > 1:
        parameters["w"] = vector
    return name, parameters


def find_measure(metric: Any, *, p: float, metric_params: Mapping[str, Any] | None, X: Any) -> Measure:
    """The measure of a metric's name, or of a metric object, for rows like X."""
    metric, metric_params = by_name(metric, metric_params)
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    entry = _REGISTRY.get(name) if isinstance(name, str) else None
    if entry is None:
        raise InvalidParameterError(f"metric={metric!r} is not valid; it must be one of {list(METRICS)}.")
    given = dict(metric_params or {})
    if unknown := given.keys() - set(entry.parameters):
        takes = f"it must be a dict of {' and '.join(entry.parameters)}" if entry.parameters else "it must be empty"
        raise InvalidParameterError(
            f"metric_params={given!r} is not valid for the metric {metric!r}, which has no parameter "
            f"{sorted(map(str, unknown))[0]!r}; {takes}."
        )
    return entry.make(given, X, p)
