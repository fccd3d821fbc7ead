"""What the user asked of a run, as it is kept in the run's folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from mercer._runs.errors import RunError
from mercer._runs.file_options import FileOptions

KINDS = ("number", "category", "boolean", "date", "datetime", "duration", "text", "identifier")
TASKS = ("classification", "regression")
MOST_CLUSTERS = 50
FILE_ORDER = "ROWS"  # in the place of a column of times: rows lie in the order of time


class _Check(NamedTuple):
    """What holds of one option, and what would do."""

    flag: str
    value: Any
    is_fine: bool
    remedy: str


@dataclass(frozen=True)
class RunSettings:
    """What every command that learns from a table is asked."""

    command: ClassVar[str]
    source: str  # a path, or the name of an embedded table
    seconds: float = field(default=300.0, kw_only=True)
    model_seconds: float | None = field(default=None, kw_only=True)  # None: a share of `seconds`
    seed: int = field(default=0, kw_only=True)
    models: tuple[str, ...] = field(default=(), kw_only=True)  # none: all
    exclude: tuple[str, ...] = field(default=(), kw_only=True)
    kinds: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    drop: tuple[str, ...] = field(default=(), kw_only=True)
    file: FileOptions = field(default_factory=FileOptions, kw_only=True)

    def __post_init__(self) -> None:
        for check in self._checks():
            if not check.is_fine:
                raise RunError(f"--{check.flag} {check.value}: it must be {check.remedy}.")

    def _checks(self) -> Iterator[_Check]:
        yield _Check("time", self.seconds, self.seconds > 0, "a positive time, such as 90s, 5m or 1h")
        is_fine = self.model_seconds is None or self.model_seconds > 0
        yield _Check("model-time", self.model_seconds, is_fine, "a positive time, such as 30s")
        for name, kind in self.kinds.items():
            yield _Check("kind", f"{name}={kind}", kind in KINDS, f"one of {', '.join(KINDS)}")
        yield _Check("seed", self.seed, 0 <= self.seed < 2**32, "between 0 and 4294967295")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Those that `to_dict` gave, after a trip through JSON."""
        known = {item.name for item in dataclasses.fields(cls)}
        if unknown := set(values) - known:
            raise RunError(f"the run was begun by another version of Mercer: its settings have {sorted(unknown)}.")
        kept: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        kept["file"] = FileOptions(**{**kept["file"], "nulls": tuple(kept["file"]["nulls"])})
        return cls(**kept)


@dataclass(frozen=True)
class Settings(RunSettings):
    """All that decides the result of `mercer train`, apart from the data and how far the time goes."""

    command: ClassVar[str] = "train"
    target: str
    task: str | None = None
    metric: str | None = None
    folds: int = 5
    test_size: float = 0.2
    intervals: float | None = None  # the coverage asked for
    max_size: float = 50e6  # bytes that the model may take in a file
    time_column: str | None = None  # by which rows are divided forward in time; None: found out
    is_timeless: bool = False  # rows are divided as if they had no order
    group: str | None = None  # a column; rows of one value are never on both sides
    weights: str | None = None  # a column
    test_file: str | None = None  # a path
    costs: Mapping[str, Any] | None = None  # of mistakes, as `decision.read_costs` reads them
    is_refitted: bool = False  # whether the final model learns from the test rows too, after the test

    def _checks(self) -> Iterator[_Check]:
        yield _Check("task", self.task, self.task in (None, *TASKS), f"one of {', '.join(TASKS)}")
        yield from super()._checks()
        yield _Check("max-size", self.max_size, self.max_size > 0, "a positive size, such as 50MB")
        yield _Check("folds", self.folds, 2 <= self.folds <= 50, "between 2 and 50")
        yield _Check("test-size", self.test_size, 0 < self.test_size < 1, "a share between 0 and 1")
        in_time = "without --no-time and without --group, as rows are divided in one way"
        yield _Check("time-column", self.time_column, self.time_column is None or not (self.is_timeless or self.group), in_time)
        is_fine = self.intervals is None or 0 < self.intervals < 1
        yield _Check("intervals", self.intervals, is_fine, "a share above 0 and below 1, such as 0.9")


@dataclass(frozen=True)
class ClusterSettings(RunSettings):
    """All that decides the result of `mercer cluster`, apart from the data and how far the time goes."""

    command: ClassVar[str] = "cluster"
    clusters: tuple[int, int] = (2, 10)  # the fewest and the most
    against: str | None = None  # a column of known groups, which clusters are set against

    def _checks(self) -> Iterator[_Check]:
        low, high = self.clusters
        shown = f"{low}" if low == high else f"{low}-{high}"
        remedy = f"a number or a range, such as 4 or 2-10, between 2 and {MOST_CLUSTERS}"
        yield _Check("clusters", shown, 2 <= low <= high <= MOST_CLUSTERS, remedy)
        yield from super()._checks()

    @property
    def is_asked(self) -> bool:
        """Whether the user says how many clusters there are to be."""
        return self.clusters[0] == self.clusters[1]


SETTINGS: Mapping[str, type[RunSettings]] = {kind.command: kind for kind in (Settings, ClusterSettings)}
