"""What the columns of training were like, kept in the folder of a run, and what other rows are against that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._columns import Column
from mercer._frame_columns import polars_column
from mercer._kinds import as_kind
from mercer._report.numbers import number
from mercer._runs.alerts import Alert
from mercer._runs.columns_read import Rows, row_words, strange_words
from mercer._runs.errors import RunError
from mercer._runs.figures import Mark
from mercer._runs.folder import write_whole
from mercer._runs.new_rows import Strange, figures_in

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
_N_BINS = 10
_MOST_LEVELS = 5_000  # of a column; with more, what is new says little
_ORDERED = ("number", "date", "datetime", "duration")
_LEAST_FOR_DRIFT = 100  # rows
_DRIFT = 0.25  # population stability index: by custom the least that is a shift,
_NOISE = 3.0  # and this many times what chance alone would make of as many rows
_MUCH_MORE_MISSING = 0.1  # share of rows
_MOST_LINES = 20
_KEPT = 50  # places of strange values, and kinds of unseen ones that are told apart
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnProfile:
    """A column of training: its range and how it is distributed, or its categories."""

    kind: str
    n: int
    n_missing: int
    low: float | None = None
    high: float | None = None
    edges: tuple[float, ...] = ()  # between ten bins of about as many rows
    counts: tuple[int, ...] = ()  # of rows in the bins, or of the levels
    levels: tuple[str, ...] | None = None  # None: no categories, or too many to keep

    @classmethod
    def of(cls, column: Column, kind: str) -> ColumnProfile:
        n, n_missing = len(column.values), int(column.is_missing.sum())
        if kind in _ORDERED:
            values = np.sort(figures_in(column))[: n - n_missing]
            if not len(values):
                return cls(kind, n, n_missing)
            edges = np.unique(np.quantile(values, np.linspace(0, 1, _N_BINS + 1)[1:-1]))
            counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
            return cls(kind, n, n_missing, float(values[0]), float(values[-1]), tuple(edges.tolist()), tuple(counts.tolist()))
        if kind == "category" and len(column.levels) <= _MOST_LEVELS:
            counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
            return cls(kind, n, n_missing, counts=tuple(counts.tolist()), levels=column.levels)
        return cls(kind, n, n_missing)

    def shown(self, value: float) -> str:
        """A value as a reader knows it."""
        if self.kind in ("date", "datetime"):
            moment = np.datetime64(int(value), "us")
            return str(moment.astype("datetime64[D]")) if self.kind == "date" else str(moment.astype("datetime64[s]"))
        return f"{int(value):,}" if value.is_integer() else number(value)


@dataclass(frozen=True)
class Profile:
    """All columns that a model uses, and how numbers in them are written."""

    columns: Mapping[str, ColumnProfile] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)

    @classmethod
    def of(cls, X: pl.DataFrame, kinds: Mapping[str, str], marks: Mapping[str, Mark]) -> Profile:
        columns = {
            name: ColumnProfile.of(as_kind(polars_column(name, X[name]), kind, "missing"), kind) for name, kind in kinds.items()
        }
        return cls(columns, {name: mark for name, mark in marks.items() if name in kinds})

    def write(self, path: Path) -> None:
        columns = {
            name: {key: value for key, value in asdict(column).items() if value is not None and value != ()}
            for name, column in self.columns.items()
        }
        write_whole(path, json.dumps({"format": FORMAT, "marks": dict(self.marks), "columns": columns}, allow_nan=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> Profile:
        """That of a run; an empty one where an earlier version of Mercer wrote none."""
        if not path.is_file():
            return cls()
        try:
            stored = json.loads(path.read_text())
            if stored["format"] != FORMAT:
                raise RunError(f"{path}: format {stored['format']!r} is not known; this version knows {FORMAT}.")
            columns = {name: _column_of(values) for name, values in stored["columns"].items()}
            return cls(columns, dict(stored["marks"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{path}: the file is damaged ({type(error).__name__}: {error}).") from error


def _column_of(values: Mapping[str, Any]) -> ColumnProfile:
    lists: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return ColumnProfile(**lists)


@dataclass
class _Counts:
    """What was met in one column of the new rows."""

    n: int = 0
    n_missing: int = 0
    n_below: int = 0
    n_above: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    bins: npt.NDArray[np.intp] | None = None
    unseen: Counter[str] = field(default_factory=Counter)
    n_strange: int = 0
    strange: list[tuple[Any, int]] = field(default_factory=list)
    what: str = ""


class Watch:
    """Compares new rows with those of training, piece by piece, and says in the end what is otherwise."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._counts: dict[str, _Counts] = {}

    def see(self, columns: Mapping[str, Column], strange: list[Strange]) -> None:
        for name, column in columns.items():
            counts = self._counts.setdefault(name, _Counts())
            counts.n += len(column.values)
            counts.n_missing += int(column.is_missing.sum())
            if (known := self._profile.columns.get(name)) is not None:
                _compare(counts, known, column)
        for found in strange:
            counts = self._counts[found.name]
            counts.n_strange, counts.what = counts.n_strange + found.count, found.what
            room = _KEPT - len(counts.strange)
            counts.strange += list(zip(found.values[:room], found.rows[:room].tolist(), strict=True))

    def alerts(self) -> list[Alert]:
        """Values that could not be read first, then what the model never saw, then how columns are distributed."""
        found = [alert for name, counts in self._counts.items() for alert in self._of_column(name, counts)]
        found.sort(key=lambda pair: pair[0])
        kept = [alert for _, alert in found[:_MOST_LINES]]
        if len(found) > _MOST_LINES:
            kept.append(Alert("warning", None, f"and {len(found) - _MOST_LINES} more such findings", None))
        return kept

    def _of_column(self, name: str, counts: _Counts) -> Iterator[tuple[int, Alert]]:
        if counts.n_strange:
            values, rows = [value for value, _ in counts.strange], np.array([row for _, row in counts.strange], dtype=np.intp)
            yield 0, Alert("warning", name, f"{_counted_strange(counts, values, rows)}; taken as missing", None)
        if (known := self._profile.columns.get(name)) is None:
            return
        if n_unseen := counts.unseen.total():
            most = ", ".join(f"{value!r} ({count:,})" for value, count in counts.unseen.most_common(5))
            more = ", …" if len(counts.unseen) > 5 else ""
            message = f"{_rows(n_unseen, counts.n)} a category that training had not: {most}{more}"
            yield 1, Alert("warning", name, message, None)
        if outside := counts.n_below + counts.n_above:
            yield (
                2,
                Alert(
                    "warning",
                    name,
                    f"{_rows(outside, counts.n)} a value out of the range of training, {_range(known, counts)}",
                    None,
                ),
            )
        before, now = known.n_missing / max(1, known.n), counts.n_missing / max(1, counts.n)
        if counts.n >= _LEAST_FOR_DRIFT and now - before > _MUCH_MORE_MISSING:
            yield 3, Alert("warning", name, f"missing in {now:.0%} of the rows, in training in {before:.0%}", None)
        if (words := _drift(known, counts)) is not None:
            yield 4, Alert("warning", name, words, None)


