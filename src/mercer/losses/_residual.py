"""Losses for regression, as functions of the residual r = raw - y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr

from mercer._arrays import FloatArray
from mercer._convex import shrink, solve_increasing
from mercer._params import Real, Rule
from mercer.losses._base import ProfileLoss, within


class ResidualLoss(ProfileLoss):
    """A function of the residual."""

    kind = "residual"

    def _frame(self, y: FloatArray) -> tuple[Any, Any]:
        return 1, y

    def check_y(self, y: Any) -> FloatArray:
        return self._check_values(y, np.isfinite, "a finite number")


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """Half the squared error: r^2 / 2.

    Examples
    --------
    >>> from mercer.losses import Squared
    >>> Squared().value(1.0, [1.0, 3.0])
    array([0., 2.])
    """

    name = "squared"
    aliases = ("squared_error",)
    is_convex = True
    is_smooth = True
    is_robust = False
    estimates = "the conditional mean"
    lipschitz = np.inf
    derivative_lipschitz = 1.0

    def _f(self, t: FloatArray) -> Any:
        return t * t / 2

    def _slope(self, t: FloatArray) -> Any:
        return t

    def _curvature(self, t: FloatArray) -> Any:
        return np.ones_like(t)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return v * v / 2

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return t / (1 + step)


@dataclass(frozen=True)
class Absolute(ResidualLoss):
    """Absolute error: |r|. At r = 0 the derivative is 0.

    Examples
    --------
    >>> from mercer.losses import Absolute
    >>> Absolute().value(1.0, [1.0, -2.0])
    array([0., 3.])
    >>> [float(slope) for slope in Absolute().subdifferential(1.0, 1.0)]
    [-1.0, 1.0]
    """

    name = "absolute"
    aliases = ("absolute_error",)
    is_convex = True
    is_smooth = False
    is_robust = True
    estimates = "the conditional median"
    lipschitz = 1.0
    derivative_lipschitz = np.inf

    def _f(self, t: FloatArray) -> Any:
        return np.abs(t)

    def _slope(self, t: FloatArray) -> Any:
        return np.sign(t)

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        return np.where(t > 0, 1, -1), np.where(t < 0, -1, 1)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within(np.abs(v) <= 1, 0)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return shrink(t, step)


@dataclass(frozen=True)
class Pinball(ResidualLoss):
    """Pinball loss: quantile max(-r, 0) + (1 - quantile) max(r, 0). At r = 0 the derivative is 0.

    Half the absolute error at quantile = 0.5.

    Parameters
    ----------
    quantile : float in [0, 1], default=0.5

    Examples
    --------
    >>> from mercer.losses import Pinball
    >>> Pinball(quantile=0.9).value(1.0, [0.0, 2.0]).round(10)
    array([0.9, 0.1])
    """

    quantile: float = 0.5

    name = "pinball"
    aliases = ("quantile",)
    is_convex = True
    is_smooth = False
    is_robust = True
    estimates = "the conditional quantile"
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"quantile": Real(least=0, most=1)}

    @property
    def lipschitz(self) -> float:
        return max(self.quantile, 1 - self.quantile)

    def _f(self, t: FloatArray) -> Any:
        return np.maximum(-self.quantile * t, (1 - self.quantile) * t)

    def _slope(self, t: FloatArray) -> Any:
        return np.where(t > 0, 1 - self.quantile, np.where(t < 0, -self.quantile, 0))

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        below, above = -self.quantile, 1 - self.quantile
        return np.where(t > 0, above, below), np.where(t < 0, below, above)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within((v >= -self.quantile) & (v <= 1 - self.quantile), 0)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        below, above = -self.quantile, 1 - self.quantile
        return np.maximum(t - above * step, 0) + np.minimum(t - below * step, 0)


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """Huber's loss: r^2 / 2 for |r| <= delta, delta (|r| - delta / 2) outside.

    The second derivative is 1 for |r| <= delta and 0 outside.

    Parameters
    ----------
    delta : float > 0, default=1.0
        Where the parabola goes over into its tangent.

    Examples
    --------
    >>> from mercer.losses import Huber
    >>> Huber(delta=1.0).value(0.0, [0.5, 3.0])
    array([0.125, 2.5  ])
    """

    delta: float = 1.0

    name = "huber"
    is_convex = True
    is_smooth = True
    is_robust = True
    estimates = "a centre between the conditional mean (large delta) and the median (small delta)"
    derivative_lipschitz = 1.0
    _rules: ClassVar[Mapping[str, Rule]] = {"delta": Real(above=0)}

    @property
    def lipschitz(self) -> float:
        return self.delta

    def _f(self, t: FloatArray) -> Any:
        clipped = self._slope(t)
        return clipped * (t - clipped / 2)

    def _slope(self, t: FloatArray) -> Any:
        return np.clip(t, -self.delta, self.delta)

    def _curvature(self, t: FloatArray) -> Any:
        return np.abs(t) <= self.delta

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within(np.abs(v) <= self.delta, v * v / 2)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return t - step * np.clip(t / (1 + step), -self.delta, self.delta)


@dataclass(frozen=True)
class LogCosh(ResidualLoss):
    """Log-cosh loss: log(cosh(r)). Like Huber's, but twice differentiable; nothing overflows.

    `prox` solves its scalar equation to machine precision by a safeguarded Newton iteration.

    Examples
    --------
    >>> from mercer.losses import LogCosh
    >>> LogCosh().value(0.0, [0.0, 1.0, 100.0]).round(4)
    array([ 0.    ,  0.4338, 99.3069])
    """

    name = "log_cosh"
    is_convex = True
    is_smooth = True
    is_robust = True
    estimates = "a centre between the conditional mean and the median"
    lipschitz = 1.0
    derivative_lipschitz = 1.0

    def _f(self, t: FloatArray) -> Any:
        size = np.abs(t)
        # Near zero the second form would lose all digits, far out the first would overflow.
        near = np.log1p(np.square(np.sinh(np.minimum(size, 1)))) / 2
        return np.where(size < 1, near, size + np.log1p(np.exp(-2 * size)) - np.log(2))

    def _slope(self, t: FloatArray) -> Any:
        return np.tanh(t)

    def _curvature(self, t: FloatArray) -> Any:
        decay = np.exp(-2 * np.abs(t))
        return 4 * decay / np.square(1 + decay)

    def _f_conjugate(self, v: FloatArray) -> Any:
        # `entr` is -infinity outside its domain: the conjugate comes out as infinity there.
        return -(entr(1 + v) + entr(1 - v)) / 2

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        size, step = np.abs(t).astype(np.float64), step.astype(np.float64)

        def equation(s: FloatArray) -> tuple[FloatArray, FloatArray]:
            slope = np.tanh(s)
            return s - size + step * slope, 1 + step * (1 - slope * slope)

        return np.copysign(solve_increasing(equation, np.zeros_like(size), size, size / (1 + step)), t)


@dataclass(frozen=True)
class EpsilonInsensitive(ResidualLoss):
    """Loss of support vector regression: max(0, |r| - epsilon). At the kinks |r| = epsilon the derivative is 0.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Half the width of the tube in which errors cost nothing.

    Examples
    --------
    >>> from mercer.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(epsilon=0.5).value(0.0, [0.25, -2.0])
    array([0. , 1.5])
    """

    epsilon: float = 0.1

    name = "epsilon_insensitive"
    is_convex = True
    is_smooth = False
    is_robust = True
    estimates = "the conditional median, to within epsilon"
    lipschitz = 1.0
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"epsilon": Real(least=0)}

    def _f(self, t: FloatArray) -> Any:
        return np.maximum(np.abs(t) - self.epsilon, 0)

    def _slope(self, t: FloatArray) -> Any:
        return np.where(np.abs(t) > self.epsilon, np.sign(t), 0)

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        low = np.where(t > self.epsilon, 1, np.where(t > -self.epsilon, 0, -1))
        high = np.where(t < -self.epsilon, -1, np.where(t < self.epsilon, 0, 1))
        return low, high

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within(np.abs(v) <= 1, self.epsilon * np.abs(v))

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        size = np.abs(t)
        return np.copysign(np.maximum(np.minimum(size, self.epsilon), size - step), t)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(ResidualLoss):
    """Squared loss outside a tube: max(0, |r| - epsilon)^2, without a factor 1/2, as in liblinear and scikit-learn.

    The second derivative is 2 for |r| > epsilon and 0 up to there.

    Parameters
    ----------
    epsilon : float >= 0, default=0.1
        Half the width of the tube in which errors cost nothing.

    Examples
    --------
    >>> from mercer.losses import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(epsilon=0.5).value(0.0, [0.25, -2.0])
    array([0.  , 2.25])
    """

    epsilon: float = 0.1

    name = "squared_epsilon_insensitive"
    is_convex = True
    is_smooth = True
    is_robust = False
    estimates = "the conditional mean, to within epsilon"
    lipschitz = np.inf
    derivative_lipschitz = 2.0
    _rules: ClassVar[Mapping[str, Rule]] = {"epsilon": Real(least=0)}

    def _f(self, t: FloatArray) -> Any:
        return np.square(shrink(t, self.epsilon))

    def _slope(self, t: FloatArray) -> Any:
        return 2 * shrink(t, self.epsilon)

    def _curvature(self, t: FloatArray) -> Any:
        return np.where(np.abs(t) > self.epsilon, 2, 0)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return self.epsilon * np.abs(v) + v * v / 4

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        excess = shrink(t, self.epsilon)
        return t - excess * (2 * step / (1 + 2 * step))
