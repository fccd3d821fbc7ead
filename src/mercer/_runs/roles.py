"""Columns that say something of rows and are no features: their weight, their group, and when they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._runs.errors import DataError, RunError
from mercer._runs.settings import FILE_ORDER, Settings
from mercer._runs.times import Times, read_times

if TYPE_CHECKING:
    import polars as pl

Rows = npt.NDArray[np.intp]


def role_columns(settings: Settings) -> dict[str, str]:
    """The columns that options give a role, by option."""
    named = {"--group": settings.group, "--weights": settings.weights, "--time-column": settings.time_column}
    return {flag: name for flag, name in named.items() if name is not None and (flag, name) != ("--time-column", FILE_ORDER)}


def check_roles(settings: Settings, columns: Sequence[str]) -> None:
    """Refuse a role for a column that is not there, or has another one."""
    taken = {settings.target: "the target"}
    for flag, name in role_columns(settings).items():
        if name in taken:
            raise RunError(f"{flag} {name}: this column is {taken[name]} already.")
        if name not in columns:
            shown = ", ".join(map(repr, columns[:12])) + (" …" if len(columns) > 12 else "")
            raise RunError(f"{flag} {name}: there is no such column. The columns are {shown}.")
        taken[name] = f"what {flag} names"


def weights_of(table: pl.DataFrame, name: str, numbers: Rows) -> FloatArray:
    """The weight of each row; what is no weight is said with its row."""
    column = table[name]
    if not column.dtype.is_numeric():
        raise DataError(f"--weights {name}: the column holds no numbers ({column.dtype}).")
    _refuse_missing("--weights", column, numbers, "a weight")
    values = column.cast(_float()).to_numpy().copy()
    is_wrong = ~np.isfinite(values) | (values < 0)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        remedy = "it must be finite and not negative"
        raise DataError(f"--weights {name}: row {numbers[place]} has the weight {values[place]:g}; {remedy}.")
    return np.asarray(values)


def check_some_weight(name: str, weights: FloatArray, what: str) -> None:
    """Refuse rows none of which counts."""
    if not weights.any():
        raise DataError(f"--weights {name}: every weight of the {what} is zero; at least one must be positive.")


def groups_of(table: pl.DataFrame, name: str, numbers: Rows) -> Rows:
    """The group of each row as a number from 0."""
    column = table[name]
    if column.dtype.is_nested() or column.dtype.is_object():
        raise DataError(f"--group {name}: the column holds no single values ({column.dtype}).")
    _refuse_missing("--group", column, numbers, "a group")
    return np.asarray(column.rank("dense").to_numpy(), dtype=np.intp) - 1


def times_of(table: pl.DataFrame, name: str, numbers: Rows) -> Times:
    """When each row was, by the column that the user names."""
    found = read_times(table[name])
    if found is None:
        remedy = "it must hold dates, such as 2024-12-31, or numbers that rise with time"
        values = ", ".join(map(str, table[name].drop_nulls().head(2)))
        raise DataError(f"--time-column {name}: values such as {values} are no times; {remedy}.")
    _refuse_missing("--time-column", table[name], numbers, "a time")
    if not np.isfinite(found.values).all():
        row = numbers[int(np.argmin(np.isfinite(found.values)))]
        raise DataError(f"--time-column {name}: row {row} has no finite time; every row needs one.")
    return found


def _refuse_missing(flag: str, column: pl.Series, numbers: Rows, what: str) -> None:
    is_missing = column.is_null().to_numpy()
    if column.dtype.is_float():
        is_missing = is_missing | column.is_nan().fill_null(False).to_numpy()
    if is_missing.any():
        places = np.flatnonzero(is_missing)
        more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
        who = f"rows {numbers[places[0]]}{more} have" if more else f"row {numbers[places[0]]} has"
        raise DataError(f"{flag} {column.name}: {who} no value; every row needs {what}.")


def _float() -> type[pl.Float64]:
    import polars as pl

    return pl.Float64
