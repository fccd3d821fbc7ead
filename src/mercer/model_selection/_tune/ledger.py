"""The ledger: where finished trials are written down and looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mercer.model_selection._tune.candidates import Candidate, Combination
from mercer.model_selection._tune.space import Point
from mercer.model_selection._tune.trial import Trial


class Ledger:
    """Finished trials by the point that they tried, in memory.

    `seed` is that of the whole search; `recorded` holds the points of combinations that an earlier process has begun.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.recorded: Mapping[int, Point] = {}
        self._trials: dict[str, Trial] = {}

    def find(self, candidate: Candidate) -> Trial | None:
        """The finished trial of this point, under the candidate's number."""
        trial = self._trials.get(candidate.key)
        return None if trial is None else replace(trial, number=candidate.number, params=candidate.params)

    @property
    def trials(self) -> list[Trial]:
        """All that were written down, in any order."""
        return list(self._trials.values())

    def add(self, combination: Combination, candidate: Candidate, trial: Trial) -> None:
        """Write down a finished trial."""
        self._trials[candidate.key] = trial
