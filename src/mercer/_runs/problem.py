"""What is to be learnt: the target, the kind of task, the measure, and which rows are kept for the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._frame_columns import polars_column
from mercer._kinds import A_VALUE, as_kind
from mercer._runs.alerts import Alert, find_alerts
from mercer._runs.errors import DataError, RunError
from mercer._runs.metric import Metric, check_metric, choose_metric
from mercer._runs.settings import RunSettings, Settings
from mercer.model_selection import train_test_split

if TYPE_CHECKING:
    import polars as pl

MOST_CLASSES = 20  # more distinct whole numbers than this are amounts


@dataclass(frozen=True)
class Problem:
    """A table without its target, the target, and how the rows are divided."""

    X: pl.DataFrame
    y: Any
    task: str
    task_reason: str
    classes: list[Any] | None
    metric: Metric
    train: Any  # numbers of rows
    test: Any
    alerts: tuple[Alert, ...]
    is_float_target: bool
    lone: tuple[Any, ...]  # classes of a single row, which are left out
    numbers: Any  # of the rows in their file

    @property
    def kind(self) -> str:
        """binary, multiclass or regression."""
        return "regression" if self.classes is None else "binary" if len(self.classes) == 2 else "multiclass"

    def rows(self, numbers: Any) -> tuple[pl.DataFrame, Any]:
        return self.X[numbers], self.y[numbers]


def make_problem(table: pl.DataFrame, settings: Settings, numbers: Any = None, known: Sequence[Alert] = ()) -> Problem:
    """Decide all that can be decided by looking at the table. `numbers` are those of its rows in their file, `known` is what
    was met when it was read."""
    alerts = [replace(each, flag=None) if each.column == settings.target else each for each in known]  # --kind: of features
    numbers = np.arange(1, table.height + 1) if numbers is None else numbers
    table, numbers = _with_target(table, numbers, settings, alerts)
    task, reason = _infer_task(table[settings.target], settings)
    y = _target_values(table[settings.target], task)
    lone = _lone_classes(y, settings, alerts) if task == "classification" else ()
    is_kept = ~np.isin(y, lone)
    table, numbers, y = table.filter(is_kept), numbers[is_kept], y[is_kept]
    X = table.drop(settings.target)
    if X.width == 0:
        raise DataError(f"{settings.source}: {settings.target!r} is the only column: there is nothing to learn from.")
    classes, counts = (None, []) if task == "regression" else _count_classes(y)
    metric = choose_metric(settings.metric, task, counts)
    check_metric(metric, y, classes)
    train, test = train_test_split(
        np.arange(len(y)), test_size=settings.test_size, random_state=settings.seed, stratify=None if classes is None else y
    )
    if classes is not None and min(np.unique(y[train], return_counts=True)[1]) < settings.folds:
        rarest = min(zip(counts, map(str, classes), strict=True))
        alerts.append(
            Alert(
                "warning",
                None,
                f"class {rarest[1]!r} has {rarest[0]} rows: some of the {settings.folds} folds lack it",
                "--folds",
            )
        )
    is_float = table[settings.target].dtype.is_float()
    problem = Problem(X, y, task, reason, classes, metric, np.sort(train), np.sort(test), (), is_float, lone, numbers)
    return replace(problem, alerts=(*alerts, *find_alerts(*problem.rows(problem.train), classes)))


def _with_target(table: pl.DataFrame, numbers: Any, settings: Settings, alerts: list[Alert]) -> tuple[pl.DataFrame, Any]:
    """The rows whose target is known, and their numbers."""
    if settings.target not in table.columns:
        raise DataError(f"{settings.source}: there is no column {settings.target!r}. {_offer(settings.target, table.columns)}")
    for flag, names in (("--drop", settings.drop), ("--kind", settings.kinds)):
        for name in names:
            if name not in table.columns or name == settings.target:
                raise RunError(f"{flag} {name}: {'the target' if name == settings.target else 'there is no such column'}.")
    target = table[settings.target]
    known = target.is_not_null()
    if target.dtype.is_float():
        known = known & target.is_finite().fill_null(False)
    if not known.any():
        raise DataError(f"{settings.source}: every value of the target {settings.target!r} is missing.")
    if n_missing := int((~known).sum()):
        alerts.append(Alert("warning", settings.target, f"the target is missing in {n_missing} rows, which are left out", None))
    kept = table.filter(known).drop(list(settings.drop))
    if kept.height < 10:
        raise DataError(f"{settings.source}: {kept.height} rows with a known target are too few to learn and to test from.")
    return kept, numbers[known.to_numpy()]


def check_kinds(X: pl.DataFrame, settings: RunSettings, numbers: Any) -> None:
    """Refuse a kind that a column's values cannot be of, and name one of them."""
    for name, kind in settings.kinds.items():
        if kind not in A_VALUE or name not in X.columns:
            continue
        column = polars_column(name, X[name])
        is_strange = as_kind(column, kind, "missing").is_missing & ~column.is_missing
        if is_strange.any():
            at = int(np.argmax(is_strange))
            raise DataError(
                f"{settings.source}: --kind {name}={kind}: row {numbers[at]} holds {X[name][at]!r}, "
                f"which is not {A_VALUE[kind]}."
            )


