"""Parts that are in memory: arrays or frames, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mercer._parts.merging import merged
from mercer._parts.passes import Part, Parted
from mercer._rows import count_rows, take_rows

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Blocks of rows."""

    blocks: Sequence[Any]

    def sample(self) -> Any:
        block = next((block for block in self.blocks if count_rows(block) > 0), self.blocks[0])
        return take_rows(block, slice(0, 1))

    def lengths(self) -> list[int]:
        return [count_rows(block) for block in self.blocks]

    def results(self, job: Callable[[Part], T], wanted: Sequence[Parted]) -> Iterator[T]:
        numbers = {len(one.source.blocks) for one in wanted}
        if len(numbers) > 1:
            raise ValueError(f"X, y and weights must have equally many parts; they have {sorted(numbers)}.")
        for number, blocks in enumerate(zip(*(one.source.blocks for one in wanted), strict=True)):
            yield job(Part(number, tuple(select(block, one.columns) for block, one in zip(blocks, wanted, strict=True))))

    def total(self, job: Callable[[Part], T | None], wanted: Sequence[Parted]) -> T | None:
        return merged(self.results(job, wanted))


def select(block: Any, columns: Any) -> Any:
    """Some columns of a frame: a frame, or a vector for a single name; all of it where there is no choice."""
    if columns is None:
        return block
    return block[list(columns)] if isinstance(columns, tuple) else block[columns]
