"""Neural networks: one module a noun, under `benchmarks/neural`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.neural import networks


def cases() -> Iterator[Case]:
    yield from networks.cases()
