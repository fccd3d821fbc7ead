"""Rows with their numbers in the file that they come from: those of the table, and those of a file of test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._runs.errors import DataError
from mercer._runs.reading import ReadTable
from mercer._runs.settings import Settings

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class FileRows:
    """A table, the number of each row in its file, and which rows are of the test file."""

    table: pl.DataFrame
    numbers: Any
    is_test: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, table: pl.DataFrame, numbers: Any, test: ReadTable | None, settings: Settings) -> FileRows:
        """The rows that there are; `numbers` from 1 where they are not given."""
        numbers = np.arange(1, table.height + 1) if numbers is None else np.asarray(numbers)
        if test is None:
            return cls(table, numbers, np.zeros(table.height, dtype=bool))
        is_test = np.repeat([False, True], [table.height, test.table.height])
        return cls(_joined(table, test, settings), np.concatenate([numbers, test.numbers]), is_test)

    @property
    def learning(self) -> pl.DataFrame:
        """The rows that are not of the test file."""
        return self.table.filter(~self.is_test)

    def filter(self, is_kept: npt.NDArray[np.bool_]) -> FileRows:
        if is_kept.all():
            return self
        return replace(self, table=self.table.filter(is_kept), numbers=self.numbers[is_kept], is_test=self.is_test[is_kept])

    def take(self, places: npt.NDArray[np.intp]) -> FileRows:
        """The rows in another order."""
        if np.array_equal(places, np.arange(len(self.is_test))):
            return self
        return replace(self, table=self.table[places], numbers=self.numbers[places], is_test=self.is_test[places])


def _joined(table: pl.DataFrame, test: ReadTable, settings: Settings) -> pl.DataFrame:
    """The table with the test rows below, whose columns must be its own; others of theirs are passed over."""
    import polars as pl

    if lacking := [name for name in table.columns if name not in test.table.columns and name not in settings.drop]:
        shown = ", ".join(map(repr, lacking[:8])) + (" …" if len(lacking) > 8 else "")
        raise DataError(f"--test-file {settings.test_file}: there is no column {shown}, as {settings.source} has.")
    above, below = [], []
    for name in table.columns:
        mine = table[name]
        if name not in test.table.columns:  # it is dropped: what it holds does not matter
            above.append(mine)
            below.append(pl.Series(name, [None] * test.table.height, dtype=mine.dtype))
            continue
        theirs = test.table[name]
        if mine.dtype.is_numeric() and theirs.dtype.is_numeric() and mine.dtype != theirs.dtype:
            mine, theirs = mine.cast(pl.Float64), theirs.cast(pl.Float64)
        above.append(mine)
        below.append(_cast(theirs, mine.dtype, test.numbers, settings))
    return pl.concat([pl.DataFrame(above), pl.DataFrame(below)])


def _cast(column: pl.Series, dtype: Any, numbers: Any, settings: Settings) -> pl.Series:
    """A column of the test rows in the type that it has among those that learn."""
    import polars as pl

    if column.dtype == dtype:
        return column
    is_alike = column.null_count() == len(column) or dtype == pl.String
    try:
        cast = column.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        cast, is_alike = column, False
    is_lost = (cast.is_null() & column.is_not_null()).to_numpy()
    if is_lost.any() or not (is_alike or column.dtype == pl.String or dtype.is_temporal() == column.dtype.is_temporal()):
        place = int(np.argmax(is_lost)) if is_lost.any() else 0
        raise DataError(
            f"--test-file {settings.test_file}: column {column.name!r} holds {column[place]!r} in row {numbers[place]}; in "
            f"{settings.source} its values are of the type {dtype}."
        )
    return cast
