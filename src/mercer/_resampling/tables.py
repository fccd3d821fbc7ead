"""Tables with rows added: new rows and labels in the library, the columns and the types of those that were there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._rows import take_rows

Array = npt.NDArray[Any]


def pick_rows(table: Any, rows: Any) -> Any:
    """`take_rows`, with sparse matrices in the format that they have."""
    picked = take_rows(table, rows)
    return picked.asformat(table.format) if sp.issparse(table) else picked


def append_rows(table: Any, rows: Any) -> Any:
    """The table, and below it rows of numbers (an array, or sparse where the table is) cast to the types of its columns.

    Fractions are cut off in columns of whole numbers, and what is not zero is true in columns of truth values.
    """
    if _library(table) in ("pandas", "polars"):
        if sp.issparse(rows):
            rows = rows.tocsc()
            return append_columns(table, [rows[:, [place]] for place in range(rows.shape[1])])
        return append_columns(table, list(rows.T))
    if sp.issparse(table):
        return sp.vstack([table, rows.astype(table.dtype)], format=table.format)
    if isinstance(table, (list, tuple)):
        return [*table, *rows.tolist()]
    return np.concatenate([table, _cast(rows, table.dtype)])


def append_columns(table: Any, columns: Sequence[Any]) -> Any:
    """As `append_rows`, of new rows that are given by their columns, each of a type of its own."""
    if _library(table) == "pandas":
        import pandas as pd

        below = pd.concat(list(map(_as_pandas, columns, table.dtypes)), axis=1)
        below.columns = table.columns
        return pd.concat([table, below], ignore_index=True)
    if _library(table) == "polars":
        import polars as pl

        return pl.concat([table, pl.DataFrame(list(map(_as_polars, table.columns, columns, table.dtypes)))])
    rows = np.empty((len(columns[0]), len(columns)), dtype=np.result_type(*columns))
    for place, column in enumerate(columns):
        rows[:, place] = column
    return append_rows(table, sp.csr_array(rows) if sp.issparse(table) else rows)


def append_parts(table: Any, parts: Sequence[Any]) -> Any:
    """The table, and below it all parts: matrices, or lists of columns."""
    if isinstance(parts[0], list):
        return append_columns(table, [np.concatenate(column) for column in zip(*parts, strict=True)])
    if len(parts) == 1:
        return append_rows(table, parts[0])
    return append_rows(table, sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts))


def append_labels(y: Any, labels: Array) -> Any:
    """The target, and below it new labels (or lines of an indicator matrix) of its type. An index counts anew."""
    if _library(y) == "pandas":
        import pandas as pd

        if y.ndim == 2:
            return append_rows(y, labels.reshape(len(labels), -1))
        return pd.concat([y, pd.Series(labels, dtype=y.dtype, name=y.name)], ignore_index=True)
    if _library(y) == "polars":
        import polars as pl

        if len(y.shape) == 2:
            return append_rows(y, labels.reshape(len(labels), -1))
        return pl.concat([y, _as_polars(y.name, labels, y.dtype)])
    if sp.issparse(y):
        return sp.vstack([y, type(y)(labels.astype(y.dtype))], format=y.format)
    return [*y, *labels.tolist()] if isinstance(y, (list, tuple)) else np.concatenate([y, labels.astype(y.dtype)])


def columns_of(table: Any, places: npt.NDArray[np.intp]) -> Any:
    """Some columns, in the library of the table."""
    return table.iloc[:, places] if hasattr(table, "iloc") else table[:, places]


def names_categories(table: Any) -> Array | None:
    """Which columns of a frame are categories by their type; None where a table has no such types."""
    if _library(table) == "pandas":
        return np.array([str(dtype) == "category" for dtype in table.dtypes], dtype=bool)
    if _library(table) == "polars":
        return np.array(
            [str(dtype).partition("(")[0] in ("Categorical", "Enum", "String") for dtype in table.dtypes], dtype=bool
        )
    return None


def _library(table: Any) -> str:
    return type(table).__module__.partition(".")[0]


def _cast(values: Array, dtype: Any) -> Array:
    """Values of a column as another type; whole numbers have lost their fractions, as NumPy has it."""
    if values.dtype.kind == "f" and getattr(dtype, "kind", "") in "iu":
        values = np.trunc(values)
    return values.astype(dtype, copy=False)


def _as_pandas(values: Any, dtype: Any) -> Any:
    import pandas as pd

    if sp.issparse(values):
        return pd.DataFrame.sparse.from_spmatrix(values).iloc[:, 0].astype(dtype)
    if values.dtype.kind == "f" and getattr(dtype, "kind", "") in "iub":  # nullable types take no others
        values = values.astype(bool) if dtype.kind == "b" else np.trunc(values)
    return pd.Series(values).astype(dtype)


def _as_polars(name: str, values: Any, dtype: Any) -> Any:
    import polars as pl

    values = values.toarray().ravel() if sp.issparse(values) else values
    if values.dtype.kind == "O":
        return pl.Series(name, values.tolist(), dtype=dtype, strict=False)
    column = pl.Series(name, values)
    if column.dtype.is_float():  # what is missing in a frame of polars is null
        column = column.fill_nan(None)
    return column.cast(dtype)
