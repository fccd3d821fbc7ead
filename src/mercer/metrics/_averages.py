"""How a measure of each class becomes one number, and what it is where it divides by nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mercer._confusion import ClassCounts
from mercer._params import _REFUSED, Null, OneOf, Rule, check_value
from mercer._trace import warn
from mercer.metrics._labels import Array
from mercer.metrics._tally import Tally, tally
from mercer.metrics._weights import check_sample_weight

AVERAGE = OneOf("binary", "micro", "macro", "weighted", "samples") | Null()


class ZeroDivision(Rule):
    """0, 1, NaN or "warn"."""

    def accept(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if value == "warn" else _REFUSED
        if isinstance(value, (int, float, np.integer, np.floating)) and (value in (0, 1) or np.isnan(value)):
            return float(value)
        return _REFUSED

    def describe(self) -> str:
        return "'warn', 0, 1 or nan"


def tally_averaged(
    y_true: Any, y_pred: Any, *, labels: Any, pos_label: Any, average: str | None, sample_weight: Any, owner: str
) -> Tally:
    """The tally that a measure with these options is made of: one entry a class, or one in all ("binary", "micro")."""
    check_value(owner, "average", average, AVERAGE)
    wanted = None if average == "binary" else labels
    found = tally(y_true, y_pred, sample_weight, labels=wanted, samplewise=average == "samples")
    if average == "binary":
        return found.of([_check_positive(found, pos_label)])
    if pos_label not in (None, 1):
        warn(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). "
            "You may use labels=[pos_label] to specify a single positive class."
        )
    return found.summed() if average == "micro" else found


def _check_positive(found: Tally, pos_label: Any) -> Any:
    if found.kind != "binary":
        options = [None, "micro", "macro", "weighted", *(["samples"] if found.is_multilabel else [])]
        raise ValueError(
            f"Target is {found.kind} but average='binary'. Please choose another average setting, one of {options!r}."
        )
    if pos_label is None or (pos_label not in found.present.tolist() and len(found.present) >= 2):
        raise ValueError(f"pos_label={pos_label!r} is not a valid label. It should be one of {found.present.tolist()!r}.")
    return pos_label


def ratio(
    numerator: Array, denominator: Array, *, name: str, lacking: str, average: str | None, zero_division: str | float
) -> Array:
    """The numerators over the denominators; where one of these is 0, what `zero_division` says, with a warning if so."""
    is_undefined = denominator == 0
    result = np.asarray(numerator / np.where(is_undefined, 1, denominator), dtype=np.float64)
    if is_undefined.any():
        result[is_undefined] = 0.0 if isinstance(zero_division, str) else zero_division
        if isinstance(zero_division, str):
            _warn_undefined(name, lacking, average, len(result))
    return result


def _warn_undefined(name: str, lacking: str, average: str | None, n_results: int) -> None:
    thing, place = ("label", "sample") if average == "samples" else ("sample", "label")
    where = "due to" if n_results == 1 else f"in {place}s with"
    warn(
        f"{name} is ill-defined and being set to 0.0 {where} no {lacking} {thing}s. "
        "Use `zero_division` parameter to control this behavior.",
        UndefinedMetricWarning,
    )


def averaged(values: Array, counts: ClassCounts, average: str | None, sample_weight: Any) -> Any:
    """One number from those of all classes: the mean, weighted as `average` says, of those that are defined."""
    if average is None:
        return values
    weights = None
    if average == "weighted":
        weights = counts.n_true
    elif average == "samples":
        weights = check_sample_weight(sample_weight, len(values))
    is_defined = ~np.isnan(values)
    if not is_defined.any():
        return float("nan")
    if weights is not None:
        weights = weights[is_defined]
    return float(np.average(values[is_defined], weights=weights if weights is not None and weights.sum() != 0 else None))
