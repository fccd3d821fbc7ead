"""Runs side by side: what differs, and whether one of them is really better on the rows that both were tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from mercer._assessment.intervals import percentiles
from mercer._report.measures import LEVEL
from mercer._report.numbers import decimals_for, interval, level, number
from mercer._runs.errors import RunError
from mercer._runs.folder import Plan, RunFolder
from mercer._runs.metric import Metric
from mercer._runs.settings import Settings
from mercer._runs.tested import TestedRows

_N_RESAMPLES = 1000
_FEWEST_RESAMPLES = 200
_MOST_DRAWS = 2e7  # rows times resamples
_FEWEST_ROWS = 10


class Side(TypedDict):
    """One run."""

    run: str
    source: str
    data: str  # the digest of the file
    model: str
    metric: str
    score: float | None  # over the folds
    test: float | None  # by its own measure
    test_low: float | None
    test_high: float | None
    n_train: int
    n_test: int
    mercer: str


class Difference(TypedDict):
    """A run against the first, on the rows that both were tested on, by the measure of the first."""

    run: str
    n: int
    first: float | None
    this: float | None
    difference: float | None  # this minus the first, in the units of the measure
    low: float | None
    high: float | None
    is_real: bool | None  # whether the interval leaves out zero; None where that is not known
    reading: str


class Comparison(TypedDict):
    """What `mercer compare` says."""

    target: str
    metric: str
    level: float
    runs: list[Side]
    settings: dict[str, list[Any]]  # those that differ, a value a run
    differences: list[Difference]


@dataclass(frozen=True)
class _Run:
    path: Path
    plan: Plan[Settings]
    content: Any
    tested: TestedRows | None

    @classmethod
    def of(cls, path: Path) -> _Run:
        folder = RunFolder.existing(path)
        plan = folder.read_plan()
        if not isinstance(plan.settings, Settings):
            command = plan.settings.command
            raise RunError(f"{path}: this is a run of `mercer {command}`; runs of `mercer train` are compared.")
        content: Any = folder.read_report()
        tested = TestedRows.read(folder.test_rows) if folder.test_rows.is_file() else None
        return cls(path, folder.read_plan_of(Settings), content, tested)

    @property
    def metric(self) -> Metric:
        stored = self.content["data"]["metric"]
        return Metric(stored["name"], stored["label"], stored["is_loss"], stored["reason"])

    @property
    def test_file(self) -> str:
        """What identifies the file of the test rows."""
        return self.plan.test_digest or self.plan.digest

    def side(self) -> Side:
        data, best = self.content["data"], self.content["best"]
        row = next(row for row in self.content["leaderboard"] if row["is_best"])
        measure = next(each for each in self.content["test"]["measures"] if each["is_metric"])
        return Side(
            run=str(self.path),
            source=data["source"],
            data=self.plan.digest,
            model=best["model"],
            metric=data["metric"]["label"],
            score=None if row["score"] is None else self.metric.shown(row["score"]),
            test=measure["value"],
            test_low=measure["low"],
            test_high=measure["high"],
            n_train=data["n_train"],
            n_test=data["n_test"],
            mercer=self.content["mercer"],
        )


def compare_runs(paths: Sequence[Path]) -> Comparison:
    """The first run against all others. They must have learned the same target."""
    if len(paths) < 2:
        raise RunError("compare: one run is named; it takes two or more.")
    runs = [_Run.of(path) for path in paths]
    first = runs[0]
    for run in runs[1:]:
        _check_target(first, run)
    return Comparison(
        target=first.plan.settings.target,
        metric=first.metric.label,
        level=LEVEL,
        runs=[run.side() for run in runs],
        settings=_settings_that_differ(runs),
        differences=[_difference(first, run) for run in runs[1:]],
    )


def _check_target(first: _Run, other: _Run) -> None:
    for what in ("target", "task", "classes"):
        one, two = first.content["data"][what], other.content["data"][what]
        if one != two:
            raise RunError(f"{other.path}: its {what} is {two}, that of {first.path} {one}; such runs cannot be compared.")


def _settings_that_differ(runs: Sequence[_Run]) -> dict[str, list[Any]]:
    all_settings = [run.plan.settings.to_dict() for run in runs]
    differing = [name for name in all_settings[0] if any(each[name] != all_settings[0][name] for each in all_settings)]
    return {name: [each[name] for each in all_settings] for name in differing}


def _difference(first: _Run, other: _Run) -> Difference:
    shared = _shared_rows(first, other)
    if isinstance(shared, str):
        return Difference(
            run=str(other.path), n=0, first=None, this=None, difference=None, low=None, high=None, is_real=None, reading=shared
        )
    one, two = shared
    metric, n = first.metric, len(one.true)
    classes = _classes_of(first, one)
    values = [metric.shown(each.score(metric, classes)) for each in shared]
    low, high = percentiles(_resampled(one, two, metric, classes), LEVEL)
    is_known = bool(np.isfinite([low, high]).all())
    is_real = bool(low > 0 or high < 0) if is_known else None
    found = Difference(
        run=str(other.path),
        n=n,
        first=values[0],
        this=values[1],
        difference=values[1] - values[0],
        low=low if is_known else None,
        high=high if is_known else None,
        is_real=is_real,
        reading="",
    )
    found["reading"] = _reading(found, metric, str(first.path), len(first.tested.true) if first.tested else 0)
    return found


def _classes_of(run: _Run, rows: TestedRows) -> Any:
    """The labels, as the rows hold them; the report holds them as text."""
    named = run.content["data"]["classes"]
    if named is None:
        return None
    if rows.true.dtype.kind == "b":
        return np.array([False, True])
    return np.array(named) if rows.true.dtype.kind in "US" else np.array([int(name) for name in named])


def _shared_rows(first: _Run, other: _Run) -> tuple[TestedRows, TestedRows] | str:
    """The rows that both were tested on, in the same order; or why there are none."""
    for run in (first, other):
        if run.tested is None:
            return (
                f"{run.path} keeps no test rows: an earlier version of Mercer made it, and `mercer train --resume` adds them."
            )
    assert first.tested is not None
    assert other.tested is not None
    _, at, to = np.intersect1d(first.tested.numbers, other.tested.numbers, return_indices=True)
    one, two = first.tested.take(at), other.tested.take(to)
    if first.test_file != other.test_file or not np.array_equal(one.true, two.true):
        return f"{other.path} was tested on rows of another file than {first.path}: their scores are of different rows."
    if len(at) < _FEWEST_ROWS:
        return f"{other.path} and {first.path} were both tested on {len(at)} rows of the file, too few to compare them."
    return one, two


def _resampled(one: TestedRows, two: TestedRows, metric: Metric, classes: Any) -> Any:
    """The difference on resamples of the rows, the same for both, so that what is hard for both cancels."""
    n, random = len(one.true), np.random.default_rng(0)
    count = int(min(_N_RESAMPLES, max(_FEWEST_RESAMPLES, _MOST_DRAWS / n)))
    found = np.full(count, np.nan)
    for place in range(count):
        rows = random.integers(n, size=n)
        try:
            scores = [metric.shown(each.take(rows).score(metric, classes)) for each in (one, two)]
        except ValueError:  # a resample that lacks a class
            continue
        found[place] = scores[1] - scores[0]
    return found


def _reading(found: Difference, metric: Metric, first: str, n_first: int) -> str:
    one, two, difference = found["first"], found["this"], found["difference"]
    assert one is not None
    assert two is not None
    assert difference is not None
    decimals = decimals_for([one, two])
    which = "the same" if found["n"] == n_first else "the"
    rows = f"{found['n']:,} test rows" + ("" if found["n"] == n_first else " that both were tested on")
    text = f"On {which} {rows} {found['run']} has {metric.label} {number(two, decimals)}, {first} {number(one, decimals)}"
    if difference == 0:
        return f"{text}: no difference."
    is_better = (difference < 0) == metric.is_loss
    text += f": {found['run']} is {'better' if is_better else 'worse'} by {number(abs(difference), decimals)}"
    if found["low"] is None or found["high"] is None:
        return f"{text}. Whether that is more than chance cannot be said of these rows."
    low, high = (found["low"], found["high"]) if difference > 0 else (-found["high"], -found["low"])
    text += f" ({level(LEVEL)} {interval(low, high, decimals)})"
    return f"{text}, which chance does not explain." if found["is_real"] else f"{text}, which chance alone may explain."
