"""The options of `tune`, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mercer._params import (
    _REFUSED,
    Bool,
    Fittable,
    Function,
    Instance,
    Integer,
    InvalidParameterError,
    Null,
    NumberOfJobs,
    OneOf,
    RandomState,
    Real,
    Rule,
    Splitter,
    Verbosity,
    check_value,
)


class _NotANumber(Rule):
    """NaN, where it has a meaning of its own."""

    def accept(self, value: Any) -> Any:
        return math.nan if isinstance(value, float) and math.isnan(value) else _REFUSED

    def describe(self) -> str:
        return "nan"


class _Name(Rule):
    """A text that is not empty."""

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, str) and value else _REFUSED

    def describe(self) -> str:
        return "a non-empty string"


@dataclass(frozen=True)
class TuneOptions:
    """How to search, whatever the data."""

    estimator: Any
    cv: Any
    search: str
    n_trials: int | None
    time_limit: float | None
    storage: Any
    name: str | None
    refit: bool
    random_state: Any
    n_jobs: int | None
    error_score: Any
    halving: bool | str
    on_trial: Any
    verbose: int

    _rules: ClassVar[dict[str, Rule]] = {
        "estimator": Fittable(),
        "cv": OneOf("oob") | Splitter(),
        "search": OneOf("auto", "grid", "random", "bayesian"),
        "n_trials": Null() | Integer(1),
        "time_limit": Null() | Real(above=0),
        "storage": Null() | _Name() | Instance(Path),
        "name": Null() | _Name(),
        "refit": Bool(),
        "random_state": RandomState(),
        "n_jobs": NumberOfJobs(),
        "error_score": _NotANumber() | OneOf("raise") | Real(),
        "halving": Bool() | OneOf("auto"),
        "on_trial": Null() | Function(),
        "verbose": Verbosity(),
    }

    def __post_init__(self) -> None:
        for name, rule in self._rules.items():
            object.__setattr__(self, name, check_value("tune", name, getattr(self, name), rule))
        if self.name is not None and self.storage is None:
            raise InvalidParameterError(
                f"tune: name={self.name!r} names a study in a file, but storage=None; give a storage too, or no name."
            )
        if self.search == "grid" and self.n_trials is not None:
            raise InvalidParameterError(
                f"tune: n_trials={self.n_trials!r} is not valid with search='grid', which tries every combination; it must be "
                "None, or search must be 'random' or 'bayesian'."
            )

    @property
    def score_of_failure(self) -> float:
        """What stands for the score of a fit that failed."""
        return math.nan if self.error_score == "raise" else self.error_score
