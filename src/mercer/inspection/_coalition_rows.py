"""Rows of coalitions: some players have the values of a row, the others those of the background, in the user's own columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._rows import take_rows

IntArray = npt.NDArray[np.int32]
MaskArray = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Pairs:
    """Which row meets which coalition: row `row_of[t]` with mask `mask_of[t]`; column j belongs to player `player_of[j]`."""

    masks: MaskArray
    player_of: IntArray
    row_of: IntArray
    mask_of: IntArray


class Table(ABC):
    """The background as a table of one kind, and rows of that kind made from it."""

    def __init__(self, owner: str, names: list[Any] | None, n_rows: int, n_columns: int) -> None:
        self.owner, self.names, self.n_rows, self.n_columns = owner, names, n_rows, n_columns

    @abstractmethod
    def admit(self, X: Any) -> Any:
        """X as `mixed` takes it; an error where its columns are others."""

    @abstractmethod
    def for_model(self, rows: Any) -> Any:
        """Admitted rows as the model takes them."""

    @abstractmethod
    def mixed(self, X: Any, pairs: Pairs) -> Any:
        """For each pair a row for each row of the background, as the model takes them."""

    @abstractmethod
    def differs(self, X: Any) -> npt.NDArray[np.bool_]:
        """For each value of admitted rows whether some row of the background has another."""

    @property
    @abstractmethod
    def own_rows(self) -> Any:
        """The background itself, admitted."""

    @staticmethod
    @abstractmethod
    def cells(X: Any) -> npt.NDArray[Any]:
        """Admitted rows as one array, to be shown."""

    def _require_columns(self, X: Any) -> None:
        """Refuse rows with other columns than the background, by name where both have names."""
        shape = np.shape(X)
        if len(shape) != 2:
            raise ValueError(f"{self.owner}: X has the shape {shape}; it must be a table of rows and columns.")
        given = list(X.columns) if hasattr(X, "columns") else None
        if given is not None and self.names is not None and given != self.names:
            missing = [name for name in self.names if name not in given]
            surplus = [name for name in given if name not in self.names]
            said = [f"it lacks {', '.join(map(repr, missing))}"] * bool(missing)
            said += [f"it has {', '.join(map(repr, surplus))}"] * bool(surplus)
            raise ValueError(
                f"{self.owner}: X has other columns than the background: {' and '.join(said) or 'their order differs'}. Give "
                f"the columns {', '.join(map(repr, self.names))}."
            )
        if shape[1] != self.n_columns:
            raise ValueError(f"{self.owner}: X has {shape[1]} columns; it must have the {self.n_columns} of the background.")


class NumberTable(Table):
    """Numbers of one type, which a kernel mixes; framed again where they come from a frame whose names the model wants."""

    def __init__(self, owner: str, rows: FloatArray, names: list[Any] | None, frame: type | None) -> None:
        super().__init__(owner, names, *rows.shape)
        self._rows, self._frame = np.ascontiguousarray(rows), frame

    @property
    def own_rows(self) -> FloatArray:
        return self._rows

    def admit(self, X: Any) -> FloatArray:
        X = X if hasattr(X, "shape") else np.asarray(X)
        self._require_columns(X)
        try:
            return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=self._rows.dtype)
        except (TypeError, ValueError):
            raise ValueError(f"{self.owner}: X holds words or objects where the background holds numbers alone.") from None

    def for_model(self, rows: FloatArray) -> Any:
        if self._frame is None:
            return rows
        if self._frame.__module__.partition(".")[0] == "polars":
            return self._frame(rows, schema=self.names, orient="row")
        return self._frame(rows, columns=self.names, copy=False)

    def mixed(self, X: FloatArray, pairs: Pairs) -> Any:
        return self.for_model(self._mixed(X, pairs))

    def _mixed(self, X: FloatArray, pairs: Pairs) -> FloatArray:
        out = np.empty((len(pairs.row_of) * self.n_rows, self.n_columns), dtype=self._rows.dtype)
        kernels.coalition_rows(
            X, self._rows, pairs.masks, pairs.player_of, pairs.row_of, pairs.mask_of, out, effective_threads(None)
        )
        return out

    def differs(self, X: FloatArray) -> npt.NDArray[np.bool_]:
        first = self._rows[0]
        is_same = (self._rows == first) | (np.isnan(self._rows) & np.isnan(first))
        as_first = np.equal(X, first) | (np.isnan(X) & np.isnan(first))
        different: npt.NDArray[np.bool_] = ~(as_first & is_same.all(axis=0))
        return different

    @staticmethod
    def cells(X: FloatArray) -> npt.NDArray[Any]:
        return X


class SparseTable(NumberTable):
    """Sparse rows, which are dense only while they are mixed, a few at a time."""

    def __init__(self, owner: str, rows: Any) -> None:
        super().__init__(owner, rows.toarray().astype(np.result_type(rows.dtype, np.float32), copy=False), None, None)

    def admit(self, X: Any) -> Any:
        X = X if hasattr(X, "shape") else np.asarray(X)
        self._require_columns(X)
        return sp.csr_matrix(X, dtype=self._rows.dtype)

    def for_model(self, rows: Any) -> Any:
        return sp.csr_matrix(rows)

    def mixed(self, X: Any, pairs: Pairs) -> Any:
        needed, row_of = np.unique(pairs.row_of, return_inverse=True)
        here = Pairs(pairs.masks, pairs.player_of, row_of.astype(np.int32), pairs.mask_of)
        return self.for_model(self._mixed(X[needed].toarray(), here))

    def differs(self, X: Any) -> npt.NDArray[np.bool_]:
        different = np.empty(X.shape, dtype=bool)
        step = max(1, 2**20 // X.shape[1])
        for start in range(0, X.shape[0], step):
            different[start : start + step] = super().differs(X[start : start + step].toarray())
        return different

    @staticmethod
    def cells(X: Any) -> npt.NDArray[Any]:
        return np.asarray(X.toarray())


class PooledTable(Table):
    """Columns of any types: background and rows are put together, and a column of mixed rows is taken from the pool."""

    def __init__(self, owner: str, rows: Any, names: list[Any] | None) -> None:
        super().__init__(owner, names, *rows.shape)
        self._rows = rows

    @property
    def own_rows(self) -> Any:
        return self._rows

    def admit(self, X: Any) -> Any:
        if type(X).__module__.partition(".")[0] != type(self._rows).__module__.partition(".")[0]:
            raise TypeError(
                f"{self.owner}: X is a {type(X).__name__}; it must be a {type(self._rows).__name__} as the background is."
            )
        self._require_columns(X)
        return X

    def for_model(self, rows: Any) -> Any:
        return rows

    def mixed(self, X: Any, pairs: Pairs) -> Any:
        needed, number_of = np.unique(pairs.row_of, return_inverse=True)
        pool = self._joined(take_rows(X, needed))
        own = (self.n_rows + number_of)[:, None]
        others = np.arange(self.n_rows)[None, :]
        places = {
            player: np.where(pairs.masks[pairs.mask_of, player][:, None], own, others).ravel()
            for player in np.unique(pairs.player_of).tolist()
        }
        return self._taken(pool, [places[player] for player in pairs.player_of.tolist()])

    def differs(self, X: Any) -> npt.NDArray[np.bool_]:
        different = np.empty((X.shape[0], self.n_columns), dtype=bool)
        for j in range(self.n_columns):
            own = [cell_key(value) for value in self._column(self._rows, j)]
            is_one = all(value == own[0] for value in own)
            different[:, j] = [not (is_one and cell_key(value) == own[0]) for value in self._column(X, j)]
        return different

    @abstractmethod
    def _joined(self, X: Any) -> Any:
        """The background and other rows in one table."""

    @abstractmethod
    def _taken(self, pool: Any, places: list[npt.NDArray[np.intp]]) -> Any:
        """A table whose columns are those of the pool at these places."""

    @staticmethod
    @abstractmethod
    def _column(rows: Any, j: int) -> list[Any]:
        """A column as a list."""


class ObjectTable(PooledTable):
    def _joined(self, X: Any) -> Any:
        return np.concatenate([self._rows, X])

    def _taken(self, pool: Any, places: list[npt.NDArray[np.intp]]) -> Any:
        mixed = np.empty((len(places[0]), self.n_columns), dtype=pool.dtype)
        for j, taken in enumerate(places):
            mixed[:, j] = pool[taken, j]
        return mixed

    @staticmethod
    def _column(rows: Any, j: int) -> list[Any]:
        column: list[Any] = rows[:, j].tolist()
        return column

    @staticmethod
    def cells(X: Any) -> npt.NDArray[Any]:
        return np.asarray(X)


class PandasTable(PooledTable):
    def _joined(self, X: Any) -> Any:
        import pandas

        return pandas.concat([self._rows, X], ignore_index=True)

    def _taken(self, pool: Any, places: list[npt.NDArray[np.intp]]) -> Any:
        columns = {j: pool.iloc[:, j].array.take(taken) for j, taken in enumerate(places)}
        return type(pool)(columns, copy=False).set_axis(pool.columns, axis=1)

    @staticmethod
    def _column(rows: Any, j: int) -> list[Any]:
        column: list[Any] = rows.iloc[:, j].tolist()
        return column

    @staticmethod
    def cells(X: Any) -> npt.NDArray[Any]:
        return np.asarray(X.to_numpy(dtype=object))


class PolarsTable(PooledTable):
    def _joined(self, X: Any) -> Any:
        import polars

        return polars.concat([self._rows, X], how="vertical_relaxed")

    def _taken(self, pool: Any, places: list[npt.NDArray[np.intp]]) -> Any:
        return type(pool)([pool.to_series(j).gather(taken) for j, taken in enumerate(places)])

    @staticmethod
    def _column(rows: Any, j: int) -> list[Any]:
        column: list[Any] = rows.to_series(j).to_list()
        return column

    @staticmethod
    def cells(X: Any) -> npt.NDArray[Any]:
        return np.array(X.rows(), dtype=object).reshape(X.shape)


def table_of(owner: str, rows: Any, *, takes_names: bool = True) -> Table:
    """The background as the kind of table that it is."""
    if sp.issparse(rows):
        return SparseTable(owner, rows)
    library = type(rows).__module__.partition(".")[0]
    if library in ("pandas", "polars") and hasattr(rows, "columns"):
        names = list(rows.columns)
        types = {str(kind).lower() if library == "polars" else str(kind) for kind in rows.dtypes}
        has_nulls = library == "polars" and sum(rows.null_count().row(0)) > 0
        if types in ({"float64"}, {"float32"}) and not has_nulls:
            return NumberTable(owner, rows.to_numpy(), names, type(rows) if takes_names else None)
        return (PandasTable if library == "pandas" else PolarsTable)(owner, rows, names)
    array = np.asarray(rows)
    if array.ndim != 2:
        raise ValueError(f"{owner}: data has the shape {array.shape}; it must be a table of rows and columns.")
    if array.dtype.kind not in "fiub":
        return ObjectTable(owner, array.astype(object), None)
    return NumberTable(owner, array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False), None, None)


def number_table(owner: str, rows: Any, *, takes_names: bool = True) -> NumberTable:
    """The background as numbers, whatever types its columns have; an error where they are words."""
    if sp.issparse(rows):
        return SparseTable(owner, rows)
    names = list(rows.columns) if hasattr(rows, "columns") else None
    try:
        numbers = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{owner}: data holds words or objects; every column must hold numbers.") from None
    if numbers.ndim != 2:
        raise ValueError(f"{owner}: data has the shape {numbers.shape}; it must be a table of rows and columns.")
    return NumberTable(owner, numbers, names, type(rows) if names is not None and takes_names else None)


def cell_key(value: Any) -> Any:
    """A value that equals itself, missing ones among themselves."""
    return None if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value else value
