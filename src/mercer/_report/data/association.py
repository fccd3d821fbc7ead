"""How strongly two columns of any kind go together, on one scale: 0 not at all, 1 (or -1) wholly."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from mercer._arrays import FloatArray
from mercer._report.data.columns import Feature
from mercer._report.data.content import Association, Associations

Measure = Literal["rank correlation", "Cramér's V", "correlation ratio"]

_N_IN_MATRIX = 12  # columns beside the target
_N_COMPARED = 60
_MOST_PAIRS = 15
_LEAST = 0.3  # of a pair that is listed
_MOST_ROWS = 5_000
_FEWEST_ROWS = 10


def of_pair(first: Feature, second: Feature) -> tuple[float, Measure] | None:
    """The measure that fits the kinds of two columns, over the training rows in which both are known. O(n log n).

    Numbers: Spearman's rank correlation. Words: Cramér's V without its bias (Bergsma, 2013). One of each: the root of the share
    of the variance of the ranks that lies between words, without its bias (epsilon squared; Kelley, 1935).
    """
    both = ~np.isnan(first.train) & ~np.isnan(second.train)
    if both.sum() < _FEWEST_ROWS:
        return None
    x, y = first.train[both], second.train[both]
    if first.is_words and second.is_words:
        value, measure = _cramer(x, y), "Cramér's V"
    elif first.is_words or second.is_words:
        words, numbers = (x, y) if first.is_words else (y, x)
        value, measure = _ratio(words, rankdata(numbers)), "correlation ratio"
    else:
        value, measure = _correlation(rankdata(x), rankdata(y)), "rank correlation"
    return None if value is None else (value, measure)  # type: ignore[return-value]


def _correlation(x: FloatArray, y: FloatArray) -> float | None:
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float(x @ x) * float(y @ y))
    return None if size == 0 else float(np.clip(x @ y / size, -1, 1))


def _cramer(x: FloatArray, y: FloatArray) -> float | None:
    rows, columns = (np.unique(values, return_inverse=True)[1] for values in (x, y))
    n, r, c = len(x), rows.max() + 1, columns.max() + 1
    if min(r, c) < 2 or r * c > 50 * n:  # more cells than rows can fill
        return None
    table = np.bincount(rows * c + columns, minlength=r * c).reshape(r, c)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = float(((table - expected) ** 2 / expected).sum()) / n
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    r, c = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    least = min(r, c) - 1
    return min(1.0, math.sqrt(phi / least)) if least > 1e-9 else None


def _ratio(words: FloatArray, numbers: FloatArray) -> float | None:
    codes = np.unique(words, return_inverse=True)[1]
    n, k = len(numbers), int(codes.max()) + 1
    total = float(((numbers - numbers.mean()) ** 2).sum())
    if k < 2 or n <= k or total == 0:
        return None
    counts = np.bincount(codes)
    means = np.bincount(codes, numbers) / counts
    within = float(((numbers - means[codes]) ** 2).sum())
    return math.sqrt(max(0.0, 1 - within / (n - k) * (n - 1) / total))


def associations_of(features: Sequence[Feature], target: Feature, deadline: float) -> tuple[Associations | None, str | None]:
    """The target and the leading columns among one another, and the strongest pairs of up to 60 columns.

    At most 5,000 rows are used. A note where the time cut it short.
    """
    kept = [_thinned(each) for each in features if _is_measurable(each)][:_N_COMPARED]
    if not kept:
        return None, None
    whole = [_thinned(target), *kept]
    known: dict[tuple[int, int], tuple[float, Measure] | None] = {}
    note = None
    for second in range(1, len(whole)):  # the leading columns, and the target, come first
        for first in range(second):
            known[first, second] = of_pair(whole[first], whole[second])
        if time.monotonic() > deadline:
            note = f"Associations: the time allowed {second} of {len(kept)} columns."
            whole = whole[: second + 1]
            break
    shown = whole[: 1 + _N_IN_MATRIX]
    pairs = [
        Association(first=whole[first].name, second=whole[second].name, value=found[0], measure=found[1])
        for (first, second), found in known.items()
        if found is not None and first > 0 and abs(found[0]) >= _LEAST
    ]
    pairs.sort(key=lambda pair: -abs(pair["value"]))
    return Associations(
        names=[each.name for each in shown],
        matrix=_matrix(known, len(shown)),
        pairs=pairs[:_MOST_PAIRS],
        n_columns=len(whole) - 1,
    ), note


def _matrix(known: dict[tuple[int, int], Any], size: int) -> list[list[float | None]]:
    def cell(first: int, second: int) -> float | None:
        if first == second:
            return 1.0
        found = known[min(first, second), max(first, second)]
        return None if found is None else round(found[0], 4)

    return [[cell(first, second) for second in range(size)] for first in range(size)]


def _is_measurable(feature: Feature) -> bool:
    return feature.n_distinct > 1 and not feature.is_free_text


def _thinned(feature: Feature) -> Feature:
    step = -(-len(feature.train) // _MOST_ROWS)
    return feature if step == 1 else Feature(feature.name, feature.train[::step], feature.test, feature.levels, feature.is_date)
