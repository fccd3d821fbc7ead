"""When rows were: dates, words that are dates, and numbers, as times that can be put in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mercer._arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl

_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%Y%m%d")
_EITHER_DAY_FIRST = ("%d/%m/%Y", "%m/%d/%Y")  # taken where only one of them reads all
_HOURS = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S%.f", "T%H:%M:%S%.f")
_N_LOOKED_AT = 50  # words that a format must read before all are read


class Times(NamedTuple):
    """The time of each row, NaN where there is none; what they were read by, as code; whether they are dates."""

    values: FloatArray
    code: str
    is_date: bool


def read_times(column: pl.Series) -> Times | None:
    """The times of a column; None where it holds none."""
    import polars as pl

    code = f"pl.col({column.name!r})"
    if column.dtype in (pl.Date, pl.Datetime):
        return Times(_as_floats(column.cast(pl.Datetime("us"))), code, True)
    if column.dtype.is_numeric():
        return Times(_as_floats(column), code, False)
    if column.dtype == pl.String:
        return _read_words(column, code)
    return None


def _read_words(column: pl.Series, code: str) -> Times | None:
    """Words by the one format that reads them all; months without a day are their first."""
    known = column.drop_nulls()
    if len(known) == 0:
        return None
    formats = [day + hour for day in _DAYS for hour in _HOURS]
    if found := next((each for each in formats if _reads(known, each)), None):
        return _by_format(column, found, code)
    for hour in _HOURS:
        fitting = [day + hour for day in _EITHER_DAY_FIRST if _reads(known, day + hour)]
        if fitting:
            return _by_format(column, fitting[0], code) if len(fitting) == 1 else None
    months = column + "-01"
    return _by_format(months, "%Y-%m-%d", f"({code} + '-01')") if _reads(months.drop_nulls(), "%Y-%m-%d") else None


def _reads(known: pl.Series, form: str) -> bool:
    return all(not part.str.to_datetime(form, strict=False).has_nulls() for part in (known.head(_N_LOOKED_AT), known))


def _by_format(column: pl.Series, form: str, code: str) -> Times:
    moments = column.str.to_datetime(form, strict=False, time_unit="us")
    return Times(_as_floats(moments), f"{code}.str.to_datetime({form!r})", True)


def _as_floats(column: pl.Series) -> FloatArray:
    """Numbers, or microseconds since 1970."""
    import polars as pl

    return np.asarray(column.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy())
