"""Tables as reports, pictures and importances need them: rows taken, columns shuffled or set, cells as text, of any library."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._rows import count_rows, take_rows, with_own_structure

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

    def shuffled(self, columns: int | Sequence[int], order: IntArray) -> Any:
        """The data with the cells of some columns in another order, all else as it is; the data itself is left alone."""
        return self._shuffled([columns] if isinstance(columns, (int, np.integer)) else list(columns), order)

    @abstractmethod
    def _shuffled(self, columns: list[int], order: IntArray) -> Any: ...

    @abstractmethod
    def with_values(self, columns: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> Any:
        """The data with other values in some columns, of the types that these have; the data itself is left alone."""

    @abstractmethod
    def column(self, column: int) -> npt.NDArray[Any]:
        """The values of one column."""

    @abstractmethod
    def cell(self, row: int, column: int) -> Any:
        """One value."""


class PolarsTable(Table):
    @property
    def names(self) -> list[str]:
        return list(self.data.columns)

    def _shuffled(self, columns: list[int], order: IntArray) -> Any:
        return self.data.with_columns([self.data.to_series(column).gather(order) for column in columns])

    def with_values(self, columns: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> Any:
        whole = [self.data.to_series(column) for column in columns]
        return self.data.with_columns([_like(old, np.asarray(given)) for old, given in zip(whole, values, strict=True)])

    def column(self, column: int) -> npt.NDArray[Any]:
        return np.asarray(self.data.to_series(column).to_numpy())

    def cell(self, row: int, column: int) -> Any:
        return self.data.item(row, column)


def _like(old: Any, given: npt.NDArray[Any]) -> Any:
    """Values as a polars series of the name and type of another; NaN is a missing value where that type has no NaN."""
    new = type(old)(old.name, given.tolist() if given.dtype == object else given)
    return (new.fill_nan(None) if new.dtype.is_float() and not old.dtype.is_float() else new).cast(old.dtype)


class PandasTable(Table):
    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.data.columns]

    def _shuffled(self, columns: list[int], order: IntArray) -> Any:
        changed = self.data.copy(deep=False)
        for column in columns:
            changed.isetitem(column, self.data.iloc[:, column].iloc[order].set_axis(self.data.index))
        return changed

    def with_values(self, columns: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> Any:
        changed = self.data.copy(deep=False)
        for column, given in zip(columns, values, strict=True):
            old = self.data.iloc[:, column]
            changed.isetitem(column, type(old)(given, index=self.data.index, dtype=old.dtype))
        return changed

    def column(self, column: int) -> npt.NDArray[Any]:
        return np.asarray(self.data.iloc[:, column])

    def cell(self, row: int, column: int) -> Any:
        return self.data.iat[row, column]


class ArrayTable(Table):
    @property
    def names(self) -> list[str]:
        return [f"x{index}" for index in range(self.data.shape[1])]

    def _shuffled(self, columns: list[int], order: IntArray) -> Any:
        changed = self.data.copy()
        for column in columns:
            changed[:, column] = self.data[order, column]
        return changed

    def with_values(self, columns: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> Any:
        changed = self.data.copy()
        for column, given in zip(columns, values, strict=True):
            changed[:, column] = given
        return changed

    def column(self, column: int) -> npt.NDArray[Any]:
        return np.asarray(self.data[:, column])

    def cell(self, row: int, column: int) -> Any:
        return self.data[row, column]


class SparseTable(Table):
    """A sparse matrix, of which columns are taken by their entries."""

    @property
    def names(self) -> list[str]:
        return [f"x{index}" for index in range(self.data.shape[1])]

    def _shuffled(self, columns: list[int], order: IntArray) -> Any:
        entries = self.data.tocsc()
        return self._replaced({column: entries[:, [column]].tocsr()[order] for column in columns})

    def with_values(self, columns: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> Any:
        return self._replaced(
            {
                column: sp.csr_matrix(np.asarray(given, dtype=self.data.dtype)[:, None])
                for column, given in zip(columns, values, strict=True)
            }
        )

    def _replaced(self, new: dict[int, Any]) -> Any:
        entries, parts, at = self.data.tocsc(), [], 0
        for column in sorted(new):
            parts += [entries[:, at:column], new[column]]
            at = column + 1
        parts.append(entries[:, at:])
        changed = sp.hstack([part for part in parts if part.shape[1]], format=self.data.format, dtype=self.data.dtype)
        return type(self.data)(changed)

    def column(self, column: int) -> npt.NDArray[Any]:
        return np.asarray(self.data.tocsc()[:, [column]].toarray())[:, 0]

    def cell(self, row: int, column: int) -> Any:
        return self.data.tocsr()[row, column]


def as_table(X: Any, name: str) -> Table:
    """The table around a polars or pandas frame, a sparse matrix or an array; `name` is that of the argument, for messages."""
    library = type(X).__module__.partition(".")[0]
    if library == "polars" and type(X).__name__ == "DataFrame":
        return PolarsTable(X)
    if library == "pandas" and hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return PandasTable(X)
    if sp.issparse(X) and X.ndim == 2:
        return SparseTable(with_own_structure(X))
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
