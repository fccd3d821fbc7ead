"""A pass: a function of a part, done for every part, and what it gives in the order of the parts.

A `Parted` stands for an array whose rows lie in parts: it says where they lie (`Source`), which columns are meant, and what is
done to a part when it is there. Everything that a pass needs besides travels with it, and its results alone come back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from mercer._parallel import effective_threads, serial_blas, thread_share
from mercer._rows import count_rows

T = TypeVar("T")
Step = Callable[[Any], Any]
Columns = tuple[Any, ...] | Any | None  # names, one name (a vector), or None for all


class Part(NamedTuple):
    """One part of several aligned arrays, as it was loaded; its number is for messages."""

    number: int
    blocks: tuple[Any, ...]


class Source(Protocol):
    """Where parts lie."""

    def lengths(self) -> Sequence[int]:
        """How many rows each part has."""
        ...

    def sample(self) -> Any:
        """A row or two, with the columns and types of all."""
        ...

    def results(self, job: Callable[[Part], T], wanted: Sequence[Parted]) -> Iterator[T]:
        """What a job gives for each part, in their order; `wanted` have sources of this kind and equally many parts."""
        ...

    def total(self, job: Callable[[Part], T | None], wanted: Sequence[Parted]) -> T | None:
        """The same, merged; None where no part gives anything."""
        ...


@dataclass(frozen=True, eq=False)
class Parted:
    """An array, or a column, whose rows lie in parts. `dtype` is known once it is checked."""

    source: Any  # a Source
    columns: Columns = None
    steps: tuple[Step, ...] = ()
    dtype: npt.DTypeLike | None = None
    n_columns: int | None = None  # None: one number a row

    def then(self, step: Step, **changes: Any) -> Parted:
        """The same with one more thing done to each part."""
        return replace(self, steps=(*self.steps, step), **changes)

    @property
    def ndim(self) -> int:
        return 1 if self.n_columns is None else 2

    @property
    def n_rows(self) -> int:
        """By a pass over what is cheapest to load, once for a source."""
        return int(sum(self.source.lengths()))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_rows,) if self.n_columns is None else (self.n_rows, self.n_columns)

    def __len__(self) -> int:
        return self.n_rows

    def sum(self) -> float:
        """Of a vector."""
        return float(sum(each(np.sum, self, dtype=np.float64)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """All rows in memory: for targets and predictions, which are small beside the table."""
        whole: npt.NDArray[Any] = np.concatenate(list(each(np.asarray, self)))
        return whole if dtype is None else whole.astype(dtype)


class _Slot(NamedTuple):
    """Where a part of an array goes among the arguments of a function."""

    place: int


class PartNumber(NamedTuple):
    """Stands for the number of the part among the arguments: draws go by it, not by who makes them or when."""


class _Filled(NamedTuple):
    """Puts what was loaded of a part in its place."""

    loaded: Sequence[Any]
    number: int

    def __call__(self, argument: Any) -> Any:
        if isinstance(argument, _Slot):
            return self.loaded[argument.place]
        if isinstance(argument, np.ndarray):
            return np.require(argument, requirements="A")  # it may lie where a message put it
        return self.number if isinstance(argument, PartNumber) else argument


@dataclass(frozen=True)
class _Job:
    """A function with its arguments, and what is done to parts before. It holds no table, as it goes where the parts are."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    steps: tuple[tuple[Step, ...], ...]  # for each block of a part

    def __call__(self, part: Part) -> Any:
        """What the function gives for a part; None where it has no rows. Errors name the part."""
        try:
            if count_rows(part.blocks[0]) == 0:
                return None
            loaded = [load(block, steps) for block, steps in zip(part.blocks, self.steps, strict=True)]
            if len({len(block) for block in loaded}) > 1:
                raise ValueError(f"X, y and weights must be equally long; they have {[len(block) for block in loaded]} rows.")
            filled = _Filled(loaded, part.number)
            arguments = [filled(value) for value in self.arguments]
            keywords = {name: filled(value) for name, value in self.keywords.items()}
            if "n_threads" in keywords:  # it was asked for where the pass began, and holds there
                keywords["n_threads"] = min(keywords["n_threads"], effective_threads(None))
            return self.function(*arguments, **keywords)
        except (ValueError, TypeError) as error:
            raise _naming(error, part.number) from error


def load(block: Any, steps: Sequence[Step]) -> Any:
    """What a block of a source comes to."""
    for step in steps:
        block = step(block)
    return block


def _naming(error: Exception, number: int) -> Exception:
    """The same error, with the part in its message."""
    try:
        return type(error)(f"{error} (in part {number}, the first being 0)")
    except TypeError:  # of a class with arguments of its own
        error.add_note(f"in part {number}, the first being 0")
        return error


@dataclass(frozen=True)
class OnWorker:
    """A job as another process or thread does it: with the threads that it may have there."""

    job: Callable[[Part], Any]
    n_threads: int

    def __call__(self, part: Part) -> Any:
        with serial_blas(), thread_share(self.n_threads):
            return self.job(part)


def is_parted(value: Any) -> bool:
    """Whether rows lie in parts. To type checkers they stay the arrays that they stand for."""
    return isinstance(value, Parted)


def each(function: Callable[..., T], *arguments: Any, **keywords: Any) -> Iterator[T]:
    """What the function gives for each part that has rows; every `Parted` among the arguments is handed on part by part."""
    job, wanted = _job(function, arguments, keywords)
    results: Iterator[T | None] = wanted[0].source.results(job, wanted)
    return (result for result in results if result is not None)


def total(function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
    """The same, merged in the order of the parts."""
    job, wanted = _job(function, arguments, keywords)
    found: T | None = wanted[0].source.total(job, wanted)
    if found is None:
        raise ValueError("Found array with 0 sample(s): no part has a row.")
    return found


def rowwise(function: Callable[..., Any], rows: Any, *others: Any) -> Any:
    """A function of rows, one after another or in parts: of parts it is taken when a pass comes to them."""
    if isinstance(rows, Parted):
        return rows.then(functools.partial(_first_last, function, others))
    return function(rows, *others)


def _first_last(function: Callable[..., Any], others: tuple[Any, ...], rows: Any) -> Any:
    return function(rows, *others)


def _job(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[_Job, tuple[Parted, ...]]:
    wanted: list[Parted] = []

    def slot(value: Any) -> Any:
        if not isinstance(value, Parted):
            return value
        wanted.append(value)
        return _Slot(len(wanted) - 1)

    given = tuple(map(slot, arguments)), {name: slot(value) for name, value in keywords.items()}
    kinds = {type(one.source).__name__ for one in wanted}
    if len(kinds) > 1:
        raise TypeError(f"X, y and weights lie in parts of different kinds ({', '.join(sorted(kinds))}).")
    return _Job(function, *given, tuple(one.steps for one in wanted)), tuple(wanted)


def additive(of: Callable[..., T]) -> Callable[..., T]:
    """Makes a class method that takes a statistic of rows one that takes it of rows in parts too: of each part, merged."""

    @functools.wraps(of)
    def of_rows(cls: Any, X: Any, *arguments: Any, **keywords: Any) -> T:
        if isinstance(X, Parted):
            return total(functools.partial(of, cls), X, *arguments, **keywords)
        return of(cls, X, *arguments, **keywords)

    return of_rows
