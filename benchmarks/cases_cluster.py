"""Clustering: one module a noun, under `benchmarks/cluster`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from benchmarks import cluster
from benchmarks._case import Case


def cases() -> Iterator[Case]:
    for module in sorted(found.name for found in pkgutil.iter_modules(cluster.__path__) if not found.name.startswith("_")):
        yield from importlib.import_module(f"benchmarks.cluster.{module}").cases()
