"""Where a command writes: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from mercer._runs.alerts import Alert

_BEYOND_ANY_LINE = 100_000


def result_console() -> Console:
    """For standard output: off a terminal lines are as long as they need to be, so that nothing is cut or wrapped."""
    console = Console()
    return console if console.is_terminal else Console(width=_BEYOND_ANY_LINE)


def progress_console() -> Console:
    """The same for standard error."""
    console = Console(stderr=True)
    return console if console.is_terminal else Console(stderr=True, width=_BEYOND_ANY_LINE)


def width_of(console: Console) -> int | None:
    """How many characters fit a line; None off a terminal."""
    return console.width if console.is_terminal else None


def asker() -> Callable[[str], bool] | None:
    """Asks the user yes or no; None where nobody is there to answer."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def say_guesses(console: Console, guesses: Sequence[str]) -> None:
    for guess in guesses:
        console.print(Text(f"· {guess}"))


def alert_line(alert: Alert) -> Text:
    """Warnings in yellow, the option that changes the matter in brackets."""
    where = f"{alert.column}: " if alert.column else ""
    flag = f" ({alert.flag})" if alert.flag else ""
    is_warning = alert.level == "warning"
    return Text(f"{'!' if is_warning else '·'} {where}{alert.message}{flag}", style="yellow" if is_warning else "")


def say_alerts(console: Console, alerts: Sequence[Alert]) -> None:
    for alert in alerts:
        console.print(alert_line(alert))
