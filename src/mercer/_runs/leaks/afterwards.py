"""Columns that were filled in after the target was known, as far as their gaps give them away."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer._report.data.columns import Feature
from mercer._runs.leaks.target import Target

_PURE = 0.995
_FEWEST_ROWS = 20
_TOLD = 0.9  # of the way, by gaps alone
_CHANCE = 1e-6  # that so many rows are of one class for no reason


@dataclass(frozen=True)
class Gaps:
    """What the gaps of a column say of the target, in words."""

    name: str
    words: str


def gaps_of(feature: Feature, target: Target, n_columns: int) -> Gaps | None:
    """Where a value is missing (or known) in rows of nearly one class or number alone; None where gaps say little."""
    is_missing = np.isnan(feature.train)
    for part, word in ((~is_missing, "known"), (is_missing, "missing")):
        n = int(part.sum())
        if min(n, len(part) - n) < _FEWEST_ROWS:
            return None
        shown = _one_value(part, target, n_columns)
        if shown is not None:
            value, share = shown
            how = "all of them" if share == 1 else f"{share:.1%} of them"
            return Gaps(feature.name, f"it is {word} in {n:,} rows, {how} with the target {value}")
    skill = target.skill(target.by_group(is_missing.astype(np.intp), 2, np.ones(len(is_missing), dtype=bool)))
    if skill >= _TOLD:
        return Gaps(feature.name, f"whether it is missing tells {skill:.1%} of the target")
    return None


def _one_value(part: npt.NDArray[np.bool_], target: Target, n_columns: int) -> tuple[str, float] | None:
    """The value that nearly all rows of a part have, where it is too rare elsewhere for that to be chance."""
    values, counts = np.unique(target.plain[part], return_counts=True)
    at = int(np.argmax(counts))
    share, whole = counts[at] / counts.sum(), float((target.plain == values[at]).mean())
    if share < _PURE or whole >= 1:
        return None
    if counts.sum() * math.log(whole) > math.log(_CHANCE / n_columns):
        return None
    label = target.labels[int(values[at])] if target.is_classes else f"{values[at]:.6g}"
    return label, float(share)
