"""Confidence intervals: Wilson's for shares, the bootstrap within classes for everything else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import norm

from mercer._arrays import FloatArray
from mercer._report.frames import IntArray

LEVEL = 0.95
Interval = tuple[float | None, float | None]

_N_RESAMPLES = 1000
_FEWEST_RESAMPLES = 200
_MOST_DRAWS = 2e7  # rows times resamples: about a second


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a share: the shares p that a two-sided normal test does not refuse.

    Unlike the estimate plus and minus its standard error it stays within [0, 1] and does not shrink to a point at the ends.
    """
    if n == 0:
        return None, None
    z = float(norm.ppf((1 + level) / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == n else centre + half)


def _percentiles(values: FloatArray, level: float) -> Interval:
    """The middle of the resampled values; None where they do not vary (nothing was wrong, say) or are mostly undefined."""
    defined = values[np.isfinite(values)]
    if len(defined) < len(values) / 2:
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return (float(low), float(high)) if low < high else (None, None)


def bootstrap_rows(
    measures: Mapping[str, Callable[[FloatArray], float]],
    strata: IntArray,
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
    most_resamples: int = _N_RESAMPLES,
) -> dict[str, Interval]:
    """Percentile intervals of functions of the weights of rows: how often each is drawn, with every stratum as large as it is.

    Strata are numbered from 0. The number of resamples depends on the number of rows alone: 1,000 up to 20,000 rows, then
    fewer, and never under 200.
    """
    n_rows = len(strata)
    n_resamples = int(np.clip(_MOST_DRAWS / max(n_rows, 1), _FEWEST_RESAMPLES, most_resamples))
    members = [rows for stratum in range(strata.max(initial=-1) + 1) if len(rows := np.flatnonzero(strata == stratum))]
    values = np.empty((n_resamples, len(measures)))
    weight = np.empty(n_rows)
    for resample in range(n_resamples):
        for rows in members:
            weight[rows] = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
        values[resample] = [measure(weight) for measure in measures.values()]
    return {name: _percentiles(column, level) for name, column in zip(measures, values.T, strict=True)}


def bootstrap_confusion(
    measures: Mapping[str, Callable[[FloatArray], FloatArray]],
    matrix: IntArray,
    rng: np.random.Generator,
    *,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Percentile intervals of functions of confusion matrices (along the first axis).

    Drawing the rows of a class with replacement draws its line of the matrix from a multinomial distribution: the same
    bootstrap as over rows, at a price that does not depend on their number.
    """
    totals = matrix.sum(axis=1)
    share = matrix / np.maximum(totals, 1)[:, None]
    share[totals == 0, 0] = 1.0  # a line without rows draws none
    lines = [rng.multinomial(total, line, size=_N_RESAMPLES) for total, line in zip(totals, share, strict=True)]
    resampled = np.stack(lines, axis=1)
    return {name: _percentiles(measure(resampled), level) for name, measure in measures.items()}
