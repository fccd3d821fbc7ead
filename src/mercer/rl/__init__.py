"""Agents: Markov decision processes, planning, prediction by temporal differences, control and bandits."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from mercer.rl._bandits import BanditRuns as BanditRuns, play_bandit as play_bandit
    from mercer.rl._curves import LearningCurves as LearningCurves, learning_curves as learning_curves
    from mercer.rl._dyna import DynaQ as DynaQ
    from mercer.rl._environment import MDPEnvironment as MDPEnvironment
    from mercer.rl._episodes import Episodes as Episodes, sample_episodes as sample_episodes
    from mercer.rl._evaluation import policy_evaluation as policy_evaluation
    from mercer.rl._horizon import (
        backward_induction as backward_induction,
        relative_value_iteration as relative_value_iteration,
    )
    from mercer.rl._iteration import (
        modified_policy_iteration as modified_policy_iteration,
        policy_iteration as policy_iteration,
        prioritized_sweeping as prioritized_sweeping,
        value_iteration as value_iteration,
    )
    from mercer.rl._linear_program import linear_programming as linear_programming
    from mercer.rl._loops import ImproperPolicyError as ImproperPolicyError
    from mercer.rl._mdp import MDP as MDP
    from mercer.rl._monte_carlo_control import MonteCarloControl as MonteCarloControl
    from mercer.rl._plan import Evaluation as Evaluation, HorizonPlan as HorizonPlan, Plan as Plan
    from mercer.rl._prediction import LSTD as LSTD, MonteCarlo as MonteCarlo, TemporalDifference as TemporalDifference
    from mercer.rl._q_learning import DoubleQLearning as DoubleQLearning, QLearning as QLearning
    from mercer.rl._sarsa import SARSA as SARSA, ExpectedSARSA as ExpectedSARSA
    from mercer.rl._schedules import Decay as Decay
    from mercer.rl._tiles import TileCoding as TileCoding
    from mercer.rl._worlds import (
        cliff_walking as cliff_walking,
        frozen_lake as frozen_lake,
        gambler as gambler,
        graph_world as graph_world,
        grid_world as grid_world,
        inventory as inventory,
    )

__getattr__, __dir__ = exports(
    __name__,
    {
        "._bandits": ("BanditRuns", "play_bandit"),
        "._dyna": ("DynaQ",),
        "._monte_carlo_control": ("MonteCarloControl",),
        "._q_learning": ("DoubleQLearning", "QLearning"),
        "._sarsa": ("SARSA", "ExpectedSARSA"),
        "._curves": ("LearningCurves", "learning_curves"),
        "._environment": ("MDPEnvironment",),
        "._episodes": ("Episodes", "sample_episodes"),
        "._evaluation": ("policy_evaluation",),
        "._horizon": ("backward_induction", "relative_value_iteration"),
        "._iteration": ("modified_policy_iteration", "policy_iteration", "prioritized_sweeping", "value_iteration"),
        "._linear_program": ("linear_programming",),
        "._loops": ("ImproperPolicyError",),
        "._mdp": ("MDP",),
        "._plan": ("Evaluation", "HorizonPlan", "Plan"),
        "._prediction": ("LSTD", "MonteCarlo", "TemporalDifference"),
        "._schedules": ("Decay",),
        "._tiles": ("TileCoding",),
        "._worlds": ("cliff_walking", "frozen_lake", "gambler", "graph_world", "grid_world", "inventory"),
    },
    peers=(),
)
