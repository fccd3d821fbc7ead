"""Decision processes: every way to say one is the same one, and what cannot be one is refused with state and action."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._native import kernels
from mercer.rl import (
    MDP,
    cliff_walking,
    frozen_lake,
    graph_world,
    grid_world,
    policy_evaluation,
    sample_episodes,
    value_iteration,
)
from tests.rl.test_planning import random_process


def arrays_of(mdp):
    model = mdp._model
    names = ("state_starts", "actions", "pair_starts", "next", "probabilities", "rewards", "initial", "outcome_rewards")
    return [np.array(getattr(model, name)) for name in names]


def assert_same(one, other):
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


def test_every_form_of_transitions_is_the_same_process():
    P, R, terminals = random_process(0, 7, 3, 3, n_terminals=1)
    dense = MDP(P, R, terminals=terminals)
    by_action = [sp.csr_matrix(P[:, a]) for a in range(3)]
    assert_same(dense, MDP(by_action, R, terminals=terminals))
    assert_same(dense, MDP(sp.csr_array(P.reshape(21, 7)), R, terminals=np.arange(7) == 6))
    states, actions = np.divmod(np.arange(18), 3)
    shuffled = np.random.RandomState(0).permutation(18)
    pairs = MDP.from_pairs(
        states[shuffled], actions[shuffled], P.reshape(21, 7)[shuffled], R.ravel()[shuffled], terminals=terminals
    )
    assert_same(dense, pairs)


def test_rewards_of_transitions_are_means_of_pairs():
    P, _, _ = random_process(1, 5, 2, 3)
    rewards = np.random.RandomState(0).randn(5, 2, 5)
    by_pair, by_outcome = MDP(P, (P * rewards).sum(axis=2)), MDP(P, rewards)
    np.testing.assert_allclose(by_outcome._model.rewards, by_pair._model.rewards)
    sparse = MDP(P, [sp.csr_matrix(rewards[:, a]) for a in range(2)])
    assert_same(by_outcome, sparse)
    p, to, reward = by_outcome.outcomes(3, 1)[0]
    assert (p, reward) == (P[3, 1, to], rewards[3, 1, to])


def test_actions_that_a_state_does_not_have_are_never_chosen():
    P, R, _ = random_process(2, 4, 3, 2)
    available = np.ones((4, 3), dtype=bool)
    available[1, 0] = available[2, [0, 2]] = False
    P[~available], R[~available] = np.nan, np.inf  # rows that are not read
    plan = value_iteration(MDP(P, R, available=available, discount=0.9))
    assert available[np.arange(4), plan.policy_].all()
    assert np.isneginf(plan.q_[~available]).all()
    mdp = MDP(P, R, available=available)
    assert np.array_equal(mdp.available, available)
    with pytest.raises(ValueError, match="state 2, action 0: there is no such action"):
        mdp.outcomes(2, 0)


def test_rows_of_single_precision_sum_to_one():
    P, R, _ = random_process(0, 30, 3, 3)
    mdp = MDP(P.astype(np.float32), R.astype(np.float32))
    np.testing.assert_allclose(mdp.transition_matrix().sum(axis=1), 1, atol=1e-15)


P, R, _ = random_process(0, 4, 2, 2)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MDP(changed(P, (2, 1), 0.1), R), "MDP: state 2, action 1: the transitions sum to 0.4; they must sum to one"),
        (lambda: MDP(changed(P, (2, 1, 0), np.nan), R), "state 2, action 1: the probability of state 0 is nan"),
        (lambda: MDP(changed(P, (2, 1, 0), -0.5), R), "state 2, action 1: the probability of state 0 is -0.5"),
        (lambda: MDP(P, changed(R, (3, 0), np.inf)), "state 3, action 0: the reward is inf; it must be finite"),
        (lambda: MDP(P, R, terminals=[1]), "rewards of state 1 are not zero, but it is terminal"),
        (lambda: MDP(P, R, terminals=[4]), r"terminals=\[4\] must be states from 0 to 3"),
        (lambda: MDP(P, R, terminals=[-1]), r"terminals=\[-1\] must be states from 0 to 3"),
        (lambda: MDP(P, 0 * R, terminals=range(4)), "every state is terminal"),
        (
            lambda: MDP(P, R, available=changed(np.ones((4, 2), bool), 3, False)),
            "state 3 has no action, and is not among the term",
        ),
        (lambda: MDP(P[:, 0], R), r"transitions has the shape \(4, 4\)"),
        (lambda: MDP(sp.csr_array(P[:, 0])[:3], R), r"sparse matrix of shape \(3, 4\)"),
        (lambda: MDP(P, R[:, :1]), r"rewards has the shape \(4, 1\)"),
        (lambda: MDP(P, R, discount=1.5), "MDP: discount=1.5 is not valid; it must be a finite number >= 0 and <= 1 or None"),
        (lambda: MDP(P, R, horizon=0), "horizon=0 is not valid"),
        (lambda: MDP(P, R, initial=[0.5, 0.5, 0.5, 0]), "initial must be a state or 4 probabilities"),
        (lambda: MDP(P, R, noise="cauchy"), "noise='cauchy' is not valid"),
        (lambda: MDP(P, R, noise="normal", noise_scale=-1.0), "state 0, action 0: noise_scale is -1"),
        (lambda: MDP(P, R - 9, noise="bernoulli"), "mean rewards must be between 0 and noise_scale"),
        (lambda: MDP(P, R, state_names="abc"), "state_names must hold 4 names"),
        (lambda: MDP(P, R, layout=(3, 3)), "more cells than there are states"),
        (
            lambda: MDP.from_outcomes({0: {0: [(1.0, 5, 0.0)]}}, n_states=2),
            "action 0 of state 0 leads to 5; there are 2 states",
        ),
        (lambda: MDP.from_outcomes({}), "one entry at least"),
        (lambda: MDP.from_pairs([0, 0], [1, 1], [[1.0], [1.0]], [0, 0]), "state 0, action 1 is there twice"),
        (lambda: grid_world(["..", "."]), "cells must be rows of one length"),
        (lambda: grid_world(["?"]), r"a cell is '\?'"),
        (lambda: graph_world([[1], []], [0, 0]), "state 1 leads nowhere, and is not among the terminals"),
    ],
)
def test_what_cannot_be_a_process_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_errors_use_the_names_of_states_and_actions():
    with pytest.raises(ValueError, match=r"state 2 \(c\), action 1 \(go\): the transitions sum to"):
        MDP(changed(P, (2, 1), 0.1), R, state_names=["a", "b", "c", "d"], action_names=["stay", "go"])


def test_a_process_cannot_be_changed():
    mdp = frozen_lake()
    with pytest.raises(ValueError, match="read-only"):
        mdp._model.probabilities[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        mdp.is_terminal[0] = True


def test_processes_pickle_and_copy():
    P, R, _ = random_process(0, 6, 2, 3)
    mdp = MDP(P, R, noise="normal", noise_scale=0.3, initial=2, state_names=list("abcdef"))
    for other in (pickle.loads(pickle.dumps(mdp)), copy.deepcopy(mdp), mdp.with_(discount=0.5).with_(discount=0.99)):
        assert_same(mdp, other)
        assert repr(other) == repr(mdp)
        assert (other.noise, other.state_names) == (mdp.noise, mdp.state_names)
    assert frozen_lake().with_(horizon=7).horizon == 7


def test_loops_that_episodes_never_meet_are_no_matter():
    outcomes = {0: {0: [(1.0, 1, 1.0)]}, 2: {0: [(1.0, 2, 0.0)]}}
    with pytest.raises(ValueError, match="never end in the loop of states 2 -> 2"):
        sample_episodes(MDP.from_outcomes(outcomes), n_episodes=1)
    assert len(sample_episodes(MDP.from_outcomes(outcomes, initial=0), n_episodes=3).rewards) == 3


def test_grids_are_drawn_as_they_lie():
    mdp = grid_world(["S.G", ".#X"], goal_reward=1.0, discount=0.9)
    plan = value_iteration(mdp)
    assert mdp.render() == ". . G\n. # X"
    assert mdp.render(policy=plan) == "> > G\n^ # X"
    assert mdp.render(values=plan).split() == ["0.9", "1", "0", "0.81", "#", "0"]


def test_teleports_lead_elsewhere_whatever_is_done():
    mdp = grid_world(["..", ".G"], teleports={(0, 0): (0, 1)}, discount=0.5)
    assert {entry for action in range(4) for entry in mdp.outcomes(0, action)} == {(1.0, 1, 0.0)}
    walk = graph_world([[0], [0, 2], []], [0.0, 0.0, 1.0], terminals=[2], teleports={0: {1: 0.5, 2: 0.5}}, discount=0.5)
    assert walk.outcomes(0, 0) == [(0.5, 1, 0.0), (0.5, 2, 1.0)]
    np.testing.assert_allclose(value_iteration(walk).v_, [0.75, 1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_gymnasiums_tables_become_processes(name):
    gymnasium = pytest.importorskip("gymnasium", reason="its environments are what is read")
    env = gymnasium.make(name)
    mdp = MDP.from_gymnasium(env, horizon=None, discount=0.9)
    dynamics, n = env.unwrapped.P, env.observation_space.n
    v = np.zeros(n)
    for _ in range(400):
        v = np.array(
            [max(sum(p * (r + 0.9 * v[t] * (not e)) for p, t, r, e in dynamics[s][a]) for a in dynamics[s]) for s in range(n)]
        )
    plan = value_iteration(mdp.with_(horizon=None))
    reached = ~mdp.is_terminal[:n]
    np.testing.assert_allclose(plan.v_[:n][reached], v[reached], atol=1e-5)


def test_the_worlds_are_gymnasiums():
    gymnasium = pytest.importorskip("gymnasium", reason="its environments are what is compared with")
    for name, own in (("FrozenLake-v1", frozen_lake()), ("CliffWalking-v1", cliff_walking())):
        theirs = MDP.from_gymnasium(gymnasium.make(name))
        acting = ~(own.is_terminal | theirs.is_terminal[: own.n_states])
        one, other = (policy_evaluation(mdp.with_(horizon=None, discount=0.9)) for mdp in (own, theirs))
        start = np.flatnonzero(own.initial)
        np.testing.assert_allclose(one.v_[start], other.v_[start], atol=1e-7)
        assert acting.any()


def test_an_environment_without_tables_is_refused():
    with pytest.raises(ValueError, match="does not tell its dynamics"):
        MDP.from_gymnasium(object())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"next": np.array([0, 9], np.int32)}, "leads to no state"),
        ({"state_starts": np.array([0, 3], np.int64)}, "offsets must rise"),
        ({"pair_starts": np.array([0, 0, 2], np.int64)}, "a pair has no outcomes|one row of outcomes"),
        ({"actions": np.array([7], np.int32)}, "an action is out of range"),
        ({"initial": np.ones(1)}, "the initial law"),
        ({"probabilities": np.ones(1)}, "one probability for each outcome"),
    ],
)
def test_kernels_refuse_what_is_no_process(change, message):
    parts = {
        "state_starts": np.array([0, 1, 1], np.int64), "actions": np.array([0], np.int32),
        "pair_starts": np.array([0, 2], np.int64), "next": np.array([0, 1], np.int32), "probabilities": np.full(2, 0.5),
        "rewards": np.zeros(1), "outcome_rewards": None, "noise_scales": None, "initial": np.array([1.0, 0.0]),
    }  # fmt: skip
    kernels.DecisionModel(*parts.values(), 0, 1)
    with pytest.raises(ValueError, match=message):
        kernels.DecisionModel(*{**parts, **change}.values(), 0, 1)
