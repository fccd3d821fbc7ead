"""Bounds for all models of a class at once, by how many models it holds or how many ways it labels the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp

from mercer._params import Bool, Integer, Real, Rule, check_value
from mercer.theory._bound import Bound, deviation


def growth_function(dimension: int, m: int) -> float:
    r"""In how many ways a class of VC dimension d labels m points at most, by Sauer's lemma.

    .. math:: \Pi(m) \le \sum_{i=0}^{d} \binom{m}{i}

    Parameters
    ----------
    dimension : int
        d.
    m : int

    Returns
    -------
    growth : float
        Infinite where no float holds it.

    Examples
    --------
    Lines in the plane (d = 3) label four points in fifteen ways at most; in truth in fourteen:

    >>> from mercer.theory import growth_function
    >>> growth_function(3, 4), growth_function(3, 3)
    (15.0, 8.0)

    References
    ----------
    N. Sauer, On the density of families of sets, J. Combinatorial Theory A 13 (1972).
    """
    dimension = check_value("growth_function", "dimension", dimension, Integer(0))
    log = log_growth(dimension, check_value("growth_function", "m", m, Integer(1)))
    if log < 36:  # a whole number that floats hold
        return float(round(math.exp(log)))
    return math.exp(log) if log < 709 else math.inf


def log_growth(dimension: int, m: int) -> float:
    """The logarithm of Sauer's sum."""
    if dimension >= m:
        return m * math.log(2)
    if (
        dimension > 10_000 or m > 10**15
    ):  # (e m / d)^d is hardly more than so long a sum, and needs no binomials of huge numbers
        return dimension * math.log(math.e * m / max(dimension, 1))
    i = np.arange(dimension + 1)
    return float(logsumexp(gammaln(m + 1) - gammaln(i + 1) - gammaln(m - i + 1)))


@dataclass(frozen=True, kw_only=True, repr=False)
class FiniteClass(Bound):
    r"""The best model of a finite class, by Hoeffding's inequality for each and the union bound.

    .. math:: R(h) \le \hat R(h) + \sqrt{\frac{\ln |H| + \ln(1/\delta)}{2m}} \quad\text{for all } h \in H

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
    size : int
        :math:`|H|`: how many models were chosen among.
    two_sided : bool, default=False
        Bound the deviation to both sides, with ln(2/delta).

    Examples
    --------
    >>> from mercer.theory import FiniteClass
    >>> FiniteClass(size=1000, m=500, delta=0.05).rows_for(0.1)
    496

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, theorem 2.13.
    """

    size: int
    two_sided: bool = False

    formula: ClassVar[str] = "risk + sqrt((ln size + ln(1/delta)) / (2 m)), with ln(2/delta) where two-sided"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "size": Integer(1), "two_sided": Bool()}

    @property
    def value(self) -> float:
        log = math.log(self.size) + math.log((2 if self.two_sided else 1) / self.delta)
        return self.risk + math.sqrt(log / (2 * self.m))


@dataclass(frozen=True, kw_only=True, repr=False)
class RealizableFiniteClass(Bound):
    r"""A model of a finite class that makes no error on the rows.

    .. math:: R(h) \le \frac{\ln |H| + \ln(1/\delta)}{m} \quad\text{for all } h \in H \text{ with } \hat R(h) = 0

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        Nothing else is valid.
    size : int
        :math:`|H|`.

    Examples
    --------
    >>> from mercer.theory import RealizableFiniteClass
    >>> RealizableFiniteClass(size=1000, m=500, delta=0.05).rows_for(0.1)
    100

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, theorem 2.5.
    """

    size: int

    formula: ClassVar[str] = "(ln size + ln(1/delta)) / m"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "risk": Real(least=0, most=0), "size": Integer(1)}

    @property
    def value(self) -> float:
        return (math.log(self.size) - math.log(self.delta)) / self.m


