"""Which values are missing, which columns together, and whether that goes with the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer._report.data.association import of_pair
from mercer._report.data.columns import Feature
from mercer._report.data.content import Missing, MissingPattern

_MOST_COLUMNS = 30
_MOST_PATTERNS = 6
_MOST_NAMES = 6


def missing_of(features: Sequence[Feature], target: Feature) -> tuple[list[Missing], int, list[MissingPattern]]:
    """The columns with most missing values, how many there are at all, and the most frequent patterns among them."""
    holed = [each for each in features if np.isnan(each.train).any() or np.isnan(each.test).any()]
    holed.sort(key=lambda each: -float(np.isnan(each.train).mean()))
    lines = [
        Missing(
            column=each.name,
            train=float(np.isnan(each.train).mean()),
            test=float(np.isnan(each.test).mean()),
            target=_with_target(each, target),
        )
        for each in holed[:_MOST_COLUMNS]
    ]
    return lines, len(holed), _patterns(holed)


def _with_target(feature: Feature, target: Feature) -> float | None:
    """How strongly being missing goes with the target; None where it is always or never so."""
    is_missing = np.isnan(feature.train)
    if is_missing.all() or not is_missing.any():
        return None
    marked = Feature("", is_missing.astype(float), np.empty(0), ("known", "missing"))
    found = of_pair(marked, target)
    return None if found is None else found[0]


def _patterns(holed: Sequence[Feature]) -> list[MissingPattern]:
    """Sets of two columns or more that are missing in the same rows, the most frequent first."""
    if len(holed) < 2:
        return []
    masks = np.packbits(np.stack([np.isnan(each.train) for each in holed], axis=1), axis=1)
    kinds, counts = np.unique(masks, axis=0, return_counts=True)
    found = []
    for at in np.argsort(-counts, kind="stable"):
        columns = np.flatnonzero(np.unpackbits(kinds[at], count=len(holed))).tolist()
        if len(columns) > 1 and counts[at] > 1:
            names = [holed[column].name for column in columns]
            found.append(
                MissingPattern(columns=names[:_MOST_NAMES], n_others=max(0, len(names) - _MOST_NAMES), n=int(counts[at]))
            )
        if len(found) == _MOST_PATTERNS:
            break
    return found
