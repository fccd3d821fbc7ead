"""Metrics by name: what each is to the kernels, and which algorithms can search by it. The one registry of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._params import InvalidParameterError
from mercer._saved import saved

# Other names of the same metrics.
ALIASES = {
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "p": "minkowski",
}

TREES = ("kd_tree", "ball_tree")


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
    """

    name: str
    formula: str
    p: float = 2.0
    weights: FloatArray | None = None

    @property
    def algorithms(self) -> tuple[str, ...]:
        """What can search by it, brute force included."""
        return ("brute", *_REGISTRY[self.name].trees)

    @property
    def kernel(self) -> Any:
        """The kernel's object; it is made once a call."""
        return kernels.SearchMetric(self.formula, self.p, self.weights)


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


_REGISTRY: dict[str, _Entry] = {
    "euclidean": _Entry(lambda given, X, p: Measure("euclidean", "euclidean")),
    "manhattan": _Entry(lambda given, X, p: Measure("manhattan", "manhattan", 1.0)),
    "chebyshev": _Entry(lambda given, X, p: Measure("chebyshev", "chebyshev", np.inf)),
    "minkowski": _Entry(_minkowski, ("p", "w")),
}


def find_measure(metric: Any, *, p: float, metric_params: Mapping[str, Any] | None, X: Any) -> Measure:
    """The measure of a metric's name for rows like X."""
    name = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    entry = _REGISTRY.get(name) if isinstance(name, str) else None
    if entry is None:
        raise InvalidParameterError(f"metric={metric!r} is not valid; it must be one of {sorted({*_REGISTRY, *ALIASES})}.")
    given = dict(metric_params or {})
    if unknown := given.keys() - set(entry.parameters):
        takes = f"it takes {', '.join(entry.parameters)}" if entry.parameters else "it takes none"
        raise InvalidParameterError(
            f"metric_params: {sorted(unknown)[0]!r} is not a parameter of the metric {metric!r}; {takes}."
        )
    return entry.make(given, X, p)
