"""`mercer compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer._command.failures import clear_errors
from mercer._command.options import JsonFlag
from mercer._command.quantities import show_figure

if TYPE_CHECKING:
    from mercer._runs.comparison import Comparison, Side


def compare_command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN...", help="Folders of finished runs of one target.")],
    as_json: JsonFlag = False,
) -> None:
    """Set runs side by side: what differs, and whether it is more than chance on the rows that both were tested on."""
    with clear_errors(as_json=as_json):
        from mercer._runs.comparison import compare_runs

        found = compare_runs(runs)
        if as_json:
            typer.echo(json.dumps(found, allow_nan=False))
        else:
            _show(Console(), found)


def _show(console: Console, found: Comparison) -> None:
    """A column a run, a line a thing: runs have long names, and there are few of them."""
    sides = found["runs"]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(found["target"])
    for side in sides:
        table.add_column(Text(side["run"]), overflow="fold")
    lines: list[tuple[str, list[str]]] = [
        ("model", [side["model"] for side in sides]),
        ("measure", [side["metric"] for side in sides]),
        ("folds", [show_figure(side["score"]) for side in sides]),
        ("test", [_test(side) for side in sides]),
        ("rows", [f"{side['n_train']:,} learnt, {side['n_test']:,} tested" for side in sides]),
        ("data", [f"{side['source']} ({side['data'][:8]})" for side in sides]),
    ]
    if len({side["mercer"] for side in sides}) > 1:
        lines.append(("mercer", [side["mercer"] for side in sides]))
    lines += [(name, [_shown(value) for value in values]) for name, values in found["settings"].items() if name != "source"]
    for name, cells in lines:
        table.add_row(Text(name, style="dim"), *map(Text, cells))
    console.print(table)
    for difference in found["differences"]:
        console.print()
        console.print(Text(difference["reading"].replace("\N{NO-BREAK SPACE}", " ")))


def _test(side: Side) -> str:
    if side["test_low"] is None:
        return show_figure(side["test"])
    return f"{show_figure(side['test'])} ({show_figure(side['test_low'])} to {show_figure(side['test_high'])})"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, {}) else f"{value:.6g}" if isinstance(value, float) else str(value)
