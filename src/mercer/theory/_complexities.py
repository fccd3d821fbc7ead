"""Bounds by Rademacher complexities and by margins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from mercer._params import Integer, Real, Rule
from mercer.theory._bound import Bound, deviation
from mercer.theory._classes import log_growth


@dataclass(frozen=True, kw_only=True, repr=False)
class Rademacher(Bound):
    r"""A class by its expected Rademacher complexity.

    .. math:: R(h) \le \hat R(h) + 2 \mathfrak R_m + \sqrt{\frac{\ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The mean loss on the rows; losses lie within [0, 1].
    complexity : float
        :math:`\mathfrak R_m`: of the losses of the class, in expectation over the rows. With the 0-1 loss it is half of that of
        the models, whose labels are -1 and +1.

    Notes
    -----
    With `rows_for` the complexity is taken to fall with the square root of the number of rows, as those of balls do.

    Examples
    --------
    >>> from mercer.theory import Rademacher
    >>> round(Rademacher(complexity=0.02, m=1000, delta=0.05, risk=0.1).value, 4)
    0.1787

    References
    ----------
    P. Bartlett and S. Mendelson, Rademacher and Gaussian complexities, JMLR 3 (2002).
    """

    complexity: float

    formula: ClassVar[str] = "risk + 2 complexity + sqrt(ln(1/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "complexity": Real(least=0)}

    @property
    def value(self) -> float:
        return self.risk + 2 * self.complexity + deviation(self.delta, self.m)

    def _with_rows(self, m: int) -> Self:
        return replace(self, m=m, complexity=self.complexity * math.sqrt(self.m / m))


@dataclass(frozen=True, kw_only=True, repr=False)
class EmpiricalRademacher(Rademacher):
    r"""A class by its Rademacher complexity on the rows themselves.

    .. math:: R(h) \le \hat R(h) + 2 \hat{\mathfrak R}_S + 3 \sqrt{\frac{\ln(2/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The mean loss on the rows; losses lie within [0, 1].
    complexity : float
        :math:`\hat{\mathfrak R}_S`: of the losses of the class, on the rows (`rademacher_complexity`).

    Examples
    --------
    >>> from mercer.theory import EmpiricalRademacher
    >>> round(EmpiricalRademacher(complexity=0.02, m=1000, delta=0.05, risk=0.1).value, 4)
    0.2688

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, theorem 3.3.
    """

    formula: ClassVar[str] = "risk + 2 complexity + 3 sqrt(ln(2/delta) / (2 m))"

    @property
    def value(self) -> float:
        return self.risk + 2 * self.complexity + 3 * deviation(self.delta / 2, self.m)


@dataclass(frozen=True, kw_only=True, repr=False)
class Margin(Rademacher):
    r"""The errors of a sign, by how many rows lie within a margin of the boundary.

    .. math:: R(h) \le \hat R_\rho(h) + \frac{2}{\rho} \hat{\mathfrak R}_S(H) + 3 \sqrt{\frac{\ln(2/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        :math:`\hat R_\rho`: the share of rows with y h(x) < rho.
    complexity : float
        :math:`\hat{\mathfrak R}_S(H)`: of the real-valued models h, on the rows.
    margin : float
        :math:`\rho`, fixed before the rows were seen. To choose it afterwards give each candidate a share of delta.

    Notes
    -----
    The dimension does not occur: in a ball of weights of norm one, the complexity is the root of the mean squared norm of rows
    over m at most.

    Examples
    --------
    >>> from mercer.theory import Margin
    >>> round(Margin(complexity=0.01, margin=0.5, m=10_000, delta=0.05, risk=0.02).value, 4)
    0.1007

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, theorem 5.8.
    """

    margin: float

    formula: ClassVar[str] = "risk + 2 complexity / margin + 3 sqrt(ln(2/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Rademacher._rules, "margin": Real(above=0)}

    @property
    def value(self) -> float:
        return self.risk + 2 * self.complexity / self.margin + 3 * deviation(self.delta / 2, self.m)


@dataclass(frozen=True, kw_only=True, repr=False)
class BoostingMargin(Bound):
    r"""A weighted vote, such as AdaBoost's, by the margins of its votes; the number of voters does not occur.

    .. math:: R \le \hat R_\rho + \frac{2}{\rho} \sqrt{\frac{2 \ln \Pi(m)}{m}} + \sqrt{\frac{\ln(1/\delta)}{2m}}, \qquad
              \Pi(m) = \sum_{i=0}^{d} \binom{m}{i}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        :math:`\hat R_\rho`: the share of rows whose margin y sum(alpha h(x)) / sum(alpha) is below rho.
    margin : float
        :math:`\rho`, in (0, 1], fixed before the rows were seen.
    dimension : int
        d: the VC dimension of the voters.

    Notes
    -----
    A convex hull has the Rademacher complexity of its corners.

    Examples
    --------
    >>> from mercer.theory import BoostingMargin
    >>> round(BoostingMargin(margin=0.5, dimension=2, m=100_000, delta=0.05, risk=0.05).value, 4)
    0.1384

    References
    ----------
    R. Schapire, Y. Freund, P. Bartlett and W. S. Lee, Boosting the margin, Annals of Statistics 26 (1998); in this form
    V. Koltchinskii and D. Panchenko, Annals of Statistics 30 (2002).
    """

    margin: float
    dimension: int

    formula: ClassVar[str] = (
        "risk + (2/margin) sqrt(2 ln Pi(m) / m) + sqrt(ln(1/delta) / (2 m)), Pi(m) = sum_{i <= dimension} C(m, i)"
    )
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "margin": Real(above=0, most=1), "dimension": Integer(0)}

    @property
    def value(self) -> float:
        complexity = math.sqrt(2 * log_growth(self.dimension, self.m) / self.m)
        return self.risk + 2 * complexity / self.margin + deviation(self.delta, self.m)
