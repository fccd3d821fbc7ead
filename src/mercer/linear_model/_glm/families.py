"""Exponential dispersion families: what a generalised linear model has to know about the law of its target.

For a mean m, a dispersion phi and a weight s, a target has the variance phi V(m) / s; V fixes the family. Maximum likelihood is
least deviance, so that fits know `loss`, half the unit deviance up to terms of y alone, and never the dispersion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, wright_bessel, xlog1py, xlogy

from mercer._arrays import FloatArray
from mercer._saved import saved

TINY = float(np.finfo(np.float64).tiny)
NEARLY_ONE = 1 - float(np.finfo(np.float64).epsneg)
LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Family:
    """The law of the target: its variance function, deviance and likelihood, all on arrays.

    For a family of your own, inherit, write `variance` and `unit_deviance`, and say what means and targets there are; with
    `log_likelihood`, summaries have one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear_model import Family, GeneralizedLinearRegressor
    >>> class NegativeBinomial(Family):
    ...     name, default_link, least_mean = "negative binomial", "log", 0.0
    ...     targets, has_fixed_scale = "y >= 0", True
    ...     def allows(self, y):
    ...         return y >= 0
    ...     def variance(self, mean):
    ...         return mean + mean**2
    ...     def unit_deviance(self, y, mean):
    ...         ratio = np.where(y > 0, y, 1) / mean
    ...         return 2 * (y * np.log(ratio) - (y + 1) * np.log((1 + y) / (1 + mean)))
    >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 0, 3, 4, 9, 12])
    >>> GeneralizedLinearRegressor(NegativeBinomial()).fit(X, y).coef_.round(3)
    array([0.624])
    """

    name: ClassVar[str] = "custom"
    default_link: ClassVar[str] = "identity"
    least_mean: ClassVar[float] = -np.inf  # an open bound
    largest_mean: ClassVar[float] = np.inf  # an open bound
    targets: ClassVar[str] = "any real number"
    has_fixed_scale: ClassVar[bool] = False  # whether the dispersion is one

    def allows(self, y: FloatArray) -> Any:
        """Which targets belong to the family."""
        return np.ones_like(y, dtype=bool)

    def variance(self, mean: FloatArray) -> FloatArray:
        """V(mean)."""
        raise NotImplementedError

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        """Zero where the mean is y, positive elsewhere."""
        raise NotImplementedError

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        """Half the unit deviance, up to terms of y alone."""
        return self.unit_deviance(y, mean) / 2

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        """Of each row, at the dispersion scale / weight; NaN where the family has no density at hand."""
        return np.full_like(mean, np.nan)

    def start(self, y: FloatArray, average: float) -> FloatArray:
        """Means inside the domain, near y, to begin scoring with."""
        return (y + average) / 2

    def inside(self, mean: FloatArray) -> FloatArray | None:
        """The means, where rounding has put them on the border a little inside; None where some lie outside."""
        if not (np.isfinite(mean).all() and (mean >= self.least_mean).all() and (mean <= self.largest_mean).all()):
            return None
        least = TINY if self.least_mean == 0 else None
        largest = NEARLY_ONE if self.largest_mean == 1 else None
        return mean if least is None and largest is None else np.clip(mean, least, largest)

    def check_targets(self, owner: str, y: FloatArray) -> None:
        """Refuse targets that the family does not have, naming the first."""
        allowed = self.allows(y)
        if not np.all(allowed):
            row = int(np.argmin(allowed))
            raise ValueError(
                f"{owner}: y[{row}]={y[row]:g} is not valid for the {self.name} family; it must be {self.targets}. "
                "Some value(s) of y are out of the valid range."
            )


@saved("family.Normal")
@dataclass(frozen=True)
class Normal(Family):
    name: ClassVar[str] = "normal"

    def variance(self, mean: FloatArray) -> FloatArray:
        return np.ones_like(mean)

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        return (y - mean) ** 2

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        squares = weights * (y - mean) ** 2 / scale
        result: FloatArray = -(squares + np.log(scale / weights) + LOG_2_PI) / 2
        return result


@saved("family.Bernoulli")
@dataclass(frozen=True)
class Bernoulli(Family):
    """y is 0 or 1, or a share of successes in [0, 1] whose number of trials is the weight."""

    name: ClassVar[str] = "bernoulli"
    default_link: ClassVar[str] = "logit"
    least_mean: ClassVar[float] = 0.0
    largest_mean: ClassVar[float] = 1.0
    targets: ClassVar[str] = "in [0, 1]"
    has_fixed_scale: ClassVar[bool] = True

    def allows(self, y: FloatArray) -> Any:
        return (y >= 0) & (y <= 1)

    def variance(self, mean: FloatArray) -> FloatArray:
        variance: FloatArray = mean * (1 - mean)
        return variance

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = 2 * (self.loss(y, mean) - self.loss(y, y))
        return result

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = -(xlogy(y, mean) + xlog1py(1 - y, -mean))
        return result

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        result: FloatArray = -weights * self.loss(y, mean)
        return result

    def start(self, y: FloatArray, average: float) -> FloatArray:
        return (y + 0.5) / 2


@saved("family.Tweedie")
@dataclass(frozen=True)
class Tweedie(Family):
    """V(m) = m^power. Powers 0, 1, 2 and 3 are the normal, Poisson, gamma and inverse Gaussian families."""

    power: float

    name: ClassVar[str] = "tweedie"

    @property
    def default_link(self) -> str:  # type: ignore[override]
        return "identity" if self.power <= 0 else "log"

    @property
    def least_mean(self) -> float:  # type: ignore[override]
        return -np.inf if self.power == 0 else 0.0

    @property
    def targets(self) -> str:  # type: ignore[override]
        return "any real number" if self.power <= 0 else "y >= 0" if self.power < 2 else "y > 0"

    def allows(self, y: FloatArray) -> Any:
        if self.power <= 0:
            return np.ones_like(y, dtype=bool)
        return y >= 0 if self.power < 2 else y > 0

    def variance(self, mean: FloatArray) -> FloatArray:
        return mean**self.power

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        p = self.power
        own = np.maximum(y, 0) ** (2 - p) / ((1 - p) * (2 - p))
        result: FloatArray = 2 * (own - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))
        return result

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        p = self.power
        return mean ** (2 - p) / (2 - p) - y * mean ** (1 - p) / (1 - p)

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        p = self.power
        if not 1 < p < 2:
            return np.full_like(mean, np.nan)
        scales, ratio = scale / weights, (2 - p) / (1 - p)
        result = -self.loss(y, mean) / scales
        positive = y > 0  # at zero the density is a probability, and the series below is one
        y, scales = y[positive], scales[positive]
        x = ((p - 1) * scales / y) ** ratio / ((2 - p) * scales)
        result[positive] += _log_wright_bessel(-ratio, x) - np.log(y)
        return result

    def start(self, y: FloatArray, average: float) -> FloatArray:
        means = (y + average) / 2
        return means if self.power == 0 else np.maximum(means, max(average, TINY) * 0.1)


@saved("family.Poisson")
@dataclass(frozen=True)
class Poisson(Family):
    name: ClassVar[str] = "poisson"
    default_link: ClassVar[str] = "log"
    least_mean: ClassVar[float] = 0.0
    targets: ClassVar[str] = "y >= 0"
    has_fixed_scale: ClassVar[bool] = True

    def allows(self, y: FloatArray) -> Any:
        return y >= 0

    def variance(self, mean: FloatArray) -> FloatArray:
        return mean

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = 2 * (xlogy(y, y / mean) - y + mean)
        return result

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = mean - xlogy(y, mean)
        return result

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        result: FloatArray = -weights * (self.loss(y, mean) + gammaln(y + 1)) / scale
        return result


class _OfPositive(Family):
    """Laws of positive targets."""

    default_link: ClassVar[str] = "log"
    least_mean: ClassVar[float] = 0.0
    targets: ClassVar[str] = "y > 0"

    def allows(self, y: FloatArray) -> Any:
        return y > 0


@saved("family.Gamma")
@dataclass(frozen=True)
class Gamma(_OfPositive):
    name: ClassVar[str] = "gamma"

    def variance(self, mean: FloatArray) -> FloatArray:
        return mean**2

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = 2 * (np.log(mean / y) + y / mean - 1)
        return result

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = np.log(mean) + y / mean
        return result

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        shape = weights / scale
        result: FloatArray = shape * np.log(shape * y / mean) - shape * y / mean - gammaln(shape) - np.log(y)
        return result


@saved("family.InverseGaussian")
@dataclass(frozen=True)
class InverseGaussian(_OfPositive):
    name: ClassVar[str] = "inverse_gaussian"

    def variance(self, mean: FloatArray) -> FloatArray:
        return mean**3

    def unit_deviance(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = (y - mean) ** 2 / (y * mean**2)
        return result

    def loss(self, y: FloatArray, mean: FloatArray) -> FloatArray:
        result: FloatArray = y / (2 * mean**2) - 1 / mean
        return result

    def log_likelihood(self, y: FloatArray, mean: FloatArray, weights: FloatArray, scale: float) -> FloatArray:
        squares = weights * self.unit_deviance(y, mean) / scale
        result: FloatArray = -(squares + np.log(scale * y**3 / weights) + LOG_2_PI) / 2
        return result


def make_tweedie(power: float) -> Family:
    """The Tweedie family of a power; the families that have a name under it."""
    named = {0.0: Normal(), 1.0: Poisson(), 2.0: Gamma(), 3.0: InverseGaussian()}
    return named.get(power) or Tweedie(power)


FAMILIES: dict[str, Family] = {family.name: family for family in (Normal(), Bernoulli(), Poisson(), Gamma(), InverseGaussian())}


def _log_wright_bessel(a: float, x: FloatArray) -> FloatArray:
    """log of the sum over k > 0 of x^k / (k! Gamma(a k)); SciPy's logarithm where it has one (1.14 and up)."""
    import scipy.special as special

    if hasattr(special, "log_wright_bessel"):
        logarithm: FloatArray = special.log_wright_bessel(a, 0, x)
        return logarithm
    result: FloatArray = np.log(wright_bessel(a, 0, x))  # pragma: no cover - depends on the installed version
    return result
