"""What a run looks like in a terminal: first what was inferred, then a live leaderboard, then where everything is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from mercer._command.quantities import show_bytes, show_figure, show_score, show_seconds

if TYPE_CHECKING:
    from mercer._runs.alerts import Alert
    from mercer._runs.board import Entry
    from mercer._runs.clustering.table import ClusterTable
    from mercer._runs.problem import Problem
    from mercer._runs.settings import ClusterSettings, Settings

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


class LiveView:
    """Shows a run as it goes; `is_quiet` shows nothing, for scripts. What there is to show is said by the view of a command."""

    def __init__(self, console: Console, seconds: float, *, is_quiet: bool = False) -> None:
        self._console, self._seconds, self._is_quiet = console, seconds, is_quiet
        self._live: Live | None = None
        self._started = time.monotonic()
        self._said: dict[str, tuple[Any, ...]] = {}
        self._board: Any = None
        self._phase: str | None = None

    @contextmanager
    def showing(self) -> Iterator[Self]:
        """A live table on a terminal, a line for each finished model elsewhere."""
        if self._is_quiet or not self._console.is_terminal:
            yield self
            return
        with Live(console=self._console, get_renderable=self._picture, refresh_per_second=_REFRESHES, transient=True) as live:
            self._live = live
            yield self
            self._live = None

    def phase(self, text: str) -> None:
        if self._is_quiet:
            return
        if self._live is not None:
            self._phase = text
        else:
            self._console.print(f"… {text}", markup=False, highlight=False)

    def board(self, board: Any) -> None:
        if self._is_quiet:
            return
        self._board = board
        if self._live is None:
            self._say_changes()

    def _introduce(self, *parts: Iterator[Text]) -> None:
        """What was inferred, before anything is tried."""
        if self._is_quiet:
            return
        for part in parts:
            for line in part:
                self._console.print(line)
        self._console.print()

    def _picture(self) -> Group | Text:
        """What the screen shows now; asked for by a thread of the live view, also while a kernel runs."""
        if self._phase is not None or self._board is None:
            return Text(f"… {self._phase}" if self._phase else "", style="cyan")
        elapsed = time.monotonic() - self._started
        head = Table.grid(padding=(0, 1))
        head.add_row(
            Text(self._board.stage, style="bold"),
            ProgressBar(
                total=self._seconds, completed=min(elapsed, self._seconds), width=max(10, min(30, self._console.width - 66))
            ),
            Text(f"{show_seconds(elapsed)} of {show_seconds(self._seconds)} · Ctrl-C ends with the best so far", style="dim"),
        )
        return Group(head, self._table(_most_rows(self._console) // 2))

    def _table(self, most: int) -> Group:
        raise NotImplementedError

    def _say_changes(self) -> None:
        raise NotImplementedError

    def _say(self, key: str, state: tuple[Any, ...], text: str) -> None:
        """Print a line unless it was said already."""
        if self._said.get(key) != state:
            self._said[key] = state
            self._console.print(text, markup=False, highlight=False)


@contextmanager
def progress(total: int, what: str, *, is_quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal for what is done row by row; it is called with how many are done."""
    console = Console(stderr=True)
    if is_quiet or not console.is_terminal:
        yield lambda count: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.update(task, completed=count)


class RunView(LiveView):
    """`mercer train`."""

    _problem: Problem

    def problem(self, problem: Problem, settings: Settings, columns: list[dict[str, Any]]) -> None:
        self._problem = problem
        self._introduce(describe_problem(problem, settings), describe_columns(columns))

    def _table(self, most: int) -> Group:
        return leaderboard(list(self._board), self._problem.metric, most=most)

    def _say_changes(self) -> None:
        for entry in self._board:
            state = (entry.status, len(entry.fold_scores) == self._board.n_folds, entry.n_trials)
            if entry.status in ("waiting", "running", "skipped"):
                continue
            if entry.status in ("ok", "baseline") and not state[1]:
                continue
            shown = show_score(_shown(entry, self._problem.metric), entry.spread)
            what = entry.reason if entry.status == "failed" else shown
            stage = entry.status if entry.status != "ok" else self._board.stage
            self._say(entry.model, state, f"{entry.model}: {stage}: {what}")


