"""Tables as reports and pictures need them: rows taken, one column shuffled, a cell as text, whatever library they are of."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._rows import count_rows, take_rows

IntArray = npt.NDArray[np.intp]

_LONGEST_TEXT = 80
_MISSING = ("NAType", "NaTType")  # pandas' own


@dataclass(frozen=True)
class Table(ABC):
    """A table of rows and named columns around `data`, which models take as it is."""

    data: Any

    @property
    def n_rows(self) -> int:
        return count_rows(self.data)

    def take(self, rows: IntArray) -> Any:
        """The rows with these positions, in the library of the data."""
        return take_rows(self.data, rows)

    @property
    @abstractmethod
    def names(self) -> list[str]: ...

    @abstractmethod
    def shuffled(self, column: int, order: IntArray) -> Any:
        """The data with the cells of one column in another order, all else as it is; the data itself is left alone."""

    @abstractmethod
    def cell(self, row: int, column: int) -> Any:
        """One value."""


class PolarsTable(Table):
    @property
    def names(self) -> list[str]:
        return list(self.data.columns)

    def shuffled(self, column: int, order: IntArray) -> Any:
        return self.data.with_columns(self.data.to_series(column).gather(order))

    def cell(self, row: int, column: int) -> Any:
        return self.data.item(row, column)


class PandasTable(Table):
    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.data.columns]

    def shuffled(self, column: int, order: IntArray) -> Any:
        changed = self.data.copy(deep=False)
        changed.isetitem(column, self.data.iloc[:, column].iloc[order].set_axis(self.data.index))
        return changed

    def cell(self, row: int, column: int) -> Any:
        return self.data.iat[row, column]


class ArrayTable(Table):
    @property
    def names(self) -> list[str]:
        return [f"x{index}" for index in range(self.data.shape[1])]

    def shuffled(self, column: int, order: IntArray) -> Any:
        changed = self.data.copy()
        changed[:, column] = self.data[order, column]
        return changed

    def cell(self, row: int, column: int) -> Any:
        return self.data[row, column]


def as_table(X: Any, name: str) -> Table:
    """The table around a polars or pandas frame or a two-dimensional array; `name` is that of the argument, for messages."""
    library = type(X).__module__.partition(".")[0]
    if library == "polars" and type(X).__name__ == "DataFrame":
        return PolarsTable(X)
    if library == "pandas" and hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return PandasTable(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise TypeError(f"{name} is a {type(X).__name__}; it must be a polars or pandas data frame or a two-dimensional array.")
    return ArrayTable(array)


def as_text(value: Any) -> str:
    """A cell as a reader wants it: numbers with six figures, nothing for what is missing, long text cut."""
    if value is None or type(value).__name__ in _MISSING:
        return ""
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else f"{value:.6g}"
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"
