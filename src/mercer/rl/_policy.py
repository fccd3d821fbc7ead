"""Policies as kernels read them: one pair for each state, or the probability of each pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._native import kernels
from mercer._parallel import effective_threads
from mercer.rl._mdp import MDP
from mercer.rl._pairs import Integers


def checked_policy(mdp: MDP, policy: Any) -> Integers | FloatArray:
    """The pair that a policy takes in each state (-1 where there is none), or the probability of each pair.

    A policy is an action for each state, a table of probabilities of shape (n_states, n_actions), what has a `policy_` or
    `greedy_policy_`, or None: any action alike. What it says of terminal states is not read.
    """
    for name in ("policy_", "greedy_policy_"):
        policy = getattr(policy, name, policy)
    if policy is None:
        shares: FloatArray = 1.0 / np.diff(mdp._model.state_starts)[mdp.pair_states]
        return shares
    given = np.asarray(policy)
    if given.shape == (mdp.n_states,) and given.dtype.kind in "iu":
        return _pairs_taken(mdp, given.astype(np.int64))
    if given.shape == (mdp.n_states, mdp.n_actions) and given.dtype.kind in "biuf":
        return _shares(mdp, given.astype(np.float64))
    raise ValueError(
        f"policy has the shape {given.shape} and type {given.dtype}; it must hold an action (an integer) for each of the "
        f"{mdp.n_states} states, or their probabilities in the shape {(mdp.n_states, mdp.n_actions)}."
    )


def _pairs_taken(mdp: MDP, actions: Integers) -> Integers:
    starts, acting = mdp._model.state_starts, ~mdp.is_terminal
    if np.array_equal(np.diff(starts), acting * mdp.n_actions):  # all actions in every state
        is_there = (actions >= 0) & (actions < mdp.n_actions)
        pairs = np.where(acting, starts[:-1] + actions, -1)
    else:
        keys = mdp.pair_states * mdp.n_actions + mdp.pair_actions
        wanted = np.arange(mdp.n_states) * mdp.n_actions + actions
        pairs = np.searchsorted(keys, wanted)
        is_there = (keys[np.minimum(pairs, len(keys) - 1)] == wanted) & (actions >= 0) & (actions < mdp.n_actions)
        pairs = np.where(acting, pairs, -1)
    if (wrong := np.flatnonzero(~is_there & acting)).size:
        raise ValueError(
            f"policy: {mdp._name_of(int(wrong[0]), 0).partition(', action')[0]} has no action {actions[wrong[0]]}."
        )
    return pairs.astype(np.int64)


def _shares(mdp: MDP, table: FloatArray) -> FloatArray:
    acting = ~mdp.is_terminal
    if (wrong := np.flatnonzero(acting & ~(np.abs(table.sum(axis=1) - 1) <= 1e-6))).size or not (table[acting] >= 0).all():
        state = int(wrong[0]) if wrong.size else int(np.flatnonzero(acting & (table < 0).any(axis=1))[0])
        raise ValueError(f"policy: the probabilities of state {state} must not be negative and must sum to one.")
    if (absent := np.argwhere((table > 0) & ~mdp.available & acting[:, None])).size:
        raise ValueError(f"policy: {mdp._name_of(*map(int, absent[0]))}: there is no such action.")
    return np.ascontiguousarray(table[mdp.pair_states, mdp.pair_actions])


def chain_of(mdp: MDP, policy: Any, n_jobs: int | None = None) -> Any:
    """The chain that a policy makes of a process."""
    return kernels.PolicyChain(mdp._model, checked_policy(mdp, policy), effective_threads(n_jobs))


def actions_of(mdp: MDP, pairs: Integers) -> Integers:
    """The action of the pair of each state; -1 in terminal states."""
    return np.where(pairs >= 0, mdp.pair_actions[np.maximum(pairs, 0)], -1).astype(np.int64)
