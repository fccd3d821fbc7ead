"""Proposals: in what order, or by what rule, the points of a space are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np
from sklearn.model_selection import ParameterSampler

from mercer._params import InvalidParameterError
from mercer.model_selection._tune.candidates import Combination, Layout
from mercer.model_selection._tune.space import Point, Token, Values
from mercer.model_selection._tune.trial import Trial

N_COMBINATIONS = 50  # where neither a number of trials nor a time limit is given
_ENDLESS = 2**31 - 1


class Proposals(Protocol):
    """Says what to try next."""

    words: str  # how points are found; empty where there is one only

    def ask(self, n: int) -> list[Combination]:
        """At most `n` combinations to try side by side; none when the search is over."""

    def tell(self, combination: Combination, trials: Sequence[Trial]) -> None:
        """What a combination scored; every one asked for is told, in the order asked."""


class Grid:
    """Every point, in the order of scikit-learn's `ParameterGrid`."""

    def __init__(self, layout: Layout) -> None:
        for name, dimension in layout.searched.dimensions.items():
            if not isinstance(dimension, Values):
                raise InvalidParameterError(
                    f"tune: search='grid' is not valid with a range or a distribution for {name!r}; it must have a list of "
                    "values there, or search must be 'random' or 'bayesian'."
                )
        n_points = int(layout.searched.size)
        what = "values" if len(layout.searched.dimensions) == 1 else "combinations"
        self.words = "" if n_points == 1 else f"all {n_points} {what} of {listed(layout)}"
        self._combinations = (
            layout.combination(number, layout.searched.point_at(number), by_grid=True) for number in range(n_points)
        )

    def ask(self, n: int) -> list[Combination]:
        return list(islice(self._combinations, n))

    def tell(self, combination: Combination, trials: Sequence[Trial]) -> None:
        pass


class Random:
    """Points drawn as scikit-learn's `RandomizedSearchCV` draws them: from lists only, without repetition."""

    def __init__(self, layout: Layout, n_combinations: int | None, seed: int) -> None:
        n_points = limit_of(layout, n_combinations)
        self.words = f"random values of {listed(layout)}"
        self._combinations = (
            layout.combination(number, point) for number, point in enumerate(islice(_drawn(layout, n_points, seed), n_points))
        )

    def ask(self, n: int) -> list[Combination]:
        return list(islice(self._combinations, n))

    def tell(self, combination: Combination, trials: Sequence[Trial]) -> None:
        pass


def _drawn(layout: Layout, n_points: int, seed: int) -> Iterator[Point]:
    searched = layout.searched
    if not searched.dimensions:
        yield {}
        return
    laws: Mapping[str, Any] = {name: dimension.draws() for name, dimension in searched.dimensions.items()}
    for drawn in ParameterSampler(laws, n_points, random_state=np.random.RandomState(seed)):
        yield {name: plain(drawn[name]) for name in searched.dimensions}


def plain(number: Any) -> Token:
    """A number of NumPy's as one of Python's."""
    token: Token = number.item() if hasattr(number, "item") else number
    return token


def limit_of(layout: Layout, n_combinations: int | None) -> int:
    """How many combinations a search tries at most: no more than there are."""
    limit = _ENDLESS if n_combinations is None else n_combinations
    return int(min(limit, layout.searched.size)) if layout.searched.is_finite else limit


def listed(layout: Layout) -> str:
    """The searched parameters by name."""
    return " and ".join(layout.searched.dimensions) or "nothing"


def is_small(layout: Layout, most: int = 200) -> bool:
    """Whether the searched parameters have lists with few enough combinations to try them all."""
    return layout.searched.is_finite and layout.searched.size <= most
