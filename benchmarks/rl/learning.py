"""Q-learning: in a model, where the loop is native, and in Gymnasium's environments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality
from benchmarks.rl.planning import _process

DISCOUNT = 0.95


def cases() -> Iterator[Case]:
    for n_steps, is_quick in ((10_000_000, False), (20_000, True)):
        yield Case(
            "Q-learning in a model, nanoseconds a step as quality",
            f"4,000 states x 10, {n_steps:,} steps; NumPy's loop does a fiftieth",
            partial(_model, 4_000),
            (
                Contender(MERCER, "benchmarks.rl.learning:InModel", {"n_steps": n_steps}),
                Contender("NumPy", "benchmarks.rl.learning:NumpyLoop", {"n_steps": n_steps // 50}),
            ),
            lambda model, data: model.run(),
            Quality("nanoseconds a step", _per_step, atol=1e9),
            prepare=lambda contender, data: contender(data=data),
            is_quick=is_quick,
        )
    yield Case(
        "Q-learning on FrozenLake, microseconds a step as quality",
        "a million steps (plain agents: a tenth)",
        partial(_model, 4),
        (
            Contender(MERCER, "benchmarks.rl.learning:Lake", {"way": "tables", "n_steps": 1_000_000}),
            Contender("mercer, in the environment", "benchmarks.rl.learning:Lake", {"way": "steps", "n_steps": 100_000}),
            Contender("plain lists", "benchmarks.rl.learning:PlainLake", {"kind": "lists", "n_steps": 100_000}),
            Contender("plain NumPy", "benchmarks.rl.learning:PlainLake", {"kind": "NumPy", "n_steps": 100_000}),
            Contender("no agent", "benchmarks.rl.learning:PlainLake", {"kind": "none", "n_steps": 100_000}),
        ),
        lambda model, data: model.run(),
        Quality("microseconds a step", lambda model, outcome, data: 1e6 * outcome[0], atol=1e9),
        prepare=lambda contender, data: contender(data=data),
    )


def _model(n_states: int) -> Data:
    return _process(n_states, 10, 10, None)


def _per_step(model: Any, outcome: Any, data: Data) -> float:
    return 1e9 * float(outcome[0])


class InModel:
    """Episodes of a thousand steps."""

    def __init__(self, n_steps: int, data: Data) -> None:
        from mercer import rl

        self._n_episodes = max(1, n_steps // 1000)
        self._mdp, self._agent = rl.MDP(data.X, data.y, discount=DISCOUNT), rl.QLearning(random_state=0)

    def run(self) -> tuple[float, Any]:
        start = perf_counter()
        agent = self._agent.fit(self._mdp, n_episodes=self._n_episodes, max_steps=1000)
        return (perf_counter() - start) / agent.n_steps_, agent.q_


class NumpyLoop:
    """The same loop as one writes it with NumPy: rows of probabilities cumulated once, a draw and two maxima a step."""

    def __init__(self, n_steps: int, data: Data) -> None:
        self._n_steps, self._rewards = n_steps, data.y
        rows = [slice(*data.X.indptr[row : row + 2]) for row in range(data.y.size)]
        self._cumulated = [np.cumsum(data.X.data[row]) for row in rows]
        self._next = [data.X.indices[row] for row in rows]

    def run(self) -> tuple[float, Any]:
        random, (n, k) = np.random.RandomState(0), self._rewards.shape
        q, state, start = np.zeros((n, k)), 0, perf_counter()
        for _ in range(self._n_steps):
            action = random.randint(k) if random.random_sample() < 0.1 else int(np.argmax(q[state]))
            row = state * k + action
            place = np.searchsorted(self._cumulated[row], random.random_sample())
            following = self._next[row][min(place, len(self._next[row]) - 1)]
            q[state, action] += 0.1 * (self._rewards[state, action] + DISCOUNT * np.max(q[following]) - q[state, action])
            state = following
        return (perf_counter() - start) / self._n_steps, q


class Lake:
    """Mercer's agent, in the environment itself or in the process that its tables say."""

    def __init__(self, way: str, n_steps: int, data: Data) -> None:
        import gymnasium

        from mercer import rl

        env = gymnasium.make("FrozenLake-v1")
        self._site = rl.MDP.from_gymnasium(env) if way == "tables" else env
        self._agent, self._n_episodes = rl.QLearning(random_state=0, epsilon=0.1, discount=DISCOUNT), n_steps // 25

    def run(self) -> tuple[float, Any]:
        start = perf_counter()
        agent = self._agent.fit(self._site, n_episodes=self._n_episodes)
        return (perf_counter() - start) / agent.n_steps_, agent.q_


class PlainLake:
    """An agent as tutorials write it, with lists or with NumPy; or none, which does what chance says."""

    def __init__(self, kind: str, n_steps: int, data: Data) -> None:
        import gymnasium

        self._env, self._kind, self._n_steps = gymnasium.make("FrozenLake-v1"), kind, n_steps

    def run(self) -> tuple[float, Any]:
        start = perf_counter()
        q = {"lists": self._by_lists, "NumPy": self._by_numpy, "none": self._by_none}[self._kind]()
        return (perf_counter() - start) / self._n_steps, q

    def _by_lists(self) -> Any:
        import random

        env, q = self._env, [[0.0] * 4 for _ in range(16)]
        draw = random.Random(0)
        state, _ = env.reset(seed=0)
        for _ in range(self._n_steps):
            if draw.random() < 0.1:
                action = draw.randrange(4)
            else:
                most = max(q[state])
                action = draw.choice([a for a in range(4) if q[state][a] == most])
            following, reward, ends, is_cut, _ = env.step(action)
            q[state][action] += 0.1 * (reward + (0.0 if ends else DISCOUNT * max(q[following])) - q[state][action])
            state = env.reset()[0] if ends or is_cut else following
        return q

    def _by_numpy(self) -> Any:
        env, q, random = self._env, np.zeros((16, 4)), np.random.default_rng(0)
        state, _ = env.reset(seed=0)
        for _ in range(self._n_steps):
            if random.random() < 0.1:
                action = int(random.integers(4))
            else:
                action = int(random.choice(np.flatnonzero(q[state] == q[state].max())))
            following, reward, ends, is_cut, _ = env.step(action)
            q[state, action] += 0.1 * (reward + (0.0 if ends else DISCOUNT * q[following].max()) - q[state, action])
            state = env.reset()[0] if ends or is_cut else following
        return q

    def _by_none(self) -> Any:
        env, actions = self._env, np.random.RandomState(0).randint(4, size=self._n_steps).tolist()
        env.reset(seed=0)
        for action in actions:
            _, _, ends, is_cut, _ = env.step(action)
            if ends or is_cut:
                env.reset()
        return None
