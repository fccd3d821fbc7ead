"""`DynaQ`: an agent that remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mercer._params import Integer, Rule
from mercer.rl._agent import COMMON_RULES, Agent, Rate
from mercer.rl._tiles import TileCoding


class DynaQ(Agent):
    r"""Q-learning that also learns from what it remembers: after each step, some pairs met before are gone through again.

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
    tiling : None
        Points of a box are for agents that learn step by step without a memory; None alone is taken.
    n_planning_steps : int, default=10
        How many remembered outcomes follow each step. Of a pair the last outcome is remembered.
    random_state : int, RandomState or None, default=None
        What chance draws from.
    verbose : int, default=0
        Whether to log how returns grow.

    Attributes
    ----------
    q_ : ndarray of shape (n_states, n_actions)
        The value of each action; minus infinity where there is no such action.
    greedy_policy_ : ndarray of shape (n_states,)
        The best known action of each state.
    history_ : dict of ndarray
        The return (not discounted), length and mean absolute temporal difference ("td_error") of each episode.
    n_episodes_, n_steps_ : int
        How much was learnt from.
    visits_ : ndarray of shape (n_states, n_actions)
        How often each pair was learnt, where `alpha` or `exploration` asks for it.
    discount_ : float
        The discount that was used.

    Notes
    -----
    Of a pair the last outcome is remembered, as if nothing were left to chance. A remembered step costs less than a real one.

    Examples
    --------
    >>> from mercer.rl import DynaQ, grid_world
    >>> maze = grid_world(["S..#G", ".#.#.", "....."], goal_reward=1.0, discount=0.95)
    >>> bool(DynaQ(random_state=0).fit(maze, n_episodes=30).history_["length"][-5:].mean().round() < 12)
    True

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
