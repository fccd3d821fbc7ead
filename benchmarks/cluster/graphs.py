"""Spectral clustering."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks._case import SCIKIT_LEARN, Case, contenders
from benchmarks.cluster.centres import AGREES, clumps, prepared
from benchmarks.cluster.kmeans import fit


def cases() -> Iterator[Case]:
    graphs: tuple[tuple[str, dict[str, Any], float], ...] = (
        ("kernel rbf", {"gamma": 0.02}, 2.0),
        ("10 neighbours", {"affinity": "nearest_neighbors"}, 4.0),
    )
    for name, params, spread in graphs:
        yield Case(
            "SpectralClustering fit, 8 clusters",
            f"5,000 x 10, {name}",
            partial(clumps, 5_000, 10, 8, spread),
            contenders("cluster.SpectralClustering", (SCIKIT_LEARN,)),
            fit,
            AGREES,
            partial(prepared, n_clusters=8, random_state=0, **params),
        )
