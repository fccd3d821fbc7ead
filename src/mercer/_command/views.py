"""What a run looks like in a terminal: first what was inferred, then a live leaderboard, then where everything is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mercer._command.quantities import show_bytes, show_score, show_seconds

if TYPE_CHECKING:
    from mercer._runs.board import Board, Entry
    from mercer._runs.problem import Problem
    from mercer._runs.settings import Settings

_STYLES = {
    "ok": "",
    "running": "bold cyan",
    "waiting": "dim",
    "baseline": "italic",
    "failed": "red",
    "skipped": "dim",
    "interrupted": "yellow",
}
_REFRESHES = 4  # a second
_MOST_ROWS = 25


class RunView:
    """Shows a run as it goes; `is_quiet` shows nothing, for scripts."""

    def __init__(self, console: Console, seconds: float, *, is_quiet: bool = False) -> None:
        self._console, self._seconds, self._is_quiet = console, seconds, is_quiet
        self._live: Live | None = None
        self._started = time.monotonic()
        self._problem: Problem | None = None
        self._said: dict[str, tuple[Any, ...]] = {}
        self._board: Board | None = None
        self._phase: str | None = None

    @contextmanager
    def showing(self) -> Iterator[RunView]:
        """A live table on a terminal, a line for each finished model elsewhere."""
        if self._is_quiet or not self._console.is_terminal:
            yield self
            return
        with Live(console=self._console, get_renderable=self._picture, refresh_per_second=_REFRESHES, transient=True) as live:
            self._live = live
            yield self
            self._live = None

    def problem(self, problem: Problem, settings: Settings, columns: list[dict[str, Any]]) -> None:
        self._problem = problem
        if not self._is_quiet:
            for line in describe_problem(problem, settings):
                self._console.print(line)
            for line in describe_columns(columns):
                self._console.print(line)
            self._console.print()

    def phase(self, text: str) -> None:
        if self._is_quiet:
            return
        if self._live is not None:
            self._phase = text
        else:
            self._console.print(f"… {text}", markup=False, highlight=False)

    def board(self, board: Board) -> None:
        if self._is_quiet:
            return
        self._board = board
        if self._live is None:
            self._say_changes(board)

    def _picture(self) -> Group | Text:
        """What the screen shows now; asked for by a thread of the live view, also while a kernel runs."""
        if self._phase is not None or self._board is None or self._problem is None:
            return Text(f"… {self._phase}" if self._phase else "", style="cyan")
        elapsed = time.monotonic() - self._started
        head = Table.grid(padding=(0, 1))
        head.add_row(
            Text(self._board.stage, style="bold"),
            ProgressBar(total=self._seconds, completed=min(elapsed, self._seconds), width=30),
            Text(f"{show_seconds(elapsed)} of {show_seconds(self._seconds)} · Ctrl-C ends with the best so far", style="dim"),
        )
        return Group(head, leaderboard(list(self._board), self._problem.metric, most=_most_rows(self._console) // 2))

    def _say_changes(self, board: Board) -> None:
        for entry in board:
            state = (entry.status, len(entry.fold_scores) == board.n_folds, entry.n_trials)
            if entry.status in ("waiting", "running", "skipped") or self._said.get(entry.model) == state:
                continue
            if entry.status in ("ok", "baseline") and not state[1]:
                continue
            self._said[entry.model] = state
            assert self._problem is not None
            shown = show_score(_shown(entry, self._problem.metric), entry.spread)
            what = entry.reason if entry.status == "failed" else shown
            self._console.print(
                f"{entry.model}: {entry.status if entry.status != 'ok' else board.stage}: {what}", markup=False, highlight=False
            )


def _most_rows(console: Console) -> int:
    return max(5, min(_MOST_ROWS, console.size.height - 8))


def _shown(entry: Entry, metric: Any) -> float | None:
    return None if entry.score is None else metric.shown(entry.score)


def describe_problem(problem: Problem, settings: Settings) -> Iterator[Text]:
    """What was inferred, each with its reason."""
    yield Text(f"{settings.target} from {settings.source}", style="bold")
    n_rows, n_columns = problem.X.shape
    yield _line("data", f"{n_rows:,} rows, {n_columns} columns; {len(problem.test):,} rows are kept for the test (--test-size)")
    classes = (
        f" ({', '.join(map(str, problem.classes[:8]))}{' …' if len(problem.classes) > 8 else ''})" if problem.classes else ""
    )
    yield _line("task", f"{problem.kind}{classes}: {problem.task_reason} (--task)")
    yield _line("measure", f"{problem.metric.label}: {problem.metric.reason}")
    for alert in problem.alerts:
        where = f"{alert.column}: " if alert.column else ""
        flag = f" ({alert.flag})" if alert.flag else ""
        yield Text.assemble(
            ("! " if alert.level == "warning" else "· "),
            f"{where}{alert.message}{flag}",
            style="yellow" if alert.level == "warning" else "",
        )


def describe_columns(columns: list[dict[str, Any]]) -> Iterator[Text]:
    """The columns by kind, and those that are left out, each with why and the flag that overrides it."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        if column["used"]:
            kinds.setdefault(column["kind"], []).append(column["name"])
    for kind, names in kinds.items():
        yield _line(kind, f"{', '.join(names[:12])}{f' … ({len(names)})' if len(names) > 12 else ''}")
    if kinds:
        yield _line("", "another kind of a column is given by --kind COLUMN=KIND")
    for column in columns:
        if not column["used"]:
            yield _line("left out", f"{column['name']}: {column['kind']}, {column['reason']} ({column['flag']})")


