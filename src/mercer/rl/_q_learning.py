"""Agents that learn the values of the best actions, whatever they do: `QLearning` and `DoubleQLearning`."""

from __future__ import annotations

from mercer.rl._agent import PlainAgent
from mercer.rl._sarsa import SARSA


class QLearning(SARSA):
    r"""Learns the values of the best actions, whatever it does meanwhile; with traces it is Watkins's Q(λ).

    .. math:: Q(s_t, a_t) \leftarrow Q(s_t, a_t) + \alpha \big(r_t + \gamma \max_a Q(s_{t+1}, a) - Q(s_t, a_t)\big)

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
    After an action that is not the best one traces are cut: what came before no longer leads to the values that are learnt.

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


class DoubleQLearning(PlainAgent):
    r"""Q-learning with two tables: one says which action is best, the other what it is worth, and no luck is taken for skill.

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
    `q_` and `weights_` are the mean of both tables. Each step moves one of them, by a coin.

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
