"""Columns of the training and the test table side by side, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._columns import MOMENT, WORDS, Column, Table as Columns
from mercer._lazy import lazy_property
from mercer._tables import IntArray, Table

_MOST_ROWS, _FEWEST_ROWS = 20_000, 1_000
_MOST_CELLS = 10_000_000
_FREE_TEXT = 0.5  # of the values distinct: words without groups


@dataclass(frozen=True)
class Feature:
    """One column on some training and test rows: float64, NaN where missing; words are places among `levels`."""

    name: str
    train: FloatArray
    test: FloatArray
    levels: tuple[str, ...] = ()
    is_date: bool = False  # values are seconds from 1970

    @property
    def is_words(self) -> bool:
        return bool(self.levels)

    @lazy_property
    def known(self) -> FloatArray:
        """The training values that are there."""
        found: FloatArray = self.train[~np.isnan(self.train)]
        return found

    @lazy_property
    def n_distinct(self) -> int:
        return len(np.unique(self.known))

    @property
    def is_free_text(self) -> bool:
        """Words that hardly ever come twice."""
        return self.is_words and self.n_distinct > max(20, _FREE_TEXT * len(self.known))

    @property
    def has_values(self) -> bool:
        return len(self.known) > 0


@dataclass(frozen=True)
class Sample:
    """The rows that are looked at, and the columns in order of importance, each read when it is asked for."""

    names: tuple[str, ...]
    train_rows: IntArray
    test_rows: IntArray
    _train: Columns
    _test: Columns
    _order: IntArray

    @classmethod
    def of(cls, train: Table, test: Table, leading: Sequence[str], seed: int) -> Sample:
        """At most 20,000 rows of either, fewer of wide tables; `leading` are the columns to begin with."""
        names = train.names
        most = int(np.clip(_MOST_CELLS // max(1, len(names)), _FEWEST_ROWS, _MOST_ROWS))
        rows = [_some(table.n_rows, most, [seed, place]) for place, table in enumerate((train, test))]
        tables = [Columns.of(_readable(table.take(at)), "describe") for table, at in zip((train, test), rows, strict=True)]
        place = {name: index for index, name in enumerate(names)}
        first = [place[name] for name in leading if name in place]
        rest = sorted(set(range(len(names))) - set(first))
        order = np.asarray([*first, *rest], dtype=np.intp)
        return cls(tuple(names[at] for at in order), rows[0], rows[1], tables[0], tables[1], order)

    def __len__(self) -> int:
        return len(self.names)

    def features(self) -> Iterator[Feature]:
        """The columns that hold values, in order."""
        for number in range(len(self)):
            feature = self.feature(number)
            if feature is not None and feature.has_values:
                yield feature

    def feature(self, number: int) -> Feature | None:
        """A column; None where it holds lists or objects, which are no values to count."""
        at = int(self._order[number])
        try:
            train, test = self._train.column(at), self._test.column(at)
        except (ValueError, TypeError):
            return None
        return feature_of(self.names[number], train, test)


def feature_of(name: str, train: Column, test: Column) -> Feature:
    """Words of both tables get places in one list; where the tables differ in kind, the test rows count as missing."""
    if train.storage == WORDS or test.storage == WORDS:
        levels = tuple(sorted({*train.levels, *test.levels}))
        place = {level: float(at) for at, level in enumerate(levels)}
        return Feature(name, _placed(train, place), _placed(test, place), levels)
    numbers = [_as_numbers(column) for column in (train, test)]
    if (train.storage == MOMENT) != (test.storage == MOMENT):
        numbers[1] = np.full(len(test.values), np.nan)
    return Feature(name, numbers[0], numbers[1], is_date=train.storage == MOMENT)


def _placed(column: Column, place: dict[str, float]) -> FloatArray:
    if column.storage != WORDS:
        return np.full(len(column.values), np.nan)
    table = np.asarray([*(place[level] for level in column.levels), np.nan])
    found: FloatArray = table[column.values]
    return found


def _as_numbers(column: Column) -> FloatArray:
    if column.storage != MOMENT:
        values = np.asarray(column.values, dtype=np.float64)
        return np.where(np.isinf(values), np.nan, values)
    seconds = column.values.astype("datetime64[us]").astype(np.int64) / 1e6
    seconds[np.isnat(column.values)] = np.nan
    return np.asarray(seconds)


def _readable(data: Any) -> Any:
    return data.toarray() if hasattr(data, "toarray") else data


def _some(n_rows: int, most: int, seed: list[int]) -> IntArray:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:most])
