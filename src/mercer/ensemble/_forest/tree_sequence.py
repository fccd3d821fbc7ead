"""The members of an ensemble that lives in one store: made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload


class TreeSequence(Sequence[Any]):
    """A sequence of estimators, each made by `make(index)` when it is looked at."""

    def __init__(self, make: Callable[[int], Any], n: int) -> None:
        self._make, self._n = make, n

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._make(place) for place in range(*index.indices(self._n))]
        if not -self._n <= index < self._n:
            raise IndexError(f"There is no member {index}; there are {self._n}.")
        return self._make(index % self._n)

    def __repr__(self) -> str:
        return f"<{self._n} members, the first {self._make(0)!r}>" if self._n else "<no members>"