def _rows(count: int, n: int) -> str:
    return f"{count:,} of {n:,} rows {'has' if count == 1 else 'have'}"


def _counted_strange(counts: _Counts, values: list[Any], rows: Rows) -> str:
    if counts.n_strange == len(values):
        return strange_words(values, rows, counts.what)
    return f"{counts.n_strange:,} values are {counts.what}, first {values[0]!r} in {row_words(rows[:1].tolist())}"


def _compare(counts: _Counts, known: ColumnProfile, column: Column) -> None:
    if known.low is not None and known.high is not None:
        values = figures_in(column)[~column.is_missing]
        if len(values):
            counts.n_below += int((values < known.low).sum())
            counts.n_above += int((values > known.high).sum())
            counts.lowest, counts.highest = min(counts.lowest, values.min()), max(counts.highest, values.max())
        found = np.bincount(np.searchsorted(np.array(known.edges), values, side="left"), minlength=len(known.counts))
        counts.bins = found if counts.bins is None else counts.bins + found
    elif known.levels is not None:
        place = {level: number for number, level in enumerate(known.levels)}
        met = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
        found = np.zeros(len(known.levels) + 1, dtype=np.intp)
        for level, count in zip(column.levels, met.tolist(), strict=True):
            found[place.get(level, -1)] += count
            if level not in place and (level in counts.unseen or len(counts.unseen) < _KEPT):
                counts.unseen[level] += count
            elif level not in place:
                counts.unseen["(others)"] += count
        counts.bins = found if counts.bins is None else counts.bins + found


def _range(known: ColumnProfile, counts: _Counts) -> str:
    assert known.low is not None
    assert known.high is not None
    sides = []
    if counts.n_below:
        sides.append(f"{counts.n_below:,} below, down to {known.shown(counts.lowest)}")
    if counts.n_above:
        sides.append(f"{counts.n_above:,} above, up to {known.shown(counts.highest)}")
    return f"{known.shown(known.low)} to {known.shown(known.high)}: {'; '.join(sides)}"


def _drift(known: ColumnProfile, counts: _Counts) -> str | None:
    """What to say of a column that is distributed otherwise than in training, beyond what chance makes of so many rows."""
    if counts.bins is None or not known.counts or known.kind in ("date", "datetime"):  # time goes on: its range says it
        return None
    before = np.array([*known.counts, *([0] if known.levels is not None else [])], dtype=np.float64)
    now = counts.bins.astype(np.float64)
    n_before, n_now = before.sum(), now.sum()
    if min(n_before, n_now) < _LEAST_FOR_DRIFT:
        return None
    is_large = (before / n_before > 0.02) | (now / n_now > 0.02)  # rare categories together, as they are mostly noise
    before, now = (np.append(each[is_large], each[~is_large].sum()) + 0.5 for each in (before, now))
    p, q = before / before.sum(), now / now.sum()
    index = float(((q - p) * np.log(q / p)).sum())
    noise = (len(p) - 1) * (1 / n_before + 1 / n_now)
    if index < max(_DRIFT, _NOISE * noise):
        return None
    head = f"distributed otherwise than in training (stability index {index:.2f}; above {_DRIFT} is a shift): "
    return head + (_moved_level(known, counts) if known.levels is not None else _moved_middle(known, counts))


def _moved_level(known: ColumnProfile, counts: _Counts) -> str:
    assert known.levels is not None
    assert counts.bins is not None
    before = np.array(known.counts) / max(1, sum(known.counts))
    now = counts.bins[:-1] / max(1, int(counts.bins.sum()))
    at = int(np.argmax(np.abs(now - before)))
    return f"{known.levels[at]!r} has {now[at]:.0%} of the rows, in training {before[at]:.0%}"


def _moved_middle(known: ColumnProfile, counts: _Counts) -> str:
    assert counts.bins is not None
    middle = len(known.edges) // 2
    edge = known.edges[middle]
    before, now = (np.sum(each[: middle + 1]) / max(1, np.sum(each)) for each in (known.counts, counts.bins))
    return f"{now:.0%} of the values are at most {known.shown(edge)}, in training {before:.0%}"
