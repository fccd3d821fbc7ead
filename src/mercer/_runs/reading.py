"""Tables from files: CSV in its dialects, and Parquet. Anything wrong with a file is one clear line."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._runs.errors import DataError

if TYPE_CHECKING:
    import polars as pl

NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
SEPARATORS = (",", ";", "\t", "|")
_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".pq")


@dataclass(frozen=True)
class FileOptions:
    """How to read a CSV file. None: find out from the file."""

    separator: str | None = None
    decimal_comma: bool = False
    encoding: str = "utf-8"
    nulls: tuple[str, ...] = NULLS


class NumberedTable(NamedTuple):
    """A table, and the number of each row in its file: from 1 below the header, blank lines counted."""

    table: pl.DataFrame
    numbers: npt.NDArray[np.intp]


def is_parquet(path: Path) -> bool:
    return path.suffix in (".parquet", ".pq")


def check_readable(path: Path) -> None:
    """Refuse what is not a file of a known kind, and an empty one."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file.")
    if not path.is_file():
        raise DataError(f"{path}: this is not a file.")
    if not path.name.lower().endswith(_SUFFIXES):
        raise DataError(f"{path}: a file of this kind cannot be read. It must end in {', '.join(_SUFFIXES)}.")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty.")


def read_table(path: Path, options: FileOptions | None = None, schema: Mapping[str, Any] | None = None) -> NumberedTable:
    """The whole table, the type of every column found from all of its rows, or given by `schema` for the columns it names."""
    import polars as pl

    check_readable(path)
    with _one_line(path, options):
        if is_parquet(path):
            table = pl.read_parquet(path)
            is_row = np.ones(table.height, dtype=bool)
        else:
            source, keywords = _csv_arguments(path, options or FileOptions())
            table = pl.read_csv(source, infer_schema_length=None, schema_overrides=_known(schema, keywords), **keywords["read"])
            is_row = _is_row(table)
            table = table.filter(is_row)
            _refuse_short_lines(path, options or FileOptions(), table)
    if table.height == 0:
        raise DataError(f"{path}: there is a header and no rows.")
    return NumberedTable(table, np.flatnonzero(is_row) + 1)


def read_texts(path: Path, options: FileOptions | None = None) -> pl.DataFrame:
    """A CSV file with every cell as it is written; blank lines are rows without values, as `NumberedTable.numbers` "
    "count them."""
    import polars as pl

    check_readable(path)
    with _one_line(path, options):
        source, keywords = _csv_arguments(path, options or FileOptions())
        return pl.read_csv(source, separator=keywords["read"]["separator"], infer_schema=False)


def scan_batches(
    path: Path, options: FileOptions | None = None, schema: Mapping[str, Any] | None = None, *, n_rows: int = 50_000
) -> Iterator[pl.DataFrame]:
    """The table in pieces of some `n_rows`, in order, so that files larger than memory can be read."""
    import polars as pl

    check_readable(path)
    with _one_line(path, options):
        if is_parquet(path):
            lazy = pl.scan_parquet(path)
        else:
            source, keywords = _csv_arguments(path, options or FileOptions())
            lazy = pl.scan_csv(
                source, infer_schema_length=10_000, schema_overrides=_known(schema, keywords), **keywords["read"]
            )
        is_checked, is_empty = is_parquet(path), True
        for batch in lazy.collect_batches(chunk_size=n_rows, maintain_order=True):
            table = batch if is_parquet(path) else batch.filter(_is_row(batch))
            if not is_checked and _ends_missing(table):
                _refuse_short_lines(path, options or FileOptions(), table)
                is_checked = True
            is_empty = is_empty and table.height == 0
            yield table
        if is_empty:
            raise DataError(f"{path}: there is a header and no rows.")


def columns_of(path: Path, options: FileOptions | None = None) -> list[str]:
    """The names of the columns, from the header alone."""
    import polars as pl

    check_readable(path)
    with _one_line(path, options):
        if is_parquet(path):
            return list(pl.read_parquet_schema(path))
        return list(_csv_arguments(path, options or FileOptions())[1]["header"])


