"""All clusterings that were tried, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mercer._runs.entries import Entries

STABLE, UNSTABLE = 0.8, 0.6  # adjusted Rand: comes back, and does not


@dataclass(frozen=True)
class Clustering:
    """One line of the comparison."""

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    status: str = "waiting"  # waiting, running, ok, unfit, failed, skipped
    n_clusters: int | None = None
    noise: float | None = None
    smallest: int | None = None
    largest: float | None = None
    silhouette: float | None = None
    davies_bouldin: float | None = None
    calinski_harabasz: float | None = None
    bic: float | None = None
    seconds: float | None = None
    stability: float | None = None
    stability_spread: float | None = None
    reference: float | None = None
    reference_high: float | None = None
    reason: str | None = None

    @property
    def excess(self) -> float | None:
        """How much clearer the clusters are than in a table without any."""
        return None if self.silhouette is None or self.reference is None else self.silhouette - self.reference

    @property
    def is_checked(self) -> bool:
        return self.reference is not None and self.stability is not None

    @property
    def has_structure(self) -> bool:
        """Clearer than tables without clusters, and not a matter of the draw."""
        if not self.is_checked or self.silhouette is None:
            return False
        assert self.reference_high is not None
        assert self.stability is not None
        return self.silhouette > self.reference_high and self.stability >= UNSTABLE

    @property
    def is_stable(self) -> bool:
        return self.stability is not None and self.stability >= STABLE


class ClusterBoard(Entries[Clustering]):
    """All clusterings by name, in the order of their trial. `watch` is called after every change."""

    def __iter__(self) -> Iterator[Clustering]:
        return iter(self._entries.values())

    def add(self, entry: Clustering) -> None:
        self._entries[entry.name] = entry

    def with_status(self, status: str) -> list[Clustering]:
        return [entry for entry in self if entry.status == status]

    def ranked(self) -> list[Clustering]:
        """Those with structure first, by how much clearer they are than nothing; then what was checked, measured, and not."""

        def place(entry: Clustering) -> tuple[Any, ...]:
            group = ("ok", "unfit", "running", "waiting", "failed", "skipped").index(entry.status)
            merit = entry.excess if entry.excess is not None else -10 + (entry.silhouette or 0.0)
            return (group, not entry.has_structure, not entry.is_checked, -round(merit, 10))

        return sorted(self, key=place)

    def to_list(self, best: str | None) -> list[dict[str, Any]]:
        """For the report: one dict an entry."""
        return [
            {**asdict(entry), "settings": dict(entry.settings), "excess": entry.excess, "is_best": entry.name == best}
            for entry in sorted(self.ranked(), key=lambda entry: entry.name != best)
        ]
