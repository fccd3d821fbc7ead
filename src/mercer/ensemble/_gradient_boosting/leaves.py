"""What the rows of each leaf add up to: all that a line search asks of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer._trees.store import IntArray


@dataclass(frozen=True)
class Leaves:
    """The leaf of each row, by its number among all nodes, and the weights of the rows: None where all weigh one."""

    at: IntArray
    n_nodes: int
    weights: FloatArray | None = None

    @classmethod
    def single(cls, n_rows: int, weights: FloatArray | None) -> Leaves:
        """All rows in one leaf."""
        return cls(np.zeros(n_rows, dtype=np.int64), 1, weights)

    def sums(self, values: FloatArray) -> FloatArray:
        """The weighted sum over each leaf."""
        weighted = values if self.weights is None else values * self.weights
        return np.bincount(self.at, weights=weighted, minlength=self.n_nodes)

    def totals(self) -> FloatArray:
        """The weight of each leaf."""
        return np.bincount(self.at, weights=self.weights, minlength=self.n_nodes)

    def means(self, values: FloatArray) -> FloatArray:
        return divide(self.sums(values), self.totals())

    def quantiles(self, values: FloatArray, share: float) -> FloatArray:
        """The least value of each leaf at which `share` of its weight is reached (the inverse of the distribution function)."""
        out = np.zeros(self.n_nodes)
        for leaf, order in self._sorted(values):
            reached = np.arange(1.0, len(order) + 1) if self.weights is None else np.cumsum(self.weights[order])
            place = np.searchsorted(reached, share * reached[-1])
            out[leaf] = values[order[min(place, len(order) - 1)]]
        return out

    def _sorted(self, values: FloatArray) -> Iterator[tuple[int, IntArray]]:
        """Each leaf with its rows that count, in the order of their values."""
        rows = np.arange(len(values)) if self.weights is None else np.flatnonzero(self.weights)
        rows = rows[np.lexsort((values[rows], self.at[rows]))]
        ends = np.cumsum(np.bincount(self.at[rows], minlength=self.n_nodes))
        for leaf, (start, end) in enumerate(zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True)):
            if start < end:
                yield leaf, rows[start:end]

    def ranges(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the largest value of each leaf, of the rows that count; 0 for a leaf without any."""
        rows = slice(None) if self.weights is None else self.weights > 0
        low, high = np.full(self.n_nodes, np.inf), np.full(self.n_nodes, -np.inf)
        np.minimum.at(low, self.at[rows], values[rows])
        np.maximum.at(high, self.at[rows], values[rows])
        is_empty = low > high
        low[is_empty] = high[is_empty] = 0.0
        return low, high


def divide(one: FloatArray, other: FloatArray) -> FloatArray:
    """A ratio, 0 where the denominator vanishes: there is then nothing to gain."""
    is_safe = np.abs(other) > 1e-150
    out: FloatArray = np.divide(one, other, out=np.zeros_like(one), where=is_safe)
    return out
