"""Bandits: arms of unknown worth, strategies that find the best one, and what finding it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Function, Integer, NumberOfJobs, OneOf, RandomState, Real, check_value
from mercer._random import as_random_state
from mercer.rl._intervals import Band, band_of
from mercer.rl._schedules import rates_of

STRATEGIES = ("epsilon-greedy", "ucb1", "thompson")


@dataclass(frozen=True, eq=False, repr=False)
class BanditRuns:
    """What runs of a strategy pulled, and what it cost.

    Attributes
    ----------
    arms : ndarray of int of shape (n_runs, n_pulls)
        The arm of each pull.
    regrets : ndarray of shape (n_runs, n_pulls)
        How much less than always the best arm the pulls so far were worth, in the mean of their arms.
    best_arm : int

    Examples
    --------
    >>> from mercer.rl import play_bandit
    >>> runs = play_bandit([0.2, 0.5, 0.6], "thompson", n_pulls=1000, n_runs=50, random_state=0)
    >>> runs.best_arm, bool(runs.curve().mean[-1] < 60)
    (2, True)
    """

    arms: npt.NDArray[np.int32]
    regrets: FloatArray
    best_arm: int
    strategy: str

    def curve(self, confidence: float = 0.95) -> Band:
        """The mean regret over the runs after each pull, with its interval."""
        return band_of(self.regrets, confidence)

    def share_of_best(self) -> FloatArray:
        """How many of the runs pull the best arm, at each pull."""
        share: FloatArray = (self.arms == self.best_arm).mean(axis=0)
        return share

    def __repr__(self) -> str:
        n_runs, n_pulls = self.arms.shape
        return f"BanditRuns({self.strategy}: {n_runs} runs of {n_pulls:,} pulls, mean regret {self.regrets[:, -1].mean():.4g})"


def play_bandit(
    means: Any,
    strategy: str = "ucb1",
    *,
    n_pulls: int = 1000,
    n_runs: int = 100,
    rewards: str = "bernoulli",
    scale: float = 1.0,
    epsilon: Any = 0.1,
    confidence: float = 2**0.5,
    initial_value: float = 0.0,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BanditRuns:
    """Pull the arms of a bandit by a strategy, in many runs side by side.

    Parameters
    ----------
    means : array-like of shape (n_arms,)
        What each arm pays on average; between 0 and 1 for coins.
    strategy : {"epsilon-greedy", "ucb1", "thompson"}, default="ucb1"
        The best mean so far but for `epsilon`; the largest upper bound mean + `confidence` sqrt(ln t / n); or the best of draws
        from what is known of each arm.
    n_pulls, n_runs : int, default=1000 and 100
        The length and the number of runs.
    rewards : {"bernoulli", "normal"}, default="bernoulli"
        Coins that pay one or nothing, or normal rewards of standard deviation `scale`, which Thompson's draws know.
    scale : float, default=1.0
        The standard deviation of normal rewards.
    epsilon : float or callable, default=0.1
        The share of pulls by chance, or a function of the number of pulls before, such as :class:`Decay`.
    confidence : float, default=sqrt(2)
        How wide upper bounds are; the default is UCB1's.
    initial_value : float, default=0.0
        What the mean of an arm is taken for before its first pull, by epsilon-greedy.
    random_state : int, RandomState or None, default=None
        What chance draws from.
    n_jobs : int or None, default=None
        The number of threads; None means all. The result does not depend on it.

    Returns
    -------
    runs : BanditRuns

    Examples
    --------
    >>> from mercer.rl import play_bandit
    >>> drawn, upper = (play_bandit([0.4, 0.6], name, random_state=0) for name in ("thompson", "ucb1"))
    >>> bool(drawn.regrets[:, -1].mean() < upper.regrets[:, -1].mean())
    True

    References
    ----------
    P. Auer, N. Cesa-Bianchi and P. Fischer, Finite-time analysis of the multiarmed bandit problem, Machine Learning 47 (2002).
    """
    owner = "play_bandit"
    strategy = check_value(owner, "strategy", strategy, OneOf(*STRATEGIES))
    rewards = check_value(owner, "rewards", rewards, OneOf("bernoulli", "normal"))
    n_pulls = check_value(owner, "n_pulls", n_pulls, Integer(1))
    n_runs = check_value(owner, "n_runs", n_runs, Integer(1))
    scale = check_value(owner, "scale", scale, Real(above=0))
    confidence = check_value(owner, "confidence", confidence, Real(least=0))
    initial_value = check_value(owner, "initial_value", initial_value, Real())
    epsilon = check_value(owner, "epsilon", epsilon, Real(least=0, most=1) | Function())
    random_state = check_value(owner, "random_state", random_state, RandomState())
    n_threads = effective_threads(check_value(owner, "n_jobs", n_jobs, NumberOfJobs()))
    worth = np.array(means, dtype=np.float64)
    if worth.ndim != 1 or not len(worth) or not np.isfinite(worth).all():
        raise ValueError(f"{owner}: means={means!r} must be finite numbers, one for each arm.")
    if rewards == "bernoulli" and not ((worth >= 0) & (worth <= 1)).all():
        raise ValueError(f"{owner}: means={means!r} of coins must be between 0 and 1; rewards='normal' may have any.")
    rates = rates_of(owner, "epsilon", epsilon, Real(least=0, most=1), 0, n_pulls)
    arms, regrets = np.empty((n_runs, n_pulls), dtype=np.int32), np.empty((n_runs, n_pulls))
    seed = int(as_random_state(random_state).randint(2**31))
    kernels.play_bandit(
        worth, STRATEGIES.index(strategy), rewards == "bernoulli", scale, confidence, initial_value, rates, seed, arms, regrets,
        n_threads,
    )  # fmt: skip
    return BanditRuns(arms, regrets, int(worth.argmax()), strategy)
