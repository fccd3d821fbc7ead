"""What is proposed to be tried: candidates, and combinations of them that one sweep can cover."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mercer.model_selection._tune.space import Point, SearchSpace


@dataclass(frozen=True)
class Candidate:
    """One choice of parameters that is to be tried."""

    number: int
    point: Point
    params: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same for the same point, in this process and in the next."""
        return json.dumps(self.point, sort_keys=True)


@dataclass(frozen=True)
class Combination:
    """Candidates that differ in the swept parameter alone; a single one where nothing is swept."""

    number: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Layout:
    """A space, and which of its parameters is swept rather than searched."""

    space: SearchSpace
    swept: str | None

    @property
    def searched(self) -> SearchSpace:
        """The parameters that are proposed; those of the grid are numbered over the whole space."""
        return self.space.without(self.swept)

    @property
    def n_swept(self) -> int:
        return 1 if self.swept is None else int(self.space.dimensions[self.swept].size)

    @classmethod
    def within(cls, space: SearchSpace, swept: str | None, n_trials: int | None) -> Layout:
        """The layout of a search that tries no more than `n_trials` points, those of its sweeps included.

        Where others are searched beside the swept parameter, about as many values of it as combinations of them are tried.
        """
        if swept is None or n_trials is None:
            return cls(space if swept is None else space.densely(swept), swept)
        n_combinations = int(min(space.without(swept).size, math.ceil(math.sqrt(n_trials))))
        return cls(space.densely(swept, n_trials // n_combinations), swept)

    def combination(self, number: int, point: Point, *, by_grid: bool = False) -> Combination:
        """A point of the searched parameters with every value of the swept one.

        With `by_grid` candidates have the numbers of scikit-learn's `ParameterGrid`, so that ties are broken alike.
        """
        candidates = []
        for token in range(self.n_swept):
            full = {name: token if name == self.swept else point[name] for name in self.space.dimensions}
            at = self.space.number_of(full) if by_grid else number * self.n_swept + token
            candidates.append(Candidate(at, full, self.space.decode(full)))
        return Combination(number, tuple(candidates))
