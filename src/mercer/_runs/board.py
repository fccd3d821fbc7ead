"""The leaderboard: a row for every model, also for those that failed or were passed over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mercer._runs.entries import Entries

BASELINE = "baseline"


@dataclass(frozen=True)
class Entry:
    """What is known of one model so far."""

    model: str
    status: str = "waiting"  # waiting, running, ok, baseline, failed, skipped, interrupted
    fold_scores: tuple[float, ...] = ()
    fit_seconds: float | None = None  # of one fold
    predict_us_per_row: float | None = None
    size_bytes: int | None = None
    n_trials: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None

    @property
    def score(self) -> float | None:
        return float(np.mean(self.fold_scores)) if self.fold_scores else None

    @property
    def spread(self) -> float | None:
        return float(np.std(self.fold_scores)) if len(self.fold_scores) > 1 else None


class Board(Entries[Entry]):
    """All entries by model. `watch` is called after every change."""

    def __init__(self, n_folds: int, watch: Any = None) -> None:
        super().__init__(watch)
        self.n_folds = n_folds

    def __iter__(self) -> Any:
        return iter(self.ranked())

    def get(self, name: str) -> Entry:
        return self._entries.get(name, Entry(name))

    @property
    def n_scored(self) -> int:
        return sum(entry.status == "ok" for entry in self._entries.values())

    def complete(self) -> list[Entry]:
        """Models that were scored on every fold, the best first."""
        done = [entry for entry in self._entries.values() if entry.status == "ok" and len(entry.fold_scores) == self.n_folds]
        return sorted(done, key=_merit)

    def ranked(self) -> list[Entry]:
        """All entries: scored on all folds, then on some, then the rest, each group the best first."""

        def place(entry: Entry) -> tuple[Any, ...]:
            if entry.status in ("failed", "skipped"):
                return (2 + (entry.status == "skipped"),)
            return (0 if len(entry.fold_scores) == self.n_folds else 1, *_merit(entry))

        return sorted(self._entries.values(), key=place)

    def to_list(self, best: str | None = None) -> list[dict[str, Any]]:
        """For the report: one dict an entry."""
        return [
            {**asdict(entry), "fold_scores": list(entry.fold_scores), "score": entry.score, "spread": entry.spread,
             "is_best": entry.model == best}
            for entry in self.ranked()
        ]  # fmt: skip


def _merit(entry: Entry) -> tuple[float, float]:
    """What to sort by: the score, then its spread. Rounding decides nothing, and a score that is not a number comes last."""
    if entry.score is None or np.isnan(entry.score):
        return (np.inf, 0.0)
    return (-round(entry.score, 10), round(entry.spread or 0.0, 10))
