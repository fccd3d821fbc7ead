"""What agents share: fits of episodes, in a model natively and in any environment step by step, and what they leave."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import FitTask, MercerEstimator, fit_method
from mercer._native import kernels
from mercer._params import (
    Bool,
    Function,
    Instance,
    Integer,
    Null,
    OneOf,
    RandomState,
    Real,
    Rule,
    Verbosity,
    check_params,
    check_value,
)
from mercer._random import as_random_state
from mercer._trace import log
from mercer.rl._mdp import MDP
from mercer.rl._schedules import rates_of
from mercer.rl._spaces import World, world_of
from mercer.rl._tiles import TileCoding

EXPLORATIONS = ("epsilon-greedy", "softmax", "ucb")
TRACES = ("accumulating", "replacing")
ALPHA, EPSILON, TEMPERATURE = Real(above=0, most=1), Real(least=0, most=1), Real(above=0)
Rate = float | Callable[[int], float]
Rates = tuple[FloatArray, FloatArray, FloatArray]  # alpha, epsilon and temperature of each episode
_N_LOOKS = 50  # of callbacks and of the log, at a fit

COMMON_RULES: Mapping[str, Rule] = {
    "alpha": ALPHA | OneOf("1/n") | Function(),
    "epsilon": EPSILON | Function(),
    "exploration": OneOf(*EXPLORATIONS),
    "temperature": TEMPERATURE | Function(),
    "confidence": Real(least=0),
    "discount": Real(least=0, most=1) | Null(),
    "initial_q": Real(),
    "exploring_starts": Bool(),
    "tiling": Instance(TileCoding) | Null(),
    "random_state": RandomState(),
    "verbose": Verbosity(),
}


class Agent(MercerEstimator, ABC):
    """Base of the agents: subclasses say by which rule values move."""

    _parameter_rules: ClassVar[Mapping[str, Rule]] = COMMON_RULES
    _method: ClassVar[int]  # of the kernels
    _takes_tiles: ClassVar[bool] = True

    @abstractmethod
    def __init__(self) -> None: ...

    @fit_method
    def fit(self, env: Any, n_episodes: int = 1000, *, max_steps: int | None = None) -> Self:
        """Learn from the start.

        Parameters
        ----------
        env : MDP or environment
            What to act in: an :class:`MDP`, whose episodes run natively, or an environment of Gymnasium's interface with
            discrete actions. Observations are numbers of states, tuples of such, or points of a box, which `tiling` covers.
        n_episodes : int, default=1000
            How many episodes to learn from.
        max_steps : int or None, default=None
            After how many steps an episode is cut short; None means the horizon of an MDP, and never elsewhere.

        Returns
        -------
        self : agent
        """
        return self._learn(env, n_episodes, max_steps, None)

    @fit_method
    def partial_fit(self, env: Any, n_episodes: int = 1, *, max_steps: int | None = None) -> Self:
        """Learn on: n and then m episodes in an MDP are the same as n + m. The parameters are those of `fit`."""
        return self._learn(env, n_episodes, max_steps, self._kept() if hasattr(self, "n_episodes_") else None)

    def act(self, observation: Any) -> int:
        """The best action that is known."""
        check_is_fitted(self)
        if hasattr(self, "weights_"):
            tiling = self.tiling_
            tiles = tiling.encode(np.asarray(observation, dtype=np.float64).reshape(1, -1))[0]
            return int(self.weights_[tiles].sum(axis=0).argmax() + self._first_action)
        return int(self.q_[_place(observation, self._space)].argmax() + self._first_action)

    @property
    def greedy_policy_(self) -> npt.NDArray[np.int64]:
        """The best known action of each state, the first of equals; -1 in states without actions."""
        check_is_fitted(self)
        if hasattr(self, "weights_"):
            raise AttributeError(f"{type(self).__name__}: of points there is no table of actions; use `act`.")
        return np.where(self._has_actions, self.q_.argmax(axis=1) + self._first_action, -1)

    # ---- learning

    def _learn(self, env: Any, n_episodes: int, max_steps: int | None, before: Mapping[str, Any] | None) -> Self:
        params, name = check_params(self), type(self).__name__
        n_episodes = check_value(name, "n_episodes", n_episodes, Integer(1))
        max_steps = check_value(name, "max_steps", max_steps, Integer(1) | Null())
        self._check(params)
        site = _ModelSite(name, env, params, max_steps) if isinstance(env, MDP) else _StepSite(name, env, params, max_steps)
        if site.world is not None and site.world.tiling is not None:
            self._check_tiles(params)
        seed = int(as_random_state(params.random_state).randint(2**31)) if before is None else before["seed"]
        learner = site.learner(self._method, self._settings(params))
        if before is not None:
            site.restore(learner, before, name, is_planning=_n_planning_steps(params) > 0)
        first = 0 if before is None else before["n_episodes"]
        records = [] if before is None else [before["records"]]
        task = FitTask.start(self, None, n_subtasks=_N_LOOKS)
        done = first

        def fitted() -> dict[str, Any]:
            return self._attributes(site, learner, seed, done, records)

        for n in self._batches(task, params, n_episodes):
            part = task.subtask("episodes", fitted=fitted)
            records.append(site.run(learner, self._rates(params, done, n), seed, done))
            done += n
            log(params.verbose, "%s: episode %d, mean return %.6g", name, done, records[-1][0].mean())
            if part.end(fitted):
                break
        return self._finish(task, fitted(), unset=("q_", "weights_", "tiling_", "visits_"))

    @staticmethod
    def _batches(task: FitTask, params: SimpleNamespace, n_episodes: int) -> Iterator[int]:
        """Numbers of episodes between two looks; all at once where nobody looks."""
        n_looks = min(_N_LOOKS, n_episodes) if task.is_watched or params.verbose else 1
        for look in range(n_looks):
            yield n_episodes * (look + 1) // n_looks - n_episodes * look // n_looks

    def _rates(self, params: SimpleNamespace, first: int, n: int) -> Rates:
        name = type(self).__name__
        alpha = 1.0 if params.alpha == "1/n" else params.alpha
        return (
            rates_of(name, "alpha", alpha, ALPHA, first, n),
            rates_of(name, "epsilon", params.epsilon, EPSILON, first, n),
            rates_of(name, "temperature", params.temperature, TEMPERATURE, first, n),
        )

    def _check(self, params: SimpleNamespace) -> None:
        """What no rule of one parameter says."""

    def _check_tiles(self, params: SimpleNamespace) -> None:
        name = type(self).__name__
        if not self._takes_tiles or params.alpha == "1/n" or params.exploration == "ucb" or params.exploring_starts:
            raise ValueError(
                f"{name}: points in tiles are learnt by SARSA, ExpectedSARSA, QLearning and DoubleQLearning, with alpha a "
                "number, epsilon-greedy or softmax, and starts of the environment."
            )

    def _settings(self, params: SimpleNamespace) -> dict[str, Any]:
        return {
            "exploration": EXPLORATIONS.index(params.exploration),
            "trace_decay": float(getattr(params, "trace_decay", 0.0)),
            "has_replacing_traces": getattr(params, "traces", TRACES[0]) == "replacing",
            "has_mean_steps": params.alpha == "1/n",
            "has_first_visits": getattr(params, "visits", "first") == "first",
            "confidence": params.confidence,
            "n_planning_steps": _n_planning_steps(params),
            "initial_q": params.initial_q,
        }

    def _attributes(self, site: _Site, learner: Any, seed: int, done: int, records: list[Any]) -> dict[str, Any]:
        totals, lengths, errors = (np.concatenate(parts) for parts in zip(*records, strict=True))
        memory = learner.memory() if _n_planning_steps(self) else None
        kept = {"weights": learner.weights(), "second": learner.second(), "visits": learner.visits(), "memory": memory}
        return {
            **site.attributes(kept),
            "history_": {"return": totals, "length": lengths, "td_error": errors},
            "n_episodes_": done,
            "n_steps_": int(lengths.sum()),
            "discount_": site.discount,
            "_seed": seed,
            "_tables": kept,
        }

    def _kept(self) -> dict[str, Any]:
        history = self.history_
        records = (history["return"], history["length"], history["td_error"])
        return {**self._tables, "seed": self._seed, "n_episodes": self.n_episodes_, "records": records}


class PlainAgent(Agent):
    """Agents without traces."""

    def __init__(
        self,
        *,
        alpha: Rate | str = 0.1,
        epsilon: Rate = 0.1,
        exploration: str = "epsilon-greedy",
        temperature: Rate = 1.0,
        confidence: float = 1.0,
        discount: float | None = None,
        initial_q: float = 0.0,
        exploring_starts: bool = False,
        tiling: TileCoding | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.exploration = exploration
        self.temperature = temperature
        self.confidence = confidence
        self.discount = discount
        self.initial_q = initial_q
        self.exploring_starts = exploring_starts
        self.tiling = tiling
        self.random_state = random_state
        self.verbose = verbose


class _Site(ABC):
    """Where an agent learns."""

    world: World | None = None
    discount: float

    @abstractmethod
    def learner(self, method: int, settings: Mapping[str, Any]) -> Any: ...
    @abstractmethod
    def run(self, learner: Any, rates: Rates, seed: int, first: int) -> tuple[Any, Any, Any]: ...
    @abstractmethod
    def attributes(self, kept: Mapping[str, Any]) -> dict[str, Any]: ...

    def restore(self, learner: Any, before: Mapping[str, Any], name: str, *, is_planning: bool) -> None:
        """Have a learner go on where another stopped."""
        try:
            learner.set_weights(before["weights"])
            for part in ("second", "visits"):
                if 0 < len(before[part]) == len(getattr(learner, part)()):  # of an agent that still has them
                    getattr(learner, f"set_{part}")(before[part])
        except ValueError as error:
            raise ValueError(
                f"{name}: partial_fit goes on in an environment with as many states and actions as before."
            ) from error
        if before["memory"] is not None and is_planning:
            learner.set_memory(*before["memory"])


class _ModelSite(_Site):
    """A process: episodes are run natively."""

    def __init__(self, name: str, mdp: MDP, params: SimpleNamespace, max_steps: int | None) -> None:
        if params.tiling is not None:
            raise ValueError(f"{name}: an MDP has numbered states, which need no tiling; leave it out.")
        self._mdp, self._starts = mdp, params.exploring_starts
        discount = mdp.discount if params.discount is None else params.discount
        if discount is None:
            raise ValueError(f"{name}: the process is about average rewards; give the agent a discount.")
        self.discount = float(discount)
        self._max_steps = mdp._require_limit(name, max_steps)

    def learner(self, method: int, settings: Mapping[str, Any]) -> Any:
        return _tabular(self._mdp._model.state_starts, method, self.discount, settings)

    def run(self, learner: Any, rates: Rates, seed: int, first: int) -> tuple[Any, Any, Any]:
        n = len(rates[0])
        totals, lengths, errors = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
        learner.run(self._mdp._model, *rates, self._max_steps or 0, self._starts, seed, first, totals, lengths, errors)
        return totals, lengths, errors

    def attributes(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        visits = {"visits_": self._mdp.table(kept["visits"], 0.0)} if len(kept["visits"]) else {}
        table = self._mdp.table(_mean_of_tables(kept))
        return {"q_": table, **visits, "_has_actions": ~self._mdp.is_terminal, "_first_action": 0, "_space": 0}


class _StepSite(_Site):
    """An environment in Python: one call of the agent a step."""

    def __init__(self, name: str, env: Any, params: SimpleNamespace, max_steps: int | None) -> None:
        self.world = world = world_of(name, env, params.tiling)
        if params.exploring_starts:
            raise ValueError(f"{name}: exploring_starts needs an MDP; an environment chooses its first states itself.")
        self._env, self._world, self._max_steps = env, world, max_steps
        self._is_seeded = params.random_state is not None
        self.discount = 0.99 if params.discount is None else params.discount

    def learner(self, method: int, settings: Mapping[str, Any]) -> Any:
        world = self._world
        if world.tiling is None:
            assert world.n_states is not None
            starts = np.arange(world.n_states + 1, dtype=np.int64) * world.n_actions
            return _tabular(starts, method, self.discount, settings)
        names = ("exploration", "trace_decay", "has_replacing_traces", "initial_q")
        exploration, *others = (settings[name] for name in names)
        return kernels.TiledLearner(world.tiling._tiling, world.n_actions, method, exploration, self.discount, *others)

    def run(self, learner: Any, rates: Rates, seed: int, first: int) -> tuple[Any, Any, Any]:
        records = []
        for episode, (alpha, epsilon, temperature) in enumerate(zip(*(each.tolist() for each in rates), strict=True), first):
            seen, _ = self._env.reset(seed=seed) if episode == 0 and self._is_seeded else self._env.reset()
            encode = self._world.encode
            action = learner.begin(seen if encode is None else encode(seen), alpha, epsilon, temperature, seed, episode)
            self._episode(learner, action)
            records.append(learner.record())
        totals, lengths, errors = zip(*records, strict=True)
        return np.array(totals), np.array(lengths, dtype=np.int64), np.array(errors)

    def _episode(self, learner: Any, action: int) -> None:
        """The loop that counts: nothing but the environment, the agent, and what lies between their words."""
        step, observe, encode = self._env.step, learner.observe, self._world.encode
        offset, n_left = self._world.first_action, self._max_steps or -1
        while True:
            seen, reward, is_end, is_cut, _ = step(action + offset)
            n_left -= 1
            is_over = bool(is_end)  # truths of NumPy's are none of Python's
            is_cut = bool(is_cut) or n_left == 0
            action = observe(reward, seen if encode is None else encode(seen), is_over, is_cut)
            if is_over or is_cut:
                return

    def attributes(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        world, table = self._world, _mean_of_tables(kept).reshape(-1, self._world.n_actions)
        common = {"_first_action": world.first_action, "_space": world.space}
        if world.tiling is not None:
            return {"weights_": table, "tiling_": world.tiling, **common}
        visits = {"visits_": kept["visits"].reshape(table.shape)} if len(kept["visits"]) else {}
        return {"q_": table, **visits, "_has_actions": np.ones(len(table), dtype=bool), **common}


def _n_planning_steps(params: Any) -> int:
    return int(getattr(params, "n_planning_steps", 0))


def _place(observation: Any, space: Any) -> int:
    """The row of the table for an observation: a number from `space` on, or a tuple of numbers below those in it."""
    if isinstance(space, int):
        return int(observation) - space
    return int(np.ravel_multi_index(tuple(observation), space))


def _tabular(starts: Any, method: int, discount: float, settings: Mapping[str, Any]) -> Any:
    names = ("exploration", "trace_decay", "has_replacing_traces", "has_mean_steps", "has_first_visits", "confidence")
    exploration, *others = (settings[name] for name in (*names, "n_planning_steps", "initial_q"))
    return kernels.TabularLearner(np.asarray(starts), method, exploration, discount, *others)


def _mean_of_tables(kept: Mapping[str, Any]) -> FloatArray:
    weights: FloatArray = kept["weights"]
    return (weights + kept["second"]) / 2 if len(kept["second"]) else weights
