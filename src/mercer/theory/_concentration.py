"""How far means stray from their expectations: Hoeffding, McDiarmid, Bernstein."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mercer._params import Bool, InvalidParameterError, Real, Rule
from mercer.theory._bound import Bound, deviation

_SPAN = {"span": Real(above=0), "risk": Real(least=0)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Hoeffding(Bound):
    r"""The risk of one model that was fixed before the rows were seen, by Hoeffding's inequality.

    .. math:: R \le \hat R + b \sqrt{\frac{\ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
        Rows that the model has not seen in its fit.
    delta : float
    risk : float, default=0.0
        The mean loss on them.
    span : float, default=1.0
        b: losses lie within [0, b].
    two_sided : bool, default=False
        Bound the deviation to both sides, with ln(2/delta).

    Notes
    -----
    As a bound for a test set it is simple; for shares of errors `BinomialTest` is tighter.

    Examples
    --------
    >>> from mercer.theory import Hoeffding
    >>> Hoeffding(m=200, delta=0.05).rows_for(0.05)
    600
    >>> round(Hoeffding(m=200, delta=0.05).gap, 4)
    0.0865

    References
    ----------
    W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963).
    """

    span: float = 1.0
    two_sided: bool = False

    formula: ClassVar[str] = "risk + span sqrt(ln(1/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, **_SPAN, "two_sided": Bool()}

    @property
    def value(self) -> float:
        return self.risk + self.span * deviation(self.delta / 2 if self.two_sided else self.delta, self.m)

    @property
    def largest_loss(self) -> float:
        return self.span

    @property
    def inputs(self) -> dict[str, object]:
        inputs = super().inputs
        return inputs if self.two_sided else {name: inputs[name] for name in inputs if name != "two_sided"}


@dataclass(frozen=True, kw_only=True, repr=False)
class McDiarmid(Bound):
    r"""How far a statistic of m independent rows lies below its expectation, by McDiarmid's inequality.

    .. math:: \mathbb E f \le f(S) + c \sqrt{\frac{\ln(1/\delta)}{2m}} \quad\text{where}\quad
              |f(S) - f(S^{(i)})| \le c / m

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        f(S): the statistic on the rows.
    scale : float, default=1.0
        c: to replace one row moves the statistic by c / m at most.

    Notes
    -----
    For a mean it is Hoeffding's inequality; it holds for suprema over classes and for errors of fitted models as well.

    Examples
    --------
    >>> from mercer.theory import McDiarmid
    >>> round(McDiarmid(m=500, delta=0.01, scale=2.0).gap, 4)
    0.1357

    References
    ----------
    C. McDiarmid, On the method of bounded differences, Surveys in Combinatorics, 1989.
    """

    scale: float = 1.0

    formula: ClassVar[str] = "risk + scale sqrt(ln(1/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "risk": Real(), "scale": Real(above=0)}

    @property
    def value(self) -> float:
        return self.risk + self.scale * deviation(self.delta, self.m)

    @property
    def is_vacuous(self) -> bool:
        return self.gap >= self.scale

    @property
    def largest_loss(self) -> float:
        return math.inf


@dataclass(frozen=True, kw_only=True, repr=False)
class Bernstein(Bound):
    r"""Hoeffding's question where the variance of the loss is known: few errors are known more precisely.

    .. math:: R \le \hat R + \sqrt{\frac{2 \sigma^2 \ln(1/\delta)}{m}} + \frac{b \ln(1/\delta)}{3m}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
    variance : float
        Of the loss, by its law (not estimated on the rows: `EmpiricalBernstein` is for that).
    span : float, default=1.0
        b: losses lie within [0, b].

    Examples
    --------
    >>> from mercer.theory import Bernstein
    >>> round(Bernstein(m=1000, delta=0.05, variance=0.01).gap, 4)
    0.0087

    References
    ----------
    S. Boucheron, G. Lugosi and P. Massart, Concentration Inequalities, Oxford 2013, section 2.8.
    """

    variance: float
    span: float = 1.0

    formula: ClassVar[str] = "risk + sqrt(2 variance ln(1/delta) / m) + span ln(1/delta) / (3 m)"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, **_SPAN, "variance": Real(least=0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        require_variance(self)

    @property
    def value(self) -> float:
        log = -math.log(self.delta)
        return self.risk + math.sqrt(2 * self.variance * log / self.m) + self.span * log / (3 * self.m)

    @property
    def largest_loss(self) -> float:
        return self.span


@dataclass(frozen=True, kw_only=True, repr=False)
class EmpiricalBernstein(Bound):
    r"""Bernstein's bound with the variance that the rows themselves show.

    .. math:: R \le \hat R + \sqrt{\frac{2 V \ln(2/\delta)}{m}} + \frac{7 b \ln(2/\delta)}{3 (m - 1)}

    Parameters
    ----------
    m : int
        Two at least.
    delta : float
    risk : float, default=0.0
    variance : float
        V: of the losses on the rows, divided by m - 1.
    span : float, default=1.0
        b: losses lie within [0, b].

    Examples
    --------
    >>> from mercer.theory import EmpiricalBernstein
    >>> EmpiricalBernstein(m=1000, delta=0.05, variance=0.01).rows_for(0.01)
    2109

    References
    ----------
    A. Maurer and M. Pontil, Empirical Bernstein bounds and sample-variance penalization, COLT 2009, theorem 4.
    """

    variance: float
    span: float = 1.0

    formula: ClassVar[str] = "risk + sqrt(2 variance ln(2/delta) / m) + 7 span ln(2/delta) / (3 (m - 1))"
    _rules: ClassVar[Mapping[str, Rule]] = Bernstein._rules

    def __post_init__(self) -> None:
        super().__post_init__()
        require_variance(self, slack=self.m / max(self.m - 1, 1))

    @property
    def value(self) -> float:
        if self.m == 1:
            return math.inf
        log = math.log(2 / self.delta)
        return self.risk + math.sqrt(2 * self.variance * log / self.m) + 7 * self.span * log / (3 * (self.m - 1))

    @property
    def largest_loss(self) -> float:
        return self.span


def require_variance(bound: Bernstein | EmpiricalBernstein, slack: float = 1.0) -> None:
    """Refuse a variance that no loss within the span has."""
    most = bound.span**2 / 4 * slack
    if bound.variance > most * (1 + 1e-9):
        raise InvalidParameterError(
            f"{type(bound).__name__}: variance={bound.variance!r} is not valid; losses within [0, span={bound.span:g}] have "
            f"one of {most:g} at most."
        )