def _offer(name: str, columns: Sequence[str]) -> str:
    alike = [column for column in columns if column.strip().lower() == name.strip().lower()]
    shown = ", ".join(map(repr, columns[:12])) + (" …" if len(columns) > 12 else "")
    return f"Did you mean {alike[0]!r}?" if alike else f"The columns are {shown}."


def _infer_task(target: pl.Series, settings: Settings) -> tuple[str, str]:
    n_distinct, is_number = target.n_unique(), target.dtype.is_numeric()
    if n_distinct < 2:
        raise DataError(
            f"{settings.source}: the target {settings.target!r} has one value only, {target[0]!r}: there is nothing to learn."
        )
    if settings.task is not None:
        if settings.task == "regression" and not is_number:
            raise RunError(f"--task regression: the target {settings.target!r} holds no numbers ({target.dtype}).")
        if settings.task == "classification" and n_distinct > max(100, target.len() // 2):
            raise RunError(f"--task classification: the target {settings.target!r} has {n_distinct} distinct values.")
        return settings.task, "asked for by --task"
    if not is_number:
        if n_distinct > max(MOST_CLASSES, target.len() // 10):
            raise DataError(
                f"{settings.source}: the target {settings.target!r} holds {n_distinct} distinct texts in {target.len()} rows, "
                "too many to be classes. Choose another --target."
            )
        return "classification", f"the target holds {'text' if target.dtype == _text() else target.dtype}; {n_distinct} classes"
    is_whole = not target.dtype.is_float() or bool((target == target.round(0)).all())
    if is_whole and n_distinct <= MOST_CLASSES and n_distinct <= target.len() / 10:
        return "classification", f"the target has {n_distinct} distinct whole numbers; --task regression takes them as amounts"
    return "regression", f"the target has {n_distinct} distinct numbers; --task classification takes them as classes"


def _text() -> Any:
    import polars as pl

    return pl.String


def _target_values(target: pl.Series, task: str) -> Any:
    """Numbers for regression; labels as whole numbers, booleans or text."""
    import polars as pl

    if task == "regression":
        return target.cast(pl.Float64).to_numpy().copy()
    if target.dtype.is_float() and bool((target == target.round(0)).all()):
        target = target.cast(pl.Int64)
    if target.dtype.is_integer() or target.dtype == pl.Boolean:
        return target.to_numpy().copy()
    return np.asarray(target.cast(pl.String).to_list(), dtype=str)


def _count_classes(y: Any) -> tuple[list[Any], list[int]]:
    labels, counts = np.unique(y, return_counts=True)
    return labels.tolist(), counts.tolist()


def _lone_classes(y: Any, settings: Settings, alerts: list[Alert]) -> tuple[Any, ...]:
    """A class with one row can be learnt from or tested on, not both: it is left out."""
    labels, counts = _count_classes(y)
    lone = tuple(label for label, count in zip(labels, counts, strict=True) if count < 2)
    if len(labels) - len(lone) < 2:
        raise DataError(f"{settings.source}: fewer than two classes of {settings.target!r} have two rows or more.")
    if lone:
        shown = ", ".join(map(repr, lone[:5])) + (" …" if len(lone) > 5 else "")
        alerts.append(Alert("warning", settings.target, f"classes of a single row are left out: {shown}", None))
    return lone
