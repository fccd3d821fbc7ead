"""How predictions for test rows are judged, by one code for everyone, and how sure a difference is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_LEAST = 1e-15  # of a probability
_REPLICATES = 200
IS_LOWER_BETTER = {"r2": False, "roc_auc": False, "log_loss": True}


def score(measure: str, y: Array, values: Array) -> float:
    """`values` are numbers, or probabilities with a column a class; `y` are numbers, or the places of the classes."""
    return float(_of_weights(measure, y, values)(np.ones(len(y))))


def poisson_deviance(y: Array, values: Array) -> float:
    """Means over rows; predictions below a thousandth of the mean count as that, since some models go below zero."""
    mean = np.maximum(values, 1e-3 * y.mean())
    logs = np.where(y > 0, y * np.log(np.maximum(y, 1.0) / mean), 0.0)
    return float(2 * np.mean(logs - y + mean))


def ahead(measure: str, one: float, other: float) -> float:
    """By how much the first is better."""
    return other - one if IS_LOWER_BETTER[measure] else one - other


def standard_error(measure: str, y: Array, one: Array, other: Array) -> float:
    """Of the difference between two models on the same rows, by a bootstrap over these rows."""
    first, second = _of_weights(measure, y, one), _of_weights(measure, y, other)
    random = np.random.default_rng(0)
    differences = []
    for _ in range(_REPLICATES):
        weights = np.bincount(random.integers(len(y), size=len(y)), minlength=len(y)).astype(float)
        differences.append(first(weights) - second(weights))
    return float(np.nanstd(differences, ddof=1))


def _of_weights(measure: str, y: Array, values: Array) -> Any:
    """The measure as a function of the weights of rows, with all prepared that they do not change."""
    return {"r2": _r2, "roc_auc": _roc_auc, "log_loss": _log_loss}[measure](y, values)


def _r2(y: Array, values: Array) -> Any:
    squares = (y - values) ** 2

    def of(weights: Array) -> float:
        total = weights @ (y - np.average(y, weights=weights)) ** 2
        return float(1 - weights @ squares / total)

    return of


def _log_loss(y: Array, values: Array) -> Any:
    clipped = np.clip(values, _LEAST, None)
    losses = -np.log(clipped[np.arange(len(y)), y.astype(np.intp)] / clipped.sum(axis=1))
    return lambda weights: float(np.average(losses, weights=weights))


def _roc_auc(y: Array, values: Array) -> Any:
    """The share of pairs in the right order, pairs of equal values by half."""
    order = np.argsort(values[:, 1], kind="stable")
    sorted_values, is_positive = values[order, 1], y[order] == 1
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_values) != 0])

    def of(weights: Array) -> float:
        weights = weights[order]
        positive = np.add.reduceat(weights * is_positive, starts)
        negative = np.add.reduceat(weights * ~is_positive, starts)
        below = np.cumsum(negative) - negative
        return float(positive @ (below + negative / 2) / (positive.sum() * negative.sum()))

    return of
