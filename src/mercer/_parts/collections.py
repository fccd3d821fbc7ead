"""Dask's collections as parts: arrays and data frames, on any of its schedulers (extra `dask`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mercer._lazy import lazy_property
from mercer._parts.memory import select
from mercer._parts.merging import TOGETHER, merge_present
from mercer._parts.passes import OnWorker, Part, Parted
from mercer._rows import count_rows

T = TypeVar("T")

PATIENCE = 30.0  # seconds without a worker, or without a word of the scheduler, after which a pass gives up
LOOK = 0.5  # seconds between two looks at them


def parted_collection(value: Any) -> Parted:
    """A Dask array of one or two dimensions, a data frame or a series, as passes take it."""
    if hasattr(value, "chunks"):
        if value.ndim > 2:
            raise ValueError(f"Found array with dim {value.ndim}; a Dask array must have 1 or 2 dimensions.")
        if value.ndim == 2 and value.numblocks[1] > 1:
            value = value.rechunk({1: -1})
        return Parted(DaskSource(value), n_columns=value.shape[1] if value.ndim == 2 else None)
    return Parted(DaskSource(value), n_columns=len(value.columns) if value.ndim == 2 else None)


class DaskSource:
    """A collection whose blocks, or partitions, are the parts."""

    def __init__(self, collection: Any) -> None:
        self.collection = collection

    def sample(self) -> Any:
        if hasattr(self.collection, "chunks"):
            return np.zeros((1, *self.collection.shape[1:]), dtype=self.collection.dtype)
        return self.collection._meta_nonempty.iloc[:1]

    @lazy_property
    def blocks(self) -> list[Any]:
        """A delayed block a part, made once: a pass over X and y that are columns of one frame then loads it once."""
        return list(np.ravel(self.collection.to_delayed()))

    @lazy_property
    def _lengths(self) -> list[int]:
        chunks = getattr(self.collection, "chunks", None)
        if chunks is not None and all(length == length for length in chunks[0]):  # NaN: unknown
            return [int(length) for length in chunks[0]]
        import dask

        return _computed([dask.delayed(count_rows, pure=False)(block) for block in self.blocks])

    def lengths(self) -> list[int]:
        return self._lengths

    def results(self, job: Callable[[Part], T], wanted: Sequence[Parted]) -> Iterator[T]:
        yield from _computed(self._tasks(job, wanted))

    def total(self, job: Callable[[Part], T | None], wanted: Sequence[Parted]) -> T | None:
        """Merged where the parts are, eight neighbours at a time: one result comes back."""
        import dask

        tasks = self._tasks(job, wanted)
        while len(tasks) > 1:
            groups = [tasks[first : first + TOGETHER] for first in range(0, len(tasks), TOGETHER)]
            tasks = [dask.delayed(merge_present, pure=False)(group) for group in groups]
        found: T | None = _computed(tasks)[0]
        return found

    def _tasks(self, job: Callable[[Part], Any], wanted: Sequence[Parted]) -> list[Any]:
        import dask

        sources = [one.source for one in wanted]
        if len({len(source.blocks) for source in sources}) > 1:
            sources = _aligned(sources)
        on_worker = dask.delayed(OnWorker(_Selecting(job, tuple(one.columns for one in wanted)), n_threads=1), pure=False)
        aligned = zip(*(source.blocks for source in sources), strict=True)
        return [on_worker(Part(number, tuple(blocks))) for number, blocks in enumerate(aligned)]


@dataclass(frozen=True)
class _Selecting:
    """A job on some of the columns of each block."""

    job: Callable[[Part], Any]
    columns: tuple[Any, ...]

    def __call__(self, part: Part) -> Any:
        return self.job(Part(part.number, tuple(map(select, part.blocks, self.columns))))


def _aligned(sources: list[DaskSource]) -> list[DaskSource]:
    """y and weights in the chunks of X, where all are arrays whose lengths are known."""
    first, *others = sources
    lengths = tuple(first.lengths())
    if not all(hasattr(source.collection, "chunks") and source.collection.shape[0] == sum(lengths) for source in others):
        counts = [len(source.blocks) for source in sources]
        raise ValueError(f"X, y and weights must have equally many parts; they have {counts}. Repartition them alike.")
    return [first, *(DaskSource(source.collection.rechunk({0: lengths})) for source in others)]


def _computed(tasks: list[Any]) -> list[Any]:
    """The results, by the scheduler that is in force."""
    import dask

    client = _client()
    if client is None:
        return list(dask.compute(*tasks))
    futures = client.compute(tasks)
    try:
        _wait(client, futures)
        return list(client.gather(futures))
    finally:
        for future in futures:
            if not future.done():
                future.cancel()


def _client() -> Any:
    """The cluster that is in force; None where Dask computes in this process."""
    import dask

    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _wait(client: Any, futures: list[Any]) -> None:
    """Until all are there. An error where nobody is left to do them."""
    from distributed import TimeoutError as NotYet, wait

    last_seen = time.monotonic()
    while True:
        try:
            wait(futures, timeout=LOOK)
            return
        except (NotYet, TimeoutError):
            is_alive = client.status == "running" and bool(client.scheduler_info(n_workers=-1)["workers"])
        if is_alive:
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > PATIENCE:
            what = "no worker is left" if client.status == "running" else f"the scheduler is {client.status}"
            raise RuntimeError(f"the pass over the parts was given up after {PATIENCE:g} s: {what}.")
