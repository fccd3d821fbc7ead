"""Agents that learn the values of what they do: `SARSA` and its expectation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mercer._params import OneOf, Real, Rule
from mercer.rl._agent import COMMON_RULES, TRACES, Agent, PlainAgent, Rate
from mercer.rl._tiles import TileCoding

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
    tiling_ : TileCoding
        In a box: the tiles.
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


class ExpectedSARSA(PlainAgent):
    r"""SARSA with the mean over the next action in the place of the one that is drawn.

    .. math:: Q(s_t, a_t) \leftarrow Q(s_t, a_t)
        + \alpha \big(r_t + \gamma \sum_a \pi(a | s_{t+1}) Q(s_{t+1}, a) - Q(s_t, a_t)\big)

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
    tiling_ : TileCoding
        In a box: the tiles.
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
    The mean takes O(actions) a step, and the chance of the next action is gone from what is learnt: steps may be longer.

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
