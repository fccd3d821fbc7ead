"""Bayesian proposals: Optuna's tree-structured Parzen estimator (TPE) over the searched parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._tuning import Reals
from mercer.model_selection._tune.candidates import Combination, Layout
from mercer.model_selection._tune.optuna_module import import_optuna
from mercer.model_selection._tune.proposals import limit_of, listed, plain
from mercer.model_selection._tune.space import Dimension, Interval, Point, Values
from mercer.model_selection._tune.trial import Trial, best_of


class Bayesian:
    """Asks TPE for one combination after another; a combination is worth the best score among its candidates.

    The sampler of each proposal has a seed of its own, so that proposals depend on the seed and on the scores before them and
    on nothing else: a search that was killed goes on as if nothing had happened. `recorded` holds the points that an earlier
    process has proposed, by number.
    """

    def __init__(self, layout: Layout, n_combinations: int | None, seed: int, recorded: Mapping[int, Point]) -> None:
        self._optuna = import_optuna("search='bayesian'")
        self._layout, self._seed, self._recorded = layout, seed, recorded
        self._limit, self._n_asked = limit_of(layout, n_combinations), 0
        self._distributions = {
            name: _distribution(self._optuna, dimension) for name, dimension in layout.searched.dimensions.items()
        }
        self._study = self._optuna.create_study(direction="maximize")
        self.words = f"Bayesian search (TPE) of {listed(layout)}"

    def ask(self, n: int) -> list[Combination]:
        """One combination at most: what comes next depends on its score."""
        if self._n_asked == self._limit:
            return []
        number = self._n_asked
        self._n_asked += 1
        point = self._recorded.get(number)
        return [self._layout.combination(number, self._proposed(number) if point is None else point)]

    def _proposed(self, number: int) -> Point:
        seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
        self._study.sampler = self._optuna.samplers.TPESampler(seed=seed)
        asked = self._study.ask(self._distributions)
        self._study.tell(asked, state=self._optuna.trial.TrialState.FAIL)  # withdrawn: `tell` adds it with its score
        return {name: plain(asked.params[name]) for name in self._distributions}

    def tell(self, combination: Combination, trials: Sequence[Trial]) -> None:
        told = self._told(trials)
        if not told:
            return
        point = combination.candidates[0].point
        params = {name: point[name] for name in self._distributions}
        self._study.add_trial(self._optuna.create_trial(**told, params=params, distributions=self._distributions))

    def _told(self, trials: Sequence[Trial]) -> dict[str, Any]:
        """What TPE learns from: a score, or those on the way of a trial that was stopped, which it ranks behind all others."""
        best = best_of(trials)
        if best is not None:
            return {"value": best.score} if np.isfinite(best.score) else {}
        stopped = [trial for trial in trials if trial.status == "stopped"]
        if not stopped:
            return {}
        return {"state": self._optuna.trial.TrialState.PRUNED, "intermediate_values": dict(stopped[0].stages)}


def _distribution(optuna: Any, dimension: Dimension) -> Any:
    """What Optuna calls it; places in an ascending list are numbers, in any other list they are names."""
    kinds = optuna.distributions
    if isinstance(dimension, Values):
        last = len(dimension.values) - 1
        return kinds.IntDistribution(0, last) if dimension.is_ascending else kinds.CategoricalDistribution(range(last + 1))
    if isinstance(dimension, Interval):
        kind = kinds.FloatDistribution if isinstance(dimension.ends, Reals) else kinds.IntDistribution
        return kind(dimension.ends.low, dimension.ends.high, log=dimension.ends.log)
    return kinds.FloatDistribution(0.0, 1.0)
