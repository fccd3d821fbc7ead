"""Agents: what they learn is the best, the same for the same seed however it is asked for, and kept by files."""

from __future__ import annotations

import _thread
import inspect
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer.rl import (
    LSTD,
    MDP,
    SARSA,
    Decay,
    DoubleQLearning,
    DynaQ,
    ExpectedSARSA,
    MDPEnvironment,
    MonteCarlo,
    MonteCarloControl,
    QLearning,
    TemporalDifference,
    TileCoding,
    cliff_walking,
    frozen_lake,
    graph_world,
    grid_world,
    learning_curves,
    policy_evaluation,
    value_iteration,
)

AGENTS = [SARSA, ExpectedSARSA, QLearning, DoubleQLearning, DynaQ, MonteCarloControl]
every_agent = pytest.mark.parametrize("kind", AGENTS, ids=lambda kind: kind.__name__)


def notes_walk():
    """As the notes have it: an action is the state that it leads to, but where one is teleported; rewards are of arrivals."""
    neighbours = [[1, 3], [0, 2, 4], [1, 5], [0, 4, 6], [1, 3, 5, 7], [2, 4, 8], [3, 7], [4, 6, 8], []]
    return graph_world(neighbours, [0, 0, 0, 0, -1, 0, 0, 0, 10], terminals=[8], teleports={2: {0: 0.5, 6: 0.5}}, discount=0.9)


@pytest.mark.parametrize("kind", [QLearning, DoubleQLearning, DynaQ, ExpectedSARSA], ids=lambda kind: kind.__name__)
def test_the_best_policy_of_the_notes_example_is_learnt(kind):
    walk = notes_walk()
    plan = value_iteration(walk)
    epsilon = Decay(1.0, 0.01, 4000, "exponential") if kind is ExpectedSARSA else 0.3  # on policy chance has to go
    agent = kind(epsilon=epsilon, random_state=0).fit(walk, n_episodes=5000)
    np.testing.assert_allclose(policy_evaluation(walk, agent).v_, plan.v_, atol=1e-6)
    assert agent.greedy_policy_[8] == -1


def test_values_of_q_learning_are_those_of_planning():
    lake = frozen_lake(discount=0.9)
    agent = QLearning(alpha="1/n", epsilon=1.0, random_state=0, exploring_starts=True).fit(lake, n_episodes=200_000)
    plan = value_iteration(lake)
    assert np.abs(agent.q_ - plan.q_).max() < 0.05
    np.testing.assert_array_equal(agent.visits_[lake.is_terminal], 0)
    assert agent.visits_.sum() == agent.n_steps_


def test_sarsa_keeps_away_from_the_cliff_and_q_learning_does_not():
    """Example 6.6 of Sutton and Barto."""
    cliff = cliff_walking(discount=1.0)
    sarsa, greedy = (kind(alpha=0.5, random_state=0).fit(cliff, n_episodes=5000) for kind in (SARSA, QLearning))
    assert sarsa.history_["return"][-1000:].mean() > greedy.history_["return"][-1000:].mean() + 10
    assert policy_evaluation(cliff.with_(discount=0.99), greedy).v_[36] == pytest.approx(
        value_iteration(cliff_walking()).v_[36]
    )


@pytest.mark.parametrize("kind", [SARSA, QLearning])
@pytest.mark.parametrize("traces", ["accumulating", "replacing"])
def test_traces_learn_a_long_way_from_few_episodes(kind, traces):
    corridor = grid_world(["S" + "." * 30 + "G"], goal_reward=1.0, discount=0.95)
    far, near = (
        kind(trace_decay=decay, traces=traces, random_state=1).fit(corridor, n_episodes=3, max_steps=20_000)
        for decay in (0.9, 0.0)
    )
    assert np.count_nonzero(far.q_) > 3 * np.count_nonzero(near.q_)


def test_planning_steps_learn_a_maze_in_few_episodes():
    maze = grid_world(["S......", "..#....", "..#..#.", "..#..#G"], goal_reward=1.0, discount=0.95)
    lengths = {
        n: DynaQ(n_planning_steps=n, random_state=0).fit(maze, n_episodes=15).history_["length"][3:].sum() for n in (0, 50)
    }
    assert lengths[50] < lengths[0] / 3


