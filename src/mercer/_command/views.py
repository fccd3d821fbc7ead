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

from mercer._command.fitting import TableColumn, fitted_table
from mercer._command.quantities import show_bytes, show_figure, show_microseconds, show_score, show_seconds
from mercer._command.streams import alert_line, progress_console, width_of

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
_OTHER_LINES = 9  # of the live view, beside the rows of its table
_MOST_NAMES = 12  # of columns of a kind, on a terminal


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
                self._console.print(line, soft_wrap=not self._console.is_terminal)
        self._console.print()

    def _picture(self) -> Group | Text:
        """What the screen shows now; asked for by a thread of the live view, also while a kernel runs."""
        if self._phase is not None or self._board is None:
            return Text(f"… {self._phase}" if self._phase else "", style="cyan")
        elapsed = time.monotonic() - self._started
        left = max(0.0, self._seconds - elapsed)
        bar = ProgressBar(
            total=self._seconds, completed=min(elapsed, self._seconds), width=max(10, min(30, self._console.width // 4))
        )
        head = Table.grid(padding=(0, 1))
        time_left = Text(f"{show_seconds(float(round(left)))} left", style="bold")
        head.add_row(time_left, bar, Text("Ctrl-C ends with the best so far", style="dim"))
        lines = [_line("now", self._running()), _line("best", self._best())]
        return Group(
            head, *(_cropped(line, self._console.width) for line in lines), Text(""), self._table(_most_rows(self._console))
        )

    def _running(self) -> str:
        """What is being done."""
        names = [entry.model for entry in self._board if entry.status == "running"]
        return f"{self._board.stage}: {', '.join(names)}" if names else str(self._board.stage)

    def _best(self) -> str:
        """What is the best so far, and how good it is."""
        raise NotImplementedError

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
    console = progress_console()
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
        most = _MOST_NAMES if self._console.is_terminal else None
        self._introduce(describe_problem(problem, settings), describe_columns(columns, most))

    def _best(self) -> str:
        best = next((entry for entry in self._board if entry.status in ("ok", "running") and entry.fold_scores), None)
        if best is None:
            return "nothing yet"
        n_folds = len(best.fold_scores)
        folds = "" if n_folds == self._board.n_folds else f", on {n_folds} of {self._board.n_folds} folds"
        metric = self._problem.metric
        return f"{best.model}, {metric.label} {show_score(_shown(best, metric), best.spread)}{folds}"

    def _table(self, most: int) -> Group:
        return scores(list(self._board), self._problem.metric, width_of(self._console), most=most)

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
        most = _MOST_NAMES if self._console.is_terminal else None
        self._introduce(describe_cluster_table(table, settings), describe_columns(columns, most))

    def _running(self) -> str:
        names = [entry.name for entry in self._board if entry.status == "running"]
        return f"{self._board.stage}: {', '.join(names)}" if names else str(self._board.stage)

    def _measured(self) -> list[Any]:
        return [entry for entry in self._board.ranked() if entry.silhouette is not None]

    def _best(self) -> str:
        best = next(iter(self._measured()), None)
        return "nothing yet" if best is None else f"{best.name}, silhouette {show_figure(best.silhouette)}"

    def _table(self, most: int) -> Group:
        return cluster_board([vars(entry) for entry in self._measured()], width=width_of(self._console), most=most)

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
    return max(3, min(_MOST_ROWS, console.size.height - _OTHER_LINES))


def _cropped(line: Text, width: int) -> Text:
    """In one line of the screen: what is running may have a long name."""
    line.no_wrap, line.overflow = True, "crop"
    return line


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
        yield alert_line(alert)


def describe_columns(columns: list[dict[str, Any]], most: int | None) -> Iterator[Text]:
    """The columns by kind, and those left out, each with why and the flag that changes it. `most`: so many names of a kind."""
    kinds: dict[str, list[str]] = {}
    for column in columns:
        if column["used"]:
            kinds.setdefault(column["kind"], []).append(column["name"])
    for kind, names in kinds.items():
        more = "" if most is None or len(names) <= most else f" and {len(names) - most} more"
        yield _line(kind, f"{', '.join(names[:most])}{more}")
    if kinds:
        yield _line("", "another kind of a column is given by --kind COLUMN=KIND")
    left_out = [column for column in columns if not column["used"]]
    for column in left_out[:most]:
        yield _line("left out", f"{column['name']}: {column['kind']}, {column['reason']} ({column['flag']})")
    if most is not None and len(left_out) > most:
        yield _line("left out", f"and {len(left_out) - most} more; the report has all of them")


def _line(name: str, text: str) -> Text:
    return Text.assemble((f"{name:>8}  ", "dim"), text)


def leaderboard(entries: list[Entry], metric: Any, *, width: int | None = None, best: str | None = None) -> Group:
    """The leaderboard as a table; below it, what there is to say of models, and why some were not tried."""
    return Group(scores(entries, metric, width, best=best), Text(""), *_notes(entries))


def scores(entries: list[Entry], metric: Any, width: int | None, *, most: int | None = None, best: str | None = None) -> Group:
    """The table of what was scored, the best first; the name and the score are there on any terminal."""
    scored = [entry for entry in entries if entry.status not in ("failed", "skipped")]
    shown = scored[:most]
    columns = [
        TableColumn("model", [entry.model + (" ←" if entry.model == best else "") for entry in shown]),
        TableColumn(metric.label, [show_score(_shown(entry, metric), entry.spread) for entry in shown], is_number=True),
        TableColumn("fit", [show_seconds(entry.fit_seconds) for entry in shown], rank=1, is_number=True),
        TableColumn("µs/row", [show_microseconds(entry.predict_us_per_row) for entry in shown], rank=3, is_number=True),
        TableColumn("size", [show_bytes(entry.size_bytes) for entry in shown], rank=2, is_number=True),
        TableColumn("trials", [str(entry.n_trials or "") for entry in shown], rank=4, is_number=True),
    ]
    counts = [(f"{len(scored) - len(shown)} more", len(scored) > len(shown))]
    if most is not None:  # the reasons are told in the end
        n_failed = sum(entry.status == "failed" for entry in entries)
        counts.append((f"{n_failed} failed", n_failed > 0))
    rest = ", ".join(words for words, is_there in counts if is_there)
    table = fitted_table(columns, width, [_STYLES[entry.status] for entry in shown])
    return Group(table, *([Text(f"and {rest}", style="dim")] if rest else []))


def _notes(entries: list[Entry]) -> Iterator[Text]:
    """A line for every reason, with all models that it holds for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        if entry.reason:
            status = f"{entry.status}, " if entry.status in ("failed", "skipped", "interrupted") else ""
            reasons.setdefault((entry.status, status + entry.reason), []).append(entry.model)
    for (status, reason), models in reasons.items():
        yield Text(f"{', '.join(models)}: {reason}", style=_STYLES[status])


def describe_test(test: dict[str, Any], width: int | None = None) -> Table:
    """The measures of the test with their intervals."""
    measures = test["measures"]
    intervals = ["" if each["low"] is None else f"{each['low']:.4g} to {each['high']:.4g}" for each in measures]
    values = ["" if each["value"] is None else f"{each['value']:.4g}" for each in measures]
    columns = [
        TableColumn(f"test ({test['n']:,} rows)", [each["label"] for each in measures]),
        TableColumn("value", values, is_number=True),
        TableColumn(f"{test['level']:.0%} interval", intervals),
    ]
    return fitted_table(columns, width)


def cluster_board(
    rows: Sequence[Mapping[str, Any]], *, width: int | None = None, most: int | None = None, best: str | None = None
) -> Group:
    """Clusterings as a table, those that were checked first."""
    shown = rows[:most]
    columns = [
        TableColumn("clustering", [row["name"] + (" ←" if row["name"] == best else "") for row in shown]),
        TableColumn("clusters", [str(row["n_clusters"]) for row in shown], is_number=True),
        TableColumn("silhouette", [show_figure(row["silhouette"]) for row in shown], is_number=True),
        TableColumn("without", [show_figure(row["reference_high"]) for row in shown], rank=2, is_number=True),
        TableColumn("stability", [show_figure(row["stability"]) for row in shown], rank=1, is_number=True),
        TableColumn("noise", [f"{row['noise']:.1%}" if row["noise"] else "" for row in shown], rank=3, is_number=True),
    ]
    table = fitted_table(columns, width, [_STYLES.get(row["status"], "dim") for row in shown])
    return Group(table, *([Text(f"and {len(rows) - len(shown)} more", style="dim")] if len(rows) > len(shown) else []))


def cluster_sizes(profiles: Sequence[Mapping[str, Any]], n_rows: int, n_noise: int, width: int | None = None) -> Table:
    """How many rows each cluster has, and what sets it apart most."""
    rows = [
        (str(each["number"]), each["n"], each["share"], ", ".join(_trait_words(trait) for trait in each["traits"][:3]))
        for each in profiles
    ]
    if n_noise:
        rows.append(("-1", n_noise, n_noise / n_rows, "in no cluster"))
    columns = [
        TableColumn("cluster", [row[0] for row in rows]),
        TableColumn("rows", [f"{row[1]:,}" for row in rows], is_number=True),
        TableColumn("share", [f"{row[2]:.1%}" for row in rows], is_number=True),
        TableColumn("set apart by", [row[3] for row in rows], wraps=True),
    ]
    return fitted_table(columns, width)


def _trait_words(trait: Mapping[str, Any]) -> str:
    sign = "more" if trait["effect"] > 0 else "less"
    if trait["value"] is None:
        return f"{trait['column']} {trait['inside'].split(' (')[0]} ({sign})"
    return f"{trait['column']} = {trait['value']} ({sign})"
