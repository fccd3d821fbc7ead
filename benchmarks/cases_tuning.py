"""Tuning: one module a kind of search, under `benchmarks/tuning`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.tuning import sweeps


def cases() -> Iterator[Case]:
    yield from sweeps.cases()
