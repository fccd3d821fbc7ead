"""The rows of a request: which columns they have, by the training table, and rows of JSON as columns of arrays."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._columns import MOMENT, Column, Table
from mercer._runs.sample import TrainingSample
from mercer._runs.settings import Settings
from mercer._runs.stored_model import StoredModel
from mercer._serving.cells import ServedColumn
from mercer._serving.problems import Problem, of_values, shown

if TYPE_CHECKING:
    import polars as pl

_MOST_TYPICAL = 200  # characters of a text that stands for a typical one


@dataclass(frozen=True)
class Rows:
    """Rows of a request, column by column."""

    columns: dict[str, npt.NDArray[Any]]
    n_rows: int
    warnings: list[str]

    def table(self) -> Table:
        """As the preparers of models read it: all members of a blend read one."""
        return Table.of(self.columns, "serve")


@dataclass(frozen=True)
class RowSchema:
    """The columns that the model of a run uses, and those of its file that it does not."""

    columns: tuple[ServedColumn, ...]
    ignored: frozenset[str]  # may be given, and are not looked at

    @classmethod
    def of(cls, stored: StoredModel, sample: TrainingSample | None, longest: int) -> RowSchema:
        """From what the run keeps: the preparers, the types in the file, and a sample of the training rows."""
        preparers = stored.preparers
        used = {report.name: report for preparer in preparers for report in reversed(preparer.report_) if report.used}
        levels: dict[str, tuple[tuple[str, ...], int]] = {}
        for preparer in preparers:
            for name, found in preparer.levels().items():
                levels[name] = max(levels.get(name, ((), 0)), found, key=lambda known: len(known[0]))
        types = stored.plan.schema
        columns = [
            replace(
                _column(used[name].kind, name, types[name], levels.get(name, ((), 0)), sample, longest),
                mark=stored.profile.marks.get(name),
            )
            for name in types
            if name in used
        ]
        ignored = set(types) - used.keys()
        settings = stored.plan.settings
        learnt = settings.target if isinstance(settings, Settings) else getattr(settings, "against", None)
        return cls(tuple(columns), frozenset({*ignored, *settings.drop, *([learnt] if learnt else [])}))

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def read(self, rows: Sequence[Mapping[str, Any]]) -> Rows:
        """Rows of JSON, or all that is wrong with them."""
        problems = [problem for number, row in enumerate(rows, 1) for problem in self._wrong_names(number, row)]
        if problems:
            raise of_values(problems)
        arrays: dict[str, npt.NDArray[Any]] = {}
        warnings: list[str] = []
        for column in self.columns:
            name = column.name
            values = [row[name] for row in rows]
            arrays[name] = column.read(values, problems)
            if column.levels and not problems:
                warnings += unseen_words(column, values)
        if problems:
            raise of_values(problems)
        return Rows(arrays, len(rows), warnings)

    def frame(self, rows: Rows) -> pl.DataFrame:
        """Rows as a frame, which explanations are made with."""
        import polars as pl

        return pl.DataFrame([column.series(rows.columns[column.name]) for column in self.columns])

    def _wrong_names(self, number: int, row: Any) -> list[Problem]:
        """Columns that a row lacks, and those that no column is called."""
        if not isinstance(row, Mapping):
            return [Problem(f"row {number}: this must be an object with a value for each column.", number, None, row)]
        names = row.keys()
        wrong = [
            Problem(f"row {number} lacks the column {column.name!r}: give {column.would_do}.", number, column.name)
            for column in self.columns
            if column.name not in names
        ]
        if len(row) == len(self.columns) and not wrong:
            return []
        known = {*self.names, *self.ignored}
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, self.names, 1)
                hint = f" Did you mean {near[0]!r}?" if near else f" The columns are {_listed(self.names)}."
                wrong.append(Problem(f"row {number}: there is no column {shown(name)!r}.{hint}", number, shown(name)))
        return wrong


def unseen_words(column: ServedColumn, values: Sequence[Any]) -> list[str]:
    """A warning where categories are given that training never saw."""
    unseen = column.unseen(values)
    if not unseen:
        return []
    what = ", ".join(repr(shown(value)) for value in unseen[:5]) + (" …" if len(unseen) > 5 else "")
    n = len(unseen)
    return [
        f"column {column.name!r}: {what} {'was' if n == 1 else 'were'} not in training, which had {_listed(column.levels)}."
    ]


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(map(repr, names[:most])) + (" …" if len(names) > most else "")


def _column(
    kind: str, name: str, dtype: str, levels: tuple[tuple[str, ...], int], sample: TrainingSample | None, longest: int
) -> ServedColumn:
    found = ServedColumn(name, kind, dtype, *levels, longest=longest)
    if sample is None or name not in sample.X.columns:
        typical = found.choices[0] if found.choices else None
        return ServedColumn(name, kind, dtype, *levels, typical=typical, longest=longest)
    low, high, typical = _figures(Table.of(sample.X.select(name), "serve").column(0), found)
    return ServedColumn(name, kind, dtype, *levels, low, high, typical, longest)


def _figures(column: Column, served: ServedColumn) -> tuple[Any, Any, Any]:
    """The least, the largest and a typical value of the training rows, as requests write them."""
    ordered = column.ordered
    if len(ordered) == 0:
        return None, None, None
    if served.holds == "number" and served.kind != "category":
        low, high = float(ordered[0]), float(ordered[-1])
        return _short(low), _short(high), _short(float(ordered[(len(ordered) - 1) // 2]))
    if column.storage == MOMENT:
        shown_as = [_moment_text(value, served.dtype) for value in (ordered[0], ordered[-1], ordered[(len(ordered) - 1) // 2])]
        return shown_as[0], shown_as[1], shown_as[2]
    values, counts = np.unique(ordered, return_counts=True)
    most = values[int(np.argmax(counts))]
    if served.holds == "boolean":
        return None, None, bool(most)
    if served.holds == "time":
        seconds = int(most)
        return None, None, f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if served.holds == "number":
        return None, None, _short(float(most))
    return None, None, column.levels[int(most)][:_MOST_TYPICAL]


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _moment_text(value: Any, dtype: str) -> str:
    return str(value.astype("datetime64[D]" if dtype == "Date" else "datetime64[s]"))
