"""Bootstrap by counts: how often each row is drawn, many resamples at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray

_BLOCK = 2**21  # counts held at a time
# A statistic of resamples: counts of shape (n_resamples, n_rows) in, one number a resample out.
Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of rows, drawn with replacement within strata, or of whole groups of rows.

    Attributes
    ----------
    n_rows, n_resamples : int
    strata : int array or None
        The stratum of each row, from 0: a resample has as many rows of each as the sample.
    groups : int array or None
        The group of each row, from 0: groups are drawn whole, and strata are not kept.
    seed : RandomState
    """

    n_rows: int
    n_resamples: int
    random: np.random.RandomState
    strata: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None

    @property
    def name(self) -> str:
        return "bootstrap" if self.groups is None else "bootstrap of groups"

    def intervals(self, statistics: Sequence[Statistic], level: float) -> list[tuple[float, float]]:
        """Percentile intervals, without the resamples in which a statistic is not defined. O(n_resamples n_rows) each."""
        found: list[list[FloatArray]] = [[] for _ in statistics]
        for counts in self._blocks():
            for values, statistic in zip(found, statistics, strict=True):
                values.append(statistic(counts))
        return [_percentiles(np.concatenate(values), level) for values in found]

    def _blocks(self) -> Iterator[FloatArray]:
        size = max(1, _BLOCK // self.n_rows)
        for start in range(0, self.n_resamples, size):
            yield self._counts(min(size, self.n_resamples - start))

    def _counts(self, n: int) -> FloatArray:
        if self.groups is not None:
            return _drawn(self.random, n, int(self.groups.max()) + 1)[:, self.groups]
        if self.strata is None:
            return _drawn(self.random, n, self.n_rows)
        counts = np.empty((n, self.n_rows))
        for stratum in np.unique(self.strata):
            rows = np.flatnonzero(self.strata == stratum)
            counts[:, rows] = _drawn(self.random, n, len(rows))
        return counts


def _drawn(random: np.random.RandomState, n: int, n_units: int) -> FloatArray:
    """How often each of `n_units` units is drawn in each of `n` resamples of as many."""
    drawn = random.randint(n_units, size=(n, n_units)) + n_units * np.arange(n)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * n_units).reshape(n, n_units).astype(np.float64)


def _percentiles(values: FloatArray, level: float) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return np.nan, np.nan
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
