"""The user's columns as numbers, for LIME, and numbers as the user's columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer.inspection._coalition_rows import cell_key


class Columns(ABC):
    """Tables of one kind and the matrix of numbers that stands for them; words are numbered."""

    names: list[Any] | None
    categories: dict[int, list[Any]]  # of columns of words

    @abstractmethod
    def numbers(self, rows: Any) -> FloatArray:
        """The matrix of a table of this kind."""

    @abstractmethod
    def table(self, numbers: FloatArray) -> Any:
        """The table of a matrix, as models take it."""


class ArrayColumns(Columns):
    def __init__(self, owner: str, rows: Any) -> None:
        array = np.asarray(rows)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{owner}: training_data is an array of shape {array.shape} and type {array.dtype}; it must be a table of "
                "numbers, or a data frame where columns hold words."
            )
        self.names, self.categories, self._owner, self._n_columns = None, {}, owner, array.shape[1]

    def numbers(self, rows: Any) -> FloatArray:
        matrix: FloatArray = np.atleast_2d(np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64))
        if matrix.ndim != 2 or matrix.shape[1] != self._n_columns:
            raise ValueError(
                f"{self._owner}: a row has {matrix.shape[-1]} values; it must have the {self._n_columns} columns of "
                "training_data."
            )
        return matrix

    def table(self, numbers: FloatArray) -> Any:
        return numbers


class FrameColumns(Columns):
    """A frame of pandas or polars, whose columns of words are numbered in the order in which they first come."""

    def __init__(self, owner: str, rows: Any) -> None:
        self._owner, self._kind = owner, type(rows)
        self.names = list(rows.columns)
        self.categories = {}
        self._pools: dict[int, Any] = {}
        for j in range(len(self.names)):
            column = self._column(rows, j)
            if not self._is_numeric(column):
                pool = column.drop_duplicates() if hasattr(column, "drop_duplicates") else column.unique(maintain_order=True)
                self._pools[j], self.categories[j] = pool, pool.to_list()

    @staticmethod
    def _column(rows: Any, j: int) -> Any:
        return rows.iloc[:, j] if hasattr(rows, "iloc") else rows.to_series(j)

    @staticmethod
    def _is_numeric(column: Any) -> bool:
        kind = getattr(column.dtype, "kind", None)
        return kind in ("f", "i", "u", "b") if kind is not None else column.dtype.is_numeric() or str(column.dtype) == "Boolean"

    def numbers(self, rows: Any) -> FloatArray:
        if hasattr(rows, "to_frame") and not hasattr(rows, "columns"):
            raise TypeError(f"{self._owner}: the row is a {type(rows).__name__}; give it as a frame of one row (X.iloc[[i]]).")
        if not isinstance(rows, self._kind) or list(rows.columns) != self.names:
            raise ValueError(
                f"{self._owner}: rows must be a {self._kind.__name__} with the columns of training_data: "
                f"{', '.join(map(repr, self.names or []))}."
            )
        matrix = np.empty(rows.shape)
        for j in range(rows.shape[1]):
            column = self._column(rows, j)
            matrix[:, j] = self._codes(j, column.to_list()) if j in self._pools else column.to_numpy()
        return matrix

    def _codes(self, j: int, values: list[Any]) -> list[int]:
        known = {cell_key(value): code for code, value in enumerate(self.categories[j])}
        unknown = next((value for value in values if cell_key(value) not in known), self)
        if unknown is not self:
            assert self.names is not None
            words = ", ".join(map(repr, self.categories[j][:20]))
            raise ValueError(
                f"{self._owner}: {unknown!r} is no value that {self.names[j]!r} has in training_data; those are {words}."
            )
        return [known[cell_key(value)] for value in values]

    def table(self, numbers: FloatArray) -> Any:
        assert self.names is not None
        if hasattr(self._kind, "iloc"):
            columns = {
                j: self._pools[j].array.take(column.astype(np.intp)) if j in self._pools else column
                for j, column in enumerate(numbers.T)
            }
            return self._kind(columns, copy=False).set_axis(self.names, axis=1)
        series = {
            name: self._pools[j].gather(column.astype(np.intp)) if j in self._pools else column
            for j, (name, column) in enumerate(zip(self.names, numbers.T, strict=True))
        }
        return self._kind(series)


def columns_of(owner: str, rows: Any) -> Columns:
    """The columns of a table of any kind."""
    if hasattr(rows, "columns") and type(rows).__module__.partition(".")[0] in ("pandas", "polars"):
        return FrameColumns(owner, rows)
    return ArrayColumns(owner, rows.toarray() if sp.issparse(rows) else rows)
