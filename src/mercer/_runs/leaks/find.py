"""All checks for leaks, as alerts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._report.data.columns import Feature, Sample
from mercer._report.numbers import decimals_for, number, plural
from mercer._runs.alerts import Alert, has_nested
from mercer._runs.leaks.afterwards import gaps_of
from mercer._runs.leaks.keys import identifier_words, told_by_group
from mercer._runs.leaks.repeats import repeats_of
from mercer._runs.leaks.sums import pair_of_classes, sum_of_numbers
from mercer._runs.leaks.target import Target
from mercer._tables import as_table

if TYPE_CHECKING:
    import polars as pl

    from mercer._runs.problem import Problem

_MANY_REPEATS, _FEWEST_REPEATS = 0.01, 3  # of the test rows


def find_leaks(
    problem: Problem, model: Any, used: Sequence[str], *, seed: int, group: str | None, seconds: float
) -> list[Alert]:
    """What speaks for leaks in the columns that a fitted model uses; what was said of the table before is not said again.

    `group` is the column whose values are kept on one side already. At most 20,000 rows are looked at, and columns as long as
    there is time.
    """
    named = {alert.column for alert in problem.alerts if alert.level != "info"}
    names = set(problem.X.columns)
    columns = [name for name in used if name in names]
    if not columns:
        return []
    X, y = problem.rows(problem.train)
    return [
        *_of_columns(X.select(columns), y, problem, named, seed, group, time.monotonic() + seconds),
        *_of_repeats(problem, model, columns),
    ]


def _of_columns(
    X: pl.DataFrame, y: Any, problem: Problem, named: Collection[str | None], seed: int, group: str | None, deadline: float
) -> Iterator[Alert]:
    table = as_table(X, "X")
    sample = Sample.of(table, table, (), seed)
    target = Target.of(np.asarray(y)[sample.train_rows], problem.classes)
    checks: tuple[Callable[[Feature], Alert | None], ...] = (
        lambda feature: _gaps(feature, target, X.width),
        lambda feature: _identifier(feature, len(problem.y)),
        lambda feature: None if group is not None else _key(feature, target),
    )
    features = []
    for feature in sample.features():
        if time.monotonic() > deadline:
            break
        features.append(feature)
        found = None if feature.name in named else next(filter(None, (check(feature) for check in checks)), None)
        if found is not None:
            yield found
    yield from _sums([each for each in features if each.name not in named], target)


def _gaps(feature: Feature, target: Target, n_columns: int) -> Alert | None:
    found = gaps_of(feature, target, n_columns)
    if found is None:
        return None
    return Alert(
        "warning", feature.name, f"{found.words}: was it filled in after the target was known?", f"--drop {feature.name}"
    )


def _identifier(feature: Feature, n_rows: int) -> Alert | None:
    words = identifier_words(feature, n_rows)
    if words is None:
        return None
    return Alert(
        "warning", feature.name, f"{words}, and the model uses it: new rows will have others", f"--drop {feature.name}"
    )


def _key(feature: Feature, target: Target) -> Alert | None:
    share = told_by_group(feature, target)
    if share is None:
        return None
    message = (
        f"rows with the same value tell {share:.1%} of one another's target, as those of one person do: unless new rows "
        "have the same values, the test flatters"
    )
    return Alert("warning", feature.name, message, f"--group {feature.name}")


def _sums(features: Sequence[Feature], target: Target) -> Iterator[Alert]:
    if target.is_classes:
        pair = pair_of_classes(features, target)
        if pair is not None:
            found, share = pair
            message = f"{found} tells {share:.1%} of the target: were both known before the target was?"
            yield Alert("warning", None, message, _drops(found.names))
        return
    total = sum_of_numbers(features, target)
    if total is not None:
        message = f"{total} gives the target exactly: were these columns known before the target was?"
        yield Alert("warning", None, message, _drops(total.names))


def _drops(names: Sequence[str]) -> str:
    return " ".join(f"--drop {name}" for name in names)


def _of_repeats(problem: Problem, model: Any, columns: Sequence[str]) -> Iterator[Alert]:
    """Test rows that a model may know by heart, and the score without them."""
    (X, y), (X_test, y_test) = problem.rows(problem.train), problem.rows(problem.test)
    if has_nested(X.select(columns)):
        return
    found = repeats_of(X, y, X_test, y_test, columns)
    if found.n < max(_FEWEST_REPEATS, _MANY_REPEATS * len(y_test)):
        return
    message = (
        f"{plural(found.n, 'test row')} of {len(y_test):,} ({found.n / len(y_test):.1%}) have the values of training rows: "
        f"{found.n_same:,} with the same target, {found.n_other:,} with another, {found.n_both:,} with both"
    )
    rest = np.flatnonzero(~found.is_repeated)
    yield Alert("warning", None, message + _without(problem, model, X_test, y_test, rest), None)


def _without(problem: Problem, model: Any, X: pl.DataFrame, y: Any, rest: Any) -> str:
    """What the test comes to without the repeated rows, where it can be said."""
    weights = problem.weights_of(problem.test)
    parts = (X, y, weights), (X[rest], y[rest], None if weights is None else weights[rest])
    try:
        scores = [problem.metric.shown(problem.metric.score(model, *part)) for part in parts]
    except ValueError:  # the rest may be empty, or of one class
        return ""
    if not np.isfinite(scores).all():
        return ""
    decimals = decimals_for(scores)
    return f"; without them {problem.metric.label} is {number(scores[1], decimals)} instead of {number(scores[0], decimals)}"
