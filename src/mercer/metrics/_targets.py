"""Targets of regression: checked arrays, and how the errors of several outputs become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_array, check_consistent_length

from mercer._trace import warn
from mercer.metrics._labels import Array
from mercer.metrics._weights import check_sample_weight


@dataclass(frozen=True)
class Targets:
    """True and predicted values, one column an output, and the weights of rows."""

    true: Array
    predicted: Array
    weights: Array | None

    @property
    def n_rows(self) -> int:
        return len(self.true)

    @property
    def residuals(self) -> Array:
        return np.asarray(self.true - self.predicted)

    def mean(self, values: Array) -> Array:
        """The weighted mean over rows; float32 values are added up in float64."""
        if self.weights is None:
            return np.asarray(values.mean(axis=0, dtype=np.float64))
        return np.asarray(np.average(values, axis=0, weights=self.weights))


def check_targets(y_true: Any, y_pred: Any, sample_weight: Any = None, *, single_for: str | None = None) -> Targets:
    """Finite numbers of the same shape; `single_for` is the name of a measure that takes one output only."""
    check_consistent_length(y_true, y_pred, sample_weight)
    dtype = np.float32 if _is_float32(y_true) and _is_float32(y_pred) else np.float64
    true = check_array(y_true, ensure_2d=False, dtype=dtype, input_name="y_true")
    predicted = check_array(y_pred, ensure_2d=False, dtype=dtype, input_name="y_pred")
    true, predicted = (values.reshape(-1, 1) if values.ndim == 1 else values for values in (true, predicted))
    if true.shape[1] != predicted.shape[1]:
        raise ValueError(
            f"y_true and y_pred have different number of output ({true.shape[1]}!={predicted.shape[1]}): they must have the "
            "same shape."
        )
    if single_for is not None and true.shape[1] != 1:
        raise ValueError(f"Multioutput not supported in {single_for}: y_true has {true.shape[1]} columns.")
    return Targets(true, predicted, check_sample_weight(sample_weight, len(true)))


def _is_float32(values: Any) -> bool:
    return bool(getattr(values, "dtype", None) == np.float32)


def combine(of_output: Array, multioutput: Any, owner: str, *, more: tuple[str, ...] = ()) -> Any:
    """One number from those of the outputs, or all of them: "raw_values", "uniform_average" or weights."""
    options = ("raw_values", "uniform_average", *more)
    if isinstance(multioutput, str):
        if multioutput not in options:
            shown = ", ".join(map(repr, options))
            raise ValueError(f"{owner}: multioutput={multioutput!r} is not valid; it must be {shown} or an array of weights.")
        return of_output if multioutput == "raw_values" else float(np.mean(of_output))
    weights = check_array(multioutput, ensure_2d=False, dtype=np.float64, input_name="multioutput")
    if len(of_output) == 1:
        raise ValueError("Custom weights are useful only in multi-output cases.")
    if weights.shape != of_output.shape:
        raise ValueError(f"There must be equally many custom weights ({len(weights)}) as outputs ({len(of_output)}).")
    return float(np.average(of_output, weights=weights))


def explained(
    left: Array, total: Array, multioutput: Any, owner: str, *, force_finite: bool = True, more: tuple[str, ...] = ()
) -> Any:
    """1 - left / total of each output; a constant target is explained fully (1) or not at all (0), unless not forced so."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - left / total
    if force_finite:
        scores = np.where(left == 0, 1.0, np.where(total == 0, 0.0, scores))
    if isinstance(multioutput, str) and multioutput == "variance_weighted" and more:
        return float(np.average(scores, weights=total if total.any() else None))
    return combine(scores, "uniform_average" if multioutput is None else multioutput, owner, more=more)


def is_too_short(targets: Targets, name: str) -> bool:
    """Whether there is one row only, which warns."""
    if targets.n_rows >= 2:
        return False
    warn(f"{name} score is not well-defined with less than two samples.", UndefinedMetricWarning)
    return True


def weighted_quantiles(values: Array, weights: Array | None, q: float) -> Array:
    """The q-quantile of each column: where the weight up to a value reaches q exactly, the mean of it and the next."""
    weights = np.ones(len(values)) if weights is None else weights
    return np.array([_weighted_quantile(column, weights, q) for column in values.T], dtype=values.dtype)


def _weighted_quantile(column: Array, weights: Array, q: float) -> float:
    order = np.argsort(column, kind="stable")
    column, weights = column[order], weights[order]
    column, weights = column[weights != 0], weights[weights != 0]
    upto = np.cumsum(weights)
    wanted = q * upto[-1]
    place = min(int(np.searchsorted(upto, wanted)), len(column) - 1)
    is_exact = upto[place] - wanted <= np.finfo(np.float64).eps and wanted > 0
    following = min(place + 1, len(column) - 1) if is_exact else place
    return float((column[place] + column[following]) / 2)
