"""Which kind a column is of."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from mercer._columns import (
    MOMENT,
    NUMBER,
    WORDS,
    Column,
    label,
)
from mercer._words import are_booleans, are_moments, are_numbers, moments_of

USED_KINDS = ("number", "category", "boolean", "date", "datetime", "duration", "text")
N_ROWS_TO_JUDGE = 20  # with fewer, values that are all distinct say nothing
_DAY = np.timedelta64(86_400_000_000, "us")


@dataclass(frozen=True)
class Finding:
    """What a column is, why, and how many values it has."""

    kind: str
    reason: str
    n_distinct: int
    n_missing: int


class KindFinder:
    """Tells the kind of one column after another; remembers those seen, to know a duplicate."""

    def __init__(self, params: SimpleNamespace) -> None:
        self._params = params
        self._seen: dict[Any, list[Column]] = {}

    def find(self, column: Column, given: str | None = None) -> Finding:
        """The kind of a column; `given` is what the user says it is."""
        n_missing = int(column.is_missing.sum())
        n_distinct = _count_distinct(column)
        if given is not None:
            return Finding(given, "given by kinds", n_distinct, n_missing)
        n_present = len(column.values) - n_missing
        if n_present == 0:
            kind, reason = "empty", "every value is missing"
        elif n_distinct == 1 and n_missing == 0:
            kind, reason = "constant", f"every value is {_first(column)!r}"
        elif (twin := self._twin(column)) is not None:
            kind, reason = "duplicate", f"equal to column {twin!r} in every row"
        else:
            kind, reason = self._kind_of_values(column, n_distinct, n_present)
        return Finding(kind, f"{reason}; {column.note}" if column.note else reason, n_distinct, n_missing)

    def _twin(self, column: Column) -> str | None:
        key = (column.storage, column.levels, zlib.crc32(column.values.tobytes()))
        known = self._seen.setdefault(key, [])
        bits = column.values.tobytes() if known else b""
        twin = next((other.name for other in known if other.values.tobytes() == bits), None)
        known.append(column)
        return twin

    def _kind_of_values(self, column: Column, n_distinct: int, n_present: int) -> tuple[str, str]:
        if column.storage == NUMBER:
            return _kind_of_numbers(column, n_distinct)
        if column.storage == WORDS:
            return self._kind_of_words(column, n_distinct, n_present)
        if column.storage == MOMENT:
            return _kind_of_moments(column.values)
        return column.storage, f"its type is {column.storage}"

    def _kind_of_words(self, column: Column, n_distinct: int, n_present: int) -> tuple[str, str]:
        words = column.levels
        if column.is_declared:
            return "category", "its type is categorical"
        if are_booleans(words):
            return "boolean", f"the words are {' and '.join(map(repr, words))}"
        if are_numbers(words):
            return "number", "every word is a number"
        if are_moments(words):
            kind, _ = _kind_of_moments(moments_of(words))
            return kind, f"every word is a {kind}"
        share = n_distinct / n_present
        n_words = len(" ".join(words).split()) / n_distinct
        figures = f"{n_distinct} distinct values in {n_present} rows, {n_words:.1f} words each"
        if n_present >= N_ROWS_TO_JUDGE and share > self._params.text_share and n_words >= self._params.text_words:
            return "text", figures
        if n_present >= N_ROWS_TO_JUDGE and share >= self._params.identifier_share:
            return "identifier", figures
        return "category", f"{n_distinct} distinct words in {n_present} rows"


def _kind_of_numbers(column: Column, n_distinct: int) -> tuple[str, str]:
    values, n = column.values, len(column.values)
    if n_distinct == n and n >= N_ROWS_TO_JUDGE:
        low, high = values.min(), values.max()
        if high == low + (n - 1) and (values == np.floor(values)).all():
            return "identifier", f"the whole numbers from {label(low)} to {label(high)}, each once: a numbering of the rows"
    return "number", f"{n_distinct} distinct numbers"


def _kind_of_moments(values: Any) -> tuple[str, str]:
    times = values[~np.isnat(values)].astype(np.int64) % _DAY.astype(np.int64)
    return ("datetime", "moments with a time of day") if times.any() else ("date", "days without a time of day")


def _count_distinct(column: Column) -> int:
    if column.storage == WORDS:
        return len(column.levels)
    ordered = column.ordered
    return int((ordered[1:] != ordered[:-1]).sum()) + 1 if len(ordered) else 0


def _first(column: Column) -> str:
    return column.levels[0] if column.storage == WORDS else label(column.values[0])
