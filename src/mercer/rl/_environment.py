"""`MDPEnvironment`: a process with Gymnasium's interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._native import kernels
from mercer._params import RandomState, check_value
from mercer._random import as_random_state
from mercer.rl._mdp import MDP


class Discrete:
    """The numbers below n: what agents ask of a space of Gymnasium's of the name."""

    start = 0

    def __init__(self, n: int) -> None:
        self.n = n
        self.seed()

    def seed(self, seed: int | None = None) -> None:
        """Begin the draws of `sample` anew."""
        self._random = np.random.RandomState(seed)

    def sample(self) -> int:
        """Any of the numbers."""
        return int(self._random.randint(self.n))

    def contains(self, value: object) -> bool:
        """Whether a value is one of the numbers."""
        return isinstance(value, int | np.integer) and 0 <= int(value) < self.n

    def __repr__(self) -> str:
        return f"Discrete({self.n})"


class MDPEnvironment:
    """A process to act in, step by step, with Gymnasium's interface and without Gymnasium.

    Parameters
    ----------
    mdp : MDP
        The process.
    random_state : int, RandomState or None, default=None
        What chance draws from; `reset(seed=...)` starts anew.

    Examples
    --------
    >>> from mercer.rl import MDPEnvironment, cliff_walking
    >>> env = MDPEnvironment(cliff_walking())
    >>> env.reset(seed=0)
    (36, {})
    >>> env.step(1)
    (36, -100.0, False, False, {})
    """

    def __init__(self, mdp: MDP, random_state: Any = None) -> None:
        self.mdp = mdp
        self.observation_space, self.action_space = Discrete(mdp.n_states), Discrete(mdp.n_actions)
        random = as_random_state(check_value("MDPEnvironment", "random_state", random_state, RandomState()))
        self._seed, self._n_draws, self._n_steps = int(random.randint(2**31)), 0, 0
        self._state: int | None = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        """The first state of an episode."""
        if options:
            raise ValueError(f"MDPEnvironment: options={options!r} are not known; there are none.")
        if seed is not None:
            self._seed, self._n_draws = int(seed), 0
        self._state, self._n_steps = int(kernels.draw_first_state(self.mdp._model, self._seed, self._draw())), 0
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """State, reward, whether it is terminal, whether the horizon is reached, and nothing else."""
        if self._state is None:
            raise ValueError("MDPEnvironment: the episode is over, or none has begun; call reset first.")
        state, reward, is_end = kernels.step_model(self.mdp._model, self._state, int(action), self._seed, self._draw())
        self._n_steps += 1
        is_cut = not is_end and self._n_steps == self.mdp.horizon
        self._state = None if is_end or is_cut else state
        return state, reward, is_end, is_cut, {}

    def _draw(self) -> int:
        self._n_draws += 1
        return self._n_draws
