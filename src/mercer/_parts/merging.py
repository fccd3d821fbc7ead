"""Statistics of parts, merged in an order that depends on their number alone: whoever finishes first, the bits are the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

TOGETHER = 8  # results that are merged at a time


def merge_present(results: Sequence[T | None]) -> T | None:
    """Neighbours as one; None are those of parts without rows."""
    present: list[Any] = [result for result in results if result is not None]
    if len(present) < 2:
        return present[0] if present else None
    merged: T = present[0].merge(*present[1:])
    return merged


class MergeTree(Generic[T]):
    """Merges eight neighbours at a time, and these eight at a time, as they come: few of them wait."""

    def __init__(self) -> None:
        self._levels: list[list[T | None]] = []

    def add(self, result: T | None, level: int = 0) -> None:
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(result)
        if len(waiting) == TOGETHER:
            self._levels[level] = []
            self.add(merge_present(waiting), level + 1)

    def total(self) -> T | None:
        """All of them as one; None where there were none."""
        carried: list[T | None] = []
        for waiting in self._levels:
            group = [*waiting, *carried]
            carried = [merge_present(group)] if group else []
        return carried[0] if carried else None


def merged(results: Iterable[T | None]) -> T | None:
    """Of results that come one by one."""
    tree: MergeTree[T] = MergeTree()
    for result in results:
        tree.add(result)
    return tree.total()


class Sums(NamedTuple):
    """Numbers and arrays that add up, place by place; None stays None."""

    values: tuple[Any, ...]

    def merge(self, *others: Sums) -> Sums:
        columns = zip(self.values, *(other.values for other in others), strict=True)
        return Sums(tuple(None if column[0] is None else sum(column[1:], start=column[0]) for column in columns))