@every_agent
def test_episodes_asked_for_in_parts_are_the_same(kind):
    lake = frozen_lake(is_slippery=True)
    whole = kind(random_state=3).fit(lake, n_episodes=60)
    parts = kind(random_state=3).partial_fit(lake, n_episodes=20)
    parts = pickle.loads(pickle.dumps(parts)).partial_fit(lake, n_episodes=40)
    np.testing.assert_array_equal(whole.q_, parts.q_)
    assert whole.n_episodes_ == parts.n_episodes_ == 60
    for name, values in whole.history_.items():
        np.testing.assert_array_equal(values, parts.history_[name])
    assert whole.history_["length"].sum() == whole.n_steps_


@every_agent
def test_the_same_seed_is_the_same_agent(kind):
    lake = frozen_lake()
    one, two, other = (kind(random_state=seed).fit(lake, n_episodes=300) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.q_, two.q_)
    assert one.history_["length"].sum() != other.history_["length"].sum()


def test_runs_side_by_side_are_those_one_after_another():
    lake = frozen_lake()
    curves = [learning_curves(QLearning(), lake, n_episodes=200, n_runs=4, random_state=0, n_jobs=n) for n in (1, 3)]
    np.testing.assert_array_equal(curves[0].returns, curves[1].returns)
    assert len({agent.n_steps_ for agent in curves[0].agents}) > 1
    band = curves[0].curve(window=50)
    assert band.mean.shape == (151,)
    assert (band.lower <= band.mean).all()
    np.testing.assert_allclose(band.mean[0], curves[0].returns[:, :50].mean())


@every_agent
def test_an_environment_in_python_is_learnt_as_well(kind):
    lake = frozen_lake(is_slippery=False, discount=0.9, horizon=200)
    agent = kind(random_state=0, discount=0.9, epsilon=0.3).fit(MDPEnvironment(lake), n_episodes=3000)
    assert policy_evaluation(lake.with_(horizon=None), agent).v_[0] == pytest.approx(0.9**5)
    again = kind(random_state=0, discount=0.9, epsilon=0.3).fit(lake.environment(), n_episodes=3000)
    np.testing.assert_array_equal(agent.q_, again.q_)
    assert agent.act(14) == agent.greedy_policy_[14]
    assert agent.history_["length"].max() <= 200


@every_agent
def test_agents_are_kept_by_files(kind, tmp_path):
    lake = frozen_lake()
    agent = kind(epsilon=Decay(1.0, 0.1, 10), random_state=0).fit(lake, n_episodes=50)
    mercer.save(agent, tmp_path / "agent.mercer")
    loaded = mercer.load(tmp_path / "agent.mercer")
    np.testing.assert_array_equal(loaded.q_, agent.q_)
    loaded.partial_fit(lake, n_episodes=10)
    np.testing.assert_array_equal(loaded.q_, agent.partial_fit(lake, n_episodes=10).q_)


def test_plans_are_kept_by_files(tmp_path):
    plan = value_iteration(frozen_lake())
    mercer.save(plan, tmp_path / "plan.mercer")
    loaded = mercer.load(tmp_path / "plan.mercer")
    np.testing.assert_array_equal(loaded.v_, plan.v_)
    assert loaded.certificate_ == plan.certificate_


@every_agent
def test_agents_are_cloned_and_set(kind):
    agent = kind(epsilon=0.2, random_state=0).fit(frozen_lake(), n_episodes=5)
    copied = clone(agent).set_params(alpha=0.3)
    assert copied.get_params()["epsilon"] == 0.2
    assert not hasattr(copied, "q_")


@pytest.mark.parametrize("exploration", ["softmax", "ucb", "epsilon-greedy"])
def test_every_exploration_finds_the_goal(exploration):
    walk = notes_walk()
    agent = QLearning(exploration=exploration, temperature=Decay(2.0, 0.1, 2000), random_state=0).fit(walk, n_episodes=3000)
    np.testing.assert_allclose(policy_evaluation(walk, agent).v_[0], value_iteration(walk).v_[0], atol=1e-6)


