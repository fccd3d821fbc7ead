"""What is proposed to be tried: candidates, and combinations of them that one sweep can cover."""

from __future__ import annotations

import itertools
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
    """Candidates that differ in the swept parameters alone; a single one where nothing is swept."""

    number: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Layout:
    """A space, and which of its parameters are swept rather than searched."""

    space: SearchSpace
    swept: tuple[str, ...]

    @property
    def searched(self) -> SearchSpace:
        """The parameters that are proposed; those of the grid are numbered over the whole space."""
        return self.space.without(*self.swept)

    @property
    def n_swept(self) -> int:
        return math.prod(int(self.space.dimensions[name].size) for name in self.swept)

    @classmethod
    def within(cls, space: SearchSpace, swept: tuple[str, ...], n_trials: int | None) -> Layout:
        """The layout of a search that tries no more than `n_trials` points, those of its sweeps included.

        Where others are searched beside what is swept, about as many points of a sweep as combinations of them are tried. Of
        parameters swept together, the first has about as many values as the others have combinations, or more; others that
        have too many for that are searched.
        """
        if not swept or n_trials is None:
            return cls(space.densely(swept[0]) if swept else space, swept)
        first, *others = swept
        while True:
            n_combinations = int(min(space.without(first, *others).size, math.ceil(math.sqrt(n_trials))))
            n_points = n_trials // n_combinations
            n_others = math.prod(int(space.dimensions[name].size) for name in others)
            if not others or n_others <= math.ceil(math.sqrt(n_points)):
                return cls(space.densely(first, n_points // n_others), (first, *others))
            others.pop()

    def combination(self, number: int, point: Point, *, by_grid: bool = False) -> Combination:
        """A point of the searched parameters with every combination of values of the swept ones.

        With `by_grid` candidates have the numbers of scikit-learn's `ParameterGrid`, so that ties are broken alike.
        """
        candidates = []
        swept = [name for name in self.space.dimensions if name in self.swept]
        tokens = itertools.product(*(range(int(self.space.dimensions[name].size)) for name in swept))
        for place, of_swept in enumerate(tokens):
            given = {**point, **dict(zip(swept, of_swept, strict=True))}
            full = {name: given[name] for name in self.space.dimensions}
            at = self.space.number_of(full) if by_grid else number * self.n_swept + place
            candidates.append(Candidate(at, full, self.space.decode(full)))
        return Combination(number, tuple(candidates))
