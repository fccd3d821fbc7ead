"""What a model goes by: one module a subject, under `benchmarks/inspection`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.inspection import models, selection


def cases() -> Iterator[Case]:
    for module in (selection, models):
        yield from module.cases()