def test_pure_exploration_and_pure_exploitation_are_the_ends_of_epsilon():
    arms = MDP([[[1.0], [1.0], [1.0]]], [[0.0, 0.5, 1.0]], discount=0.0, horizon=1)
    chance = SARSA(epsilon=1.0, alpha="1/n", random_state=0, exploration="epsilon-greedy").fit(arms, n_episodes=3000)
    assert (chance.visits_[0] > 900).all()
    first = SARSA(epsilon=0.0, alpha="1/n", initial_q=-1.0, random_state=0).fit(arms, n_episodes=100)
    assert np.count_nonzero(first.visits_) == 1  # the first that paid at all
    hopeful = SARSA(epsilon=0.0, alpha="1/n", initial_q=5.0, random_state=0).fit(arms, n_episodes=100)
    assert hopeful.greedy_policy_[0] == 2


def test_expected_sarsa_with_steps_of_one_solves_its_equation_where_nothing_is_random():
    corridor = grid_world(["S...G"], goal_reward=1.0, discount=0.9)
    agent = ExpectedSARSA(alpha=1.0, epsilon=0.5, random_state=0).fit(corridor, n_episodes=500)
    random = np.full((5, 4), 0.125)
    random[np.arange(5), agent.greedy_policy_] += 0.5
    random[4] = 0.25
    np.testing.assert_allclose(agent.q_[:4].max(axis=1), policy_evaluation(corridor, random).q_[:4].max(axis=1), atol=1e-6)


def test_episodes_that_are_cut_short_go_on_in_the_mind():
    """Of a loop that pays one a step the value is 1 / (1 - discount), however short the episodes are."""
    loop = MDP([[[1.0]]], [[1.0]], discount=0.9)
    for agent in (SARSA(random_state=0), QLearning(random_state=0), ExpectedSARSA(random_state=0)):
        assert agent.fit(loop, n_episodes=2000, max_steps=5).q_[0, 0] == pytest.approx(10.0, abs=1e-6)


class Box:
    low, high, shape = np.array([-1.0], np.float32), np.array([1.0], np.float32), (1,)


class Discrete:
    n, start = 2, 0


class Pole:
    """A point on a line that is pushed to the left or the right: at the right end there is a reward."""

    observation_space, action_space = Box(), Discrete()

    def reset(self, seed=None):
        self.x, self.t = 0.0, 0
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.x += 0.1 if action else -0.1
        self.t += 1
        ends = bool(abs(self.x) > 0.95)
        return np.array([self.x], np.float32), float(ends and self.x > 0), np.bool_(ends), self.t >= 500, {}


@pytest.mark.parametrize("kind", [SARSA, QLearning, ExpectedSARSA, DoubleQLearning], ids=lambda kind: kind.__name__)
def test_points_of_a_box_are_learnt_through_tiles(kind, tmp_path):
    # Of two tables that know only tiles around what they saw, each thinks little of the other's luck: chance has to help.
    epsilon, n_episodes = (1.0, 2000) if kind is DoubleQLearning else (0.2, 400)
    agent = kind(random_state=0, epsilon=epsilon).fit(Pole(), n_episodes=n_episodes)
    assert agent.weights_.shape == (8 * 9, 2)
    assert [agent.act([x]) for x in (-0.4, 0.0, 0.6)] == [1, 1, 1]
    with pytest.raises(AttributeError, match="no table of actions"):
        _ = agent.greedy_policy_
    mercer.save(agent, tmp_path / "agent.mercer")
    assert mercer.load(tmp_path / "agent.mercer").act([0.0]) == 1


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Blackjack-v1", "CartPole-v1"])
def test_gymnasiums_environments_are_learnt(name):
    gymnasium = pytest.importorskip("gymnasium", reason="its environments are what is learnt")
    env = gymnasium.make(name, **({"is_slippery": False} if name == "FrozenLake-v1" else {}))
    tiling = TileCoding([-2.4, -3, -0.21, -3], [2.4, 3, 0.21, 3], n_tiles=6) if name == "CartPole-v1" else None
    agent = QLearning(tiling=tiling, random_state=0, epsilon=0.2, alpha=0.2).fit(env, n_episodes=600)
    first, last = (agent.history_["return"][part].mean() for part in (slice(0, 100), slice(-100, None)))
    assert last > {"FrozenLake-v1": 0.2, "Blackjack-v1": -0.5, "CartPole-v1": 2 * first}[name]
    seen, _ = env.reset(seed=0)
    assert env.action_space.contains(agent.act(seen))


