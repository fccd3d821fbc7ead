"""What the report of `mercer cluster` contains, declared as that of `mercer train` is (see `mercer._report.content`)."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from mercer._report.content import Alert, Column


class ClusterData(TypedDict):
    """The table."""

    source: str
    n_rows: int
    n_columns: int
    n_made: int  # columns that methods see
    n_compared: int  # rows that methods are compared on
    against: str | None


class Verdict(TypedDict):
    """How many clusters, and why."""

    structure: Literal["clear", "weak", "none", "asked", "unchecked"]
    n_clusters: int
    n_noise: int
    method: str | None
    settings: dict[str, Any]
    reading: str
    reasons: list[str]


class Clustering(TypedDict):
    """One line of the comparison."""

    name: str
    method: str
    status: Literal["ok", "unfit", "failed", "skipped"]
    n_clusters: int | None
    noise: float | None
    smallest: int | None
    silhouette: float | None
    davies_bouldin: float | None
    calinski_harabasz: float | None
    bic: float | None
    seconds: float | None
    stability: float | None
    stability_spread: float | None
    reference: float | None
    reference_high: float | None
    excess: float | None
    reason: str | None
    is_best: bool


class Preference(TypedDict):
    """Which clustering one measure prefers."""

    measure: str
    sense: Literal["highest", "lowest"]
    value: float
    n_clusters: int
    method: str


class Trait(TypedDict):
    """How one column, or one value of it, differs between a cluster and the other rows."""

    column: str
    value: str | None  # a category; None for amounts
    inside: str
    outside: str
    effect: float  # standardised difference of means (amounts) or of shares (Cohen's h)
    p: float  # corrected for all comparisons (Holm)
    low: float | None  # quartiles of the cluster in the range of the column, from 0 to 1; of a category, None
    middle: float | None
    high: float | None


class Profile(TypedDict):
    """One cluster."""

    number: int
    n: int
    share: float
    silhouette: float | None
    traits: list[Trait]
    typical_row: int | None  # in the file
    typical: dict[str, str]


class Overview(TypedDict):
    """The columns that set clusters apart most: what is usual in each cluster."""

    column: str
    apart: float  # the largest effect
    cells: list[str]
    effects: list[float | None]


class Silhouettes(TypedDict):
    """Silhouettes of rows by cluster, falling, thinned."""

    n: int
    mean: float
    values: list[list[float]]
    counts: list[int]


class Axis(TypedDict):
    """One direction of the projection."""

    share: float | None
    columns: list[str]


class Projection(TypedDict):
    """Rows along their two principal components; noise is cluster -1."""

    n: int
    x: list[float]
    y: list[float]
    cluster: list[int]
    axes: list[Axis]


class Dendrogram(TypedDict):
    """The last merges of a hierarchy. A merge is (left x, left height, right x, right height, height)."""

    method: str
    n: int
    merges: list[list[float]]
    leaves: list[int]  # rows of each leaf
    leaf_clusters: list[int]  # the cluster that most of its rows are in
    cut: float | None  # the height at which there are as many clusters as were chosen


class Against(TypedDict):
    """Clusters against groups that were known."""

    column: str
    groups: list[str]
    clusters: list[int]
    matrix: list[list[int]]  # groups down, clusters across
    adjusted_rand: float
    adjusted_mutual_information: float


class ModelWords(TypedDict):
    """How new rows are labelled, and what was written."""

    how: str
    agreement: float
    stored: bool
    labels_file: str
    label_column: str


class ClusterContent(TypedDict):
    """A whole report."""

    format: int
    kind: Literal["clusters"]
    title: str
    created: str
    command: str | None
    mercer: str
    data: ClusterData
    alerts: list[Alert]
    columns: list[Column]
    verdict: Verdict
    clusterings: list[Clustering]
    preferences: list[Preference]
    profiles: list[Profile]
    overview: list[Overview]
    silhouettes: Silhouettes | None
    projection: Projection
    dendrogram: Dendrogram | None
    against: Against | None
    model: ModelWords
    certificate: str | None
    warnings: list[str]
    seconds: dict[str, float]
