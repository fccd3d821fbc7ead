"""What is to be clustered: the table without what is left out, made ready, and the rows that methods are compared on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._report.numbers import plural
from mercer._runs.alerts import Alert, has_nested, of_missing
from mercer._runs.errors import DataError, RunError
from mercer._runs.pipelines import PREPARER, Pipelines
from mercer._runs.problem import check_kinds
from mercer._runs.reading import ReadTable
from mercer._runs.settings import ClusterSettings
from mercer.cluster import KMeans
from mercer.preprocessing import ColumnReport, TablePreparer

if TYPE_CHECKING:
    import polars as pl

MOST_COMPARED = 4_000  # rows that methods are compared on, and that quadratic methods see
LEAST_ROWS = 10
_FEW_ROWS = 50
_MUCH_TWICE = 0.5
_MANY = ("text", "date", "datetime")  # kinds of which one column becomes many


@dataclass(frozen=True)
class ClusterTable:
    """A table as its user knows it, and as methods see it."""

    table: pl.DataFrame  # the columns that take part
    numbers: npt.NDArray[np.intp]  # of the rows in their file
    preparer: TablePreparer  # fitted
    report: list[ColumnReport]  # what was made of each column, and why
    X: FloatArray
    compared: npt.NDArray[np.intp]  # rows, all of them where they are few
    left_out: tuple[str, ...]  # columns of the file
    known: list[str] | None  # the group that is known of each row; "" where it is missing
    alerts: tuple[Alert, ...]

    @property
    def is_sampled(self) -> bool:
        return len(self.compared) < len(self.X)

    @property
    def sample(self) -> FloatArray:
        """The rows that methods are compared on, made ready."""
        return self.X[self.compared] if self.is_sampled else self.X


def make_cluster_table(read: ReadTable, settings: ClusterSettings) -> ClusterTable:
    """Decide what takes part and how; refuse what cannot be clustered."""
    table, numbers = read
    _check_columns(table, settings)
    check_kinds(table, settings, numbers)
    if table.height < LEAST_ROWS:
        raise DataError(f"{settings.source}: {plural(table.height, 'row')} cannot be clustered; {LEAST_ROWS} are the fewest.")
    known = None if settings.against is None else _known_groups(table[settings.against])
    kept = table.drop([*settings.drop, *([settings.against] if settings.against else [])])
    if kept.width == 0:
        raise DataError(f"{settings.source}: no column is left to cluster by.")
    report = _report(kept, settings)
    preparer, X = _prepare(kept := kept.drop(_outweighing(report, settings)), settings, report)
    report = [_left_out(column) if column.name not in kept.columns else column for column in report]
    rng = np.random.default_rng(settings.seed)
    n_rows = len(X)
    compared = np.sort(rng.choice(n_rows, MOST_COMPARED, replace=False)) if n_rows > MOST_COMPARED else np.arange(n_rows)
    distinct = len(np.unique(X[compared], axis=0))
    if distinct < 3:
        raise DataError(f"{settings.source}: the rows are of {distinct} kinds only: there is nothing to find.")
    alerts = (*read.alerts, *_alerts(kept, X.shape[1], len(compared), distinct))
    left_out = tuple(name for name in table.columns if name not in kept.columns)
    return ClusterTable(kept, numbers, preparer, report, X, compared, left_out, known, alerts)


def _check_columns(table: pl.DataFrame, settings: ClusterSettings) -> None:
    named = [("--drop", name) for name in settings.drop] + [("--kind", name) for name in settings.kinds]
    named += [("--against", settings.against)] if settings.against else []
    for flag, name in named:
        if name not in table.columns:
            shown = ", ".join(map(repr, table.columns[:12])) + (" …" if table.width > 12 else "")
            raise RunError(f"{flag} {name}: there is no such column. The columns are {shown}.")
    for name in settings.kinds:
        if name in (*settings.drop, settings.against):
            raise RunError(f"--kind {name}: the column is left out of the clustering.")


def _known_groups(column: pl.Series) -> list[str]:
    import polars as pl

    groups: list[str] = column.cast(pl.String, strict=False).fill_null("").to_list()
    n_groups = len(set(groups))
    if not 2 <= n_groups <= 50:
        raise RunError(f"--against {column.name}: it has {n_groups} distinct values; known groups are 2 to 50.")
    return groups


def _report(table: pl.DataFrame, settings: ClusterSettings) -> list[ColumnReport]:
    """What would be made of each column, and why."""
    try:
        return Pipelines(table, settings).report(KMeans())
    except (ValueError, TypeError) as error:
        raise DataError(f"{settings.source}: {str(error).splitlines()[0]}") from error


def _outweighing(report: list[ColumnReport], settings: ClusterSettings) -> list[str]:
    """Text and dates, where there are other columns: one of them becomes many, which would outweigh all others."""
    found = [column.name for column in report if column.kind in _MANY and settings.kinds.get(column.name) != column.kind]
    return found if any(column.used and column.kind not in _MANY for column in report) else []


def _left_out(column: ColumnReport) -> ColumnReport:
    reason = f"{column.reason}; it would become many columns, which outweigh the others (--kind keeps it)"
    return dataclasses.replace(column, used=False, reason=reason, treatment="left out", outputs=())


def _prepare(table: pl.DataFrame, settings: ClusterSettings, report: list[ColumnReport]) -> tuple[TablePreparer, FloatArray]:
    kinds = {name: kind for name, kind in settings.kinds.items() if name in table.columns}
    try:
        pipelines = Pipelines(table, dataclasses.replace(settings, kinds=kinds))
        preparer = pipelines.make("clusters", KMeans()).named_steps[PREPARER]
        X = preparer.fit_transform(table)
    except (ValueError, TypeError) as error:
        raise DataError(f"{settings.source}: {str(error).splitlines()[0]}") from error
    if X.shape[1] == 0:
        found = "; ".join(f"{column.name}: {column.reason}" for column in report[:5])
        raise DataError(f"{settings.source}: no column can be clustered by. {found}.")
    return preparer, np.ascontiguousarray(X)


def _alerts(table: pl.DataFrame, n_columns: int, n_rows: int, distinct: int) -> list[Alert]:
    """What to know of the rows that methods are compared on, and of the columns."""
    alerts = []
    if n_rows < _FEW_ROWS:
        alerts.append(Alert("warning", None, f"{n_rows} rows are few: other rows of the same kind may cluster otherwise", None))
    if n_columns > n_rows:
        message = f"more columns ({n_columns}) than rows ({n_rows}): nearly all distances are alike"
        alerts.append(Alert("warning", None, message, None))
    if n_rows - distinct > _MUCH_TWICE * n_rows:
        message = f"{n_rows:,} rows are of {distinct:,} kinds only: clusters may be no more than repetitions"
        alerts.append(Alert("warning", None, message, None))
    return [*alerts, *([] if has_nested(table) else of_missing(table))]
