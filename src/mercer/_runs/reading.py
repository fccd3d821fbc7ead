"""Tables from files: CSV in its dialects, sheets, and Parquet. Anything wrong with a file is one clear line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mercer._lazy import lazy_property
from mercer._runs.alerts import Alert
from mercer._runs.columns_read import WORDS, Meanings, grouped_thousands, has_decimal_commas, numbers_among_texts
from mercer._runs.errors import DataError, RunError
from mercer._runs.figures import Mark
from mercer._runs.file_options import NULLS as NULLS, FileOptions as FileOptions
from mercer._runs.files import (
    check_readable,
    found_encoding,
    is_parquet as is_parquet,
    kind_of,
    opened,
    packing_of,
    plain_text,
    unpacked,
)
from mercer._runs.sheets import read_sheet

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = (",", ";", "\t", "|")
_LINES_LOOKED_AT = 50  # to find out what separates fields
_LONGEST_FIELD = 1 << 30


@dataclass(frozen=True)
class ReadTable:
    """A table, the number of each row in its file (from 1 below the header, blank lines counted), and what to know of it."""

    table: pl.DataFrame
    numbers: npt.NDArray[np.intp]
    alerts: tuple[Alert, ...] = ()
    marks: Mapping[str, Mark] = field(default_factory=dict)  # of the columns whose numbers are not written plainly
    notes: Mapping[str, str] = field(default_factory=dict)  # what to know of single columns
    is_plain: bool = False  # whether polars alone reads the same

    def __iter__(self) -> Iterator[Any]:
        """As the pair that most callers want."""
        return iter((self.table, self.numbers))


class Piece(NamedTuple):
    """Some rows of a file as they stand in it: of texts every cell as it is written."""

    table: pl.DataFrame
    numbers: npt.NDArray[np.intp]


class RowFile:
    """A file of rows: what it is is found out once."""

    def __init__(self, path: Path, options: FileOptions | None = None) -> None:
        check_readable(path)
        self.path, self.options, self.kind = path, options or FileOptions(), kind_of(path)
        if self.options.sheet is not None and self.kind != "sheets":
            raise RunError(f"--sheet {self.options.sheet}: {path} has no sheets.")

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @lazy_property
    def _found(self) -> tuple[str, str | None]:
        return (self.options.encoding, None) if self.options.encoding else found_encoding(self.path)

    @property
    def encoding(self) -> str:
        """Of a text."""
        return self._found[0]

    @property
    def guesses(self) -> list[str]:
        """What was guessed and should be told."""
        if self.is_text:
            return [told] if (told := self._found[1]) else []
        return [told] if self.kind == "sheets" and (told := self._sheet[1]) else []

    @property
    def sheet(self) -> pl.DataFrame:
        """Of a file of sheets, the one that is read."""
        return self._sheet[0]

    @property
    def whole(self) -> pl.DataFrame:
        """A file that is no text, with all its rows."""
        import polars as pl

        return pl.read_parquet(self.path, glob=False) if self.kind == "parquet" else self.sheet

    @property
    def is_simple(self) -> bool:
        """Whether polars reads this file without help."""
        if not self.is_text:
            return self.kind == "parquet"
        return packing_of(self.path) in (None, "gzip") and self._found[1] is None

    @lazy_property
    def _sheet(self) -> tuple[pl.DataFrame, str | None]:
        return read_sheet(self.path, self.options.sheet)

    @lazy_property
    def _head(self) -> tuple[list[str], str]:
        with one_line(self):
            return _read_header(self)

    @property
    def separator(self) -> str:
        return self._head[1]

    @property
    def columns(self) -> list[str]:
        """Their names, from the header alone."""
        import polars as pl

        if self.is_text:
            return self._head[0]
        with one_line(self):
            return list(pl.read_parquet_schema(self.path)) if self.kind == "parquet" else self.sheet.columns


def read_table(
    path: Path, options: FileOptions | None = None, kinds: Mapping[str, str] | None = None, file: RowFile | None = None
) -> ReadTable:
    """The whole table, the type of every column found from all of its rows. `kinds` are those that the user gives columns."""
    import polars as pl

    file = file or RowFile(path, options)
    known = Meanings(pl.DataFrame())
    with one_line(file):
        if file.is_text:
            known, is_row = _read_text(file, kinds or {})
            table = known.table
        else:
            table = file.whole if file.kind == "parquet" else _without(file.whole, file.options.nulls)
            is_row = np.ones(table.height, dtype=bool) if file.kind == "parquet" else _is_row(table)
            table = table.filter(is_row)
    if table.height == 0:
        raise DataError(f"{path}: there is a header and no rows.")
    numbers = np.flatnonzero(is_row) + 1
    found = numbers_among_texts(table, numbers, kinds or {}, _hint(file))
    alerts = (*(Alert("info", None, guess, None) for guess in file.guesses), *known.alerts, *found.alerts)
    marks, notes = {**known.marks, **found.marks}, {**known.notes, **found.notes}
    return ReadTable(found.table, numbers, alerts, marks, notes, file.is_simple and not alerts)


def _hint(file: RowFile) -> Mark | None:
    """The decimal mark where a column alone does not tell: Excel parts fields by semicolons where commas are taken."""
    if file.options.decimal_comma:
        return "comma"
    return "comma" if file.is_text and file.separator == ";" else None


def _read_text(file: RowFile, kinds: Mapping[str, str]) -> tuple[Meanings, npt.NDArray[np.bool_]]:
    """The table as polars reads it, and which rows of the file are no blank lines."""
    import polars as pl

    keywords: dict[str, Any] = {
        "separator": file.separator,
        "null_values": list(file.options.nulls),
        "missing_columns": "raise",
        "quote_char": '"',
    }
    with plain_text(file.path, file.encoding) as plain:
        table = pl.read_csv(
            plain, infer_schema_length=None, try_parse_dates=True, decimal_comma=file.options.decimal_comma, **keywords
        )
        is_row = _is_row(table)
        table = table.filter(is_row)
        _refuse_short_lines(file, table)
        floats = [name for name, kind in table.schema.items() if kind.is_float() and kinds.get(name) not in WORDS]
        if floats and has_decimal_commas(table):  # 12.500 beside them is 12500
            texts = pl.read_csv(plain, infer_schema=False, columns=floats, **keywords).filter(is_row)
            return grouped_thousands(table, texts), is_row
    return Meanings(table), is_row


def read_texts(path: Path, options: FileOptions | None = None) -> pl.DataFrame:
    """A CSV file with every cell as it is written; blank lines are rows without values, as `ReadTable.numbers` counts them."""
    import polars as pl

    file = RowFile(path, options)
    with one_line(file), plain_text(path, file.encoding) as plain:
        return pl.read_csv(plain, separator=file.separator, infer_schema=False)


def scan_pieces(file: RowFile, *, n_rows: int = 50_000) -> Iterator[Piece]:
    """The rows in pieces of some `n_rows`, in order and as they stand, so that files larger than memory can be read."""
    import polars as pl

    with one_line(file):
        if file.kind == "sheets":
            whole = file.sheet
            pieces: Iterator[pl.DataFrame] = (whole[at : at + n_rows] for at in range(0, whole.height, n_rows))
            yield from _numbered(file, pieces)
        elif file.kind == "parquet":
            lazy = pl.scan_parquet(file.path, glob=False)
            yield from _numbered(file, lazy.collect_batches(chunk_size=n_rows, maintain_order=True))
        else:
            with plain_text(file.path, file.encoding) as plain:
                lazy = pl.scan_csv(
                    plain, separator=file.separator, infer_schema=False, missing_columns="raise", glob=False, quote_char='"'
                )
                yield from _numbered(file, lazy.collect_batches(chunk_size=n_rows, maintain_order=True))


def _numbered(file: RowFile, batches: Iterator[pl.DataFrame]) -> Iterator[Piece]:
    at, is_checked, is_empty = 0, not file.is_text, True
    for batch in batches:
        numbers = np.arange(at + 1, at + batch.height + 1)
        at += batch.height
        if file.kind != "parquet":
            is_row = _is_row(_without(batch, file.options.nulls))
            batch, numbers = batch.filter(is_row), numbers[is_row]
        if not is_checked and _ends_missing(batch):
            _refuse_short_lines(file, batch)
            is_checked = True
        is_empty = is_empty and batch.height == 0
        yield Piece(batch, numbers)
    if is_empty:
        raise DataError(f"{file.path}: there is a header and no rows.")


def _without(table: pl.DataFrame, nulls: tuple[str, ...]) -> pl.DataFrame:
    """Words that mean a missing value taken for one."""
    import polars as pl

    words = pl.selectors.string()
    return table.with_columns(pl.when(~words.is_in(list(nulls))).then(words).name.keep())


def _is_row(table: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """False for blank lines, which polars takes for rows without a single value."""
    import polars as pl

    if table.width < 2:
        return np.ones(table.height, dtype=bool)
    return table.select(~pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()


def _ends_missing(table: pl.DataFrame) -> bool:
    return table.width > 1 and table[:, -1].null_count() > 0


def _refuse_short_lines(file: RowFile, table: pl.DataFrame) -> None:
    """polars fills short lines up with missing values: where the last column has some, look whether they were in the file."""
    if _ends_missing(table) and (message := _ragged_line(file)):
        raise DataError(f"{file.path}: {message}")


# ---- the header


def _read_header(file: RowFile) -> tuple[list[str], str]:
    csv.field_size_limit(_LONGEST_FIELD)
    with opened(file.path, file.encoding) as text:
        lines = list(islice(text, _LINES_LOOKED_AT))
    if not lines or not lines[0].strip():
        raise DataError(f"{file.path}: the first line is blank; it must hold the names of the columns.")
    separator = file.options.separator or _separator(lines, without_comma=file.options.decimal_comma)
    header = next(csv.reader(lines, delimiter=separator))
    names = [name.strip() for name in header]
    if twice := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise DataError(f"{file.path}: {_listed(twice)} more than once in the header. Every column needs a name of its own.")
    if "" in names:
        raise DataError(f"{file.path}: column {names.index('') + 1} has no name in the header.")
    return header, separator


def _separator(lines: list[str], *, without_comma: bool) -> str:
    """What parts most lines into as many fields as the header, and of those the one that makes most fields."""
    known = SEPARATORS[1:] if without_comma else SEPARATORS

    def merit(separator: str) -> tuple[bool, float, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        except csv.Error:
            return False, 0.0, 0
        is_parted = widths[0] > 1
        return is_parted, round(sum(width == widths[0] for width in widths) / len(widths), 1) if is_parted else 0.0, widths[0]

    return max(known, key=merit)


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:5])) + (" …" if len(names) > 5 else "")
    return f"{shown} {'stands' if len(names) == 1 else 'stand'}"


# ---- what is wrong with a file


@contextmanager
def one_line(file: RowFile) -> Iterator[None]:
    """Turn what a reader says of a damaged file into one line that names the file, the place and the remedy."""
    import polars as pl

    path = file.path
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start} (0x{error.object[error.start]:02x}) is not {error.encoding}. "
            "Name the file's encoding, such as --encoding latin-1."
        ) from error
    except UnicodeError as error:
        raise DataError(f"{path}: {error}. Name the file's encoding, such as --encoding latin-1.") from error
    except csv.Error as error:
        raise DataError(f"{path}: {error}.") from error
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: {_diagnosis(file, error)}") from error
    except pl.exceptions.PanicException as error:
        raise DataError(f"{path}: the file is damaged, or of a kind that polars cannot read ({_first_line(error)}).") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _diagnosis(file: RowFile, error: Exception) -> str:
    """What is wrong with a file that polars refused. A CSV file is read once more, line by line, to find the place."""
    first_line = _first_line(error)
    if not file.is_text:
        return f"{first_line}."
    if "utf-8" in first_line or "utf8" in first_line:
        return f"{_bad_byte(file.path)} Name the file's encoding, such as --encoding latin-1."
    return _ragged_line(file) or f"{first_line}."


def _bad_byte(path: Path) -> str:
    position = 0
    with unpacked(path) as raw:
        for line in raw:
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return f"byte {position + error.start} (0x{line[error.start]:02x}) is not UTF-8."
            position += len(line)
    return "the text is not UTF-8."


def _ragged_line(file: RowFile) -> str | None:
    """What is wrong with the first line that does not have as many fields as the header."""
    header, separator = file._head
    csv.field_size_limit(_LONGEST_FIELD)
    with opened(file.path, file.encoding) as text:
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
