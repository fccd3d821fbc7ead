"""What is to be learnt: the target, the kind of task, the measure, and which rows are kept for the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._frame_columns import polars_column
from mercer._kinds import A_VALUE, as_kind
from mercer._runs.alerts import Alert, find_alerts
from mercer._runs.claims import Claims, claims_of
from mercer._runs.errors import DataError, RunError
from mercer._runs.file_rows import FileRows
from mercer._runs.metric import Metric, check_metric, choose_metric
from mercer._runs.order import FoundOrder, Order, find_order
from mercer._runs.reading import ReadTable
from mercer._runs.roles import check_roles, check_some_weight, groups_of, role_columns, times_of, weights_of
from mercer._runs.settings import FILE_ORDER, RunSettings, Settings
from mercer._runs.splits import Division, check_classes_in_time, divide_at_random, divide_groups, divide_in_time

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
    division: Division
    alerts: tuple[Alert, ...]
    is_float_target: bool
    lone: tuple[Any, ...]  # classes of a single row, which are left out
    numbers: Any  # of the rows in their file
    weights: FloatArray | None = None  # of the rows
    claims: Claims | None = None  # what this division and another make of one model, where rows are in time

    @property
    def train(self) -> Any:
        """The numbers of the rows that learn."""
        return self.division.train

    @property
    def test(self) -> Any:
        return self.division.test

    @property
    def kind(self) -> str:
        """binary, multiclass or regression."""
        return "regression" if self.classes is None else "binary" if len(self.classes) == 2 else "multiclass"

    def rows(self, numbers: Any) -> tuple[pl.DataFrame, Any]:
        return self.X[numbers], self.y[numbers]

    def weights_of(self, numbers: Any) -> FloatArray | None:
        """Weights of some rows; None where rows have none."""
        return None if self.weights is None else self.weights[numbers]


def make_problem(
    table: pl.DataFrame,
    settings: Settings,
    numbers: Any = None,
    test: ReadTable | None = None,
    known: Sequence[Alert] = (),
) -> Problem:
    """Decide all that can be decided by looking at the table. `numbers` are those of its rows in their file.

    `test`: rows of a file of their own, which nothing is learnt from. `known` is what was met when the table was read.
    """
    alerts = [replace(each, flag=None) if each.column == settings.target else each for each in known]  # --kind: of features
    _check_columns(table, settings)
    rows = FileRows.of(table, numbers, test, settings)
    rows = _with_target(rows, settings, alerts)
    task, reason = _infer_task(rows.learning[settings.target], settings)
    y = _target_values(rows, settings, task)
    lone = _lone_classes(y[~rows.is_test], settings, alerts) if task == "classification" else ()
    is_kept = ~np.isin(y, lone) | rows.is_test
    rows, y = rows.filter(is_kept), y[is_kept]
    if task == "classification":
        _refuse_unseen(rows, y, settings)
    classes, counts = (None, []) if task == "regression" else _count_classes(y[~rows.is_test])
    metric = choose_metric(settings.metric, task, counts)
    weights = None if settings.weights is None else weights_of(rows.table, settings.weights, rows.numbers)
    if weights is not None:
        check_some_weight(settings.weights or "", weights, "rows")
    check_metric(metric, y, classes, weights)
    order = _find_order(rows, y, classes, settings, alerts)
    if order is not None:
        place = np.lexsort((np.arange(len(y)), order.times, rows.is_test))
        rows, y, weights = rows.take(place), y[place], None if weights is None else weights[place]
        order = replace(order, times=order.times[place])
    X = rows.table.drop(not_learnt(settings))
    if X.width == 0:
        raise DataError(f"{settings.source}: {settings.target!r} is the only column: there is nothing to learn from.")
    division = _divide(rows, None if classes is None else y, order, settings)
    for part, what in ((division.train, "rows that learn"), (division.test, "test rows")):
        if weights is not None:
            check_some_weight(settings.weights or "", weights[part], what)
    is_float = rows.table[settings.target].dtype.is_float()
    problem = Problem(X, y, task, reason, classes, metric, division, (), is_float, lone, rows.numbers, weights)
    claims = None if order is None or division.is_by_file else claims_of(problem, settings)
    if claims is not None and division.is_a_guess and claims.at_random <= claims.forward:
        return make_problem(table, replace(settings, is_timeless=True), numbers, test, known)  # no order that would flatter
    alerts += [*_alerts_of_division(problem, settings, claims), *find_alerts(*problem.rows(problem.train), classes)]
    return replace(problem, alerts=tuple(alerts), claims=claims)


def _check_columns(table: pl.DataFrame, settings: Settings) -> None:
    """Refuse what names columns that are not there."""
    if settings.target not in table.columns:
        raise DataError(f"{settings.source}: there is no column {settings.target!r}. {_offer(settings.target, table.columns)}")
    for flag, names in (("--drop", settings.drop), ("--kind", settings.kinds)):
        for name in names:
            if name not in table.columns or name == settings.target:
                raise RunError(f"{flag} {name}: {'the target' if name == settings.target else 'there is no such column'}.")
    check_roles(settings, table.columns)


def not_learnt(settings: Settings) -> list[str]:
    """Columns that are no features. That of times is one, unless it is dropped: a forward division makes it honest."""
    roles = [name for flag, name in role_columns(settings).items() if flag != "--time-column"]
    return list(dict.fromkeys([settings.target, *roles, *settings.drop]))


def _with_target(rows: FileRows, settings: Settings, alerts: list[Alert]) -> FileRows:
    """The rows whose target is known."""
    target = rows.table[settings.target]
    is_known = target.is_not_null()
    if target.dtype.is_float():
        is_known = is_known & target.is_finite().fill_null(False)
    known = is_known.to_numpy()
    if not known[~rows.is_test].any():
        raise DataError(f"{settings.source}: every value of the target {settings.target!r} is missing.")
    for part, where in ((~rows.is_test, ""), (rows.is_test, " of the test file")):
        if n_missing := int((~known & part).sum()):
            message = f"the target is missing in {n_missing} rows{where}, which are left out"
            alerts.append(Alert("warning", settings.target, message, None))
    kept = rows.filter(known)
    if kept.learning.height < 10:
        raise DataError(
            f"{settings.source}: {kept.learning.height} rows with a known target are too few to learn and to test from."
        )
    if settings.test_file is not None and not kept.is_test.any():
        raise DataError(f"--test-file {settings.test_file}: no row has a known target {settings.target!r}.")
    return kept


def _find_order(
    rows: FileRows, y: Any, classes: list[Any] | None, settings: Settings, alerts: list[Alert]
) -> FoundOrder | None:
    """The order in time by which rows are divided: the one asked for, or one that tells of the target."""
    if settings.time_column == FILE_ORDER and FILE_ORDER not in rows.table.columns:
        return FoundOrder(Order(None, None, None), np.arange(len(y), dtype=np.float64))
    if settings.time_column is not None:
        times = times_of(rows.table, settings.time_column, rows.numbers)
        return FoundOrder(Order(settings.time_column, times.code, None), times.values)
    if settings.is_timeless or settings.group is not None or rows.is_test.any():
        return None
    found = find_order(rows.table.drop(not_learnt(settings)), y, classes)
    if found is None or classes is None:
        return found
    try:  # a part of the time may have one class only
        place = np.argsort(found.times, kind="stable")
        train, test = divide_in_time(found.times[place], settings.test_size)
        division = Division("time", train, test, y[place], times=found.times[place], order=found.order)
        check_classes_in_time(y[place], [(train, test)])
        division.folds(settings.folds, settings.seed)
    except RunError as error:
        message = f"{found.order.evidence}: rows are in the order of time, but cannot be divided by it ({error})"
        alerts.append(Alert("warning", found.order.column, message, "--time-column"))
        return None
    return found


def _divide(rows: FileRows, strata: Any, order: FoundOrder | None, settings: Settings) -> Division:
    """Who learns and who tests."""
    n, is_by_file = len(rows.is_test), bool(rows.is_test.any())
    given = (np.flatnonzero(~rows.is_test), np.flatnonzero(rows.is_test))
    if settings.group is not None:
        groups = groups_of(rows.table, settings.group, rows.numbers)
        if is_by_file:
            _refuse_shared_groups(groups, rows, settings)
        else:
            given = divide_groups(groups, strata, settings.test_size, settings.folds, settings.seed)
        return Division("groups", *given, strata, groups=groups, is_by_file=is_by_file)
    if order is not None:
        if not is_by_file:
            given = divide_in_time(order.times, settings.test_size)
            if strata is not None:
                check_classes_in_time(strata, [given])
        division = Division("time", *given, strata, times=order.times, order=order.order, is_by_file=is_by_file)
        division.folds(settings.folds, settings.seed)  # or an error, before anything is learnt
        return division
    if not is_by_file:
        given = divide_at_random(strata, n, settings.test_size, settings.seed)
    return Division("random", *given, strata, is_by_file=is_by_file)


def _refuse_shared_groups(groups: Any, rows: FileRows, settings: Settings) -> None:
    is_shared = rows.is_test & np.isin(groups, groups[~rows.is_test])
    if is_shared.any():
        place = int(np.argmax(is_shared))
        value = rows.table[settings.group or ""][place]
        raise DataError(
            f"--group {settings.group}: {int(is_shared.sum()):,} rows of {settings.test_file} are of groups that learn, the "
            f"first in row {rows.numbers[place]} ({value!r}). Rows of one group must not be on both sides."
        )


def _refuse_unseen(rows: FileRows, y: Any, settings: Settings) -> None:
    """A class of test rows that nothing was learnt of."""
    is_unseen = rows.is_test & ~np.isin(y, y[~rows.is_test])
    if is_unseen.any():
        place = int(np.argmax(is_unseen))
        raise DataError(
            f"--test-file {settings.test_file}: {int(is_unseen.sum()):,} rows are of classes that no two rows of "
            f"{settings.source} have, the first in row {rows.numbers[place]} ({y[place]!r}). Leave them out of the file."
        )


def _alerts_of_division(problem: Problem, settings: Settings, claims: Claims | None) -> list[Alert]:
    """What a reader must know of how rows were divided."""
    alerts, division = [], problem.division
    if division.order is not None and division.order.evidence is not None:
        message = f"{division.order.evidence}: the rows are in time, and the test rows are the last ones"
        alerts.append(Alert("warning", division.order.column, message, "--no-time"))
    if claims is not None:
        alerts.append(Alert("info", None, claims.in_words(problem.metric), None))
    if problem.classes is None or division.strata is None:
        return alerts
    learnt = division.strata[division.train]
    if absent := [str(label) for label in problem.classes if label not in learnt]:
        shown = ", ".join(map(repr, absent[:5])) + (" …" if len(absent) > 5 else "")
        alerts.append(
            Alert("warning", None, f"no row that learns is of the class {shown}, which comes in the test alone", None)
        )
    counts = dict(zip(*(part.tolist() for part in np.unique(learnt, return_counts=True)), strict=True))
    label, n_rarest = min(counts.items(), key=lambda item: (item[1], str(item[0])))
    folds = division.folds(settings.folds, settings.seed)
    is_lacking = any(len(np.unique(learnt[part])) < len(counts) for split in folds for part in split)
    if n_rarest < settings.folds or is_lacking:
        message = f"class {str(label)!r} has {n_rarest} rows that learn: some of the {settings.folds} folds lack a class"
        alerts.append(Alert("warning", None, message, "--folds"))
    return alerts


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


def _target_values(rows: FileRows, settings: Settings, task: str) -> Any:
    """Numbers for regression; labels as whole numbers, booleans or text."""
    import polars as pl

    target = rows.table[settings.target]
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
