"""What the user asked of a run, as it is kept in the run's folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mercer._runs.errors import RunError
from mercer._runs.reading import FileOptions

TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Settings:
    """All that decides the result of a run, apart from the data and how far the time goes."""

    source: str  # a path, or the name of an embedded table
    target: str
    task: str | None = None
    metric: str | None = None
    seconds: float = 300.0
    model_seconds: float | None = None  # None: a share of `seconds`
    folds: int = 5
    test_size: float = 0.2
    seed: int = 0
    models: tuple[str, ...] = ()  # none: all
    exclude: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    file: FileOptions = field(default_factory=FileOptions)

    def __post_init__(self) -> None:
        for name, is_fine, remedy in (
            ("task", self.task in (None, *TASKS), f"one of {', '.join(TASKS)}"),
            ("time", self.seconds > 0, "a positive time, such as 90s, 5m or 1h"),
            ("model-time", self.model_seconds is None or self.model_seconds > 0, "a positive time, such as 30s"),
            ("folds", 2 <= self.folds <= 50, "between 2 and 50"),
            ("test-size", 0 < self.test_size < 1, "a share between 0 and 1"),
            ("seed", 0 <= self.seed < 2**32, "between 0 and 4294967295"),
        ):
            if not is_fine:
                value = {"time": self.seconds, "model-time": self.model_seconds}.get(
                    name, getattr(self, name.replace("-", "_"), None)
                )
                raise RunError(f"--{name} {value}: it must be {remedy}.")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Those that `to_dict` gave, after a trip through JSON."""
        known = {item.name for item in dataclasses.fields(cls)}
        if unknown := set(values) - known:
            raise RunError(f"the run was begun by another version of Mercer: its settings have {sorted(unknown)}.")
        kept = dict(values)
        kept["file"] = FileOptions(**{**kept["file"], "nulls": tuple(kept["file"]["nulls"])})
        for name in ("models", "exclude", "drop"):
            kept[name] = tuple(kept[name])
        return cls(**kept)
