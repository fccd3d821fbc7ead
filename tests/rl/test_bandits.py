"""Bandits: regret grows like a logarithm, pulls do not depend on threads, and what is wrong is said."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.rl import Decay, play_bandit

STRATEGIES = ["epsilon-greedy", "ucb1", "thompson"]


@pytest.mark.parametrize("rewards", ["bernoulli", "normal"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_best_arm_is_found(strategy, rewards):
    runs = play_bandit([0.1, 0.8, 0.3], strategy, rewards=rewards, scale=0.3, n_pulls=2000, n_runs=50, random_state=0)
    assert runs.best_arm == 1
    assert runs.share_of_best()[-200:].mean() > 0.85
    np.testing.assert_allclose(np.diff(runs.regrets[0], prepend=0.0), np.array([0.7, 0.0, 0.5])[runs.arms[0]], atol=1e-10)


def test_regret_of_chance_is_linear_and_that_of_bounds_is_not():
    means = [0.3, 0.5]
    chance = play_bandit(means, "epsilon-greedy", epsilon=1.0, n_pulls=4000, n_runs=100, random_state=0).curve().mean
    assert chance[-1] == pytest.approx(0.1 * 4000, rel=0.03)
    bounds = play_bandit(means, "ucb1", n_pulls=4000, n_runs=100, random_state=0).curve()
    drawn = play_bandit(means, "thompson", n_pulls=4000, n_runs=100, random_state=0).curve()
    assert bounds.mean[-1] - bounds.mean[1999] < 0.7 * bounds.mean[1999]
    assert drawn.upper[-1] < bounds.lower[-1]  # as is known of them
    assert bounds.mean[-1] < 8 * np.log(4000) / 0.2 + (1 + np.pi**2 / 3) * 0.2  # the bound of Auer et al.


def test_epsilon_may_fall():
    runs = play_bandit([0.0, 1.0], "epsilon-greedy", epsilon=Decay(1.0, 0.0, 100), n_pulls=500, n_runs=20, random_state=0)
    assert (runs.arms[:, 100:] == 1).all()


def test_the_number_of_threads_changes_nothing():
    one, four = (play_bandit([0.2, 0.4], "thompson", n_runs=30, n_jobs=n, random_state=1) for n in (1, 4))
    np.testing.assert_array_equal(one.arms, four.arms)
    assert not np.array_equal(one.arms[0], one.arms[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: play_bandit([0.5, 1.5]), "of coins must be between 0 and 1"),
        (lambda: play_bandit([]), "must be finite numbers, one for each arm"),
        (lambda: play_bandit([0.5], "exp3"), "strategy='exp3' is not valid"),
        (lambda: play_bandit([0.5], "epsilon-greedy", epsilon=lambda t: -1.0), r"epsilon\(0\) is -1"),
        (lambda: play_bandit([0.5], n_pulls=0), "n_pulls=0 is not valid"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
