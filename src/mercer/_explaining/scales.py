"""How far rows of a table are from one another, each column in units of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._columns import BOOLEAN, MOMENT, WORDS, Column, Table

_AS_WORDS = ("category", "boolean", "text")


class Distances:
    r"""The distances of a row to the rows of a table.

    .. math:: d(x, z) = \sum_j d_j(x_j, z_j).

    Numbers, dates and durations are apart by their difference in standard deviations of the table's column; words that differ
    are apart by one, and so is a missing value from one that is not.
    """

    def __init__(self, row: Any, table: Any, kinds: dict[str, str]) -> None:
        own, others = Table.of(row, "explain"), Table.of(table, "explain")
        self.names: tuple[str, ...] = others.names
        columns = [_distances(own.column(j), others.column(j), kinds.get(name, "")) for j, name in enumerate(self.names)]
        self.by_column: FloatArray = np.stack(columns, axis=1)

    @property
    def total(self) -> FloatArray:
        total: FloatArray = self.by_column.sum(axis=1)
        return total

    def of(self, name: str) -> FloatArray:
        """Those in one column."""
        column: FloatArray = self.by_column[:, self.names.index(name)]
        return column


def _distances(own: Column, others: Column, kind: str) -> FloatArray:
    if own.storage == WORDS or others.storage == WORDS or BOOLEAN in (own.storage, others.storage) or kind in _AS_WORDS:
        (word,) = _words(own)
        return np.asarray([other != word for other in _words(others)], dtype=np.float64)
    mine, theirs = _numbers(own), _numbers(others)
    spread = float(np.nanstd(theirs)) if np.isfinite(theirs).any() else 0.0
    apart: FloatArray = np.abs(theirs - mine) / (spread or 1.0)
    return np.where(np.isnan(theirs) | np.isnan(mine), (np.isnan(theirs) != np.isnan(mine)).astype(np.float64), apart)


def _numbers(column: Column) -> FloatArray:
    if column.storage != MOMENT:
        return column.values
    seconds = column.values.astype(np.int64) / 1e6
    return np.where(column.is_missing, np.nan, seconds)


def _words(column: Column) -> Sequence[Any]:
    """Values that equal themselves; None where one is missing."""
    known: npt.NDArray[Any] = column.values
    if column.storage == WORDS:
        return [column.levels[place] if place >= 0 else None for place in known.tolist()]
    return [None if missing else value for value, missing in zip(known.tolist(), column.is_missing.tolist(), strict=True)]
