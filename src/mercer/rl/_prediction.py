"""Values of a policy from experience: Monte Carlo, temporal differences, and least squares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._base import MercerEstimator, fit_method
from mercer._native import kernels
from mercer._params import Bool, Instance, Integer, Null, OneOf, RandomState, Real, Rule, check_params
from mercer.rl._episodes import Episodes, sample_episodes
from mercer.rl._mdp import MDP
from mercer.rl._policy import checked_policy
from mercer.rl._tiles import TileCoding

_RULES: Mapping[str, Rule] = {
    "discount": Real(least=0, most=1) | Null(),
    "tiling": Instance(TileCoding) | Null(),
    "random_state": RandomState(),
}


class _Predictor(MercerEstimator, ABC):
    """Learns values of states from episodes."""

    @fit_method
    def fit(
        self,
        env: Any,
        policy: Any = None,
        *,
        n_episodes: int = 1000,
        max_steps: int | None = None,
        behaviour: Any = None,
    ) -> Self:
        """Learn the values of a policy.

        Parameters
        ----------
        env : MDP, environment or Episodes
            What to act in, or what was seen already.
        policy : array-like, plan, agent, callable or None, default=None
            The policy, as in :func:`sample_episodes`.
        n_episodes, max_steps
            As in :func:`sample_episodes`; not read where `env` is Episodes.
        behaviour : array-like, plan, agent or None, default=None
            In an MDP: another policy that acts, while `policy` is judged by importance sampling. It must take every action that
            `policy` takes. None means that `policy` itself acts.

        Returns
        -------
        self : estimator
        """
        params, name = check_params(self), type(self).__name__
        ratios, discount, n_states = None, params.discount, None
        tiling = getattr(params, "tiling", None)  # means need a table
        if behaviour is not None and not isinstance(env, MDP | Episodes):
            raise ValueError(f"{name}: behaviour needs an MDP, whose policies have known probabilities.")
        if isinstance(env, Episodes):
            if policy is not None or behaviour is not None:
                raise ValueError(f"{name}: of episodes that were seen already the policy is not asked; leave it out.")
            episodes = env
        else:
            acting = policy if behaviour is None else behaviour
            episodes = sample_episodes(
                env, acting, n_episodes=n_episodes, max_steps=max_steps, random_state=params.random_state
            )
        if isinstance(env, MDP):
            n_states = env.n_states
            discount = env.discount if discount is None else discount
            ratios = None if behaviour is None else _ratios(env, policy, behaviour, episodes)
        lessons, n_features = _lessons(name, episodes, tiling, ratios, n_states)
        self._unset("v_", "weights_", "standard_errors_", "n_visits_")
        discount = 0.99 if discount is None else discount
        found = self._learn(lessons, n_features, discount, params)
        if tiling is not None:
            found["weights_"] = found.pop("v_")
        tiles = {"tiling_": tiling} if hasattr(params, "tiling") else {}
        counts = {"n_episodes_": len(episodes), "n_steps_": len(episodes.rewards)}
        self._store({**found, **tiles, **counts, "discount_": discount})
        return self

    @abstractmethod
    def _learn(self, lessons: Any, n_features: int, discount: float, params: SimpleNamespace) -> dict[str, Any]:
        """The values, and what is known of them."""

    def predict(self, states: Any) -> FloatArray:
        """The values of states, or of points."""
        check_is_fitted(self)
        if (tiling := getattr(self, "tiling_", None)) is None:
            values: FloatArray = self.v_[np.asarray(states)]
            return values
        sums: FloatArray = self.weights_[tiling.encode(states)].sum(axis=1)
        return sums


def _ratios(mdp: MDP, policy: Any, behaviour: Any, episodes: Episodes) -> FloatArray:
    """How much likelier each action was under the policy than under the one that acted."""
    tables = []
    for each in (policy, behaviour):
        pairs = checked_policy(mdp, each)
        share = pairs
        if pairs.dtype.kind == "i":
            share = np.zeros(len(mdp.pair_states))
            share[pairs[pairs >= 0]] = 1.0
        tables.append(mdp.table(np.asarray(share), 0.0))
    missing = np.argwhere((tables[0] > 0) & (tables[1] == 0) & ~mdp.is_terminal[:, None])
    if len(missing):
        raise ValueError(f"behaviour: {mdp._name_of(*map(int, missing[0]))}: the policy takes it, and behaviour never does.")
    where = (episodes.states, episodes.actions)
    ratios: FloatArray = tables[0][where] / tables[1][where]
    return ratios


def _lessons(
    name: str, episodes: Episodes, tiling: TileCoding | None, ratios: FloatArray | None, n_states: int | None
) -> tuple[Any, int]:
    if tiling is None:
        if episodes.states.ndim != 1 or episodes.states.dtype.kind not in "iu":
            raise ValueError(f"{name}: states are points of shape {episodes.states.shape[1:]}; give a tiling.")
        n = 1 + max(int(episodes.states.max()), int(episodes.last.max())) if n_states is None else n_states
        features, last = (np.ascontiguousarray(part[:, None], dtype=np.int32) for part in (episodes.states, episodes.last))
    else:
        if episodes.states.ndim == 1:
            raise ValueError(f"{name}: states are numbers, which need no tiling; leave it out.")
        n, features, last = tiling.n_features, tiling.encode(episodes.states), tiling.encode(episodes.last)
    starts = np.ascontiguousarray(episodes.starts, dtype=np.int64)
    is_end = np.ascontiguousarray(episodes.is_end, dtype=np.uint8)
    rewards = np.ascontiguousarray(episodes.rewards, dtype=np.float64)
    return kernels.Lessons(features, last, rewards, starts, is_end, ratios, n), n


class MonteCarlo(_Predictor):
    r"""Values as means of what followed: :math:`v(s) = \mathbb{E}[r_0 + \gamma r_1 + \dots \mid s_0 = s]`.

    Parameters
    ----------
    visits : {"first", "every"}, default="first"
        Which visits of a state in an episode count.
    alpha : float or "1/n", default="1/n"
        The length of a step towards each return; one over the number of visits makes values means.
    importance : {"ordinary", "weighted"}, default="weighted"
        With another behaviour: whether returns times their odds are divided by their number (without bias), or by the sum of
        the odds (with less variance).
    takes_cut : bool, default=False
        Whether the returns of episodes that were cut short count as they are; they are left out otherwise.
    discount : float or None, default=None
        What a reward a step later is worth; None means that of the MDP, and .99 elsewhere.
    random_state : int, RandomState or None, default=None
        What chance draws from.

    Attributes
    ----------
    v_ : ndarray of shape (n_states,)
        The values; NaN where a state was never visited.
    standard_errors_ : ndarray of shape (n_states,)
        Of means over first visits: how far they may be off; visits of one episode are not independent.
    n_visits_ : ndarray of shape (n_states,)
        How many returns, or what sum of odds, each value rests on.
    n_episodes_, n_steps_ : int
        How much was learnt from.
    discount_ : float
        The discount that was used.

    Examples
    --------
    >>> from mercer.rl import MonteCarlo, frozen_lake, policy_evaluation
    >>> lake = frozen_lake()
    >>> found = MonteCarlo(random_state=0).fit(lake, n_episodes=20_000)
    >>> bool(abs(found.v_[0] - policy_evaluation(lake).v_[0]) < 3 * found.standard_errors_[0])
    True

    References
    ----------
    S. Singh and R. Sutton, Reinforcement learning with replacing eligibility traces, Machine Learning 22 (1996).
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **{name: rule for name, rule in _RULES.items() if name != "tiling"},
        "visits": OneOf("first", "every"),
        "alpha": Real(above=0, most=1) | OneOf("1/n"),
        "importance": OneOf("ordinary", "weighted"),
        "takes_cut": Bool(),
    }

    def __init__(
        self,
        *,
        visits: str = "first",
        alpha: float | str = "1/n",
        importance: str = "weighted",
        takes_cut: bool = False,
        discount: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.visits = visits
        self.alpha = alpha
        self.importance = importance
        self.takes_cut = takes_cut
        self.discount = discount
        self.random_state = random_state

    def _learn(self, lessons: Any, n_features: int, discount: float, params: SimpleNamespace) -> dict[str, Any]:
        is_first = params.visits == "first"
        if params.alpha != "1/n":
            values = np.zeros(n_features)
            lessons.step_to_returns(discount, is_first, params.alpha, values)
            return {"v_": values}
        sums, squares, weights = (np.zeros(n_features) for _ in range(3))
        is_weighted = params.importance == "weighted"
        lessons.sum_returns(discount, is_first, is_weighted, params.takes_cut, sums, squares, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums / weights
            variances = np.maximum(squares / weights - means**2, 0.0)
            errors = np.sqrt(variances / np.maximum(weights - 1, 0.0))
        return {"v_": means, "standard_errors_": errors, "n_visits_": weights}


class TemporalDifference(_Predictor):
    r"""Values that move towards what the next ones say.

    .. math:: v(s_t) \leftarrow v(s_t) + \alpha \big(r_t + \gamma v(s_{t+1}) - v(s_t)\big)

    Parameters
    ----------
    alpha : float or "1/n", default=0.1
        The length of a step, or one over the number of visits to the power `power`.
    power : float, default=1.0
        Of 1/n; above .5, and to 1, values converge.
    n_steps : int, default=1
        How many rewards a state waits for before it looks at a value.
    trace_decay : float, default=0.0
        :math:`\lambda`: 0 is TD(0), 1 is Monte Carlo's mean of returns, learnt on the way.
    traces : {"accumulating", "replacing"}, default="accumulating"
        What another visit does to a trace: adds one, or sets it to one.
    n_passes : int, default=1
        How often the episodes are gone through.
    discount : float or None, default=None
        What a reward a step later is worth; None means that of the MDP, and .99 elsewhere.
    tiling : TileCoding or None, default=None
        The tiles of points of a box: values are linear in them.
    random_state : int, RandomState or None, default=None
        What chance draws from.

    Attributes
    ----------
    v_ : ndarray of shape (n_states,)
        The values.
    weights_ : ndarray of shape (n_tiles,)
        With a tiling instead: a value is the sum over the tiles of a point.
    n_visits_ : ndarray
        How often each state, or tile, was met.
    tiling_ : TileCoding or None
        The tiles.
    n_episodes_, n_steps_ : int
        How much was learnt from.
    discount_ : float
        The discount that was used.

    Examples
    --------
    >>> from mercer.rl import TemporalDifference, frozen_lake, policy_evaluation
    >>> lake = frozen_lake(discount=0.9)
    >>> found = TemporalDifference(alpha="1/n", power=0.7, random_state=0).fit(lake, n_episodes=20_000)
    >>> bool(abs(found.v_ - policy_evaluation(lake).v_).max() < 0.1)
    True

    References
    ----------
    R. Sutton, Learning to predict by the methods of temporal differences, Machine Learning 3 (1988).
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **_RULES,
        "alpha": Real(above=0, most=1) | OneOf("1/n"),
        "power": Real(above=0, most=1),
        "n_steps": Integer(1),
        "trace_decay": Real(least=0, most=1),
        "traces": OneOf("accumulating", "replacing"),
        "n_passes": Integer(1),
    }

    def __init__(
        self,
        *,
        alpha: float | str = 0.1,
        power: float = 1.0,
        n_steps: int = 1,
        trace_decay: float = 0.0,
        traces: str = "accumulating",
        n_passes: int = 1,
        discount: float | None = None,
        tiling: TileCoding | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.power = power
        self.n_steps = n_steps
        self.trace_decay = trace_decay
        self.traces = traces
        self.n_passes = n_passes
        self.discount = discount
        self.tiling = tiling
        self.random_state = random_state

    def _learn(self, lessons: Any, n_features: int, discount: float, params: SimpleNamespace) -> dict[str, Any]:
        if params.n_steps > 1 and params.trace_decay > 0:
            raise ValueError("TemporalDifference: n_steps and trace_decay are two ways to look further; choose one.")
        values, counts = np.zeros(n_features), np.zeros(n_features)
        alpha, power = (1.0, params.power) if params.alpha == "1/n" else (params.alpha, 0.0)
        for _ in range(params.n_passes):
            lessons.step_to_differences(
                discount, params.trace_decay, params.traces == "replacing", params.n_steps, alpha, power, values, counts
            )
        return {"v_": values, "n_visits_": counts}


class LSTD(_Predictor):
    r"""The values that temporal differences approach, from the equations that hold there.

    .. math:: \Big(\sum_t z_t (\phi_t - \gamma \phi_{t+1})^\top + \alpha I\Big) w = \sum_t z_t r_t, \qquad
        z_t = \gamma \lambda z_{t-1} + \phi_t

    Parameters
    ----------
    alpha : float, default=1e-6
        Ridge: what keeps states that were hardly met from large values.
    trace_decay : float, default=0.0
        :math:`\lambda`.
    discount : float or None, default=None
        What a reward a step later is worth; None means that of the MDP, and .99 elsewhere.
    tiling : TileCoding or None, default=None
        The tiles of points of a box: values are linear in them.
    random_state : int, RandomState or None, default=None
        What chance draws from.

    Attributes
    ----------
    v_ : ndarray of shape (n_states,)
        The values.
    weights_ : ndarray of shape (n_tiles,)
        With a tiling instead.
    tiling_ : TileCoding or None
        The tiles.
    n_episodes_, n_steps_ : int
        How much was learnt from.
    discount_ : float
        The discount that was used.

    Notes
    -----
    No rate has to be chosen, and all that was seen counts alike. It takes O(features) a step and O(features^3) at the end, and
    a matrix of features x features.

    Examples
    --------
    >>> from mercer.rl import LSTD, frozen_lake, policy_evaluation
    >>> lake = frozen_lake(discount=0.9)
    >>> found = LSTD(random_state=0).fit(lake, n_episodes=20_000)
    >>> bool(abs(found.v_ - policy_evaluation(lake).v_).max() < 0.05)
    True

    References
    ----------
    S. Bradtke and A. Barto, Linear least-squares algorithms for temporal difference learning, Machine Learning 22 (1996).
    """

    _parameter_rules: ClassVar[Mapping[str, Rule]] = {
        **_RULES,
        "alpha": Real(above=0),
        "trace_decay": Real(least=0, most=1),
    }

    def __init__(
        self,
        *,
        alpha: float = 1e-6,
        trace_decay: float = 0.0,
        discount: float | None = None,
        tiling: TileCoding | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.trace_decay = trace_decay
        self.discount = discount
        self.tiling = tiling
        self.random_state = random_state

    def _learn(self, lessons: Any, n_features: int, discount: float, params: SimpleNamespace) -> dict[str, Any]:
        matrix, right = np.zeros((n_features, n_features)), np.zeros(n_features)
        lessons.sum_equations(discount, params.trace_decay, matrix, right)
        matrix[np.diag_indices(n_features)] += params.alpha
        return {"v_": np.linalg.solve(matrix, right)}
