"""The bootstrap by counts: how often each row is drawn, many resamples at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._assessment.intervals import Interval, percentiles
from mercer._parallel import serial_blas

_BLOCK = 2**18  # counts held at a time: they and what is made of them stay in the cache
_FEWEST_RESAMPLES = 200  # of rows, however many there are
# A statistic of resamples: counts of shape (n_resamples, n_rows) in, one number a resample out.
Statistic = Callable[[FloatArray], FloatArray]


def on_sample(statistic: Statistic, n_rows: int, weights: FloatArray | None = None) -> float:
    """The statistic of the rows as they are, each counting by its weight."""
    with serial_blas():
        return float(statistic(np.ones((1, n_rows)) if weights is None else weights[None])[0])


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of rows, drawn with replacement within strata, or of whole groups of rows.

    Attributes
    ----------
    n_rows, n_resamples : int
    random : RandomState
    strata : int array or None
        The stratum of each row, from 0: a resample has as many rows of each as the sample.
    groups : int array or None
        The group of each row, from 0: groups are drawn whole, and strata are not kept.
    weights : array or None
        How much each row counts; None is equally.
    most_draws : float
        Rows times resamples beyond which there are fewer resamples of rows, though never under 200 (or `n_resamples`).
    """

    n_rows: int
    n_resamples: int
    random: np.random.RandomState
    strata: npt.NDArray[Any] | None = None
    groups: npt.NDArray[Any] | None = None
    most_draws: float = np.inf
    weights: FloatArray | None = None

    @property
    def is_of_plain_rows(self) -> bool:
        """Whether rows are drawn one by one and count equally, so that intervals in closed form hold."""
        return self.groups is None and self.weights is None

    def on_sample(self, statistic: Statistic) -> float:
        """The statistic of the rows as they are."""
        return on_sample(statistic, self.n_rows, self.weights)

    @property
    def name(self) -> str:
        return "bootstrap" if self.groups is None else "bootstrap of groups"

    def intervals(self, statistics: Mapping[str, Statistic], level: float) -> dict[str, Interval]:
        """Percentile intervals by name, without the resamples in which a statistic is not defined.

        O(n_resamples n_rows) each.
        """
        if not statistics:
            return {}
        found: dict[str, list[FloatArray]] = {name: [] for name in statistics}
        with serial_blas():  # many small products, and the same bits whatever number of threads BLAS has
            for counts in self._blocks():
                for name, statistic in statistics.items():
                    found[name].append(statistic(counts))
        return {name: percentiles(np.concatenate(values), level) for name, values in found.items()}

    def confusions(self, true: npt.NDArray[Any], predicted: npt.NDArray[Any], n_classes: int) -> FloatArray:
        """Resampled confusion matrices of shape (n_resamples, n_classes, n_classes), true classes down.

        Drawing the rows of a class with replacement draws its line of the matrix from a multinomial distribution: where the
        strata are the true classes this is the same bootstrap as over rows, at a price that does not depend on their number.
        """
        codes = true * n_classes + predicted
        if self.is_of_plain_rows and self.strata is not None and np.array_equal(self.strata, true):
            matrix = np.bincount(codes, minlength=n_classes**2).reshape(n_classes, n_classes)
            return _drawn_lines(self.random, self.n_resamples, matrix)
        cells = sp.csr_matrix((np.ones(self.n_rows), (codes, np.arange(self.n_rows))), (n_classes**2, self.n_rows))
        return np.concatenate([(cells @ counts.T).T for counts in self._blocks()]).reshape(-1, n_classes, n_classes)

    def _blocks(self) -> Iterator[FloatArray]:
        enough = max(_FEWEST_RESAMPLES, self.most_draws / max(self.n_rows, 1))
        n_resamples = self.n_resamples if self.n_resamples <= enough else int(enough)
        size = max(1, _BLOCK // self.n_rows)
        members = [] if self.strata is None else [np.flatnonzero(self.strata == each) for each in np.unique(self.strata)]
        for start in range(0, n_resamples, size):
            counts = self._counts(min(size, n_resamples - start), members)
            yield counts if self.weights is None else counts * self.weights

    def _counts(self, n: int, members: list[npt.NDArray[np.intp]]) -> FloatArray:
        """How often each row is drawn in `n` resamples; `members` are the rows of each stratum."""
        if self.groups is not None:
            return _drawn(self.random, n, int(self.groups.max()) + 1)[:, self.groups]
        if self.strata is None:
            return _drawn(self.random, n, self.n_rows)
        counts = np.empty((n, self.n_rows))
        for rows in members:
            counts[:, rows] = _drawn(self.random, n, len(rows))
        return counts


def _drawn(random: np.random.RandomState, n: int, n_units: int) -> FloatArray:
    """How often each of `n_units` units is drawn in each of `n` resamples of as many."""
    drawn = random.randint(n_units, size=(n, n_units)) + n_units * np.arange(n)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * n_units).reshape(n, n_units).astype(np.float64)


def _drawn_lines(random: np.random.RandomState, n: int, matrix: npt.NDArray[Any]) -> FloatArray:
    """`n` matrices whose lines are drawn with the shares and the totals of the lines of one."""
    totals = matrix.sum(axis=1)
    share = matrix / np.maximum(totals, 1)[:, None]
    lines = [random.multinomial(total, line, size=n) for total, line in zip(totals, share, strict=True)]
    return np.stack(lines, axis=1).astype(np.float64)