def _is_row(table: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """False for blank lines, which polars takes for rows without a single value."""
    import polars as pl

    if table.width < 2:
        return np.ones(table.height, dtype=bool)
    return table.select(~pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()


def _ends_missing(table: pl.DataFrame) -> bool:
    return table.width > 1 and table[:, -1].null_count() > 0


def _refuse_short_lines(path: Path, options: FileOptions, table: pl.DataFrame) -> None:
    """polars fills short lines up with missing values: where the last column has some, look whether they were in the file."""
    if _ends_missing(table) and (message := _ragged_line(path, options)):
        raise DataError(f"{path}: {message}")


def separator_of(path: Path, options: FileOptions) -> str:
    return _read_header(path, options)[1]


def _known(schema: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kind for name, kind in (schema or {}).items() if name in keywords["header"]}


def _csv_arguments(path: Path, options: FileOptions) -> tuple[Any, dict[str, Any]]:
    """What polars reads, and how; the header is checked on the way."""
    header, separator = _read_header(path, options)
    read = {
        "separator": separator,
        "decimal_comma": options.decimal_comma,
        "null_values": list(options.nulls),
        "try_parse_dates": True,
        "missing_columns": "raise",
    }
    is_utf8 = options.encoding.lower().replace("-", "") in ("utf8", "utf8sig")
    if is_utf8 and path.suffix != ".gz":
        return path, {"header": header, "read": read}
    with _opened(path, options.encoding) as text:  # polars reads UTF-8 alone
        return text.read().encode(), {"header": header, "read": read}


@contextmanager
def _opened(path: Path, encoding: str) -> Iterator[IO[str]]:
    """The text of a file, unpacked if need be; a mark of byte order at its head is passed over."""
    name = "utf-8-sig" if encoding.lower().replace("-", "") == "utf8" else encoding
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as raw, io.TextIOWrapper(raw, encoding=name, newline="") as text:
        yield text


def _read_header(path: Path, options: FileOptions) -> tuple[list[str], str]:
    with _opened(path, options.encoding) as text:
        line = text.readline()
        if not line.strip():
            raise DataError(f"{path}: the first line is blank; it must hold the names of the columns.")
        separator = options.separator or max(SEPARATORS, key=line.count)
        header = next(csv.reader([line], delimiter=separator))
    names = [name.strip() for name in header]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"{path}: {_listed(twice)} more than once in the header. Every column needs a name of its own.")
    if "" in names:
        raise DataError(f"{path}: column {names.index('') + 1} has no name in the header.")
    return header, separator


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:5])) + (" …" if len(names) > 5 else "")
    return f"{shown} {'stands' if len(names) == 1 else 'stand'}"


@contextmanager
def _one_line(path: Path, options: FileOptions | None = None) -> Iterator[None]:
    """Turn what a reader says of a damaged file into one line that names the file, the place and the remedy."""
    import polars as pl

    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} (0x{error.object[error.start]:02x}) is not {error.encoding}. "
            "Name the file's encoding, such as --encoding latin-1."
        ) from error
    except (LookupError, gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"{path}: {error}.") from error
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {_diagnosis(path, error, options or FileOptions())}") from error


def _diagnosis(path: Path, error: Exception, options: FileOptions) -> str:
    """What is wrong with a file that polars refused. A CSV file is read once more, line by line, to find the place."""
    first_line = str(error).strip().splitlines()[0].rstrip(".")
    if is_parquet(path):
        return f"{first_line}."
    if "utf-8" in first_line or "utf8" in first_line:
        return f"{_bad_byte(path)} Name the file's encoding, such as --encoding latin-1."
    return _ragged_line(path, options) or f"{first_line}."


def _bad_byte(path: Path) -> str:
    position = 0
    with path.open("rb") as file:
        for line in file:
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return f"byte {position + error.start} (0x{line[error.start]:02x}) is not UTF-8."
            position += len(line)
    return "the text is not UTF-8."


def _ragged_line(path: Path, options: FileOptions) -> str | None:
    """What is wrong with the first line that does not have as many fields as the header."""
    header, separator = _read_header(path, options)
    with _opened(path, options.encoding) as text:
        rows = csv.reader(text, delimiter=separator, strict=True)
        try:
            for row in rows:
                if row and len(row) != len(header):
                    return (
                        f"line {rows.line_num} has {len(row)} fields where the header has {len(header)} "
                        f"(separated by {separator!r}; another separator is given by --separator)."
                    )
        except csv.Error as error:
            return f"line {rows.line_num}: {error}."
    return None
