"""Linear models: one module a kind of model, under `benchmarks/linear`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks._case import Case
from benchmarks.linear import classification, least_squares, robust, sparsity


def cases() -> Iterator[Case]:
    for module in (least_squares, sparsity, classification, robust):
        yield from module.cases()
