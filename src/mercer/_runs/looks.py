"""Fits that are looked at on their way: one fit tells of many numbers of rounds, and what is late is kept as far as it came."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from mercer._tuning import Halving

_GROWTH = 1.12  # from one look to the next
_FIRST, _LEAST_STEP = 5, 5  # rounds
_N_POOR = 3  # so many looks in a row without the best score,
_BEYOND = 1.4  # and so many times the rounds of the best one: then the fit ends


class Looks:
    """Called after every round of a fit: sees it now and then, and ends it where it gets no better or the time is up.

    `see` takes the fitted estimator, the number of rounds and the seconds that the fit took, and returns the score.
    """

    def __init__(self, see: Callable[[Any, int, float], float], deadline: float, most: float = math.inf) -> None:
        self._see, self._deadline, self._most = see, deadline, most
        self._started = time.monotonic()
        self._looking = 0.0  # seconds
        self._next = _FIRST
        self._best, self._best_at, self._n_poor = -math.inf, 0, 0
        self.is_late = False

    def __call__(self, n_rounds: int, make: Callable[[], Any]) -> bool:
        begun = time.monotonic()
        self.is_late = begun > self._deadline
        if n_rounds < self._next and not self.is_late and n_rounds < self._most:
            return False
        if (fitted := make()) is None:
            return False
        score = self._see(fitted, n_rounds, begun - self._started - self._looking)
        self._next = max(n_rounds + _LEAST_STEP, math.ceil(_GROWTH * n_rounds))
        self._looking += time.monotonic() - begun
        if score > self._best:
            self._best, self._best_at, self._n_poor = score, n_rounds, 0
        else:
            self._n_poor += 1
        is_poor = self._n_poor >= _N_POOR and n_rounds >= _BEYOND * self._best_at
        return self.is_late or is_poor or n_rounds >= self._most


class Deadline:
    """The same for fits that are of no use on their way: it ends those that are late, as far as they came."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self.stopped_at: int | None = None

    def __call__(self, n_rounds: int, make: Callable[[], Any]) -> bool:
        if time.monotonic() <= self._deadline:
            return False
        self.stopped_at = n_rounds
        return True


def rounds_parameter(estimator: Any) -> str | None:
    """The parameter that says after how many rounds a fit ends, where a fit that ended earlier is one with fewer."""
    if isinstance(estimator, Halving):
        return estimator.halving_parameter()
    name: str | None = getattr(estimator, "_rounds_parameter", None)
    return name
