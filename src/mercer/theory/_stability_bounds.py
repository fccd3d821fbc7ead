"""Bounds by the stability of the learner: no class is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mercer._params import Integer, Null, Real, Rule
from mercer.theory._bound import Bound, deviation


@dataclass(frozen=True, kw_only=True, repr=False)
class UniformStability(Bound):
    r"""A learner whose loss anywhere moves by :math:`\beta / m` at most when one row is replaced.

    .. math:: R \le \hat R + \frac{\beta}{m} + (2 \beta + K) \sqrt{\frac{\ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The mean loss on the rows.
    beta : float
    loss_bound : float, default=1.0
        K: what no loss exceeds.

    Notes
    -----
    These are the constants of replacing a row; where rows are left out they are :math:`2\beta/m` and :math:`4\beta + K`.

    Examples
    --------
    >>> from mercer.theory import UniformStability
    >>> round(UniformStability(beta=1.0, m=10_000, delta=0.05, risk=0.1).value, 4)
    0.1368

    References
    ----------
    O. Bousquet and A. Elisseeff, Stability and generalization, JMLR 2 (2002); M. Mohri, A. Rostamizadeh and A. Talwalkar,
    Foundations of Machine Learning, 2nd ed., MIT Press 2018, theorem 14.2.
    """

    beta: float
    loss_bound: float = 1.0

    formula: ClassVar[str] = "risk + beta / m + (2 beta + loss_bound) sqrt(ln(1/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **Bound._rules,
        "risk": Real(least=0),
        "beta": Real(least=0),
        "loss_bound": Real(above=0),
    }

    @property
    def value(self) -> float:
        return self.risk + self.beta / self.m + (2 * self.beta + self.loss_bound) * deviation(self.delta, self.m)

    @property
    def largest_loss(self) -> float:
        return self.loss_bound


@dataclass(frozen=True, kw_only=True, repr=False)
class RegularizedLoss(Bound):
    r"""A learner that minimises a convex :math:`\rho`-Lipschitz loss plus :math:`\lambda \|w\|^2`, in expectation.

    .. math:: \mathbb E [R - \hat R] \le \frac{2 \rho^2}{\lambda m}

    Parameters
    ----------
    m : int
    delta : None, default=None
        There is none: the bound is on the expectation over the rows, and says nothing of how often single rows exceed it.
    risk : float, default=0.0
        The mean loss on the rows.
    lipschitz : float
        :math:`\rho`: of the loss as a function of w.
    strength : float
        :math:`\lambda`, where the objective is the mean loss plus :math:`\lambda \|w\|^2`.
    loss_bound : float or None, default=None
        What no loss exceeds, where that is known: a bound above it is vacuous.

    Examples
    --------
    >>> from mercer.theory import RegularizedLoss
    >>> bound = RegularizedLoss(lipschitz=1.0, strength=0.1, m=1000)
    >>> round(bound.gap, 4), bound.holds, bound.rows_for(0.01)
    (0.02, 'in expectation', 2000)

    References
    ----------
    S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, Cambridge 2014, corollary 13.6.
    """

    delta: None = None  # type: ignore[assignment]
    lipschitz: float
    strength: float
    loss_bound: float | None = None

    formula: ClassVar[str] = "risk + 2 lipschitz^2 / (strength m)"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "m": Integer(1),
        "delta": Null(),
        "risk": Real(least=0),
        "lipschitz": Real(least=0),
        "strength": Real(above=0),
        "loss_bound": Real(above=0) | Null(),
    }

    @property
    def value(self) -> float:
        return self.risk + 2 * self.lipschitz**2 / (self.strength * self.m)

    @property
    def largest_loss(self) -> float:
        return float("inf") if self.loss_bound is None else self.loss_bound

    @property
    def holds(self) -> str:
        return "in expectation"
