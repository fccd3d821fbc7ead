"""`mercer explain`: why rows are predicted as they are."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mercer._command.failures import clear_errors
from mercer._command.options import (
    ForceFlag,
    JsonFlag,
    NewEncodingOption,
    NewRows,
    NewSeparatorOption,
    QuietFlag,
    RunPath,
    SheetOption,
    ThreadsOption,
)
from mercer._command.predict import given_file
from mercer._command.streams import asker, progress_console, result_console, say_alerts
from mercer._command.threads import thread_limit
from mercer._command.views import progress
from mercer._runs.errors import RunError

if TYPE_CHECKING:  # what takes a second to import is imported where it is used, as in the other commands
    from mercer._runs.explanation import Asked


def explain_command(
    run: RunPath,
    data: NewRows,
    row: Annotated[
        int | None, typer.Option("--row", "-r", help="The row to explain, counted from 1: the first below the header.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Explain every row, into a table.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Of --row: the page to write, explanation.html in the folder of the run by default. Of --all: the CSV or "
            "Parquet or JSON file, standard output by default.",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, tree, linear, exact, kernel, permutation or lime. auto: by the structure of the model if it has one, "
            "else by coalitions of columns."
        ),
    ] = "auto",
    class_: Annotated[
        str | None, typer.Option("--class", help="The class whose output is explained; by default the one predicted.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Of numbers: how much another prediction must differ; by default half their standard deviation."),
    ] = None,
    separator: NewSeparatorOption = None,
    encoding: NewEncodingOption = None,
    sheet: SheetOption = None,
    force: ForceFlag = False,
    threads: ThreadsOption = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Say why a row of a file is predicted as it is, in the columns of the file, and what would change that.

    Rows are counted from 1, the first below the header, as in reports.
    """
    with clear_errors(as_json=as_json), thread_limit(threads):
        if (row is None) == (not every):
            raise RunError("either --row N or --all is to be given: which rows are explained?")
        from mercer._runs.explanation import Asked
        from mercer._runs.outputs import check_overwriting

        if out is not None:
            check_overwriting(out, data, may=force, ask=asker())
        asked = Asked(method, class_, margin, separator, encoding, sheet)
        with given_file(data) as file:
            if row is not None:
                _explain_row(run, file, row, asked, out, is_quiet=quiet, as_json=as_json)
            else:
                _explain_all(run, file, asked, out, is_quiet=quiet, as_json=as_json)


def _explain_row(run: Path, data: Path, row: int, asked: Asked, out: Path | None, *, is_quiet: bool, as_json: bool) -> None:
    from mercer._command.explained import show_row
    from mercer._report import write_row_html
    from mercer._runs.explained_row import explain_row
    from mercer._runs.explanation import Explaining

    page = run / "explanation.html" if out is None else out
    if page.suffix not in (".html", ".htm"):
        raise RunError(f"--out {out}: the page of a row must end in .html.")
    found = Explaining(run, data, asked)
    if not is_quiet:
        say_alerts(progress_console(), [alert for alert in found.alerts if alert.column is None])  # of the file
    content = explain_row(found, row, shlex.join(["mercer", *sys.argv[1:]]))
    if as_json:
        typer.echo(json.dumps({**content, "page": str(page)}, allow_nan=False))
    else:
        console = result_console()
        show_row(console, content)
        console.print(f"\n{page}  the same as a page: open it in a browser", markup=False, highlight=False, soft_wrap=True)
    try:
        write_row_html(content, page)
    except OSError as error:
        raise RunError(f"--out {page}: {error.strerror or error}.") from error


def _explain_all(run: Path, data: Path, asked: Asked, out: Path | None, *, is_quiet: bool, as_json: bool) -> None:
    from mercer._runs.explanation import Explaining
    from mercer._runs.outputs import check_table_path, print_tables, write_tables

    check_table_path(out)
    if as_json and out is None:
        raise RunError("--json with --all needs --out, a CSV or Parquet file for the table.")
    found = Explaining(run, data, asked)
    if not is_quiet:
        say_alerts(progress_console(), found.alerts)
    if out is None:
        print_tables(found.tables())
        return
    with progress(found.n_rows, "rows explained", is_quiet=as_json or is_quiet) as told:
        count = write_tables(found.tables(told), out)
    if as_json:
        typer.echo(json.dumps({"rows": count, "out": str(out)}))
    elif not is_quiet:
        typer.echo(f"{count:,} rows explained: {out}", err=True)
