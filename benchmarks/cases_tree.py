"""Trees and ensembles: one module a kind of model, under `benchmarks/tree`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.tree import boosting, forests, growth, single, sparse


def cases() -> Iterator[Case]:
    for module in (single, forests, boosting, sparse, growth):
        yield from module.cases()
