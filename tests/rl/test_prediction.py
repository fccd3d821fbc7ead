"""Prediction: values learnt from episodes are the exact ones, to within their standard errors."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer._native import kernels
from mercer.rl import (
    LSTD,
    MDP,
    Episodes,
    MDPEnvironment,
    MonteCarlo,
    TemporalDifference,
    TileCoding,
    frozen_lake,
    policy_evaluation,
    sample_episodes,
)


def walk(n=5, discount=1.0):
    """A walk to either side by chance, which pays 1 at the right end: the values are 1/6, 2/6, ... (Sutton, 1988)."""
    outcomes = {s: {0: [(1.0, s - 1, 0.0)], 1: [(1.0, s + 1, float(s == n))]} for s in range(1, n + 1)}
    return MDP.from_outcomes(outcomes, discount=discount, n_states=n + 2)


EXACT = np.arange(1, 6) / 6


@pytest.mark.parametrize("visits", ["first", "every"])
def test_means_of_returns_are_the_values_to_within_their_errors(visits):
    found = MonteCarlo(visits=visits, random_state=0).fit(walk(), n_episodes=20_000)
    distances = np.abs(found.v_[1:6] - EXACT) / found.standard_errors_[1:6]
    assert distances.max() < 4
    assert np.isnan(found.v_[[0, 6]]).all()


def test_standard_errors_are_what_means_are_off_by():
    mdp = walk()
    offs = [MonteCarlo(random_state=seed).fit(mdp, n_episodes=400) for seed in range(200)]
    scores = np.array([(each.v_[1:6] - EXACT) / each.standard_errors_[1:6] for each in offs])
    assert 0.85 < scores.std() < 1.15
    assert np.abs(scores.mean(axis=0)).max() < 4 / np.sqrt(200)


@pytest.mark.parametrize(
    "params",
    [{}, {"n_steps": 4}, {"trace_decay": 0.8}, {"trace_decay": 0.8, "traces": "replacing"}, {"trace_decay": 1.0}],
    ids=str,
)
def test_temporal_differences_approach_the_values(params):
    mdp = walk()
    runs = [
        TemporalDifference(alpha="1/n", power=0.6, random_state=seed, **params).fit(mdp, n_episodes=3000).v_[1:6]
        for seed in range(20)
    ]
    error = np.std(runs, axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(np.mean(runs, axis=0) - EXACT) < 4 * error + 0.01).all()
    assert np.abs(runs[0] - EXACT).max() < 0.1


def test_one_step_is_the_formula():
    episodes = Episodes(
        np.array([0, 1]), np.array([0, 0]), np.array([1.0, 2.0]), np.array([0, 2]), np.array([2]), np.array([True])
    )
    once = TemporalDifference(alpha=0.5, discount=0.9).fit(episodes)
    np.testing.assert_allclose(once.v_, [0.5, 1.0, 0.0])
    twice = TemporalDifference(alpha=0.5, discount=0.9, n_passes=2).fit(episodes)
    np.testing.assert_allclose(twice.v_, [0.5 + 0.5 * (1 + 0.9 * 1.0 - 0.5), 1.5, 0.0])
    traced = TemporalDifference(alpha=0.5, discount=0.9, trace_decay=0.5).fit(episodes)
    np.testing.assert_allclose(traced.v_, [0.5 + 0.5 * 2.0 * 0.45, 1.0, 0.0])
    both = TemporalDifference(alpha=0.5, discount=0.9, n_steps=2).fit(episodes)
    np.testing.assert_allclose(both.v_, [0.5 * (1 + 0.9 * 2), 1.0, 0.0])
    np.testing.assert_allclose(LSTD(discount=0.9, alpha=1e-12).fit(episodes).v_[:2], [2.8, 2.0])
    cut = Episodes(episodes.states, episodes.actions, episodes.rewards, episodes.starts, np.array([0]), np.array([False]))
    np.testing.assert_allclose(TemporalDifference(alpha=0.5, discount=0.9).fit(cut).v_, [0.5, 0.5 * (2 + 0.9 * 0.5)])
    assert np.isnan(MonteCarlo().fit(cut).v_).all()
    np.testing.assert_allclose(MonteCarlo(takes_cut=True, discount=0.5).fit(cut).v_, [2.0, 2.0])


@pytest.mark.parametrize("trace_decay", [0.0, 0.5, 1.0])
def test_least_squares_solve_what_differences_approach(trace_decay):
    mdp = walk(discount=0.9)
    found = LSTD(trace_decay=trace_decay, random_state=0).fit(mdp, n_episodes=20_000)
    np.testing.assert_allclose(found.v_, policy_evaluation(mdp).v_, atol=0.02)


@pytest.mark.parametrize("importance", ["ordinary", "weighted"])
@pytest.mark.parametrize("visits", ["first", "every"])
def test_another_behaviour_is_corrected_for(importance, visits):
    mdp = walk(3)
    target = np.tile([0.3, 0.7], (5, 1))
    found = MonteCarlo(visits=visits, importance=importance, random_state=0).fit(
        mdp, target, n_episodes=100_000, behaviour=None
    )
    off = MonteCarlo(visits=visits, importance=importance, random_state=0).fit(
        mdp, target, n_episodes=100_000, behaviour=np.full((5, 2), 0.5)
    )
    exact = policy_evaluation(mdp, target).v_[1:4]
    np.testing.assert_allclose(found.v_[1:4], exact, atol=0.01)
    np.testing.assert_allclose(off.v_[1:4], exact, atol=0.05)


@pytest.mark.parametrize("params", [{}, {"trace_decay": 0.5}, {"n_steps": 2}], ids=str)
def test_differences_correct_for_another_behaviour_too(params):
    mdp = walk(3)
    target = np.tile([0.3, 0.7], (5, 1))
    found = TemporalDifference(alpha="1/n", power=0.7, random_state=0, **params).fit(
        mdp, target, n_episodes=100_000, behaviour=np.full((5, 2), 0.5)
    )
    np.testing.assert_allclose(found.v_[1:4], policy_evaluation(mdp, target).v_[1:4], atol=0.06)


def test_a_behaviour_that_never_takes_an_action_is_refused():
    with pytest.raises(ValueError, match="state 1, action 1: the policy takes it, and behaviour never does"):
        MonteCarlo().fit(walk(), None, behaviour=np.zeros(7, dtype=int), n_episodes=5)


def test_episodes_are_the_same_for_any_number_of_threads():
    lake = frozen_lake()
    one, four = (sample_episodes(lake, n_episodes=2000, random_state=0, n_jobs=n) for n in (1, 4))
    for name in ("states", "actions", "rewards", "starts", "last", "is_end"):
        np.testing.assert_array_equal(getattr(one, name), getattr(four, name))
    np.testing.assert_array_equal(lake.sample(n_episodes=2000, random_state=0).rewards, one.rewards)
    assert one.is_end.all()
    assert lake.is_terminal[one.last].all()
    np.testing.assert_array_equal(one.returns(), np.add.reduceat(one.rewards, one.starts[:-1]))


def test_frequencies_of_episodes_are_the_laws():
    P = np.array([[[0.2, 0.5, 0.3]], [[0.0, 0.1, 0.9]], [[1.0, 0.0, 0.0]]])
    mdp = MDP(P, np.zeros((3, 1)), initial=[0.5, 0.25, 0.25])
    episodes = sample_episodes(mdp, n_episodes=20_000, max_steps=2, random_state=0)
    first, second = episodes.states[::2], episodes.states[1::2]
    np.testing.assert_allclose(np.bincount(first) / 20_000, mdp.initial, atol=0.015)
    for s in range(3):
        np.testing.assert_allclose(np.bincount(second[first == s], minlength=3) / np.sum(first == s), P[s, 0], atol=0.025)


@pytest.mark.parametrize(("noise", "spread"), [("normal", 2.0), ("uniform", 2.0 / np.sqrt(3)), ("bernoulli", 1.0)])
def test_rewards_have_the_law_that_was_asked_for(noise, spread):
    mdp = MDP([[[1.0]]], [[1.0]], noise=noise, noise_scale=2.0)
    rewards = sample_episodes(mdp, n_episodes=1, max_steps=100_000, random_state=0).rewards
    assert rewards.mean() == pytest.approx(1.0, abs=0.03)
    assert rewards.std() == pytest.approx(spread, rel=0.02)
    if noise == "bernoulli":
        assert set(rewards) == {0.0, 2.0}


def test_an_environment_in_python_is_sampled_as_well():
    lake = frozen_lake(horizon=30)
    episodes = sample_episodes(MDPEnvironment(lake), lambda state: 2, n_episodes=50, random_state=0)
    assert episodes.lengths.max() <= 30
    assert set(episodes.actions) == {2}
    found = MonteCarlo(takes_cut=True, discount=0.9, random_state=0).fit(MDPEnvironment(lake), n_episodes=20_000)
    assert found.v_[0] == pytest.approx(policy_evaluation(frozen_lake(discount=0.9)).v_[0], abs=0.003)


def test_tiles_learn_a_line():
    """Points that drift to the right, and are paid where they are: values are linear in tiles."""
    random = np.random.RandomState(0)
    n = 4000
    points, last = random.uniform(0, 1, size=(n, 1)), np.full((n, 1), 1.0)
    episodes = Episodes(points, np.zeros(n), np.sin(3 * points[:, 0]), np.arange(n + 1), last, np.ones(n, dtype=bool))
    tiling = TileCoding([0.0], [1.0], n_tiles=8, n_tilings=8)
    grid = np.linspace(0.05, 0.95, 20)[:, None]
    for learner in (LSTD(tiling=tiling), TemporalDifference(tiling=tiling, alpha=0.2, n_passes=5)):
        learner.fit(episodes)
        np.testing.assert_allclose(learner.predict(grid), np.sin(3 * grid[:, 0]), atol=0.06)


def test_tiles_are_shifted_grids():
    coding = TileCoding([0, -1], [1, 1], n_tiles=[4, 3], n_tilings=4)
    points = np.random.RandomState(0).uniform(-0.5, 1.5, size=(500, 2))
    tiles = coding.encode(points)
    assert coding.n_features == 4 * 5 * 4
    for k in range(4):
        shifts = [k * (2 * j + 1) / 4 % 1 for j in range(2)]
        x, y = (
            np.clip(np.floor((points[:, j] - low) * n / width + shifts[j]), 0, n)
            for j, (low, width, n) in enumerate([(0, 1, 4), (-1, 2, 3)])
        )
        np.testing.assert_array_equal(tiles[:, k], (k * 5 + x) * 4 + y)
    assert (coding.encode([[np.nan, np.inf]]) < coding.n_features).all()


def test_predictors_are_kept_by_files(tmp_path):
    for learner in (MonteCarlo(random_state=0), TemporalDifference(random_state=0), LSTD(random_state=0)):
        learner.fit(frozen_lake(), n_episodes=50)
        mercer.save(learner, tmp_path / "values.mercer")
        np.testing.assert_array_equal(mercer.load(tmp_path / "values.mercer").v_, learner.v_)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TemporalDifference(n_steps=2, trace_decay=0.5).fit(walk()), "two ways to look further; choose one"),
        (lambda: LSTD(alpha=0.0).fit(walk()), "LSTD: alpha=0.0 is not valid"),
        (lambda: MonteCarlo().fit(sample_episodes(walk(), n_episodes=2), np.ones((7, 2)) / 2), "leave it out"),
        (lambda: LSTD().fit(MDPEnvironment(walk()), lambda s: 0, behaviour=[0] * 7, n_episodes=2), "behaviour needs an MDP"),
        (lambda: LSTD(tiling=TileCoding([0], [1])).fit(walk(), n_episodes=2), "states are numbers, which need no tiling"),
        (lambda: sample_episodes(MDP([[[1.0]]], [[1.0]])), "sample_episodes: episodes never end in the loop of states 0 -> 0"),
        (lambda: TileCoding([0], [1]).encode([0.5]), r"points have the shape \(1,\)"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_kernels_refuse_what_does_not_fit():
    features, last = np.zeros((3, 1), np.int32), np.zeros((1, 1), np.int32)
    good = [features, last, np.zeros(3), np.array([0, 3], np.int64), np.ones(1, np.uint8), None, 1]
    kernels.Lessons(*good)
    for place, wrong in (
        (0, features[:2]),
        (1, np.zeros((2, 1), np.int32)),
        (2, np.zeros(2)),
        (3, np.array([0, 9], np.int64)),
        (6, 0),
    ):
        with pytest.raises(ValueError, match=r"must|each|there is"):
            kernels.Lessons(*good[:place], wrong, *good[place + 1 :])
    outside = kernels.Lessons(features + 77, last - 5, *good[2:])
    outside.sum_equations(0.9, 0.5, np.zeros((1, 1)), np.zeros(1))
    learner = kernels.TabularLearner(np.array([0, 2, 4], np.int64), 2, 0, 0.9, 0.0, False, False, True, 1.0, 0, 0.0)
    with pytest.raises(ValueError, match="no episode has begun"):
        learner.observe(0.0, 0, False, False)
    for state in (-1, 2):
        with pytest.raises(ValueError, match="out of range"):
            learner.begin(state, 0.1, 0.1, 1.0, 0, 0)
    learner.begin(0, 0.1, 0.1, 1.0, 0, 0)
    with pytest.raises(ValueError, match="out of range"):
        learner.observe(0.0, 5, False, False)
    n = np.empty(1)
    with pytest.raises(ValueError, match="another model"):
        learner.run(walk()._model, n, n, n, 10, False, 0, 0, n, np.empty(1, np.int64), n)
