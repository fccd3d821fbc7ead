"""Agents that learn how to act: SARSA, Q-learning and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import ClassVar

from mercer._params import Integer, OneOf, Real, Rule
from mercer.rl._agent import COMMON_RULES, TRACES, Agent
from mercer.rl._tiles import TileCoding

Rate = float | Callable[[int], float]

_TRACE_RULES: Mapping[str, Rule] = {"trace_decay": Real(least=0, most=1), "traces": OneOf(*TRACES)}


class SARSA(Agent):
    r"""Learns the values of what it does, exploration included.

    .. math:: Q(s_t, a_t) \leftarrow Q(s_t, a_t) + \alpha \big(r_t + \gamma Q(s_{t+1}, a_{t+1}) - Q(s_t, a_t)\big)

    Parameters
    ----------
    alpha : float, "1/n" or callable, default=0.1
        The length of a step: a number, one over the number of visits to the pair, or a function of the number of episodes
        before, such as :class:`Decay`.
    epsilon : float or callable, default=0.1
        The probability of any action by chance: 1 is pure exploration, 0 pure exploitation. Also a function of the number of
        episodes before.
    exploration : {"epsilon-greedy", "softmax", "ucb"}, default="epsilon-greedy"
        How actions are chosen: the best but for `epsilon`; with odds exp(Q / `temperature`); or by the largest upper bound
        :math:`Q(s, a) + c \sqrt{\ln n(s) / n(s, a)}`.
    temperature : float or callable, default=1.0
        Of softmax.
    confidence : float, default=1.0
        c of upper bounds.
    discount : float or None, default=None
        What a reward a step later is worth; None means that of the MDP, and .99 in other environments.
    initial_q : float, default=0.0
        The values at first; one above all returns makes an agent try everything (optimistic start).
    exploring_starts : bool, default=False
        Whether episodes in an MDP begin in any state with any action.
    tiling : TileCoding or None, default=None
        The tiles of points of a box; None cuts a bounded one into 8 tilings of 8 tiles an axis.
    trace_decay : float, default=0.0
        :math:`\lambda`: how far back along its traces an error is learnt.
    traces : {"accumulating", "replacing"}, default="accumulating"
        What another visit does to a trace: adds one, or sets it to one.
    random_state : int, RandomState or None, default=None
        What chance draws from.
    verbose : int, default=0
        Whether to log how returns grow.

    Attributes
    ----------
    q_ : ndarray of shape (n_states, n_actions)
        The value of each action; minus infinity where there is no such action.
    weights_ : ndarray of shape (n_tiles, n_actions)
        In a box instead: a value is the sum over the tiles of a point.
    greedy_policy_ : ndarray of shape (n_states,)
        The best known action of each state.
    history_ : dict of ndarray
        The return (not discounted), length and mean absolute temporal difference ("td_error") of each episode.
    n_episodes_, n_steps_ : int
        How much was learnt from.

    Notes
    -----
    A step in an MDP takes a fraction of a microsecond, and in a Python environment the agent's share is about as much. Equal
    best actions are chosen alike by chance. Each episode draws from a stream of its own, named by the seed and its number.

    Examples
    --------
    >>> from mercer.rl import SARSA, cliff_walking
    >>> agent = SARSA(discount=1.0, random_state=0).fit(cliff_walking(), n_episodes=2000)
    >>> bool(agent.history_["return"][-500:].mean() > -40)
    True

    References
    ----------
    G. Rummery and M. Niranjan, On-line Q-learning using connectionist systems (1994).
    """

    _method = 0
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**COMMON_RULES, **_TRACE_RULES}

    def __init__(
        self,
        *,
        alpha: Rate | str = 0.1,
        epsilon: Rate = 0.1,
        exploration: str = "epsilon-greedy",
        temperature: Rate = 1.0,
        confidence: float = 1.0,
        discount: float | None = None,
        initial_q: float = 0.0,
        exploring_starts: bool = False,
        tiling: TileCoding | None = None,
        trace_decay: float = 0.0,
        traces: str = "accumulating",
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.exploration = exploration
        self.temperature = temperature
        self.confidence = confidence
        self.discount = discount
        self.initial_q = initial_q
        self.exploring_starts = exploring_starts
        self.tiling = tiling
        self.trace_decay = trace_decay
        self.traces = traces
        self.random_state = random_state
        self.verbose = verbose


class QLearning(SARSA):
    r"""Learns the values of the best actions, whatever it does meanwhile; with traces it is Watkins's Q(λ).

    .. math:: Q(s_t, a_t) \leftarrow Q(s_t, a_t) + \alpha \big(r_t + \gamma \max_a Q(s_{t+1}, a) - Q(s_t, a_t)\big)

    Parameters and attributes are those of :class:`SARSA`. After an action that is not the best one traces are cut.

    Examples
    --------
    >>> from mercer.rl import QLearning, frozen_lake, policy_evaluation
    >>> lake = frozen_lake(discount=0.99)
    >>> agent = QLearning(epsilon=1.0, alpha=0.05, random_state=0).fit(lake, n_episodes=20_000)
    >>> bool(policy_evaluation(lake, agent).v_[0] > 0.5)
    True

    References
    ----------
    C. Watkins and P. Dayan, Q-learning, Machine Learning 8 (1992).
    """

    _method = 2


class _Plain(Agent):
    """Agents without traces."""

    def __init__(
        self,
        *,
        alpha: Rate | str = 0.1,
        epsilon: Rate = 0.1,
        exploration: str = "epsilon-greedy",
        temperature: Rate = 1.0,
        confidence: float = 1.0,
        discount: float | None = None,
        initial_q: float = 0.0,
        exploring_starts: bool = False,
        tiling: TileCoding | None = None,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.exploration = exploration
        self.temperature = temperature
        self.confidence = confidence
        self.discount = discount
        self.initial_q = initial_q
        self.exploring_starts = exploring_starts
        self.tiling = tiling
        self.random_state = random_state
        self.verbose = verbose


class ExpectedSARSA(_Plain):
    r"""SARSA with the mean over the next action in the place of the one that is drawn.

    .. math:: Q(s_t, a_t) \leftarrow Q(s_t, a_t)
        + \alpha \big(r_t + \gamma \sum_a \pi(a | s_{t+1}) Q(s_{t+1}, a) - Q(s_t, a_t)\big)

    Parameters and attributes are those of :class:`SARSA`, without traces.

    Examples
    --------
    >>> from mercer.rl import ExpectedSARSA, cliff_walking
    >>> agent = ExpectedSARSA(alpha=1.0, discount=1.0, random_state=0).fit(cliff_walking(), n_episodes=1000)
    >>> float(agent.q_[36].max()) < -13
    True

    References
    ----------
    H. van Seijen et al., A theoretical and empirical analysis of expected SARSA (2009).
    """

    _method = 1


class DoubleQLearning(_Plain):
    r"""Q-learning with two tables: one says which action is best, the other what it is worth, and no luck is taken for skill.

    Parameters and attributes are those of :class:`SARSA`, without traces; `q_` is the mean of both tables.

    Examples
    --------
    >>> from mercer.rl import DoubleQLearning, frozen_lake, policy_evaluation
    >>> lake = frozen_lake(discount=0.99)
    >>> agent = DoubleQLearning(epsilon=1.0, alpha=0.05, random_state=0).fit(lake, n_episodes=20_000)
    >>> bool(policy_evaluation(lake, agent).v_[0] > 0.5)
    True

    References
    ----------
    H. van Hasselt, Double Q-learning (NIPS, 2010).
    """

    _method = 3


class DynaQ(Agent):
    """Q-learning that also learns from what it remembers: after each step, some pairs met before are gone through again.

    Parameters and attributes are those of :class:`SARSA`, without traces and tiles, and:

    Parameters
    ----------
    n_planning_steps : int, default=10
        How many remembered outcomes follow each step. Of a pair the last outcome is remembered.

    Examples
    --------
    >>> from mercer.rl import DynaQ, grid_world
    >>> maze = grid_world(["S..#G", ".#.#.", "....."], goal_reward=1.0, discount=0.95)
    >>> DynaQ(random_state=0).fit(maze, n_episodes=30).history_["length"][-5:].mean().round() < 12
    np.True_

    References
    ----------
    R. Sutton, Integrated architectures for learning, planning and reacting (1990).
    """

    _method = 2
    _takes_tiles = False
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**COMMON_RULES, "n_planning_steps": Integer(0)}

    def __init__(
        self,
        *,
        alpha: Rate | str = 0.1,
        epsilon: Rate = 0.1,
        exploration: str = "epsilon-greedy",
        temperature: Rate = 1.0,
        confidence: float = 1.0,
        discount: float | None = None,
        initial_q: float = 0.0,
        exploring_starts: bool = False,
        tiling: TileCoding | None = None,
        n_planning_steps: int = 10,
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.exploration = exploration
        self.temperature = temperature
        self.confidence = confidence
        self.discount = discount
        self.initial_q = initial_q
        self.exploring_starts = exploring_starts
        self.tiling = tiling
        self.n_planning_steps = n_planning_steps
        self.random_state = random_state
        self.verbose = verbose


class MonteCarloControl(Agent):
    """Moves values towards what episodes were worth from there on, at the end of each.

    Parameters and attributes are those of :class:`SARSA`, without traces and tiles, with `alpha` "1/n" by default: values are
    means of returns. And:

    Parameters
    ----------
    visits : {"first", "every"}, default="first"
        Which visits of a pair in an episode count.

    Notes
    -----
    It learns nothing before an episode ends; one that is cut short counts as ended.

    Examples
    --------
    >>> from mercer.rl import MonteCarloControl, frozen_lake, policy_evaluation
    >>> lake = frozen_lake(is_slippery=False, discount=0.9)
    >>> agent = MonteCarloControl(exploring_starts=True, random_state=0).fit(lake, n_episodes=5000, max_steps=100)
    >>> round(float(policy_evaluation(lake, agent).v_[0]), 4)
    0.5905

    References
    ----------
    R. Sutton and A. Barto, Reinforcement Learning (MIT Press, 2018), chapter 5.
    """

    _method = 4
    _takes_tiles = False
    _parameter_rules: ClassVar[Mapping[str, Rule]] = {**COMMON_RULES, "visits": OneOf("first", "every")}

    def __init__(
        self,
        *,
        alpha: Rate | str = "1/n",
        epsilon: Rate = 0.1,
        exploration: str = "epsilon-greedy",
        temperature: Rate = 1.0,
        confidence: float = 1.0,
        discount: float | None = None,
        initial_q: float = 0.0,
        exploring_starts: bool = False,
        tiling: TileCoding | None = None,
        visits: str = "first",
        random_state: object = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.epsilon = epsilon
        self.exploration = exploration
        self.temperature = temperature
        self.confidence = confidence
        self.discount = discount
        self.initial_q = initial_q
        self.exploring_starts = exploring_starts
        self.tiling = tiling
        self.visits = visits
        self.random_state = random_state
        self.verbose = verbose

    def _check(self, params: SimpleNamespace) -> None:
        if params.exploration == "ucb":
            raise ValueError(
                "MonteCarloControl: exploration='ucb' counts the visits of steps, but values move at the ends of episodes; use "
                "another."
            )
