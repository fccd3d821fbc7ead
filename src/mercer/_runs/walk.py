"""Cost-frugal search: from settings that are cheap and good a step in a random direction, or else in the opposite one.

The steps get shorter where nothing helps, and the walk begins anew elsewhere where they are too short (Wu, Wang and Huang,
"Frugal optimization for cost-related hyperparameters", AAAI 2021). Costs follow the settings, which change little by little:
an expensive corner is reached only by a path of settings that were worth it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._tuning import Choices, Reals, Space

_FIRST_STEP, _LEAST_STEP, _SHRINKAGE = 0.1, 0.02, 0.6
_MOST_FAILURES = 6


class Box:
    """Settings as points of the unit cube; with `log`, equal steps are equal factors."""

    def __init__(self, space: Mapping[str, Space]) -> None:
        self.space = {name: one for name, one in space.items() if not isinstance(one, Choices) or len(one.values) > 1}

    def __len__(self) -> int:
        return len(self.space)

    def settings(self, point: Any) -> dict[str, Any]:
        return {name: _value(one, float(at)) for (name, one), at in zip(self.space.items(), point, strict=True)}

    def point(self, settings: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        """The point of some settings; those that are not named are as in `given`, or else in the middle."""
        known = {**given, **settings}
        return np.array([_place(one, known[name]) if name in known else 0.5 for name, one in self.space.items()])


def _value(one: Space, at: float) -> Any:
    at = min(max(at, 0.0), 1.0)
    if isinstance(one, Choices):
        return one.values[min(int(at * len(one.values)), len(one.values) - 1)]
    value = one.low * (one.high / one.low) ** at if one.log else one.low + at * (one.high - one.low)
    if isinstance(one, Reals):
        return float(f"{min(max(value, one.low), one.high):.4g}")
    return int(min(max(round(value), one.low), one.high))


def _place(one: Space, value: Any) -> float:
    if isinstance(one, Choices):
        places = [place for place, other in enumerate(one.values) if other == value and type(other) is type(value)]
        return ((places[0] if places else 0) + 0.5) / len(one.values)
    if isinstance(value, (bool, str)) or value is None:
        return 1.0  # no limit
    value = min(max(value, one.low), one.high)
    return math.log(value / one.low) / math.log(one.high / one.low) if one.log else (value - one.low) / (one.high - one.low)


class Walk:
    """One walk. `propose` gives the next settings, `tell` whether they were better than those where it stands.

    Draws depend on the seed and on how many proposals there were, so that a resumed run goes the same way.
    """

    def __init__(self, box: Box, start: Any, seed: tuple[int, ...]) -> None:
        self.box, self._at, self._seed = box, np.asarray(start, dtype=float), seed
        self._step, self._n_failures, self._n_asked = _FIRST_STEP, 0, 0
        self._direction: Any = None
        self._is_opposite = False
        self._asked: Any = self._at

    @property
    def is_over(self) -> bool:
        return len(self.box) == 0 or self._step < _LEAST_STEP

    def propose(self) -> dict[str, Any]:
        """Settings that differ from those where the walk stands."""
        here = self.box.settings(self._at)
        for _ in range(50):
            if not self._is_opposite:
                self._n_asked += 1
                drawn = np.random.default_rng([*self._seed, self._n_asked]).normal(size=len(self.box))
                self._direction = drawn / np.linalg.norm(drawn)
            sign = -1.0 if self._is_opposite else 1.0
            self._asked = np.clip(self._at + sign * self._step * math.sqrt(len(self.box)) * self._direction, 0.0, 1.0)
            if (settings := self.box.settings(self._asked)) != here:
                return settings
            self._is_opposite = not self._is_opposite
        return here

    def tell(self, *, is_better: bool) -> None:
        if is_better:
            self._at, self._is_opposite, self._n_failures = self._asked, False, 0
            return
        self._is_opposite = not self._is_opposite
        self._n_failures += 1
        if self._n_failures >= min(2 * len(self.box), _MOST_FAILURES):
            self._step, self._n_failures = _SHRINKAGE * self._step, 0
