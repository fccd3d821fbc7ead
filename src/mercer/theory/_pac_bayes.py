"""Bounds for models drawn at random from a posterior law over a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mercer._params import Real, Rule
from mercer.theory._bound import Bound
from mercer.theory._tails import largest_with_entropy


@dataclass(frozen=True, kw_only=True, repr=False)
class McAllester(Bound):
    r"""PAC-Bayes: the mean risk of models drawn from a posterior Q, for all Q at once.

    .. math:: R(Q) \le \hat R(Q) + \sqrt{\frac{\mathrm{KL}(Q \| P) + \ln(2\sqrt m/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        :math:`\hat R(Q)`: the mean loss on the rows of models drawn from Q.
    divergence : float
        :math:`\mathrm{KL}(Q \| P)`, where the prior P was fixed before the rows were seen.

    Examples
    --------
    >>> from mercer.theory import McAllester
    >>> round(McAllester(divergence=5.0, m=1000, delta=0.05, risk=0.1).value, 4)
    0.1779

    References
    ----------
    D. McAllester, PAC-Bayesian model averaging, COLT 1999, with the constants of A. Maurer, A note on the PAC-Bayesian theorem,
    2004.
    """

    divergence: float

    formula: ClassVar[str] = "risk + sqrt((divergence + ln(2 sqrt(m) / delta)) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "divergence": Real(least=0)}

    @property
    def _per_row(self) -> float:
        return (self.divergence + math.log(2 * math.sqrt(self.m) / self.delta)) / self.m

    @property
    def value(self) -> float:
        return self.risk + math.sqrt(self._per_row / 2)


@dataclass(frozen=True, kw_only=True, repr=False)
class Seeger(McAllester):
    r"""McAllester's bound before its root is taken: never larger, and much smaller for small risks.

    .. math:: R(Q) \le \max \left\{ p : \mathrm{kl}(\hat R(Q) \| p) \le \frac{\mathrm{KL}(Q \| P) + \ln(2\sqrt m/\delta)}{m}
              \right\}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        :math:`\hat R(Q)`.
    divergence : float
        :math:`\mathrm{KL}(Q \| P)`.

    Examples
    --------
    >>> from mercer.theory import Seeger
    >>> round(Seeger(divergence=5.0, m=1000, delta=0.05, risk=0.0).value, 4)
    0.0121

    References
    ----------
    M. Seeger, PAC-Bayesian generalisation error bounds for Gaussian process classification, JMLR 3 (2002); A. Maurer, 2004.
    """

    formula: ClassVar[str] = "largest p with kl(risk || p) <= (divergence + ln(2 sqrt(m) / delta)) / m"

    @property
    def value(self) -> float:
        return largest_with_entropy(self.risk, self._per_row)


@dataclass(frozen=True, kw_only=True, repr=False)
class Catoni(McAllester):
    r"""Catoni's PAC-Bayes bound: linear in the risk, without a term of ln m, for a C that was fixed beforehand.

    .. math:: R(Q) \le \frac{1}{1 - e^{-C}} \left[ 1 - \exp\left( -C \hat R(Q)
              - \frac{\mathrm{KL}(Q \| P) + \ln(1/\delta)}{m} \right) \right]

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        :math:`\hat R(Q)`.
    divergence : float
        :math:`\mathrm{KL}(Q \| P)`.
    C : float, default=1.0

    Examples
    --------
    >>> from mercer.theory import Catoni
    >>> round(Catoni(divergence=5.0, m=1000, delta=0.05, risk=0.1).value, 4)
    0.1619

    References
    ----------
    O. Catoni, PAC-Bayesian Supervised Classification, IMS 2007, theorem 1.2.6.
    """

    C: float = 1.0

    formula: ClassVar[str] = "(1 - exp(-C risk - (divergence + ln(1/delta)) / m)) / (1 - exp(-C))"
    _rules: ClassVar[Mapping[str, Rule]] = {**McAllester._rules, "C": Real(above=0)}

    @property
    def value(self) -> float:
        exponent = self.C * self.risk + (self.divergence - math.log(self.delta)) / self.m
        return math.expm1(-exponent) / math.expm1(-self.C)
