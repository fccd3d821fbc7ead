"""Tables from users' files, as the command reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def read_table(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal_comma: bool = False,
    encoding: str | None = None,
    nulls: Sequence[str] | None = None,
    sheet: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Any:
    """A file as a polars frame, read as `mercer train` reads it (extra `cli`; for sheets `excel`).

    Parameters
    ----------
    path : str or Path
        CSV in any dialect (packed with gzip, bzip2, xz, zstd, or alone in a zip archive), Parquet, or a sheet of Excel or
        LibreOffice.
    separator : str or None, default=None
        What parts the fields of a CSV file; None finds it out.
    decimal_comma : bool, default=False
        Numbers are written 1,5. Where a column shows it beyond doubt, it is found out.
    encoding : str or None, default=None
        Of a CSV file; None: UTF-8, or what its bytes speak for.
    nulls : sequence of str or None, default=None
        Texts that mean a missing value, in place of the empty one, NA, N/A, NaN, nan, null, NULL, None and ?.
    sheet : str or None, default=None
        The name of a sheet, or its number from 1; None takes the first.
    kinds : mapping or None, default=None
        Kinds of columns by name: one of the kind "category" or "text" keeps its words, one of the kind "number" has none.

    Returns
    -------
    polars.DataFrame
        Blank lines left out. A column whose values are numbers as people write them ("1.234,50 €", "$1,200", "12 %") holds
        numbers; in one that is nearly all numbers (95 %, more than 20 of them distinct) the other values are missing, and so is
        infinity.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "prices.csv"
    ...     _ = path.write_text("item;price\\na;1.234,50 €\\nb;99,90 €\\n")
    ...     table = read_table(path)
    >>> table["price"].to_list()
    [1234.5, 99.9]
    """
    from mercer._runs.reading import NULLS, FileOptions, read_table as read

    options = FileOptions(separator, decimal_comma, encoding, NULLS if nulls is None else tuple(nulls), sheet)
    return read(Path(path), options, kinds).table
