"""The pairs (state, action) of a decision process as compressed rows: what every way to say one comes to, and is checked as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._arrays import FloatArray

Integers = npt.NDArray[np.int64]

SUM_TOLERANCE = 1e-6  # of probabilities: what single precision leaves of a sum of one


@dataclass(frozen=True)
class Pairs:
    """Outcomes of pairs, in the order of states and then of actions. What is said of the states of an outcome is not here."""

    states: Integers  # of each pair
    actions: npt.NDArray[np.int32]
    starts: Integers  # offsets of the pairs into their outcomes
    next: npt.NDArray[np.int32]
    probabilities: FloatArray
    rewards: FloatArray  # the mean of each pair
    outcome_rewards: FloatArray | None  # None where all outcomes of a pair have its mean
    n_states: int
    n_actions: int

    @property
    def state_starts(self) -> Integers:
        return np.searchsorted(self.states, np.arange(self.n_states + 1)).astype(np.int64)


Name = Callable[[int, int], str]  # of a state and an action, for errors


def stacked(transitions: Any, owner: str = "transitions") -> tuple[sp.csr_array, int, int]:
    """Transitions of any form as sparse rows (state * n_actions + action), with the numbers of states and actions."""
    if sp.issparse(transitions):
        n_states = transitions.shape[1]
        if n_states == 0 or transitions.shape[0] % n_states:
            raise ValueError(
                f"MDP: {owner} is a sparse matrix of shape {transitions.shape}; it must have a row for each state and action "
                "(state * n_actions + action) and a column for each state."
            )
        return _canonical(transitions), n_states, transitions.shape[0] // n_states
    if isinstance(transitions, Sequence) and any(map(sp.issparse, transitions)):
        n_actions, shapes = len(transitions), {matrix.shape for matrix in transitions}
        shape = shapes.pop()
        if shapes or len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"MDP: the matrices in {owner} must be square and of one shape: one for each action.")
        by_action = sp.vstack([sp.csr_array(matrix) for matrix in transitions], format="csr")
        order = (np.arange(n_actions)[None] * shape[0] + np.arange(shape[0])[:, None]).ravel()
        return _canonical(by_action[order]), shape[0], n_actions
    array = np.asarray(transitions)
    if array.ndim != 3 or array.shape[0] != array.shape[2] or 0 in array.shape or array.dtype.kind not in "biuf":
        raise ValueError(
            f"MDP: {owner} has the shape {array.shape}; it must hold numbers of shape (n_states, n_actions, n_states), or be a "
            "list of sparse matrices, one for each action, or one sparse matrix of shape (n_states * n_actions, n_states)."
        )
    n_states, n_actions, _ = array.shape
    return _canonical(sp.csr_array(array.reshape(n_states * n_actions, n_states))), n_states, n_actions


def _canonical(matrix: Any) -> sp.csr_array:
    rows = sp.csr_array(matrix, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def pairs_of(transitions: Any, rewards: Any, available: Any, is_terminal: npt.NDArray[np.bool_] | None) -> Pairs:
    """The pairs that may be chosen, of transitions and rewards in any form."""
    rows, n_states, n_actions = transitions if isinstance(transitions, tuple) else stacked(transitions)
    is_pair = np.ones((n_states, n_actions), dtype=bool)
    if available is not None:
        given = np.asarray(available)
        if given.shape != is_pair.shape or given.dtype != bool:
            raise ValueError(
                f"MDP: available has the shape {given.shape} and type {given.dtype}; it must be a boolean array of shape "
                f"{is_pair.shape}."
            )
        is_pair &= given
    if is_terminal is not None:
        is_pair &= ~is_terminal[:, None]
    chosen = np.flatnonzero(is_pair)
    outcomes = rows if len(chosen) == rows.shape[0] else rows[chosen]
    states, actions = np.divmod(chosen, n_actions)
    means, of_outcomes = _rewards(rewards, outcomes, states, actions, (n_states, n_actions), is_terminal)
    return Pairs(
        states, actions.astype(np.int32), outcomes.indptr.astype(np.int64), outcomes.indices.astype(np.int32),
        outcomes.data, means, of_outcomes, n_states, n_actions,
    )  # fmt: skip


def _rewards(
    rewards: Any, outcomes: sp.csr_array, states: Integers, actions: Integers, shape: tuple[int, int], is_terminal: Any
) -> tuple[FloatArray, FloatArray | None]:
    """The mean reward of each pair, and that of each outcome where they differ."""
    n_states, n_actions = shape
    is_sparse = sp.issparse(rewards) or (isinstance(rewards, Sequence) and any(map(sp.issparse, rewards)))
    if not is_sparse:
        array = np.asarray(rewards)
        if array.dtype.kind not in "biuf" or array.shape not in (shape, (n_states, n_actions, n_states)):
            raise ValueError(
                f"MDP: rewards has the shape {array.shape}; it must hold numbers of shape {shape} (state, action) or "
                f"{(*shape, n_states)} (state, action, next state), or be sparse as transitions may be."
            )
        if array.ndim == 2:
            _refuse_of_terminals(array, is_terminal)
            return np.ascontiguousarray(array[states, actions], dtype=np.float64), None
        _refuse_of_terminals(array, is_terminal)
        where = np.repeat(np.arange(len(states)), np.diff(outcomes.indptr))
        of_outcomes = array[states[where], actions[where], outcomes.indices].astype(np.float64)
    else:
        table, *own_shape = stacked(rewards, "rewards")
        if tuple(own_shape) != shape:
            raise ValueError(
                f"MDP: rewards are of {own_shape[0]} states and {own_shape[1]} actions; transitions are of {shape}."
            )
        where = np.repeat(states * n_actions + actions, np.diff(outcomes.indptr))
        of_outcomes = np.asarray(table[where, outcomes.indices], dtype=np.float64).ravel()
    return means_of(of_outcomes, outcomes.data, outcomes.indptr), of_outcomes


def _refuse_of_terminals(rewards: FloatArray, is_terminal: npt.NDArray[np.bool_] | None) -> None:
    if is_terminal is None:
        return
    paid = is_terminal & (rewards != 0).any(axis=tuple(range(1, rewards.ndim)))
    if paid.any():
        state = int(np.flatnonzero(paid)[0])
        raise ValueError(
            f"MDP: rewards of state {state} are not zero, but it is terminal: no action is taken there, so they are never "
            "paid. A reward for the arrival belongs to the transitions that lead there."
        )


def means_of(of_outcomes: FloatArray, probabilities: FloatArray, starts: Any) -> FloatArray:
    """The mean over the outcomes of each pair; a pair without outcomes has zero."""
    sums = np.concatenate([[0.0], np.cumsum(of_outcomes * probabilities)])
    exact = np.add.reduceat(np.append(of_outcomes * probabilities, 0.0), np.asarray(starts[:-1]))
    return np.where(np.diff(starts) > 0, exact, np.diff(sums[starts]))


def pairs_of_outcomes(outcomes: Mapping[Any, Mapping[Any, Sequence[tuple[Any, ...]]]], n_states: int) -> Pairs:
    """The pairs of a nested dict {state: {action: [(probability, next state, reward), ...]}}."""
    keys = [(state, action) for state in sorted(outcomes) for action in sorted(outcomes[state])]
    lists = [outcomes[state][action] for state, action in keys]
    flat = [entry for entries in lists for entry in entries]
    starts = np.concatenate([[0], np.cumsum([len(entries) for entries in lists])]).astype(np.int64)
    probabilities = np.array([entry[0] for entry in flat], dtype=np.float64)
    rewards = np.array([entry[2] for entry in flat], dtype=np.float64)
    following = np.array([entry[1] for entry in flat], dtype=np.int64)
    outside = (following < 0) | (following >= n_states)
    if outside.any():
        place = int(np.searchsorted(starts, np.flatnonzero(outside)[0], side="right")) - 1
        state, action = keys[place]
        raise ValueError(
            f"MDP: action {action} of state {state} leads to {following[outside][0]}; there are {n_states} states."
        )
    return Pairs(
        np.array([state for state, _ in keys], dtype=np.int64), np.array([action for _, action in keys], dtype=np.int32),
        starts, following.astype(np.int32), probabilities, means_of(rewards, probabilities, starts), rewards, n_states,
        1 + max((action for _, action in keys), default=0),
    )  # fmt: skip


def checked(pairs: Pairs, is_terminal: npt.NDArray[np.bool_], name: Name) -> Pairs:
    """The same with rows that sum to one to the last digit, or an error that names a state and an action."""

    def refuse(pair: Any, words: str) -> None:
        place = int(pair)
        raise ValueError(f"MDP: {name(int(pairs.states[place]), int(pairs.actions[place]))}: {words}")

    of_outcome = np.repeat(np.arange(len(pairs.states)), np.diff(pairs.starts))
    wrong = ~(pairs.probabilities >= 0) | np.isinf(pairs.probabilities)
    if wrong.any():
        place = np.flatnonzero(wrong)[0]
        value = pairs.probabilities[place]
        refuse(of_outcome[place], f"the probability of state {pairs.next[place]} is {value:g}; it must be between 0 and 1.")
    rewards = pairs.rewards if pairs.outcome_rewards is None else pairs.outcome_rewards
    wrong = ~np.isfinite(rewards)
    if wrong.any():
        place = np.flatnonzero(wrong)[0]
        refuse(
            place if pairs.outcome_rewards is None else of_outcome[place],
            f"the reward is {rewards[place]:g}; it must be finite.",
        )
    sums = means_of(np.ones(len(pairs.next)), pairs.probabilities, pairs.starts)
    wrong = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
    if wrong.any():
        place = np.flatnonzero(wrong)[0]
        refuse(
            place,
            f"the transitions sum to {sums[place]:.8g}; they must sum to one. An action that cannot be taken is said by "
            "`available`, a state without actions by `terminals`.",
        )
    has_action = np.zeros(pairs.n_states, dtype=bool)
    has_action[pairs.states] = True
    stuck = np.flatnonzero(~has_action & ~is_terminal)
    if len(stuck):
        raise ValueError(f"MDP: state {stuck[0]} has no action, and is not among the terminals.")
    probabilities = pairs.probabilities / sums[of_outcome]
    return Pairs(**{**vars(pairs), "probabilities": probabilities})
