"""Agents: planning in decision processes and learning how to act, one module a subject, under `benchmarks/rl`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.rl import learning, planning


def cases() -> Iterator[Case]:
    for module in (planning, learning):
        yield from module.cases()
