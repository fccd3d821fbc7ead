"""Learning curves of agents: several seeds side by side, and an interval about their mean."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._arrays import FloatArray
from mercer._jobs import run_jobs
from mercer._params import Integer, NumberOfJobs, OneOf, RandomState, check_value
from mercer._random import as_random_state
from mercer.rl._intervals import Band, band_of
from mercer.rl._mdp import MDP


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves:
    """How runs of an agent learnt, each from a seed of its own.

    Attributes
    ----------
    returns, lengths, td_errors : ndarray of shape (n_runs, n_episodes)
        What the history of each run says.
    agents : list
        The fitted agents.

    Examples
    --------
    >>> from mercer.rl import QLearning, cliff_walking, learning_curves
    >>> curves = learning_curves(QLearning(alpha=0.5), cliff_walking(discount=1.0), n_episodes=200, n_runs=5, random_state=0)
    >>> curves.curve(window=10).mean.shape
    (191,)
    """

    returns: FloatArray
    lengths: FloatArray
    td_errors: FloatArray
    agents: list[Any]

    def curve(self, of: str = "returns", *, window: int = 1, confidence: float = 0.95) -> Band:
        """The mean over the runs with its interval, for each episode, or each `window` of episodes that follow one another.

        Parameters
        ----------
        of : {"returns", "lengths", "td_errors"}, default="returns"
            What is averaged.
        window : int, default=1
            Over how many episodes each run is averaged first.
        confidence : float, default=0.95
            The level of the interval, which is Student's over the runs.
        """
        runs = getattr(self, check_value("curve", "of", of, OneOf("returns", "lengths", "td_errors")))
        window = check_value("curve", "window", window, Integer(1, most=runs.shape[1]))
        sums = np.cumsum(np.pad(runs.astype(np.float64), ((0, 0), (1, 0))), axis=1)
        return band_of((sums[:, window:] - sums[:, :-window]) / window, confidence)

    def __repr__(self) -> str:
        n_runs, n_episodes = self.returns.shape
        return f"LearningCurves({n_runs} runs of {n_episodes:,} episodes)"


def learning_curves(
    agent: Any,
    env: Any,
    *,
    n_episodes: int = 1000,
    n_runs: int = 10,
    max_steps: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> LearningCurves:
    """Fit an agent several times, each time from another seed.

    Parameters
    ----------
    agent : agent
        What is cloned and fitted; its `random_state` is replaced.
    env : MDP, environment, or function that makes an environment
        What to act in. Of an environment each run has a deep copy; a function is called for each.
    n_episodes, max_steps
        As of `fit`.
    n_runs : int, default=10
        The number of runs.
    random_state : int, RandomState or None, default=None
        What the seeds are drawn from.
    n_jobs : int or None, default=None
        How many runs go side by side, in threads, which pays in an MDP; None means one at a time. The result does not depend
        on it.

    Returns
    -------
    curves : LearningCurves

    Examples
    --------
    >>> from mercer.rl import SARSA, cliff_walking, learning_curves
    >>> learning_curves(SARSA(), cliff_walking(), n_episodes=100, n_runs=3, random_state=0, n_jobs=2)
    LearningCurves(3 runs of 100 episodes)
    """
    owner = "learning_curves"
    n_runs = check_value(owner, "n_runs", n_runs, Integer(1))
    n_jobs = check_value(owner, "n_jobs", n_jobs, NumberOfJobs())
    random = as_random_state(check_value(owner, "random_state", random_state, RandomState()))
    seeds = random.randint(2**31, size=n_runs).tolist()
    jobs: list[Callable[[], Any]] = [partial(_run, agent, env, seed, n_episodes, max_steps) for seed in seeds]
    with run_jobs(jobs, n_jobs, in_threads=True) as results:
        agents = list(results)
    histories = [fitted.history_ for fitted in agents]
    returns, lengths, errors = (np.stack([each[key] for each in histories]) for key in ("return", "length", "td_error"))
    return LearningCurves(returns, lengths, errors, agents)


def _run(agent: Any, env: Any, seed: int, n_episodes: int, max_steps: int | None) -> Any:
    if not isinstance(env, MDP):
        env = deepcopy(env) if hasattr(env, "step") else env()
    return clone(agent).set_params(random_state=seed).fit(env, n_episodes, max_steps=max_steps)
