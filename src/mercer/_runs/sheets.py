"""Tables from the sheets of Excel and LibreOffice (extra `excel`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mercer._runs.errors import DataError, RunError

if TYPE_CHECKING:
    import polars as pl

_UNNAMED = "__UNNAMED__"


def read_sheet(path: Path, asked: str | None) -> tuple[pl.DataFrame, str | None]:
    """A sheet with its first row as header, every cell as it is stored; and what is to be told of the choice of the sheet."""
    try:
        import fastexcel
    except ImportError as error:
        raise RunError(f"{path}: to read sheets takes fastexcel: pip install 'mercer[excel]'") from error
    try:
        book = fastexcel.read_excel(path)
        name = _chosen(path, book.sheet_names, asked)
        table = book.load_sheet(name, schema_sample_rows=None, dtype_coercion="coerce").to_polars()
    except fastexcel.FastExcelError as error:
        raise DataError(f"{path}: {str(error).strip().splitlines()[0].rstrip('.')}.") from error
    others = [sheet for sheet in book.sheet_names if sheet != name]
    told = None
    if others and asked is None:
        told = f"read from the sheet {name!r}, the first of {len(others) + 1} (--sheet names another: {_listed(others)})"
    return _named(path, name, table), told


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (" …" if len(names) > 6 else "")


def _chosen(path: Path, names: list[str], asked: str | None) -> str:
    if not names:
        raise DataError(f"{path}: there is no sheet in it.")
    if asked is None or asked in names:
        return asked or names[0]
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    raise RunError(f"--sheet {asked}: {path} has no such sheet. It has {_listed(names)}.")


def _named(path: Path, sheet: str, table: pl.DataFrame) -> pl.DataFrame:
    """Without the columns that have neither name nor value; one with values needs a name."""
    import polars as pl

    if table.width == 0:
        raise DataError(f"{path}: the sheet {sheet!r} is empty.")
    empty = [name for name in table.columns if name.startswith(_UNNAMED) and table[name].null_count() == table.height]
    table = table.drop(empty)
    if nameless := [place for place, name in enumerate(table.columns, start=1) if name.startswith(_UNNAMED)]:
        raise DataError(
            f"{path}: column {nameless[0]} of the sheet {sheet!r} has no name in its first row. A title above the table? Take "
            "it out, so that the names of the columns come first."
        )
    return table.with_columns(pl.selectors.string().replace("", None))
