"""Pictures of agents show their values, what they do, and how they learnt."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.plots import plot_grid, plot_regret, plot_returns
from mercer.rl import MDP, QLearning, cliff_walking, frozen_lake, grid_world, learning_curves, play_bandit, value_iteration


def test_a_grid_has_the_values_and_an_arrow_in_each_cell_where_something_is_done():
    mdp = grid_world(["..G", ".#X", "S.."], goal_reward=1.0, discount=0.9)
    plan = value_iteration(mdp)
    ax = plot_grid(mdp, plan)
    shown = ax.images[0].get_array()
    np.testing.assert_allclose(shown.compressed(), plan.v_[~mdp.is_terminal])
    arrows = [text for text in ax.texts if hasattr(text, "arrow_patch") and text.arrow_patch is not None]
    assert len(arrows) == 6
    right = next(arrow for arrow in arrows if arrow.xy == (0.3, 0))
    assert right.xyann == (-0.3, 0)
    assert {text.get_text() for text in ax.texts} - {""} == {"G", "X"}


def test_values_alone_are_numbers_and_agents_have_tables():
    lake = frozen_lake()
    agent = QLearning(random_state=0).fit(lake, n_episodes=500)
    assert plot_grid(lake, agent).get_title() == "Values and actions"
    ax = plot_grid(lake, values=np.arange(16) / 16)
    assert ax.get_title() == "Values"
    assert "0.062" in {text.get_text() for text in ax.texts}
    assert plot_grid(lake).get_title() == "The grid"


def test_curves_are_means_over_episodes_and_runs():
    curves = learning_curves(QLearning(alpha=0.5), cliff_walking(), n_episodes=100, n_runs=3, random_state=0)
    ax = plot_returns({"Q": curves, "one": curves.agents[0]}, window=10)
    line = ax.lines[0]
    np.testing.assert_allclose(line.get_ydata(), curves.curve(window=10).mean)
    assert line.get_xdata()[0] == 10
    assert len(ax.collections) == 1  # a single run has no interval
    assert plot_returns(curves, of="lengths").get_title() == "Learning curve of QLearning"


def test_regret_has_a_curve_for_each_strategy():
    runs = [play_bandit([0.2, 0.7], name, n_pulls=100, random_state=0) for name in ("ucb1", "thompson")]
    ax = plot_regret(runs)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), runs[1].curve().mean)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ucb1", "thompson"]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="not the cells of a grid"):
        plot_grid(MDP([[[1.0]]], [[1.0]]))
    with pytest.raises(ValueError, match=r"policy has the shape \(3,\)"):
        plot_grid(frozen_lake(), policy=[0, 1, 2])
    with pytest.raises(TypeError, match="has no history"):
        plot_returns(QLearning())
    with pytest.raises(ValueError, match="of='wins' is not valid"):
        plot_returns(QLearning().fit(frozen_lake(), n_episodes=2), of="wins")
