"""`Episodes`: what was seen under a policy, and how it is sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer._params import Integer, Null, NumberOfJobs, check_value
from mercer._random import as_random_state
from mercer.rl._mdp import MDP
from mercer.rl._policy import checked_policy


@dataclass(frozen=True, eq=False, repr=False)
class Episodes:
    """Steps of episodes, one episode after another.

    Attributes
    ----------
    states : ndarray of shape (n_steps,) or (n_steps, n_axes)
        The state, or the point, before each step.
    actions, rewards : ndarray of shape (n_steps,)
        What was done, and what it was paid.
    starts : ndarray of int of shape (n_episodes + 1,)
        Where each episode begins; the last number is that of all steps.
    last : ndarray of shape (n_episodes,) or (n_episodes, n_axes)
        The state after the last step of each.
    is_end : ndarray of bool of shape (n_episodes,)
        Whether the last state is terminal; otherwise the episode was cut short.

    Examples
    --------
    >>> from mercer.rl import cliff_walking, sample_episodes
    >>> episodes = sample_episodes(cliff_walking(), n_episodes=3, max_steps=50, random_state=0)
    >>> episodes.lengths.tolist(), episodes.is_end.tolist()
    ([50, 50, 50], [False, False, False])
    """

    states: npt.NDArray[Any]
    actions: npt.NDArray[Any]
    rewards: FloatArray
    starts: npt.NDArray[np.int64]
    last: npt.NDArray[Any]
    is_end: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of steps of each episode."""
        return np.diff(self.starts)

    def returns(self, discount: float = 1.0) -> FloatArray:
        """The discounted sum of the rewards of each episode."""
        ages = np.arange(len(self.rewards)) - np.repeat(self.starts[:-1], self.lengths)
        worth = self.rewards * discount**ages if discount < 1 else self.rewards
        sums = np.concatenate([[0.0], np.cumsum(worth)])
        differences: FloatArray = np.diff(sums[self.starts])
        return differences

    def __repr__(self) -> str:
        return f"Episodes({len(self):,} episodes, {len(self.rewards):,} steps)"


def sample_episodes(
    env: Any,
    policy: Any = None,
    *,
    n_episodes: int = 1000,
    max_steps: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Episodes:
    """Act by a policy and write down what happens.

    Parameters
    ----------
    env : MDP or environment
        What to act in.
    policy : array-like, plan, agent, callable or None, default=None
        In an MDP as in :func:`policy_evaluation`; in an environment a function of the observation, or what has `act`. None is
        any action alike.
    n_episodes : int, default=1000
        The number of episodes.
    max_steps : int or None, default=None
        After how many steps an episode is cut short; None means the horizon of an MDP, and never elsewhere.
    random_state : int, RandomState or None, default=None
        What chance draws from.
    n_jobs : int or None, default=None
        The number of threads in an MDP; None means all. The result does not depend on it.

    Returns
    -------
    episodes : Episodes

    Examples
    --------
    >>> from mercer.rl import frozen_lake, sample_episodes, value_iteration
    >>> lake = frozen_lake()
    >>> episodes = sample_episodes(lake, value_iteration(lake), n_episodes=10_000, max_steps=1000, random_state=0)
    >>> bool(abs(episodes.returns().mean() - 0.82) < 0.02)
    True
    """
    owner = "sample_episodes"
    n_episodes = check_value(owner, "n_episodes", n_episodes, Integer(1))
    max_steps = check_value(owner, "max_steps", max_steps, Integer(1) | Null())
    random = as_random_state(random_state)
    if not isinstance(env, MDP):
        return _in_environment(env, policy, n_episodes, max_steps, None if random_state is None else int(random.randint(2**31)))
    max_steps = env._require_limit(owner, max_steps)
    return sampled(env, checked_policy(env, policy), n_episodes, max_steps, int(random.randint(2**31)), 0, n_jobs)


def sampled(
    mdp: MDP, policy: Any, n_episodes: int, max_steps: int | None, seed: int, first: int, n_jobs: int | None
) -> Episodes:
    """Episodes of a process under a checked policy, from number `first` on."""
    share = policy
    if policy.dtype.kind == "i":
        share = np.zeros(len(mdp.pair_states))
        share[policy[policy >= 0]] = 1.0
    n_threads = effective_threads(check_value("sample_episodes", "n_jobs", n_jobs, NumberOfJobs()))
    states, actions, rewards, starts, last, is_end = kernels.sample_episodes(
        mdp._model, share, n_episodes, max_steps or 0, seed, first, n_threads
    )
    return Episodes(states, actions, rewards, starts, last, is_end.astype(bool))


def _in_environment(env: Any, policy: Any, n_episodes: int, max_steps: int | None, seed: int | None) -> Episodes:
    act: Callable[[Any], Any]
    if policy is None:
        if seed is not None:
            env.action_space.seed(seed)
        act = lambda seen: env.action_space.sample()  # noqa: E731
    else:
        act = policy.act if hasattr(policy, "act") else policy
    if not callable(act):
        raise TypeError(f"sample_episodes: policy={policy!r} must be a function of the observation, have `act`, or be None.")
    states, actions, rewards, starts, last, is_end = [], [], [], [0], [], []
    for episode in range(n_episodes):
        seen, _ = env.reset(seed=seed) if episode == 0 and seed is not None else env.reset()
        ends = is_cut = False
        while not (ends or is_cut):
            action = act(seen)
            states.append(seen)
            actions.append(action)
            seen, reward, ends, is_cut, _ = env.step(action)
            rewards.append(float(reward))
            is_cut = is_cut or len(rewards) - starts[-1] == max_steps
        starts.append(len(rewards))
        last.append(seen)
        is_end.append(bool(ends))
    return Episodes(
        np.asarray(states), np.asarray(actions), np.array(rewards), np.array(starts), np.asarray(last), np.array(is_end)
    )
