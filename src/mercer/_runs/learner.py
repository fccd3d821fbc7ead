"""One model in the search: what is to be tried next of it, what that will cost, and what it promises.

First come settings that are known to be good, then a walk from the best of them; both on few rows where there are many, and on
more as soon as these promise more than further settings (Wang, Wu, Weimer and Zhu, "FLAML", MLSys 2021).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._runs.candidates import Candidate
from mercer._runs.fits import Sweeping
from mercer._runs.looks import rounds_parameter
from mercer._runs.trial import Proposal, Trial
from mercer._runs.walk import Box, Walk
from mercer._tuning import Choices, JointSweep, Reals, Space, Sweep

_GROWTH = 4  # times the rows
_N_SWEPT = 12  # values of a range
_MOST_SWEPT = 60  # points
_MOST_TRIALS = {1: 400, 2: 40, 3: 8}  # by tier
_MOST_A_SIDE = {1: 40, 2: 15, 3: 8}  # trials for each parameter
_MOST_WALKS = {1: 12, 2: 4, 3: 1}
_LEAP = 0.3  # how far from the best settings another walk begins, along every side of the unit cube
_PATIENCE = {1: 0.5, 2: 1.0, 3: 5.0}  # how many times the cost of a first trial one waits before a model is begun
_HOPEFUL = 5.0  # times the gain of the last fit to more rows: further behind, still more rows are not hurried
_EAGER = 4.0  # times sooner than other things, a strong model is fitted to more rows
_TINY = 1e-3  # seconds


class Learner:
    """The state of one model. It is what its trials made of it: told again, they make it again."""

    def __init__(self, candidate: Candidate, n_rows: int, n_folds: int, seed: int) -> None:
        self.candidate, self.name, self.tier = candidate, candidate.name, candidate.outlook.tier
        self._seed, self._n_rows, self._n_folds = seed, n_rows, n_folds
        self._sizes = _sizes(n_rows, candidate.outlook.first_rows)
        self._at = 0  # place among the sizes
        self.sweeping = _sweeping(candidate)
        swept = set(self.sweeping.points[0]) if self.sweeping is not None else set()
        self._box = Box({name: one for name, one in candidate.space.items() if name not in swept})
        self._queue: list[Mapping[str, Any]] = list(candidate.outlook.settings)
        self._asked: str = "queue"
        self._walk: Walk | None = None
        self._n_walks = 0
        self.trials: list[Trial] = []
        self.best: Trial | None = None  # at the present number of rows
        self.reason: str | None = None  # why there is nothing more to try
        self._spent, self._improved_at, self._improved_before = 0.0, 0.0, 0.0
        self._first_score: float | None = None
        self._last_gain = 0.0
        self._gain_of_rows = math.inf  # what the last fit to more of them did; unknown at first

    # ---- what next

    @property
    def is_over(self) -> bool:
        return self.reason is not None

    @property
    def n_rows(self) -> int | None:
        """How many rows the next trial is fitted to; None: all."""
        return self._sizes[self._at]

    @property
    def is_at_all_rows(self) -> bool:
        return self._at == len(self._sizes) - 1

    def propose(self, limit: float) -> Proposal:
        """The next trial. More rows come before other settings where they take no more than `limit` seconds."""
        number = len(self.trials)
        if not self.is_at_all_rows and self.best is not None and self._should_grow(limit):
            self._asked = "grow"
            return Proposal(self.name, number, self._start_of(self.best), self._sizes[self._at + 1], self.sweeping)
        if self._queue:
            self._asked = "queue"
            return Proposal(self.name, number, {**self.candidate.outlook.fixed, **self._queue[0]}, self.n_rows, self.sweeping)
        self._asked = "walk"
        settings = self._walking().propose()
        return Proposal(self.name, number, {**self._start_of(self.best), **settings}, self.n_rows, self.sweeping)

    def _walking(self) -> Walk:
        if self._walk is None or self._walk.is_over:
            settings = {} if self.best is None else self.best.params
            start = self._box.point(settings, self.candidate.estimator.get_params(deep=True))
            if self._n_walks:
                drawn = np.random.default_rng([self._seed, self._n_walks]).uniform(-_LEAP, _LEAP, size=len(self._box))
                start = np.clip(start + drawn, 0.0, 1.0)
            self._n_walks += 1
            self._walk = Walk(self._box, start, (self._seed, self._n_walks, self._at))
        return self._walk

    def _start_of(self, trial: Trial | None) -> dict[str, Any]:
        """The settings of a trial, without what its fit found out by itself."""
        rounds = self.candidate.rounds
        params = {} if trial is None else dict(trial.params)
        params.pop(rounds or "", None)
        for point in self.sweeping.points[:1] if self.sweeping else ():
            for name in point:
                params.pop(name, None)
        return {**self.candidate.outlook.fixed, **params}

    def _should_grow(self, limit: float) -> bool:
        """Whether more rows are worth more than other settings: always where they cost little, for what is known to be good."""
        if self.cost_of_growing <= limit:
            return True
        return not self._queue and (self.cost_of_growing <= self._cost_of_improving or len(self._box) == 0)

    # ---- what it costs

    @property
    def cost_of_growing(self) -> float:
        """Seconds, about, of the best settings on the next number of rows."""
        if self.best is None or self.is_at_all_rows:
            return math.inf
        rows, more = self._sizes[self._at], self._sizes[self._at + 1]
        ratio = (more or self._n_rows) / (rows or self._n_rows)
        n_folds = self._n_folds if more is None else 1
        return float(n_folds * self.best.seconds * ratio ** (1.0 if self.tier == 1 else 1.5))

    @property
    def cost(self) -> float | None:
        """Seconds, about, of the next trial; None where nothing was tried yet."""
        if not self.trials:
            return None
        if self.best is None:
            return self.trials[-1].seconds
        if not self._queue and not self.is_at_all_rows and len(self._box) == 0:
            return self.cost_of_growing
        return self.best.seconds

    @property
    def _cost_of_improving(self) -> float:
        return max(self._spent - self._improved_at, self._improved_at - self._improved_before, _TINY)

    def promise(self, best: float | None, first_cost: float, limit: float) -> float:
        """About how many seconds it takes to do better than the best of all models: the fewest are the most promising.

        A strong model goes on to more rows before others do anything, as long as that takes no more than `limit` seconds.
        """
        if not self.trials:
            return _PATIENCE[self.tier] * max(first_cost, 0.02)
        gap = 0.0 if best is None or self.best is None else best - self.best.fold_scores[0]
        if self.tier == 1 and self.cost_of_growing <= limit and gap <= _HOPEFUL * self._gain_of_rows:
            return min(self.cost_of_growing, limit) / _EAGER
        cost = self._cost_of_improving
        if self._queue:
            cost = min(cost, self.cost or cost)
        elif not self.is_at_all_rows:
            cost = min(cost, self.cost_of_growing)
        if self.best is None or best is None or self._first_score is None:
            return cost
        if gap <= 0:
            return cost
        gained = max(self.best.fold_scores[0] - self._first_score, self._last_gain)
        speed = gained / max(self._spent, _TINY)
        return max(cost, 2 * gap / speed) if speed > 0 else max(cost, 20 * self._spent)

    # ---- what came of it

    def recall(self, trial: Trial, asked: str) -> None:
        """Take a trial of an earlier part of the run."""
        self._asked = asked
        if asked == "walk":
            self._walking().propose()
        self.tell(trial)

    def tell(self, trial: Trial) -> None:
        """Take the finished trial of the last proposal."""
        asked = self._asked
        self.trials.append(trial)
        self._spent += trial.seconds
        if asked == "grow":
            self._at += 1
        is_better = trial.status == "ok" and (asked == "grow" or self.best is None or trial.score > self.best.score)
        if asked == "queue":
            self._queue.pop(0)
        elif asked == "walk":
            self._walking().tell(is_better=is_better)
        if trial.status == "failed":
            self._failed(asked)
        elif is_better:
            if self.best is not None and asked == "grow":
                self._gain_of_rows = trial.fold_scores[0] - self.best.fold_scores[0]
            elif self.best is not None:
                self._last_gain = trial.score - self.best.score
            if self._first_score is None:
                self._first_score = trial.fold_scores[0]
            self.best = trial
            self._improved_before, self._improved_at = self._improved_at, self._spent
        self._check_over()

    def _failed(self, asked: str) -> None:
        """Fewer rows are all that it gets, where more do not end in time."""
        if asked == "grow":
            self._at -= 1
            del self._sizes[self._at + 1 :]
        elif self.best is None and len([one for one in self.trials if one.status == "failed"]) >= 2:
            self.reason = "its first trials failed"

    def _check_over(self) -> None:
        if self.reason is not None or self._queue or not self.is_at_all_rows:
            return
        if self.best is None:
            self.reason = "every trial failed"
        elif len(self._box) == 0:
            self.reason = "its settings were all tried"
        elif len(self.trials) >= min(_MOST_TRIALS[self.tier], _MOST_A_SIDE[self.tier] * len(self._box)) or (
            self._walk is not None and self._walk.is_over and self._n_walks >= _MOST_WALKS[self.tier]
        ):
            self.reason = "its walks came to their ends"

    @property
    def asked(self) -> str:
        """Of which kind the last proposal is: the next of those known, more rows, or a step of a walk."""
        return self._asked


def _sizes(n_rows: int, first: int) -> list[int | None]:
    """Numbers of rows, each so many times the one before; None, the last, are all."""
    sizes: list[int | None] = []
    size = first
    while _GROWTH * size / 2 < n_rows:
        sizes.append(size)
        size *= _GROWTH
    return [*sizes, None]


def _sweeping(candidate: Candidate) -> Sweeping | None:
    """The values that one fit of a model covers, where its fits cover any that are searched."""
    estimator = candidate.estimator
    if not candidate.outlook.is_swept or candidate.resampler is not None or rounds_parameter(estimator) is not None:
        return None
    if not isinstance(estimator, Sweep):
        return None
    names = [name for name in estimator.sweep_parameters() if name in candidate.space]
    if not names:
        return None
    names = names if isinstance(estimator, JointSweep) else names[:1]
    points: list[dict[str, Any]] = [{}]
    for name in names:
        values = _values(candidate.space[name])
        if len(values) * len(points) <= _MOST_SWEPT:
            points = [{**point, name: value} for point in points for value in values]
    return Sweeping(tuple(points))


def _values(one: Space) -> Sequence[Any]:
    """Those of a list, or some of a range."""
    if isinstance(one, Choices):
        return one.values
    box = Box({"": one})
    n_values = _N_SWEPT if isinstance(one, Reals) else min(_N_SWEPT, one.high - one.low + 1)
    found = [box.settings([place / (n_values - 1)])[""] for place in range(n_values)]
    return list(dict.fromkeys(found))
