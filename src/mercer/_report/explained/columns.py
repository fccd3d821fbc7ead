"""What columns gave to rows, column by column: for beeswarms, dependence and single rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._columns import MOMENT, WORDS, Column, Table as Columns
from mercer._report.explained.content import Share
from mercer._report.explained.model_content import Dependence, Swarm, SwarmColumn
from mercer._tables import Table, as_text
from mercer.inspection import Explanation

_MOST_COLUMNS = 10
_MOST_SHARES = 8
_MOST_WORDS = 8
ROUNDING = 1e-9  # of what the leading column gives: less is nothing
_OTHERS, _MISSING = "(others)", "(missing)"
_SECONDS_OF_YEAR = 365.2425 * 86400


@dataclass(frozen=True)
class Leading:
    """One output of an explanation, and its columns by how much they gave."""

    output: int
    values: FloatArray  # of shape (n_rows, n_columns)
    names: list[str]

    @classmethod
    def of(cls, explanation: Explanation, output: int) -> Leading:
        return cls(output, explanation.values[:, :, output], list(map(str, explanation.feature_names)))

    @property
    def sizes(self) -> FloatArray:
        """The mean size of what each column gave."""
        sizes: FloatArray = np.abs(self.values).mean(axis=0)
        return sizes

    @property
    def order(self) -> list[int]:
        """The columns that gave something, most first."""
        found = np.argsort(-self.sizes, kind="stable").tolist()
        return [j for j in found if self.sizes[j] > ROUNDING * max(1e-3, float(self.sizes.max(initial=0.0)))]


def swarm_of(leading: Leading, table: Table, label: str | None) -> Swarm:
    """Its leading columns."""
    shown = leading.order[:_MOST_COLUMNS]
    return Swarm(
        label=label,
        columns=[
            SwarmColumn(
                column=leading.names[j],
                mean=float(leading.sizes[j]),
                values=_rounded(leading.values[:, j]),
                ranks=_ranks(_column(table, j)),
            )
            for j in shown
        ],
        n_others=len(leading.order) - len(shown),
    )


def dependence_of(values: FloatArray, table: Table, j: int, label: str | None) -> Dependence:
    """What one column gave against its own value; missing numbers are left out."""
    column = _column(table, j)
    if column.storage == WORDS:
        words = [_MISSING if place < 0 else column.levels[place] for place in column.values.tolist()]
        common = {word for word, _ in Counter(words).most_common(_MOST_WORDS)}
        joined = [word if word in common else _OTHERS for word in words]
        return Dependence(column=table.names[j], label=label, x=None, words=joined, is_date=False, y=_rounded(values))
    is_date = column.storage == MOMENT
    x = 1970.0 + column.values.astype(np.int64) / 1e6 / _SECONDS_OF_YEAR if is_date else column.values
    known = ~column.is_missing & np.isfinite(np.where(column.is_missing, 0.0, x))
    return Dependence(
        column=table.names[j], label=label, x=_rounded(x[known]), words=None, is_date=is_date, y=_rounded(values[known])
    )


def has_few_words(table: Table, j: int) -> bool:
    """Whether a picture of its words says something: of a column of numbers, and of words of which few are most."""
    column = _column(table, j)
    if column.storage != WORDS:
        return True
    common = Counter(column.values.tolist()).most_common(_MOST_WORDS)
    return 2 * sum(count for _, count in common) >= len(column.values)


def shares_of(part: Explanation, table: Table, row: int) -> list[Share]:
    """What each column gave to one row, the largest first."""
    order = np.argsort(-np.abs(part.values), kind="stable")[:_MOST_SHARES].tolist()
    return [
        Share(
            column=table.names[j],
            value=as_text(table.cell(row, j)),
            contribution=float(part.values[j]),
            error=None,
        )
        for j in order
    ]


def _column(table: Table, j: int) -> Column:
    return Columns.of(table.data, "report").column(j)


def _ranks(column: Column) -> list[float | None]:
    """The share of the other values that are lower; of equal ones the middle."""
    if column.storage == WORDS:
        return [None] * len(column.values)
    known = column.ordered
    if len(known) < 2:
        return [None] * len(column.values)
    low, high = (np.searchsorted(known, column.values, side=side) for side in ("left", "right"))
    ranks = np.clip((low + high - 1) / 2 / (len(known) - 1), 0.0, 1.0)
    return [None if missing else round(float(rank), 3) for rank, missing in zip(ranks, column.is_missing, strict=True)]


def _rounded(values: Any) -> list[float]:
    """With six figures: what a picture can show."""
    return [float(f"{value:.6g}") for value in np.asarray(values, dtype=np.float64).tolist()]
