"""Columns of pandas and polars frames. Equal content gives equal bits from either."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._columns import (
    BOOLEAN,
    DURATION,
    MOMENT,
    NUMBER,
    Column,
    duration_column,
    float_column,
    label,
    object_column,
    refuse,
    words_column,
)


def pandas_column(name: str, series: Any) -> Column:
    """A pandas Series of any dtype: NumPy's, nullable, Arrow's, categorical, with a time zone."""
    import pandas as pd

    dtype, types = series.dtype, pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        levels = [label(level) for level in series.cat.categories.tolist()]
        return words_column(name, levels, series.cat.codes.to_numpy(), is_declared=True)
    if isinstance(dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
        dtype = series.dtype
    if types.is_complex_dtype(dtype):
        raise refuse(name, "complex numbers")
    if types.is_bool_dtype(dtype):
        return float_column(name, BOOLEAN, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_numeric_dtype(dtype):
        return float_column(name, NUMBER, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_datetime64_any_dtype(dtype):
        if getattr(series.dt, "tz", None) is not None:
            series = series.dt.tz_localize(None)  # what a clock on the wall shows
        return Column(name, MOMENT, np.ascontiguousarray(series.to_numpy(dtype="datetime64[us]")))
    if types.is_timedelta64_dtype(dtype):
        return duration_column(name, series.to_numpy())
    if isinstance(dtype, pd.IntervalDtype):
        series = series.astype(str).where(series.notna(), None)
    return object_column(name, series.tolist())


def polars_column(name: str, series: Any) -> Column:
    """A polars Series of any flat dtype."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Null:
        return float_column(name, NUMBER, np.full(len(series), np.nan))
    if dtype == pl.Boolean:
        return float_column(name, BOOLEAN, series.cast(pl.Float64).to_numpy())
    if dtype.is_decimal():  # by way of words, which are rounded correctly
        return float_column(name, NUMBER, series.cast(pl.String).cast(pl.Float64).to_numpy())
    if dtype.is_numeric():
        return float_column(name, NUMBER, series.cast(pl.Float64).to_numpy())
    if dtype in (pl.Date, pl.Datetime):
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.replace_time_zone(None)  # what a clock on the wall shows
        return Column(name, MOMENT, np.array(series.cast(pl.Datetime("us")).to_numpy(), dtype="datetime64[us]"))
    if dtype == pl.Duration:
        return duration_column(name, series.cast(pl.Duration("us")).to_numpy())
    if dtype == pl.Time:
        return float_column(name, DURATION, (series.cast(pl.Int64) // 1000).cast(pl.Float64).to_numpy() / 1e6)
    if dtype in (pl.Categorical, pl.Enum):
        return object_column(name, series.cast(pl.String).to_list(), is_declared=True)
    if dtype in (pl.String, pl.Object):
        return object_column(name, series.to_list())
    raise refuse(name, f"values of the type {dtype}")