class ClusterView(LiveView):
    """`mercer cluster`."""

    def table(self, table: ClusterTable, settings: ClusterSettings, columns: list[dict[str, Any]]) -> None:
        self._introduce(describe_cluster_table(table, settings), describe_columns(columns))

    def _table(self, most: int) -> Group:
        return cluster_board([vars(entry) for entry in self._board.ranked() if entry.silhouette is not None], most=most)

    def _say_changes(self) -> None:
        for entry in self._board:
            if entry.status == "failed":
                self._say(entry.name, (entry.status,), f"{entry.name}: failed: {entry.reason}")
            elif entry.status == "ok":
                words = f"{entry.n_clusters} clusters, silhouette {show_figure(entry.silhouette)}"
                if entry.is_checked:
                    words += (
                        f" (without clusters {show_figure(entry.reference_high)}), stability {show_figure(entry.stability)}"
                    )
                self._say(entry.name, (entry.status, entry.is_checked), f"{entry.name}: {self._board.stage}: {words}")


def _most_rows(console: Console) -> int:
    return max(5, min(_MOST_ROWS, console.size.height - 8))


def _shown(entry: Entry, metric: Any) -> float | None:
    return None if entry.score is None else metric.shown(entry.score)


def describe_problem(problem: Problem, settings: Settings) -> Iterator[Text]:
    """What was inferred, each with its reason."""
    yield Text(f"{settings.target} from {settings.source}", style="bold")
    n_rows, n_columns = problem.X.shape
    yield _line("data", f"{n_rows:,} rows, {n_columns} columns; {len(problem.test):,} rows are kept for the test (--test-size)")
    yield _line("rows", problem.division.in_words)
    classes = (
        f" ({', '.join(map(str, problem.classes[:8]))}{' …' if len(problem.classes) > 8 else ''})" if problem.classes else ""
    )
    yield _line("task", f"{problem.kind}{classes}: {problem.task_reason} (--task)")
    yield _line("measure", f"{problem.metric.label}: {problem.metric.reason}")
    yield from _describe_alerts(problem.alerts)


def describe_cluster_table(table: ClusterTable, settings: ClusterSettings) -> Iterator[Text]:
    """What is clustered, and on how many rows methods are compared."""
    yield Text(f"clusters of {settings.source}", style="bold")
    n_rows, n_columns = table.X.shape
    sample = f"; methods are compared on a sample of {len(table.compared):,}" if table.is_sampled else ""
    yield _line(
        "data",
        f"{n_rows:,} rows, {table.table.width} column{'s' if table.table.width > 1 else ''}, {n_columns} as numbers{sample}",
    )
    low, high = settings.clusters
    asked = f"{low}" if settings.is_asked else f"{low} to {high}"
    yield _line("clusters", f"{asked} are tried, and whether there are any (--clusters)")
    if settings.against:
        yield _line("against", f"{settings.against} is left out and set against the clusters (--against)")
    yield from _describe_alerts(table.alerts)


def _describe_alerts(alerts: Sequence[Alert]) -> Iterator[Text]:
    for alert in alerts:
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


def cluster_board(rows: Sequence[Mapping[str, Any]], *, most: int = 10**6, best: str | None = None) -> Group:
    """Clusterings as a table, those that were checked first."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("clustering", no_wrap=True)
    for name in ("clusters", "silhouette", "without", "stability", "noise"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows[:most]:
        table.add_row(
            Text(row["name"] + (" ←" if row["name"] == best else "")),
            str(row["n_clusters"]),
            show_figure(row["silhouette"]),
            show_figure(row["reference_high"]),
            show_figure(row["stability"]),
            f"{row['noise']:.1%}" if row["noise"] else "",
            style=_STYLES.get(row["status"], "dim"),
        )
    hidden = len(rows[most:])
    return Group(table, *([Text(f"… and {hidden} more", style="dim")] if hidden else []))


def cluster_sizes(profiles: Sequence[Mapping[str, Any]], n_rows: int, n_noise: int) -> Table:
    """How many rows each cluster has, and what sets it apart most."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("cluster")
    table.add_column("rows", justify="right")
    table.add_column("share", justify="right")
    table.add_column("set apart by")
    for profile in profiles:
        apart = [_trait_words(trait) for trait in profile["traits"][:3]]
        table.add_row(str(profile["number"]), f"{profile['n']:,}", f"{profile['share']:.1%}", Text(", ".join(apart)))
    if n_noise:
        table.add_row("-1", f"{n_noise:,}", f"{n_noise / n_rows:.1%}", "in no cluster")
    return table


def _trait_words(trait: Mapping[str, Any]) -> str:
    sign = "more" if trait["effect"] > 0 else "less"
    if trait["value"] is None:
        return f"{trait['column']} {trait['inside'].split(' (')[0]} ({sign})"
    return f"{trait['column']} = {trait['value']} ({sign})"