@dataclass(frozen=True, kw_only=True, repr=False)
class Massart(Bound):
    r"""A class that labels any m rows in at most :math:`\Pi` ways, by Massart's lemma.

    .. math:: R(h) \le \hat R(h) + \sqrt{\frac{2 \ln \Pi}{m}} + \sqrt{\frac{\ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The share of errors on the rows.
    log_size : float
        :math:`\ln \Pi`.

    Notes
    -----
    Massart's lemma: vectors of length m and norm r have a Rademacher complexity of :math:`r \sqrt{2 \ln \Pi} / m` at most.
    Losses of 0 and 1 less one half have norm :math:`\sqrt m / 2`.

    Examples
    --------
    >>> from mercer.theory import Massart
    >>> round(Massart(log_size=5.0, m=10_000, delta=0.05).gap, 4)
    0.0439

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, section 3.2.
    """

    log_size: float

    formula: ClassVar[str] = "risk + sqrt(2 log_size / m) + sqrt(ln(1/delta) / (2 m))"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "log_size": Real(least=0)}

    @property
    def value(self) -> float:
        return self.risk + math.sqrt(2 * self.log_size / self.m) + deviation(self.delta, self.m)


@dataclass(frozen=True, kw_only=True, repr=False)
class VC(Bound):
    r"""A class of two-class models by its VC dimension: Massart's bound with the growth function of Sauer's lemma.

    .. math:: R(h) \le \hat R(h) + \sqrt{\frac{2 \ln \Pi(m)}{m}} + \sqrt{\frac{\ln(1/\delta)}{2m}}, \qquad
              \Pi(m) = \sum_{i=0}^{d} \binom{m}{i}

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        The share of errors on the rows.
    dimension : int
        d.

    Notes
    -----
    It holds for every model of the class at once, the one that was fitted to the rows included.

    Examples
    --------
    >>> from mercer.theory import VC
    >>> bound = VC(dimension=3, m=1000, delta=0.05)
    >>> round(bound.value, 4), bound.rows_for(0.1)
    (0.2333, 6807)
    >>> VC(dimension=300, m=1000, delta=0.05).is_vacuous
    True

    References
    ----------
    M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2nd ed., MIT Press 2018, corollary 3.9.
    """

    dimension: int

    formula: ClassVar[str] = "risk + sqrt(2 ln Pi(m) / m) + sqrt(ln(1/delta) / (2 m)), Pi(m) = sum_{i <= dimension} C(m, i)"
    _rules: ClassVar[Mapping[str, Rule]] = {**Bound._rules, "dimension": Integer(0)}

    @property
    def value(self) -> float:
        growth = log_growth(self.dimension, self.m)
        return self.risk + math.sqrt(2 * growth / self.m) + deviation(self.delta, self.m)


@dataclass(frozen=True, kw_only=True, repr=False)
class RealizableVC(Bound):
    r"""A model without an error on the rows, by the VC dimension of its class.

    .. math:: R(h) \le \frac{2}{m} \left( \log_2 \Pi(2m) + \log_2 \frac{2}{\delta} \right)

    Parameters
    ----------
    m : int
    delta : float
    risk : float, default=0.0
        Nothing else is valid.
    dimension : int

    Examples
    --------
    >>> from mercer.theory import RealizableVC
    >>> round(RealizableVC(dimension=3, m=1000, delta=0.05).value, 4)
    0.0713

    References
    ----------
    A. Blumer, A. Ehrenfeucht, D. Haussler and M. Warmuth, Learnability and the Vapnik-Chervonenkis dimension, J. ACM 36 (1989).
    """

    dimension: int

    formula: ClassVar[str] = "2 (log2 Pi(2 m) + log2(2/delta)) / m, Pi(m) = sum_{i <= dimension} C(m, i)"
    _rules: ClassVar[Mapping[str, Rule]] = {**VC._rules, "risk": Real(least=0, most=0)}

    @property
    def value(self) -> float:
        return 2 * (log_growth(self.dimension, 2 * self.m) + math.log(2 / self.delta)) / (math.log(2) * self.m)
