"""Bins of columns, for LIME: where they end, what they are called, and numbers drawn from within them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from mercer._arrays import FloatArray

_LEAST_SPREAD = 1e-11  # added to standard deviations, so that bins of one value have one


@dataclass(frozen=True)
class Bins:
    """The bins of one column: bin k reaches from above `lows[k]` up to `highs[k]`."""

    edges: FloatArray
    names: list[str]
    means: FloatArray
    deviations: FloatArray
    lows: FloatArray
    highs: FloatArray

    @classmethod
    def of(cls, column: FloatArray, edges: FloatArray, name: str) -> Bins:
        edges = np.unique(edges)
        codes = np.searchsorted(edges, column)
        means, deviations = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        for code in range(len(edges) + 1):
            inside = column[codes == code]
            if len(inside):
                means[code], deviations[code] = inside.mean(), inside.std()
        ends = [f"{edge:.2f}" for edge in edges]
        middle = [f"{low} < {name} <= {high}" for low, high in pairwise(ends)]
        return cls(
            edges,
            [f"{name} <= {ends[0]}", *middle, f"{name} > {ends[-1]}"],
            means,
            deviations + _LEAST_SPREAD,
            np.concatenate([[column.min()], edges]),
            np.concatenate([edges, [column.max()]]),
        )

    def codes(self, values: Any) -> npt.NDArray[np.intp]:
        """The bin of each value."""
        codes: npt.NDArray[np.intp] = np.searchsorted(self.edges, values)
        return codes

    def drawn(self, codes: npt.NDArray[np.intp], random: np.random.RandomState) -> FloatArray:
        """A number from within each bin: normal about the mean of the bin, cut off at its ends."""
        low = (self.lows - self.means) / self.deviations
        high = (self.highs - self.means) / self.deviations
        z = low[codes]
        is_wide = low[codes] != high[codes]
        wide = codes[is_wide]
        z[is_wide] = truncated_normal(random.uniform(size=len(wide)), low[wide], high[wide])
        values: FloatArray = z * self.deviations[codes] + self.means[codes]
        return np.clip(values, self.lows[codes], self.highs[codes])


def truncated_normal(u: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The u-quantile of a standard normal between bounds, taken from the tail that has the digits."""
    sign = np.where(low > 0, -1.0, 1.0)
    first, last = ndtr(np.where(low > 0, -low, low)), ndtr(np.where(low > 0, -high, high))
    values: FloatArray = sign * ndtri(first + u * (last - first))
    return np.clip(values, low, high)


def edges_of(kind: str, column: FloatArray, labels: Any, random_state: int) -> FloatArray:
    """Where the bins of a column end: quartiles, deciles, or the cuts of a tree of depth 3 that tells labels apart."""
    if kind == "entropy":
        from mercer.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(criterion="entropy", max_depth=3, random_state=random_state)
        fitted = tree.fit(column[:, None], labels).tree_
        cuts: FloatArray = np.sort(fitted.threshold[fitted.children_left > -1])
        return cuts if len(cuts) else np.array([np.median(column)])
    edges: FloatArray = np.percentile(column, [25, 50, 75] if kind == "quartile" else np.arange(10, 100, 10))
    return edges
