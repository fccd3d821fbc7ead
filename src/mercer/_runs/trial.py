"""One trial: settings of a model, fitted to so many rows, and what that came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mercer._runs.fits import Sweeping


@dataclass(frozen=True)
class Proposal:
    """What is to be tried next of a model."""

    model: str
    number: int  # of the trials of this model
    params: Mapping[str, Any]
    n_rows: int | None = None  # None: all
    sweeping: Sweeping | None = None


@dataclass(frozen=True)
class Trial:
    """A proposal, and what came of it."""

    model: str
    number: int
    params: Mapping[str, Any]
    n_rows: int | None
    status: str  # "ok", "stopped" (others did better on the first folds), "failed"
    fold_scores: tuple[float, ...]
    seconds: float  # all of it
    fit_seconds: float | None = None  # of one fold
    predict_us_per_row: float | None = None
    size_bytes: int | None = None
    is_cut: bool = False  # a fit was ended as the time for it was up
    reason: str | None = None

    @property
    def score(self) -> float:
        return float(np.mean(self.fold_scores)) if self.fold_scores else -np.inf

    def is_complete(self, n_folds: int) -> bool:
        return self.status == "ok" and len(self.fold_scores) == n_folds

    def key(self, fold: int) -> str:
        """The name of its predictions for one fold on the shelf."""
        return f"{self.model}-{self.number}-{fold}"

    def to_line(self) -> dict[str, Any]:
        line = asdict(self)
        return {**line, "params": {name: _plain(value) for name, value in self.params.items()}}

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Trial:
        kept = {name: value for name, value in line.items() if name not in ("kind", "at")}
        params = {name: _unplain(value) for name, value in kept["params"].items()}
        return cls(**{**kept, "params": params, "fold_scores": tuple(kept["fold_scores"])})


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it: NumPy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else value


def _unplain(value: Any) -> Any:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
