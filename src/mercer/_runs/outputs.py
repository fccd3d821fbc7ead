"""Tables written piece by piece: CSV, Parquet or JSON, to a file or to standard output. A file appears whole or not at all."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mercer._runs.errors import RunError

if TYPE_CHECKING:
    import polars as pl

TABLES = (".csv", ".parquet", ".pq", ".json", ".jsonl", ".ndjson")
LINES = (".jsonl", ".ndjson")


def check_table_path(out: Path | None) -> None:
    """Refuse a file of a kind that cannot be written."""
    if out is not None and out.suffix not in TABLES:
        raise RunError(f"--out {out}: it must end in .csv, .parquet, .json or .jsonl.")


def check_overwriting(out: Path, data: Path, *, may: bool, ask: Callable[[str], bool] | None) -> None:
    """Refuse to write over the input; over any other file only with --force (`may`), or if the user says so (`ask`)."""
    try:
        if not out.exists():
            return
        if data.exists() and out.samefile(data):
            raise RunError(f"--out {out}: this is the file that is read. Name another; it is never written over.")
        if not out.is_file():
            raise RunError(f"--out {out}: this is no file that could be written over.")
    except (OSError, ValueError) as error:
        raise RunError(f"--out {out}: {getattr(error, 'strerror', None) or error}.") from error
    if may or (ask is not None and ask(f"{out} exists already. Write over it?")):
        return
    raise RunError(f"--out {out}: it exists already. --force writes over it.")


def print_tables(tables: Iterator[pl.DataFrame], *, as_json: bool = False) -> int:
    """To standard output, as CSV or as one JSON array of rows."""
    if as_json:
        return _write_json(tables, sys.stdout.write)
    count = 0
    for table in tables:
        sys.stdout.write(table.write_csv(include_header=count == 0))
        count += table.height
    return count


def write_tables(tables: Iterator[pl.DataFrame], out: Path) -> int:
    """Whole or not at all: the file appears when its last row is written, and what was written on the way goes in any case."""
    import polars as pl

    write = {".csv": _write_csv, ".parquet": _write_parquet, ".pq": _write_parquet}.get(out.suffix, _write_text)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            whole = Path(folder) / f"whole{out.suffix}"
            count = write(tables, whole)
            whole.replace(out)
    except OSError as error:
        raise RunError(f"--out {out}: {error.strerror or str(error) or type(error).__name__}.") from error
    except pl.exceptions.PolarsError as error:
        raise RunError(f"--out {out}: {str(error).splitlines()[0]}.") from error
    return count


def _write_csv(tables: Iterator[pl.DataFrame], path: Path) -> int:
    count = 0
    with path.open("wb") as file:
        for table in tables:
            table.write_csv(file, include_header=count == 0)
            count += table.height
    return count


def _write_parquet(tables: Iterator[pl.DataFrame], path: Path) -> int:
    """A file a table, all of which polars then streams into one: it has no writer to hand tables to one by one."""
    import polars as pl

    parts: list[Path] = []
    count = 0
    for table in tables:
        parts.append(path.with_name(f"part-{len(parts)}.arrow"))
        table.write_ipc(parts[-1])
        count += table.height
    pl.scan_ipc(parts).sink_parquet(path)
    return count


def _write_text(tables: Iterator[pl.DataFrame], path: Path) -> int:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        return _write_lines(tables, file) if path.suffix in LINES else _write_json(tables, file.write)


def _write_lines(tables: Iterator[pl.DataFrame], file: IO[str]) -> int:
    count = 0
    for table in tables:
        file.write(table.write_ndjson())
        count += table.height
    return count


def _write_json(tables: Iterator[pl.DataFrame], write: Callable[[str], object]) -> int:
    """An array with an object a row, a line each."""
    count = 0
    for table in tables:
        lines = table.write_ndjson().splitlines()
        write(("[\n" if count == 0 else ",\n") + ",\n".join(lines))
        count += table.height
    write("[]\n" if count == 0 else "\n]\n")
    return count
