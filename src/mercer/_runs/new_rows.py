"""Rows of another file in the types that columns had in training, whatever this file takes them for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._columns import MOMENT, Column
from mercer._frame_columns import polars_column
from mercer._kinds import A_VALUE, as_kind
from mercer._runs.columns_read import strange_words
from mercer._runs.errors import DataError
from mercer._runs.figures import Mark, figures_of, without_marks_of_missing

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

        made, columns, strange = [], {}, []
        for name, kind in self.kinds.items():
            series, is_strange = self._converted(table[name], kind)
            column = _plain_column(series, where)
            converted = as_kind(column, kind, "missing")
            is_strange |= converted.is_missing & ~column.is_missing
            if is_strange.any():
                strange.append(_found(table[name], kind, is_strange, numbers))
                _refuse_most(strange[-1], int((~converted.is_missing).sum()), where)
                series = series.to_frame().select(pl.when(pl.Series(~is_strange)).then(pl.col(name)).alias(name)).to_series()
            made.append(series)
            columns[name] = converted
        return pl.DataFrame(made), columns, strange

    def _converted(self, series: pl.Series, kind: str) -> tuple[pl.Series, IsStrange]:
        """In the type of training, as far as the values can be, and which of them cannot."""
        import polars as pl

        wanted = self.schema[series.name]
        if series.dtype == pl.String:
            series = (
                series.to_frame()
                .select(pl.when(~pl.col(series.name).is_in(list(self.nulls))).then(pl.col(series.name)))
                .to_series()
            )
            if wanted.startswith(("String", "Categorical", "Enum")) and kind != "number":
                return series, np.zeros(len(series), dtype=bool)
            bare = without_marks_of_missing(series)
            values = self._of_texts(bare, wanted)
            return values, (bare.is_not_null() & values.is_null()).to_numpy()
        if _NUMERIC.match(wanted) and series.dtype.is_numeric():
            values = series.cast(pl.Float64)
            is_infinite = values.is_infinite().fill_null(False)
            finite = values.to_frame().select(pl.when(pl.Series(~is_infinite)).then(pl.col(series.name)).alias(series.name))
            return finite.to_series(), is_infinite.to_numpy().copy()
        return series, np.zeros(len(series), dtype=bool)

    def _of_texts(self, bare: pl.Series, wanted: str) -> pl.Series:
        import polars as pl

        if wanted == "Boolean":
            lower = bare.str.to_lowercase()
            return lower.replace_strict(_TRUTHS, default=None, return_dtype=pl.Boolean)
        if wanted.startswith(("Date", "Time")):
            try:
                if wanted == "Date":
                    return bare.str.to_date(strict=False)
                return bare.str.to_time(strict=False) if wanted == "Time" else bare.str.to_datetime(strict=False)
            except pl.exceptions.PolarsError:  # not one is a date
                return pl.Series(bare.name, [None] * len(bare), dtype=pl.Date if wanted == "Date" else pl.Datetime("us"))
        return figures_of(bare, self.marks.get(bare.name, self.mark))


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
