"""`describe_clusters`: what a report says of clusters of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.clustering.content import Against, Overview, Profile, Projection, Silhouettes
from mercer._report.clustering.pictures import projection_of, silhouettes_for
from mercer._report.clustering.profiles import profiles_of
from mercer.metrics import adjusted_mutual_info_score, adjusted_rand_score
from mercer.preprocessing import ColumnReport

if TYPE_CHECKING:
    import polars as pl


class ClusterDescription(TypedDict):
    """What follows from the labels alone."""

    profiles: list[Profile]
    overview: list[Overview]
    silhouettes: Silhouettes | None
    projection: Projection


def describe_clusters(
    table: pl.DataFrame,
    X: FloatArray,
    report: Sequence[ColumnReport],
    names: Sequence[str],
    labels: Any,
    values: FloatArray,
    rows: Any,
    numbers: Any,
    seed: int,
) -> ClusterDescription:
    """Profiles and pictures. `values` are silhouettes of `rows`; `numbers` those of all rows in their file."""
    n_clusters = int(labels.max()) + 1
    is_defined = bool(np.isfinite(values).all()) and n_clusters > 1
    means = {
        cluster: float(values[labels[rows] == cluster].mean())
        for cluster in range(n_clusters)
        if np.any(labels[rows] == cluster)
    }
    profiles, overview = profiles_of(table, report, labels, means if is_defined else {}, _typical(X, labels), numbers)
    return ClusterDescription(
        profiles=profiles,
        overview=overview,
        silhouettes=silhouettes_for(values, labels[rows]) if is_defined else None,
        projection=projection_of(X, labels, names, np.arange(len(X)), seed),
    )


def _typical(X: FloatArray, labels: Any) -> dict[int, int]:
    """The row of each cluster that is nearest to its mean."""
    found = {}
    for cluster in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == cluster)
        distances = np.square(X[rows] - X[rows].mean(axis=0)).sum(axis=1)
        found[cluster] = int(rows[np.argmin(distances)])
    return found


def against(column: str, known: Sequence[str], labels: Any) -> Against:
    """Clusters against groups that were known."""
    groups = sorted(set(known), key=lambda group: (-known.count(group) if isinstance(known, list) else 0, group))
    clusters = np.unique(labels).tolist()
    rows = np.asarray(known, dtype=object)
    return Against(
        column=column,
        groups=groups,
        clusters=sorted(clusters, key=lambda number: (number < 0, number)),
        matrix=[
            [int(np.sum((rows == group) & (labels == number))) for number in sorted(clusters, key=lambda n: (n < 0, n))]
            for group in groups
        ],
        adjusted_rand=float(adjusted_rand_score(rows.astype(str), labels)),
        adjusted_mutual_information=float(adjusted_mutual_info_score(rows.astype(str), labels)),
    )
