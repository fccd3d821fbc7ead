"""Losses for counts and amounts, with the mean exp(raw): half the deviances of exponential families with the log link.

Terms in y alone are left out, as in scikit-learn's gradients: they move no minimum. For a convex loss the half deviance itself,
which is zero at exp(raw) = y, is value(y, raw) + conjugate(y, 0).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr, xlogy

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, solve_exponential, solve_increasing
from mercer._params import Real, Rule
from mercer.losses._base import Loss, within


class PositiveLoss(Loss):
    """A loss whose raw output is the logarithm of a mean. exp(raw) overflows to infinity beyond 709 (float32: 88), unwarned."""

    kind = "positive"
    is_smooth = True
    is_robust = False
    lipschitz = np.inf
    derivative_lipschitz = np.inf
    estimates = "the log of the conditional mean"

    @abstractmethod
    def _value(self, y: FloatArray, raw: FloatArray) -> Any: ...

    @abstractmethod
    def _slope(self, y: FloatArray, raw: FloatArray) -> Any: ...

    @abstractmethod
    def _curvature(self, y: FloatArray, raw: FloatArray) -> Any: ...

    @abstractmethod
    def _conjugate(self, y: FloatArray, u: FloatArray) -> Any: ...

    @abstractmethod
    def _prox(self, y: FloatArray, raw: FloatArray, step: FloatArray) -> Any: ...

    def _apply(self, formula: Any, y: Any, raw: Any, *more: Any) -> Any:
        """A formula on arrays of the float type of raw."""
        raw = as_floats(raw)
        with np.errstate(over="ignore"):
            return finish(formula(np.asarray(y, raw.dtype), raw, *(np.asarray(each, raw.dtype) for each in more)), raw)

    def value(self, y: Any, raw: Any) -> Any:
        return self._apply(self._value, y, raw)

    def derivative(self, y: Any, raw: Any) -> Any:
        return self._apply(self._slope, y, raw)

    def second_derivative(self, y: Any, raw: Any) -> Any:
        return self._apply(self._curvature, y, raw)

    def conjugate(self, y: Any, u: Any) -> Any:
        return self._apply(self._conjugate, y, u)

    def prox(self, y: Any, raw: Any, step: Any) -> Any:
        return self._apply(self._prox, y, raw, step)

    def inverse_link(self, raw: Any) -> Any:
        """The mean, exp(raw)."""
        raw = as_floats(raw)
        with np.errstate(over="ignore"):
            return finish(np.exp(raw), raw)


@dataclass(frozen=True)
class Poisson(PositiveLoss):
    """Half the Poisson deviance, for counts y >= 0: exp(raw) - y raw.

    Examples
    --------
    >>> from mercer.losses import Poisson
    >>> Poisson().derivative([0, 1, 5], 0.0)
    array([ 1.,  0., -4.])
    >>> float(Poisson().inverse_link(0.0))
    1.0
    """

    name = "poisson"
    is_convex = True

    def _value(self, y: FloatArray, raw: FloatArray) -> Any:
        return np.exp(raw) - y * raw

    def _slope(self, y: FloatArray, raw: FloatArray) -> Any:
        return np.exp(raw) - y

    def _curvature(self, y: FloatArray, raw: FloatArray) -> Any:
        return np.broadcast_to(np.exp(raw), np.broadcast_shapes(y.shape, raw.shape))

    def _conjugate(self, y: FloatArray, u: FloatArray) -> Any:
        # `entr` is -infinity outside its domain: the conjugate comes out as infinity there.
        return -entr(y + u) - (y + u)

    def _prox(self, y: FloatArray, raw: FloatArray, step: FloatArray) -> Any:
        return solve_exponential(step, raw.astype(np.float64) + step * y)

    def check_y(self, y: Any) -> FloatArray:
        return self._check_values(y, lambda values: values >= 0, "a number >= 0")


@dataclass(frozen=True)
class Gamma(PositiveLoss):
    """Half the gamma deviance, for amounts y > 0: raw + y exp(-raw).

    Examples
    --------
    >>> from mercer.losses import Gamma
    >>> Gamma().derivative([0.5, 1.0, 3.0], 0.0)
    array([ 0.5,  0. , -2. ])
    """

    name = "gamma"
    is_convex = True

    def _value(self, y: FloatArray, raw: FloatArray) -> Any:
        return raw + y * np.exp(-raw)

    def _slope(self, y: FloatArray, raw: FloatArray) -> Any:
        return 1 - y * np.exp(-raw)

    def _curvature(self, y: FloatArray, raw: FloatArray) -> Any:
        return y * np.exp(-raw)

    def _conjugate(self, y: FloatArray, u: FloatArray) -> Any:
        rest = np.maximum(1 - u, 0)
        return within(u <= 1, xlogy(rest, rest / y) - rest)

    def _prox(self, y: FloatArray, raw: FloatArray, step: FloatArray) -> Any:
        return -solve_exponential(step * y.astype(np.float64), step - raw.astype(np.float64))

    def check_y(self, y: Any) -> FloatArray:
        return self._check_values(y, lambda values: values > 0, "a number > 0")


@dataclass(frozen=True)
class Tweedie(PositiveLoss):
    """Half the Tweedie deviance: exp((2 - p) raw) / (2 - p) - y exp((1 - p) raw) / (1 - p), with p = `power`.

    Its limits are `Poisson` at p = 1 and `Gamma` at p = 2; p = 0 is half the squared error of exp(raw), less y^2 / 2; p = 3 is
    the inverse Gaussian. Convex in raw for 1 <= p <= 2 only: outside, `conjugate` raises, and `prox` compares the two local
    minima that there can be. The targets must be positive for p >= 2, not negative for 1 <= p < 2, and may be any number for p
    <= 0.

    Parameters
    ----------
    power : float <= 0 or >= 1, default=1.5
        The variance grows like the mean to this power. 1.5 suits amounts that are often zero, such as claims.

    Examples
    --------
    >>> from mercer.losses import Tweedie
    >>> Tweedie(power=1.5).derivative([0.0, 1.0], 0.0)
    array([1., 0.])
    >>> Tweedie(power=3).is_convex
    False
    """

    power: float = 1.5

    name = "tweedie"
    _rules: ClassVar[Mapping[str, Rule]] = {"power": Real(most=0) | Real(least=1)}

    @property
    def is_convex(self) -> bool:
        return 1 <= self.power <= 2

    def _combine(self, y: FloatArray, raw: FloatArray, first: float, second: float) -> Any:
        """first exp((2 - p) raw) - second y exp((1 - p) raw), with the larger exponential taken out: infinities do not meet."""
        lead = np.exp(np.where(raw >= 0, 2 - self.power, 1 - self.power).astype(raw.dtype) * raw)
        rest = first * np.exp(np.minimum(raw, 0)) - second * y * np.exp(-np.maximum(raw, 0))
        with np.errstate(invalid="ignore"):
            return np.where(rest == 0, 0, lead * rest)

    def _value(self, y: FloatArray, raw: FloatArray) -> Any:
        if self.power == 1:
            return Poisson()._value(y, raw)
        if self.power == 2:
            return Gamma()._value(y, raw)
        return self._combine(y, raw, 1 / (2 - self.power), 1 / (1 - self.power))

    def _slope(self, y: FloatArray, raw: FloatArray) -> Any:
        return self._combine(y, raw, 1, 1)

    def _curvature(self, y: FloatArray, raw: FloatArray) -> Any:
        return self._combine(y, raw, 2 - self.power, 1 - self.power)

    def _conjugate(self, y: FloatArray, u: FloatArray) -> Any:
        if not self.is_convex:
            self._has_no_conjugate()
        if self.power == 1:
            return Poisson()._conjugate(y, u)
        if self.power == 2:
            return Gamma()._conjugate(y, u)
        # With y = 0 the second term is gone, and the supremum is in closed form.
        at_zero = -(entr(u) + u) / (2 - self.power)
        positive = np.where(y > 0, y, 1).astype(np.float64)
        z = self._point_of_slope(positive, u.astype(np.float64))
        return np.where(y > 0, u * z - self._value(positive, z), at_zero)

    def _point_of_slope(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """The z at which the derivative is u, for y > 0 and 1 < p < 2."""

        def equation(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            return self._slope(y, z) - u, self._curvature(y, z)

        log_y = np.log(y)
        # The derivative is zero at log y. Beyond it, one of the two exponentials is at most what it is there.
        size = np.log(np.abs(u) + y ** (2 - self.power))
        low = np.where(u < 0, (log_y - size) / (self.power - 1), log_y)
        high = np.where(u < 0, log_y, size / (2 - self.power))
        return solve_increasing(equation, low, np.maximum(low, high), np.where(u < 0, low, high))

    def _prox(self, y: FloatArray, raw: FloatArray, step: FloatArray) -> Any:
        y, raw, step = (part.astype(np.float64) for part in np.broadcast_arrays(y, raw, step))
        if self.power == 1:
            return Poisson()._prox(y, raw, step)
        if self.power == 2:
            return Gamma()._prox(y, raw, step)
        # The loss falls up to z = log y and rises from there: the answer lies between raw and log y. Without a log y (y <= 0)
        # the slope is at most 1 - y for z <= 0, which bounds how far down the answer can be.
        log_y = np.log(np.where(y > 0, y, 1))
        other = np.where(y > 0, log_y, np.minimum(raw, 0) - step * (1 - y))
        low, high = np.minimum(raw, other), np.maximum(raw, other)
        if self.is_convex:
            return self._stationary(y, raw, step, low, high)
        return self._best_stationary(y, raw, step, low, high, log_y)

    def _stationary(
        self, y: FloatArray, raw: FloatArray, step: FloatArray, low: FloatArray, high: FloatArray, direction: Any = 1
    ) -> FloatArray:
        """The stationary point of the prox's objective in an interval where its slope rises (falls: direction -1)."""

        def equation(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            slope = step * self._slope(y, z) + z - raw
            return direction * slope, direction * (step * self._curvature(y, z) + 1)

        return solve_increasing(equation, low, high, 0.5 * (low + high))

    def _best_stationary(
        self, y: FloatArray, raw: FloatArray, step: FloatArray, low: FloatArray, high: FloatArray, log_y: FloatArray
    ) -> FloatArray:
        """The best of the stationary points of a prox's objective that need not be convex.

        The third derivative changes sign once, at `bend`: on either side the second derivative is monotone, so it has at most
        one zero there, and the zeros cut the interval into pieces on which the slope is monotone.
        """
        powers = np.array([2 - self.power, 1 - self.power])
        bend = np.where(y > 0, log_y + 2 * np.log(np.abs(powers[1] / powers[0])), low)
        bend = np.clip(bend, low, high)

        def curvature(direction: float) -> Any:
            def equation(z: FloatArray) -> tuple[FloatArray, FloatArray]:
                third = self._combine(y, z, powers[0] ** 2, powers[1] ** 2)
                return direction * (step * self._curvature(y, z) + 1), direction * step * third

            return equation

        # Below the bend the third derivative has the sign of -(1 - p)^2 y, above it that of (2 - p)^2.
        left = solve_increasing(curvature(-1.0), low, bend, 0.5 * (low + bend))
        right = solve_increasing(curvature(1.0), bend, high, 0.5 * (bend + high))
        ends = [low, left, bend, right, high]
        best, least = low, np.full_like(low, np.inf)
        for start, end in pairwise(ends):
            middle = 0.5 * (start + end)
            direction = np.where(step * self._curvature(y, middle) + 1 < 0, -1.0, 1.0)
            point = self._stationary(y, raw, step, start, end, direction)
            objective = step * self._value(y, point) + np.square(point - raw) / 2
            best, least = np.where(objective < least, point, best), np.fmin(objective, least)
        return best

    def check_y(self, y: Any) -> FloatArray:
        if self.power >= 2:
            return self._check_values(y, lambda values: values > 0, f"a number > 0 for power={self.power:g}")
        if self.power >= 1:
            return self._check_values(y, lambda values: values >= 0, f"a number >= 0 for power={self.power:g}")
        return self._check_values(y, np.isfinite, "a finite number")