def test_callbacks_see_parts_of_a_fit_and_may_stop_it():
    callbacks = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    assert callbacks

    class Stop:
        n_seen = 0

        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context, **kwargs): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context, **kwargs):
            self.n_seen += 1
            return self.n_seen == 3

    agent = QLearning(random_state=0).set_callbacks(Stop())
    agent.fit(frozen_lake(), n_episodes=500)
    assert agent.n_episodes_ == 30
    free = QLearning(random_state=0).fit(frozen_lake(), n_episodes=30)
    np.testing.assert_array_equal(agent.q_, free.q_)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: QLearning(alpha=0.0).fit(frozen_lake()), ValueError, "QLearning: alpha=0.0 is not valid"),
        (lambda: QLearning(epsilon=lambda k: 2.0).fit(frozen_lake()), ValueError, r"epsilon\(0\) is 2; it must be"),
        (lambda: QLearning().fit(frozen_lake(), n_episodes=0), ValueError, "n_episodes=0 is not valid"),
        (lambda: QLearning().fit(frozen_lake(discount=None)), ValueError, "give the agent a discount"),
        (
            lambda: QLearning().fit(MDP([[[1.0]]], [[1.0]])),
            ValueError,
            "never end in the loop of states 0 -> 0, and .* give max_steps",
        ),
        (lambda: QLearning().fit([[1.0]]), TypeError, "has no reset; it must be an MDP, or an environment"),
        (lambda: QLearning(tiling=TileCoding([0], [1])).fit(frozen_lake()), ValueError, "need no tiling"),
        (
            lambda: QLearning(tiling=TileCoding([0, 0], [1, 1])).fit(Pole()),
            ValueError,
            "tiling has 2 axes; observations have 1",
        ),
        (lambda: DynaQ().fit(Pole()), ValueError, "points in tiles are learnt by SARSA"),
        (lambda: QLearning(alpha="1/n").fit(Pole()), ValueError, "points in tiles are learnt by SARSA"),
        (lambda: QLearning(exploring_starts=True).fit(MDPEnvironment(frozen_lake())), ValueError, "needs an MDP"),
        (lambda: MonteCarloControl(exploration="ucb").fit(frozen_lake()), ValueError, "use another"),
        (lambda: Decay(1.0, 0.0, 5, "inverse"), ValueError, "end=0 is never reached"),
        (
            lambda: QLearning().fit(frozen_lake()).partial_fit(cliff_walking()),
            ValueError,
            "as many states and actions as before",
        ),
        (lambda: TileCoding([0], [0]), ValueError, r"low\[0\]=0 must be below high\[0\]=0"),
        (lambda: MDPEnvironment(frozen_lake()).step(0), ValueError, "call reset first"),
    ],
)
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_error_in_an_environment_leaves_the_agent_as_it_was():
    class Broken(MDPEnvironment):
        def step(self, action):
            raise RuntimeError("out of order")

    agent = QLearning(random_state=0).fit(MDPEnvironment(frozen_lake()), n_episodes=10)
    before = agent.q_
    with pytest.raises(RuntimeError, match="out of order"):
        agent.partial_fit(Broken(frozen_lake()))
    assert agent.q_ is before


@pytest.mark.parametrize("kind", [QLearning, DynaQ], ids=lambda kind: kind.__name__)
def test_ctrl_c_ends_a_fit_that_has_no_end(kind):
    """A room whose door is all but shut."""
    door = [(1 - 1e-12, 0, 0.0), (1e-12, 1, 0.0)]
    room = MDP.from_outcomes({0: {0: [(1.0, 0, 1.0)], 1: door}}, n_states=2, discount=0.9, initial=0)
    agent = kind(random_state=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process of the background was started to ignore it
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            agent.fit(room, n_episodes=1)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert not hasattr(agent, "q_")


@pytest.mark.parametrize("kind", [*AGENTS, MonteCarlo, TemporalDifference, LSTD], ids=lambda kind: kind.__name__)
def test_the_docstring_names_every_parameter_and_attribute(kind):
    text = inspect.getdoc(kind)
    agent = kind(random_state=0).fit(frozen_lake(), n_episodes=20)
    public = [name for name in vars(agent) if not name.startswith("_")]
    assert not [name for name in [*agent.get_params(), *public] if name not in text]
    assert set(kind._parameter_rules) == set(agent.get_params())
    for section in ("Parameters\n", "Attributes\n", "Examples\n", "References\n"):
        assert section in text
