"""Theory that runs: one module a subject, under `benchmarks/theory`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.theory import experiments


def cases() -> Iterator[Case]:
    for module in (experiments,):
        yield from module.cases()
