"""`mercer predict`: what a run's model says of the rows of a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer._command.failures import clear_errors
from mercer._command.options import (
    ForceFlag,
    NewEncodingOption,
    NewRows,
    NewSeparatorOption,
    QuietFlag,
    RunPath,
    SheetOption,
    ThreadsOption,
)
from mercer._command.streams import asker, progress_console, say_alerts, say_guesses
from mercer._command.threads import thread_limit

if TYPE_CHECKING:  # what takes a second to import is imported where it is used, as in the other commands
    from mercer._runs.prediction import Predicting


def predict_command(
    run: RunPath,
    data: NewRows,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write: .csv, .parquet, .json or .jsonl; standard output by default."),
    ] = None,
    keep: Annotated[
        list[str],
        typer.Option(help="Columns to copy to the output as they stand in the file, such as a key. Repeatable."),
    ] = [],  # noqa: B006
    threshold: Annotated[
        float | None, typer.Option(help="The least probability of the second class (two classes only).")
    ] = None,
    separator: NewSeparatorOption = None,
    encoding: NewEncodingOption = None,
    sheet: SheetOption = None,
    force: ForceFlag = False,
    threads: ThreadsOption = None,
    quiet: QuietFlag = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Standard output is JSON: the rows as an array of objects or, with --out, what was written and met."
        ),
    ] = False,
) -> None:
    """Predict the rows of a file, of any size, with the model of a run.

    Values that cannot be read, categories that training had not, values out of its range and columns that are distributed
    otherwise are told on standard error, with counts.
    """
    with clear_errors(as_json=as_json), thread_limit(threads):
        from mercer._runs.outputs import check_overwriting, check_table_path
        from mercer._runs.prediction import FileChoice, Predicting, Wanted

        check_table_path(out)
        if out is not None:
            check_overwriting(out, data, may=force, ask=asker())
        names = tuple(name.strip() for text in keep for name in text.split(",") if name.strip())
        with given_file(data) as file:
            found = Predicting(
                run, file, Wanted(tuple(dict.fromkeys(names)), threshold), FileChoice(separator, encoding, sheet)
            )
            console = progress_console()
            if not quiet:
                say_guesses(console, found.guesses)
            summary = _write(found, out, as_json=as_json)
        if not quiet:
            say_alerts(console, found.alerts())
            if out is not None and not as_json:
                typer.echo(f"{summary['rows']:,} rows predicted: {out}", err=True)
        if as_json and out is not None:
            typer.echo(json.dumps(summary))


def _write(found: Predicting, out: Path | None, *, as_json: bool) -> dict[str, Any]:
    from mercer._runs.outputs import print_tables, write_tables

    lists_as_text = out.suffix == ".csv" if out is not None else not as_json
    tables = found.tables(lists_as_text=lists_as_text)
    count = print_tables(tables, as_json=as_json) if out is None else write_tables(tables, out)
    warnings = [
        {key: value for key, value in alert.to_dict().items() if key in ("column", "message")} for alert in found.alerts()
    ]
    return {"rows": count, "out": None if out is None else str(out), "warnings": warnings}


@contextmanager
def given_file(data: Path) -> Iterator[Path]:
    """The file that is named, or for - what comes on standard input, which is read more than once and so kept for a while."""
    from mercer._runs.files import STANDARD_INPUT, spool

    if str(data) != STANDARD_INPUT:
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="mercer-") as folder:
        yield spool(Path(folder), "standard-input")
