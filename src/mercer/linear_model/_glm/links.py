"""Link functions: from the mean of a row to its linear value and back. They know no data and no family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from mercer._arrays import FloatArray
from mercer._saved import saved


@dataclass(frozen=True)
class Link:
    """A smooth, strictly monotone function g of the mean; the linear value of a row is g(mean).

    For a link of your own, inherit and write the three functions on arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Link
    >>> class Cubic(Link):
    ...     name = "cubic"
    ...     def link(self, mean):
    ...         return mean**3
    ...     def inverse(self, value):
    ...         return np.cbrt(value)
    ...     def derivative(self, value):
    ...         return np.cbrt(value) ** -2 / 3
    >>> Cubic().inverse(Cubic().link(np.array([2.0])))
    array([2.])
    """

    name: ClassVar[str] = "custom"

    def link(self, mean: FloatArray) -> FloatArray:
        """The linear value for a mean."""
        raise NotImplementedError

    def inverse(self, value: FloatArray) -> FloatArray:
        """The mean for a linear value; NaN where the value belongs to none."""
        raise NotImplementedError

    def derivative(self, value: FloatArray) -> FloatArray:
        """The derivative of `inverse`."""
        raise NotImplementedError


@saved("link.Identity")
@dataclass(frozen=True)
class Identity(Link):
    name: ClassVar[str] = "identity"

    def link(self, mean: FloatArray) -> FloatArray:
        return mean

    def inverse(self, value: FloatArray) -> FloatArray:
        return value

    def derivative(self, value: FloatArray) -> FloatArray:
        return np.ones_like(value)


@saved("link.Log")
@dataclass(frozen=True)
class Log(Link):
    name: ClassVar[str] = "log"

    def link(self, mean: FloatArray) -> FloatArray:
        value: FloatArray = np.log(mean)
        return value

    def inverse(self, value: FloatArray) -> FloatArray:
        mean: FloatArray = np.exp(value)
        return mean

    def derivative(self, value: FloatArray) -> FloatArray:
        return self.inverse(value)


@saved("link.Logit")
@dataclass(frozen=True)
class Logit(Link):
    name: ClassVar[str] = "logit"

    def link(self, mean: FloatArray) -> FloatArray:
        value: FloatArray = logit(mean)
        return value

    def inverse(self, value: FloatArray) -> FloatArray:
        mean: FloatArray = expit(value)
        return mean

    def derivative(self, value: FloatArray) -> FloatArray:
        slope: FloatArray = expit(value) * expit(-value)
        return slope


@saved("link.Probit")
@dataclass(frozen=True)
class Probit(Link):
    name: ClassVar[str] = "probit"

    def link(self, mean: FloatArray) -> FloatArray:
        value: FloatArray = ndtri(mean)
        return value

    def inverse(self, value: FloatArray) -> FloatArray:
        mean: FloatArray = ndtr(value)
        return mean

    def derivative(self, value: FloatArray) -> FloatArray:
        slope: FloatArray = np.exp(-(value**2) / 2) / np.sqrt(2 * np.pi)
        return slope


@saved("link.ComplementaryLogLog")
@dataclass(frozen=True)
class ComplementaryLogLog(Link):
    """log(-log(1 - mean))."""

    name: ClassVar[str] = "cloglog"

    def link(self, mean: FloatArray) -> FloatArray:
        value: FloatArray = np.log(-np.log1p(-mean))
        return value

    def inverse(self, value: FloatArray) -> FloatArray:
        mean: FloatArray = -np.expm1(-np.exp(value))
        return mean

    def derivative(self, value: FloatArray) -> FloatArray:
        slope: FloatArray = np.exp(value - np.exp(value))
        return slope


@saved("link.Inverse")
@dataclass(frozen=True)
class Inverse(Link):
    """1 / mean, for positive means."""

    name: ClassVar[str] = "inverse"

    def link(self, mean: FloatArray) -> FloatArray:
        return 1 / mean

    def inverse(self, value: FloatArray) -> FloatArray:
        return 1 / value

    def derivative(self, value: FloatArray) -> FloatArray:
        return -1 / value**2


@saved("link.Sqrt")
@dataclass(frozen=True)
class Sqrt(Link):
    """The root of a positive mean: linear values below zero belong to none, so that the link stays monotone."""

    name: ClassVar[str] = "sqrt"

    def link(self, mean: FloatArray) -> FloatArray:
        value: FloatArray = np.sqrt(mean)
        return value

    def inverse(self, value: FloatArray) -> FloatArray:
        return np.where(value >= 0, value**2, np.nan)

    def derivative(self, value: FloatArray) -> FloatArray:
        return 2 * value


LINKS: dict[str, Link] = {
    link.name: link for link in (Identity(), Log(), Logit(), Probit(), ComplementaryLogLog(), Inverse(), Sqrt())
}
