"""What planning finds: values, policy, and how near they are to the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer._saved import saved
from mercer._trace import Certificate, Record


@saved("mercer.rl.BellmanCertificate")
@dataclass(frozen=True, repr=False)
class BellmanCertificate(Certificate):
    """What is left of Bellman's equation, and how far values may be from exact ones because of it.

    Attributes
    ----------
    bound : float or None
        No value is further from the exact one. None where the residual implies none: with a discount of 1.
    """

    bound: float | None = None

    def __repr__(self) -> str:
        words = "no bound on values follows" if self.bound is None else f"values are exact to {self.bound:.3g}"
        return f"{super().__repr__()}\n  {words}"


@saved("mercer.rl.Plan", is_model=True)
@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The best policy that a method has found, and its values.

    Attributes
    ----------
    v_ : ndarray of shape (n_states,)
        The value of each state under the best policy, to within `certificate_.bound`. For average rewards the relative value.
    policy_ : ndarray of int of shape (n_states,)
        The action to take in each state; -1 in terminal states.
    q_ : ndarray of shape (n_states, n_actions)
        The value of each action; minus infinity where there is no such action.
    certificate_ : BellmanCertificate
        What is left of Bellman's equation, and the bound on the values that it implies.
    history_ : list of dict
        What each iteration reached.
    gain_ : float or None
        The average reward a step, where that is what the process is about.

    Examples
    --------
    >>> from mercer.rl import frozen_lake, value_iteration
    >>> plan = value_iteration(frozen_lake())
    >>> round(float(plan.v_[0]), 4), plan.certificate_.bound <= 1e-6
    (0.542, True)
    """

    v_: FloatArray
    policy_: npt.NDArray[np.int64]
    q_: FloatArray
    certificate_: BellmanCertificate
    history_: list[Record] = field(default_factory=list)
    gain_: float | None = None

    @property
    def n_iter_(self) -> int:
        return len(self.history_)

    def act(self, state: int) -> int:
        """The action to take in a state."""
        return int(self.policy_[state])

    def __repr__(self) -> str:
        bound = self.certificate_.bound
        exact = "" if bound is None else f", values exact to {bound:.2g}"
        gain = "" if self.gain_ is None else f", average reward {self.gain_:.6g}"
        return f"Plan({len(self.v_):,} states; {self.certificate_.method}{exact}{gain})"


@saved("mercer.rl.Evaluation", is_model=True)
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The values of a policy.

    Attributes
    ----------
    v_ : ndarray of shape (n_states,)
        The value of each state.
    q_ : ndarray of shape (n_states, n_actions)
        The value of taking an action first and following the policy then.
    certificate_ : BellmanCertificate
        What is left of Bellman's equation of the policy, and the bound that it implies.
    history_ : list of dict
        What each iteration reached; empty for a direct method.

    Examples
    --------
    >>> from mercer.rl import frozen_lake, policy_evaluation
    >>> round(float(policy_evaluation(frozen_lake(discount=1.0)).v_[0]), 6)
    0.01394
    """

    v_: FloatArray
    q_: FloatArray
    certificate_: BellmanCertificate
    history_: list[Record] = field(default_factory=list)

    @property
    def n_iter_(self) -> int:
        return len(self.history_)

    def __repr__(self) -> str:
        return f"Evaluation({len(self.v_):,} states; {self.certificate_.method})"


@saved("mercer.rl.HorizonPlan", is_model=True)
@dataclass(frozen=True, eq=False, repr=False)
class HorizonPlan:
    """The best policy over a number of steps, which depends on how many are left.

    Attributes
    ----------
    v_ : ndarray of shape (horizon + 1, n_states)
        The value of each state before step t; zero at the end.
    policy_ : ndarray of int of shape (horizon, n_states)
        The action to take in each state at step t; -1 in terminal states.

    Examples
    --------
    >>> from mercer.rl import backward_induction, gambler
    >>> float(backward_induction(gambler(goal=10), horizon=3).v_[0, 5].round(4))
    0.4
    """

    v_: FloatArray
    policy_: npt.NDArray[np.int64]

    def act(self, state: int, step: int) -> int:
        """The action to take in a state at a step."""
        return int(self.policy_[step, state])

    def __repr__(self) -> str:
        return f"HorizonPlan({self.policy_.shape[0]} steps, {self.policy_.shape[1]:,} states)"


def require_discounted(owner: str, mdp: Any) -> float:
    """The discount, of a process that has one and no end by number of steps."""
    if mdp.horizon is not None:
        raise ValueError(
            f"{owner}: the process ends after horizon={mdp.horizon} steps, so that the best policy depends on the step; use "
            "backward_induction, or mdp.with_(horizon=None)."
        )
    if mdp.discount is None:
        raise ValueError(f"{owner}: the process is about average rewards (discount=None); use relative_value_iteration.")
    return float(mdp.discount)


def bound_of(mdp: Any, discount: float, least: float, most: float) -> tuple[float | None, float]:
    """How far values one backup on may be from exact ones, given the range of the changes; and what to add to them first.

    With changes between `least` and `most`, exact values lie between discount / (1 - discount) times both above the new ones
    (MacQueen, 1966). A terminal state, whose value does not change, is a change of zero, and its value cannot be shifted.
    """
    if discount == 1.0:
        return None, 0.0
    factor = discount / (1.0 - discount)
    if mdp.is_terminal.any():
        return factor * max(-least, most, 0.0), 0.0
    return factor * (most - least) / 2, factor * (least + most) / 2


def tolerated(discount: float, tol: float) -> float:
    """The residual whose bound on the values is `tol`; with a discount of 1 that residual itself, and of 0 any."""
    if discount == 0.0:
        return math.inf
    return tol if discount == 1.0 else tol * (1.0 - discount) / discount
