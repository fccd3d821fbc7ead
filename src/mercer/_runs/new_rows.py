"""Rows of another file in the types that columns had in training, whatever this file takes them for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._columns import MOMENT, Column
from mercer._frame_columns import polars_column
from mercer._kinds import A_VALUE, as_kind
from mercer._runs.columns_read import strange_words
from mercer._runs.errors import DataError
from mercer._runs.figures import Mark, figures_of, in_stacks, without_marks_of_missing

if TYPE_CHECKING:
    import polars as pl

_NUMERIC = re.compile(r"U?Int\d+|Float\d+|Decimal")
_TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_KEPT = 100  # strange values of a piece that are looked at
_MOST_STRANGE = 0.5
IsStrange = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Strange:
    """Values of a column that cannot be what the column was in training, which are taken as missing."""

    name: str
    what: str
    count: int
    values: list[Any]  # the first of them
    rows: npt.NDArray[np.intp]


@dataclass(frozen=True)
class TrainingTypes:
    """What the columns that a model uses were in training."""

    schema: Mapping[str, str]  # types in polars' words
    kinds: Mapping[str, str]  # of the columns that are used
    marks: Mapping[str, Mark]
    mark: Mark  # of all other columns
    nulls: tuple[str, ...]

    def typed(
        self, table: pl.DataFrame, numbers: npt.NDArray[np.intp], where: str
    ) -> tuple[pl.DataFrame, dict[str, Column], list[Strange]]:
        """The columns in use as in training, the same as columns of their kinds, and the values that are nothing of the kind.

        Most of a column being so means another column: an error that names a row. `where` is the file.
        """
        import polars as pl

        figures = self._figures(table)
        made: list[pl.Series] = []
        columns: dict[str, Column] = {}
        strange: list[Strange] = []
        for name, kind in self.kinds.items():
            series, is_strange = figures.get(name) or self._converted(table[name])
            column = _plain_column(series, where)
            converted = as_kind(column, kind, "missing")
            is_strange = is_strange | (converted.is_missing & ~column.is_missing)
            if is_strange.any():
                strange.append(_found(table[name], kind, is_strange, numbers))
                _refuse_most(strange[-1], int((~converted.is_missing).sum()), where)
                series = _null_where(series, is_strange)
            made.append(series)
            columns[name] = converted
        return pl.DataFrame(made), columns, strange

    def _figures(self, table: pl.DataFrame) -> dict[str, tuple[pl.Series, IsStrange]]:
        """Texts that were numbers in training, and which of them are none."""
        import polars as pl

        by_mark: dict[Mark, list[pl.Series]] = {}
        for name, kind in self.kinds.items():
            is_number = _NUMERIC.match(self.schema[name]) or kind == "number"
            if is_number and table.schema[name] == pl.String:
                by_mark.setdefault(self.marks.get(name, self.mark), []).append(self._without_nulls(table[name]))
        found: dict[str, tuple[pl.Series, IsStrange]] = {}
        for mark, texts in by_mark.items():
            for bare, values in in_stacks(texts, partial(figures_of, mark=mark)):
                found[bare.name] = values, (bare.is_not_null() & values.is_null()).to_numpy()
        return found

    def _without_nulls(self, texts: pl.Series) -> pl.Series:
        is_null = texts.is_in(list(self.nulls)).fill_null(False)
        return _null_where(texts, is_null.to_numpy()) if is_null.any() else texts

    def _converted(self, series: pl.Series) -> tuple[pl.Series, IsStrange]:
        """In the type of training, as far as the values can be, and which of them cannot."""
        import polars as pl

        wanted, nothing = self.schema[series.name], np.zeros(len(series), dtype=bool)
        if series.dtype == pl.String:
            series = self._without_nulls(series)
            if not wanted.startswith(("Boolean", "Date", "Time")):
                return series, nothing
            bare = without_marks_of_missing(series)
            values = _of_texts(bare, wanted)
            return values, (bare.is_not_null() & values.is_null()).to_numpy()
        if _NUMERIC.match(wanted) and series.dtype.is_numeric():
            values = series.cast(pl.Float64)
            is_infinite = values.is_infinite().fill_null(False).to_numpy()
            return (_null_where(values, is_infinite) if is_infinite.any() else values), is_infinite
        return series, nothing


def _null_where(series: pl.Series, is_null: IsStrange) -> pl.Series:
    import polars as pl

    return series.to_frame().select(pl.when(pl.lit(pl.Series(~is_null))).then(pl.first())).to_series().alias(series.name)


def _of_texts(bare: pl.Series, wanted: str) -> pl.Series:
    """Texts as truths, dates or times; null where they are none."""
    import polars as pl

    if wanted == "Boolean":
        return bare.str.to_lowercase().replace_strict(_TRUTHS, default=None, return_dtype=pl.Boolean)
    try:
        if wanted == "Date":
            return bare.str.to_date(strict=False)
        return bare.str.to_time(strict=False) if wanted == "Time" else bare.str.to_datetime(strict=False)
    except pl.exceptions.PolarsError:  # not one is a date
        return pl.Series(bare.name, [None] * len(bare), dtype=pl.Date if wanted == "Date" else pl.Datetime("us"))


def _plain_column(series: pl.Series, where: str) -> Column:
    try:
        return polars_column(series.name, series)
    except (ValueError, TypeError) as error:
        raise DataError(f"{where}: {str(error).splitlines()[0]}") from error


def _found(series: pl.Series, kind: str, is_strange: IsStrange, numbers: npt.NDArray[np.intp]) -> Strange:
    places = np.flatnonzero(is_strange)
    what = "no number" if kind == "number" else f"not {A_VALUE.get(kind, kind)}"
    first = places[:_KEPT]
    return Strange(series.name, what, len(places), series.gather(first).to_list(), numbers[first])


def _refuse_most(found: Strange, n_fine: int, where: str) -> None:
    """`n_fine`: of the values that are there, those that could be read."""
    if found.count <= _MOST_STRANGE * (n_fine + found.count):
        return
    said = strange_words(found.values, found.rows, found.what)
    more = "" if found.count <= len(found.values) else f" (of {found.count:,} such values)"
    raise DataError(f"{where}: column {found.name!r} is not what it was in training: {said}{more}.")


def figures_in(column: Column) -> npt.NDArray[np.float64]:
    """The values of a column that has an order, as floats; NaN where they are missing."""
    if column.storage == MOMENT:
        return np.where(column.is_missing, np.nan, column.values.astype(np.int64).astype(np.float64))
    return np.asarray(column.values, dtype=np.float64)