def _line(name: str, text: str) -> Text:
    return Text.assemble((f"{name:>8}  ", "dim"), text)


def leaderboard(entries: list[Entry], metric: Any, *, most: int = 10**6, best: str | None = None) -> Group:
    """The leaderboard as a table; below it, what there is to say of models, and why some were not tried."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("model", no_wrap=True)
    for name in (metric.label, "fit", "µs/row", "size", "trials"):
        table.add_column(name, justify="right", no_wrap=True)
    scored = [entry for entry in entries if entry.status not in ("failed", "skipped")]
    for entry in scored[:most]:
        table.add_row(
            Text(entry.model + (" ←" if entry.model == best else "")),
            show_score(_shown(entry, metric), entry.spread),
            show_seconds(entry.fit_seconds),
            ""
            if entry.predict_us_per_row is None
            else f"{entry.predict_us_per_row:,.{0 if entry.predict_us_per_row >= 10 else 2}f}",
            show_bytes(entry.size_bytes),
            str(entry.n_trials or ""),
            style=_STYLES[entry.status],
        )
    notes = list(_notes(entries))
    hidden = len(scored[most:]) + len(notes[most:])
    return Group(table, Text(""), *notes[:most], *([Text(f"… and {hidden} more lines", style="dim")] if hidden else []))


def _notes(entries: list[Entry]) -> Iterator[Text]:
    """A line for every reason, with all models that it holds for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if entry.reason:
            status = f"{entry.status}, " if entry.status in ("failed", "skipped", "interrupted") else ""
            reasons.setdefault((entry.status, status + entry.reason), []).append(entry.model)
    for (status, reason), models in reasons.items():
        yield Text(f"{', '.join(models)}: {reason}", style=_STYLES[status])


def describe_test(test: dict[str, Any]) -> Table:
    """The measures of the test with their intervals."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"test ({test['n']} rows)")
    table.add_column("value", justify="right")
    table.add_column(f"{test['level']:.0%} interval")
    for measure in test["measures"]:
        low, high = measure["low"], measure["high"]
        interval = "" if low is None else f"{low:.4g} to {high:.4g}"
        table.add_row(Text(measure["label"]), "" if measure["value"] is None else f"{measure['value']:.4g}", interval)
    return table
