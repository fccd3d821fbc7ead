"""Agents: Markov decision processes, planning, prediction by temporal differences, control and bandits."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
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
    from mercer.rl._mdp import MDP as MDP
    from mercer.rl._plan import Evaluation as Evaluation, HorizonPlan as HorizonPlan, Plan as Plan
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
        "._evaluation": ("policy_evaluation",),
        "._horizon": ("backward_induction", "relative_value_iteration"),
        "._iteration": ("modified_policy_iteration", "policy_iteration", "prioritized_sweeping", "value_iteration"),
        "._linear_program": ("linear_programming",),
        "._mdp": ("MDP",),
        "._plan": ("Evaluation", "HorizonPlan", "Plan"),
        "._worlds": ("cliff_walking", "frozen_lake", "gambler", "graph_world", "grid_world", "inventory"),
    },
    peers=(),
)
