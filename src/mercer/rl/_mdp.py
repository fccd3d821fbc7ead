"""`MDP`: a Markov decision process with finitely many states and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray
from mercer._lazy import lazy_property
from mercer._native import kernels
from mercer._params import Integer, Null, OneOf, Real, Rule, check_value
from mercer.rl._fields import layout_of, names_of, terminals_of
from mercer.rl._pairs import Integers, Pairs, checked, pairs_of, pairs_of_outcomes, stacked

if TYPE_CHECKING:
    from mercer.rl._environment import MDPEnvironment
    from mercer.rl._episodes import Episodes

NOISES = ("normal", "uniform", "bernoulli")  # in the order of the kernels', after none

_LAZY = ("_model", "pair_states", "available", "_endless_loop")  # made again where a copy asks for them

_RULES: Mapping[str, Rule] = {
    "discount": Real(least=0, most=1) | Null(),
    "horizon": Integer(1) | Null(),
    "noise": OneOf(*NOISES) | Null(),
}


class MDP:
    r"""A Markov decision process with finitely many states and actions.

    In state s an agent takes one of the actions that there are, is paid a reward of mean r(s, a) and is in state t next with
    probability p(t | s, a). A policy :math:`\pi` chooses actions; its value is what it is paid,

    .. math:: v_\pi(s) = \mathbb{E}\Big[\sum_{k \ge 0} \gamma^k r_k \,\Big|\, s_0 = s\Big]
        = \sum_a \pi(a | s) \Big(r(s, a) + \gamma \sum_t p(t | s, a)\, v_\pi(t)\Big) .

    Parameters
    ----------
    transitions : array-like of shape (n_states, n_actions, n_states), or sparse
        The probabilities p(t | s, a). Sparse: a list of matrices of shape (n_states, n_states), one for each action, or one
        matrix with a row (s * n_actions + a) for each state and action.
    rewards : array-like of shape (n_states, n_actions) or (n_states, n_actions, n_states), or sparse
        Mean rewards of actions, or of transitions. Sparse as `transitions`.
    discount : float or None, default=0.99
        What a reward a step later is worth. With 1 every policy worth having must end in a terminal state. None means that
        policies are judged by their average reward a step.
    horizon : int or None, default=None
        After how many steps an episode ends; None means never.
    initial : int, array-like of shape (n_states,) or None, default=None
        The first state or its law; None means any that is not terminal.
    terminals : array-like of int or of bool, default=()
        States in which an episode ends. Their rows of `transitions` are not read.
    available : array-like of bool of shape (n_states, n_actions), default=None
        Which actions there are in each state; None means all. Rows of others are not read.
    noise : {"normal", "uniform", "bernoulli"} or None, default=None
        The law of rewards about their means: normal with standard deviation `noise_scale`, uniform within `noise_scale` on both
        sides, or all of `noise_scale` or nothing. None pays the means. Planning reads means alone; agents see draws.
    noise_scale : float or array-like of shape (n_states, n_actions), default=1.0
        The scale of the noise.
    state_names, action_names : sequence of str, default=None
        What pictures and errors call them; None means their numbers.
    layout : tuple (n_rows, n_columns) or None, default=None
        That the first states are the cells of a grid, row by row.
    cells : array-like of str of shape layout, default=None
        What is in the cells, for pictures: "." free, "#" a wall, "G" a goal, "X" a trap.

    Attributes
    ----------
    n_states, n_actions : int
    is_terminal : ndarray of bool of shape (n_states,)
    initial : ndarray of shape (n_states,)
        The law of the first state.

    Notes
    -----
    All pairs (state, action) and their outcomes are held once, as compressed rows: 12 bytes an outcome with its probability.
    A process is checked when it is made and cannot be changed.

    Examples
    --------
    >>> from mercer.rl import MDP, policy_iteration
    >>> stay_or_go = [[[1.0, 0.0], [0.1, 0.9]], [[0.0, 1.0], [0.8, 0.2]]]
    >>> mdp = MDP(stay_or_go, rewards=[[0.0, -1.0], [1.0, 0.0]], discount=0.9)
    >>> policy_iteration(mdp).v_.round(4)
    array([ 7.8022, 10.    ])

    References
    ----------
    M. Puterman, Markov Decision Processes (Wiley, 1994).
    """

    def __init__(
        self,
        transitions: Any,
        rewards: Any,
        *,
        discount: float | None = 0.99,
        horizon: int | None = None,
        initial: Any = None,
        terminals: Any = (),
        available: Any = None,
        noise: str | None = None,
        noise_scale: Any = 1.0,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        layout: tuple[int, int] | None = None,
        cells: Any = None,
    ) -> None:
        rows = stacked(transitions)
        is_terminal = terminals_of(terminals, rows[1])
        pairs = pairs_of(rows, rewards, available, is_terminal)
        settings = {"discount": discount, "horizon": horizon, "noise": noise}
        self._set(pairs, is_terminal, settings, initial, noise_scale, (state_names, action_names), layout, cells)

    @classmethod
    def from_outcomes(
        cls,
        outcomes: Mapping[int, Mapping[int, Sequence[tuple[float, int, float]]]],
        *,
        n_states: int | None = None,
        discount: float | None = 0.99,
        horizon: int | None = None,
        initial: Any = None,
        noise: str | None = None,
        noise_scale: Any = 1.0,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        layout: tuple[int, int] | None = None,
        cells: Any = None,
    ) -> Self:
        """A process by what may come of each action: `outcomes[state][action]` lists (probability, next state, reward).

        States without actions are terminal. A next state may stand there several times with different rewards, so that rewards
        of any law over finitely many values are said so. The other parameters are those of the class.

        Examples
        --------
        >>> from mercer.rl import MDP, value_iteration
        >>> coin = MDP.from_outcomes({0: {0: [(0.5, 1, 1.0), (0.5, 0, 0.0)]}}, discount=0.5)
        >>> round(float(value_iteration(coin).v_[0]), 6)
        0.666667
        """
        entries = [entry for actions in outcomes.values() for each in actions.values() for entry in each]
        named = [*outcomes, *(entry[1] for entry in entries)]
        if not entries or any(len(entry) < 3 for entry in entries):
            raise ValueError("MDP: outcomes must hold lists of (probability, next state, reward), one entry at least.")
        n = (
            1 + int(max(named))
            if n_states is None
            else check_value("MDP", "n_states", n_states, Integer(1 + int(max(outcomes))))
        )
        pairs = pairs_of_outcomes(outcomes, n)
        is_terminal = np.ones(n, dtype=bool)
        is_terminal[pairs.states] = False
        made = cls.__new__(cls)
        settings = {"discount": discount, "horizon": horizon, "noise": noise}
        made._set(pairs, is_terminal, settings, initial, noise_scale, (state_names, action_names), layout, cells)
        return made

    @classmethod
    def from_pairs(
        cls, states: Any, actions: Any, transitions: Any, rewards: Any, *, terminals: Any = (), **settings: Any
    ) -> Self:
        """A process by its pairs: state, action, row of next states (a matrix, dense or sparse) and mean reward of each.

        No action that a state does not have takes memory. `settings` are the further parameters of the class, without
        `available`.

        Examples
        --------
        >>> from mercer.rl import MDP, value_iteration
        >>> mdp = MDP.from_pairs([0, 0, 1], [0, 1, 0], [[1, 0], [0, 1], [1, 0]], [5, 10, -1], discount=0.5)
        >>> value_iteration(mdp).policy_
        array([1, 0])
        """
        rows = sp.csr_array(transitions, dtype=np.float64)
        of_state, of_action, means = np.asarray(states), np.asarray(actions), np.asarray(rewards, dtype=np.float64)
        if not (of_state.shape == of_action.shape == means.shape == (rows.shape[0],)):
            raise ValueError(
                f"MDP: there are {of_state.shape} states, {of_action.shape} actions, {means.shape} rewards and {rows.shape[0]} "
                "rows of transitions; there must be one of each for each pair."
            )
        if of_state.dtype.kind not in "iu" or of_action.dtype.kind not in "iu" or not len(of_state):
            raise ValueError("MDP: states and actions of pairs must be integers, one pair at least.")
        if of_state.min() < 0 or of_state.max() >= rows.shape[1] or of_action.min() < 0:
            raise ValueError(f"MDP: states of pairs must be from 0 to {rows.shape[1] - 1}, and actions must not be negative.")
        order = np.lexsort((of_action, of_state))
        ordered = rows[order]
        pairs = Pairs(
            of_state[order].astype(np.int64), of_action[order].astype(np.int32), ordered.indptr.astype(np.int64),
            ordered.indices.astype(np.int32), ordered.data, means[order], None, rows.shape[1], 1 + int(of_action.max()),
        )  # fmt: skip
        twice = np.flatnonzero((np.diff(pairs.states) == 0) & (np.diff(pairs.actions) == 0))
        if len(twice):
            raise ValueError(f"MDP: state {pairs.states[twice[0]]}, action {pairs.actions[twice[0]]} is there twice.")
        is_terminal = terminals_of(terminals, pairs.n_states)
        if (acting := np.flatnonzero(is_terminal[pairs.states])).size:
            raise ValueError(f"MDP: state {pairs.states[acting[0]]} is among the terminals, but has actions.")
        made = cls.__new__(cls)
        common = {name: settings.pop(name, None) for name in ("horizon", "noise")}
        common["discount"] = settings.pop("discount", 0.99)
        names = (settings.pop("state_names", None), settings.pop("action_names", None))
        initial, noise_scale = settings.pop("initial", None), settings.pop("noise_scale", 1.0)
        layout, cells = settings.pop("layout", None), settings.pop("cells", None)
        if settings:
            raise TypeError(f"MDP.from_pairs() got an unexpected keyword argument {min(settings)!r}.")
        made._set(pairs, is_terminal, common, initial, noise_scale, names, layout, cells)
        return made

    @classmethod
    def from_gymnasium(cls, env: Any, *, discount: float | None = 0.99, horizon: int | None = None) -> Self:
        """The process of a Gymnasium environment that tells its dynamics (`env.unwrapped.P`), such as FrozenLake or Taxi.

        The time limit of the environment is the horizon of episodes, unless one is given; `with_(horizon=None)` takes it away.
        A state in which every arrival ends the episode is terminal; where a transition ends it in a state that others merely
        pass, there is one terminal state more, the last.
        """
        from mercer.rl._gymnasium import tables_of

        tables = tables_of(env)
        return cls.from_outcomes(
            tables.outcomes, n_states=tables.n_states, discount=discount,
            horizon=tables.max_steps if horizon is None else horizon, initial=tables.initial, layout=tables.layout,
            cells=tables.cells,
        )  # fmt: skip

    def _set(
        self,
        pairs: Pairs,
        is_terminal: npt.NDArray[np.bool_],
        settings: Mapping[str, Any],
        initial: Any,
        noise_scale: Any,
        names: tuple[Sequence[str] | None, Sequence[str] | None],
        layout: tuple[int, int] | None,
        cells: Any,
    ) -> None:
        for name, value in settings.items():
            setattr(self, name, check_value("MDP", name, value, _RULES[name]))
        self.state_names, self.action_names = (
            names_of("state_names", names[0], pairs.n_states),
            names_of("action_names", names[1], pairs.n_actions),
        )
        self.n_states, self.n_actions = pairs.n_states, pairs.n_actions
        self.layout, self.cells = layout_of(layout, cells, self.n_states)
        pairs = checked(pairs, is_terminal, self._name_of)
        scales = self._noise_scales(pairs, noise_scale)
        self._model = kernels.DecisionModel(
            pairs.state_starts, pairs.actions, pairs.starts, pairs.next, np.ascontiguousarray(pairs.probabilities),
            pairs.rewards, pairs.outcome_rewards, scales, self._initial(initial, is_terminal),
            0 if self.noise is None else 1 + NOISES.index(self.noise), pairs.n_actions,
        )  # fmt: skip
        self.is_terminal = is_terminal
        self.is_terminal.flags.writeable = False

    discount: float | None
    horizon: int | None
    noise: str | None

    def _initial(self, initial: Any, is_terminal: npt.NDArray[np.bool_]) -> FloatArray:
        if is_terminal.all():
            raise ValueError("MDP: every state is terminal; there is nothing to decide.")
        if initial is None:
            return ~is_terminal / np.sum(~is_terminal)
        if np.ndim(initial) == 0:
            law = np.zeros(self.n_states)
            law[check_value("MDP", "initial", initial, Integer(0, most=self.n_states - 1))] = 1.0
        else:
            law = np.array(initial, dtype=np.float64)
        if law.shape != (self.n_states,) or not (law >= 0).all() or abs(law.sum() - 1) > 1e-6:
            raise ValueError(f"MDP: initial must be a state or {self.n_states} probabilities that sum to one, not {initial!r}.")
        if law[is_terminal].any():
            raise ValueError(f"MDP: initial begins in state {np.flatnonzero(is_terminal & (law > 0))[0]}, which is terminal.")
        law /= law.sum()
        return law

    def _noise_scales(self, pairs: Pairs, noise_scale: Any) -> FloatArray | None:
        if self.noise is None:
            return None
        scales = np.asarray(noise_scale, dtype=np.float64)
        if scales.shape not in ((), (self.n_states, self.n_actions)):
            raise ValueError(
                f"MDP: noise_scale has the shape {scales.shape}; it must be {(self.n_states, self.n_actions)}, or a number."
            )
        of_pairs = np.broadcast_to(scales, (self.n_states, self.n_actions))[pairs.states, pairs.actions].copy()
        means = pairs.rewards if pairs.outcome_rewards is None else pairs.outcome_rewards
        of_means = of_pairs if pairs.outcome_rewards is None else np.repeat(of_pairs, np.diff(pairs.starts))
        wrong = ~((of_pairs >= 0) & np.isfinite(of_pairs))
        if wrong.any():
            where = np.flatnonzero(wrong)[0]
            name = self._name_of(int(pairs.states[where]), int(pairs.actions[where]))
            raise ValueError(f"MDP: {name}: noise_scale is {of_pairs[where]:g}; it must be a finite number >= 0.")
        if self.noise == "bernoulli" and not ((means >= 0) & (means <= of_means)).all():
            raise ValueError('MDP: with noise="bernoulli" mean rewards must be between 0 and noise_scale.')
        return of_pairs

    def _name_of(self, state: int, action: int) -> str:
        of_state = "" if self.state_names is None else f" ({self.state_names[state]})"
        of_action = "" if self.action_names is None else f" ({self.action_names[action]})"
        return f"state {state}{of_state}, action {action}{of_action}"

    # ---- what is in it

    @property
    def initial(self) -> FloatArray:
        law: FloatArray = self._model.initial
        return law

    @lazy_property
    def pair_states(self) -> Integers:
        """The state of each pair (state, action), in the order in which the process holds them."""
        return np.repeat(np.arange(self.n_states), np.diff(self._model.state_starts))

    @property
    def pair_actions(self) -> npt.NDArray[np.int32]:
        """The action of each pair."""
        actions: npt.NDArray[np.int32] = self._model.actions
        return actions

    @lazy_property
    def available(self) -> npt.NDArray[np.bool_]:
        """Which actions there are, of shape (n_states, n_actions)."""
        table = np.zeros((self.n_states, self.n_actions), dtype=bool)
        table[self.pair_states, self.pair_actions] = True
        return table

    @lazy_property
    def _endless_loop(self) -> Any:
        """Where episodes without a limit of steps never end."""
        from mercer.rl._loops import endless_loop

        return endless_loop(self)

    def _require_limit(self, owner: str, max_steps: int | None) -> int | None:
        """The number of steps after which episodes are cut short; an error where there is none and some may never end."""
        limit = self.horizon if max_steps is None else max_steps
        if limit is None and (loop := self._endless_loop) is not None:
            raise ValueError(
                f"{owner}: episodes never end in the loop of states {loop}, and the process has no horizon; give max_steps."
            )
        return limit

    def outcomes(self, state: int, action: int) -> list[tuple[float, int, float]]:
        """What may come of an action: (probability, next state, mean reward)."""
        found = np.flatnonzero(self._model.actions[slice(*self._model.state_starts[state : state + 2])] == action)
        if not len(found):
            raise ValueError(f"MDP: {self._name_of(state, action)}: there is no such action.")
        pair = int(self._model.state_starts[state] + found[0])
        span = slice(*self._model.pair_starts[pair : pair + 2])
        of_outcomes = self._model.outcome_rewards[span]
        rewards = of_outcomes if len(of_outcomes) else np.full(span.stop - span.start, self._model.rewards[pair])
        return list(
            zip(self._model.probabilities[span].tolist(), self._model.next[span].tolist(), rewards.tolist(), strict=True)
        )

    def table(self, of_pairs: FloatArray, missing: float = -np.inf) -> FloatArray:
        """Values of pairs as a table of shape (n_states, n_actions); zero for terminal states, `missing` where no action is."""
        if len(of_pairs) == self.n_states * self.n_actions:
            return np.asarray(of_pairs).reshape(self.n_states, self.n_actions)
        table = np.full((self.n_states, self.n_actions), missing)
        table[self.is_terminal] = 0.0
        table[self.pair_states, self.pair_actions] = of_pairs
        return table

    def sample(
        self,
        policy: Any = None,
        *,
        n_episodes: int = 1000,
        max_steps: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Episodes:
        """Episodes under a policy, drawn side by side: :func:`sample_episodes` in this process."""
        from mercer.rl._episodes import sample_episodes

        return sample_episodes(
            self, policy, n_episodes=n_episodes, max_steps=max_steps, random_state=random_state, n_jobs=n_jobs
        )

    def environment(self, random_state: Any = None) -> MDPEnvironment:
        """The process to act in step by step, with Gymnasium's interface."""
        from mercer.rl._environment import MDPEnvironment

        return MDPEnvironment(self, random_state)

    def transition_matrix(self, policy: Any = None) -> sp.csr_array:
        """The chain that a policy makes: p(t | s), sparse; rows of terminal states are empty. None is any action alike."""
        from mercer.rl._policy import chain_of

        return matrix_of(chain_of(self, policy), self.n_states)

    def render(self, values: Any = None, policy: Any = None) -> str:
        """The states as text, as a grid where they are the cells of one, with a value or the action of a policy in each."""
        from mercer.rl._rendering import render

        return render(self, values, policy)

    def with_(self, **settings: Any) -> Self:
        """The same process with another `discount` or `horizon`; nothing is copied."""
        if unknown := settings.keys() - {"discount", "horizon"}:
            raise TypeError(f"MDP.with_() got an unexpected keyword argument {min(unknown)!r}.")
        made = copy(self)
        for name, value in settings.items():
            setattr(made, name, check_value("MDP", name, value, _RULES[name]))
        return made

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __repr__(self) -> str:
        kind = "average reward" if self.discount is None else f"discount {self.discount:g}"
        ends = "" if self.horizon is None else f", horizon {self.horizon}"
        return f"MDP({self.n_states:,} states, {self._model.n_pairs:,} pairs of state and action, {kind}{ends})"

    # ---- copies

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in _LAZY}
        model = self._model
        parts = (
            "state_starts",
            "actions",
            "pair_starts",
            "next",
            "probabilities",
            "rewards",
            "outcome_rewards",
            "noise_scales",
        )
        return {**state, "_parts": [np.array(getattr(model, name)) for name in (*parts, "initial")]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        *parts, of_outcomes, scales, initial = state.pop("_parts")
        vars(self).update(state)
        noise = 0 if self.noise is None else 1 + NOISES.index(self.noise)
        self._model = kernels.DecisionModel(
            *parts, of_outcomes if len(of_outcomes) else None, scales if len(scales) else None, initial, noise, self.n_actions
        )


def matrix_of(chain: Any, n_states: int) -> sp.csr_array:
    """A chain of the kernels' as a sparse matrix."""
    matrix = sp.csr_array((chain.probabilities.copy(), chain.next.copy(), chain.starts.copy()), shape=(n_states, n_states))
    matrix.sum_duplicates()
    return matrix
