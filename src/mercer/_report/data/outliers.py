"""Values that lie far beyond the middle half of their column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer._report.data.columns import Feature
from mercer._report.data.content import Outliers

_REACH = 3.0  # ranges of the middle half: Tukey's outer fences
_FEWEST_DISTINCT = 10
_MOST_COLUMNS = 15
_USUAL = 0.05  # a larger share is a long tail, and no exception


def outliers_of(features: Sequence[Feature]) -> list[Outliers]:
    """Columns of numbers with training values beyond the outer fences, the farthest first.

    Columns of which more than one value in twenty lies there have a long tail, and no outliers.
    """
    found = []
    for feature in features:
        if feature.is_words or feature.is_date or feature.n_distinct < _FEWEST_DISTINCT:
            continue
        values = feature.known
        first, third = np.quantile(values, [0.25, 0.75])
        width = third - first
        low, high = first - _REACH * width, third + _REACH * width
        beyond = values[(values < low) | (values > high)]
        if not width > 0 or not np.isfinite([low, high]).all() or not 0 < len(beyond) <= _USUAL * len(values):
            continue
        distance = np.maximum(low - beyond, beyond - high) / width
        line = Outliers(
            column=feature.name,
            n=len(beyond),
            share=len(beyond) / len(values),
            low=float(low),
            high=float(high),
            farthest=float(beyond[np.argmax(distance)]),
        )
        found.append((float(distance.max()), line))
    return [line for _, line in sorted(found, key=lambda pair: -pair[0])[:_MOST_COLUMNS]]
