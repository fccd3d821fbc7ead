"""Losses for classification into two classes, y = -1 or +1, as functions of the margin m = y * raw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import entr, expit

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, solve_exponential, solve_increasing
from mercer._params import Real, Rule
from mercer.losses._base import ProfileLoss, within


class MarginLoss(ProfileLoss):
    """A function of the margin."""

    kind = "margin"

    def _frame(self, y: FloatArray) -> tuple[Any, Any]:
        return y, 0

    def check_y(self, y: Any) -> FloatArray:
        return self._check_values(y, lambda values: np.abs(values) == 1, "-1 or +1")


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """Zero-one loss: 1 if m <= 0, else 0. What classification is judged by, and what nothing can descend on.

    The derivatives are zero everywhere. `prox` and `subdifferential` are those of its lower closure, in which a margin of
    exactly 0 costs nothing: without that the least value would not be attained. There is no `conjugate`.

    Examples
    --------
    >>> from mercer.losses import ZeroOne
    >>> ZeroOne().value([1, 1, -1], [0.3, -0.3, 0.0])
    array([0., 1., 1.])
    """

    name = "zero_one"
    is_convex = False
    is_smooth = False
    is_robust = True
    estimates = "the more probable class"
    lipschitz = np.inf
    derivative_lipschitz = np.inf

    def _f(self, t: FloatArray) -> Any:
        return t <= 0

    def _slope(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        return np.where(t == 0, -np.inf, 0), np.zeros_like(t)

    def _f_conjugate(self, v: FloatArray) -> Any:
        self._has_no_conjugate()

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        # Walking to 0 costs t^2 / 2, staying on the wrong side costs step.
        return np.where((t < 0) & (t * t < 2 * step), 0, t)


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """Hinge loss of support vector machines: max(0, 1 - m).

    At the kink m = 1 the derivative is that of the left side, -y, as in scikit-learn's SGD.

    Examples
    --------
    >>> from mercer.losses import Hinge
    >>> Hinge().value([1, 1, -1], [2.0, 0.5, 0.5])
    array([0. , 0.5, 1.5])
    >>> Hinge().prox(1, [2.0, 0.9, -1.0], step=0.5)
    array([ 2. ,  1. , -0.5])
    """

    name = "hinge"
    is_convex = True
    is_smooth = False
    is_robust = True
    estimates = "the more probable class"
    lipschitz = 1.0
    derivative_lipschitz = np.inf

    def _f(self, t: FloatArray) -> Any:
        return np.maximum(1 - t, 0)

    def _slope(self, t: FloatArray) -> Any:
        return np.where(t <= 1, -1, 0)

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        return np.where(t <= 1, -1, 0), np.where(t < 1, -1, 0)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within((v >= -1) & (v <= 0), v)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return np.maximum(t, np.minimum(t + step, 1))


@dataclass(frozen=True)
class Perceptron(MarginLoss):
    """Loss of the perceptron: max(0, -m).

    At the kink m = 0 the derivative is that of the left side, -y: a model that starts at zero then learns from every example.

    Examples
    --------
    >>> from mercer.losses import Perceptron
    >>> Perceptron().value([1, 1, -1], [2.0, -0.5, 0.5])
    array([0. , 0.5, 0.5])
    >>> float(Perceptron().derivative(1, 0.0))
    -1.0
    """

    name = "perceptron"
    is_convex = True
    is_smooth = False
    is_robust = True
    estimates = "a separating sign where there is one; nothing otherwise (the expected loss is least at 0)"
    lipschitz = 1.0
    derivative_lipschitz = np.inf

    def _f(self, t: FloatArray) -> Any:
        return np.maximum(-t, 0)

    def _slope(self, t: FloatArray) -> Any:
        return np.where(t <= 0, -1, 0)

    def _curvature(self, t: FloatArray) -> Any:
        return np.zeros_like(t)

    def _slopes(self, t: FloatArray) -> tuple[Any, Any]:
        return np.where(t <= 0, -1, 0), np.where(t < 0, -1, 0)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within((v >= -1) & (v <= 0), 0)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return np.maximum(t, np.minimum(t + step, 0))


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """Squared hinge loss: max(0, 1 - m)^2, without a factor 1/2, as in liblinear and scikit-learn.

    The second derivative is 2 for m < 1 and 0 from there on. The expected loss is least at 2 P(y = 1) - 1, so
    `inverse_link` maps [-1, 1] onto probabilities.

    Examples
    --------
    >>> from mercer.losses import SquaredHinge
    >>> SquaredHinge().value([1, 1, -1], [2.0, 0.5, 0.5])
    array([0.  , 0.25, 2.25])
    """

    name = "squared_hinge"
    is_convex = True
    is_smooth = True
    is_robust = False
    estimates = "2 P(y = 1) - 1"
    lipschitz = np.inf
    derivative_lipschitz = 2.0

    def _f(self, t: FloatArray) -> Any:
        return np.square(np.maximum(1 - t, 0))

    def _slope(self, t: FloatArray) -> Any:
        return -2 * np.maximum(1 - t, 0)

    def _curvature(self, t: FloatArray) -> Any:
        return np.where(t < 1, 2, 0)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within(v <= 0, v + v * v / 4)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return np.where(t < 1, (t + 2 * step) / (1 + 2 * step), t)

    def inverse_link(self, raw: Any) -> Any:
        """The probability of +1: raw cut to [-1, 1] and mapped to [0, 1]."""
        raw = as_floats(raw)
        return finish((np.clip(raw, -1, 1) + 1) / 2, raw)


@dataclass(frozen=True)
class ModifiedHuber(SquaredHinge):
    """Squared hinge that goes on as a straight line: max(0, 1 - m)^2 for m >= -1, -4 m below.

    The second derivative is 2 for -1 <= m < 1 and 0 elsewhere. Probabilities as for `SquaredHinge`, but outliers count less.

    Examples
    --------
    >>> from mercer.losses import ModifiedHuber
    >>> ModifiedHuber().value(1, [2.0, 0.5, -3.0])
    array([ 0.  ,  0.25, 12.  ])
    >>> ModifiedHuber().inverse_link([-2.0, 0.5])
    array([0.  , 0.75])
    """

    name = "modified_huber"
    is_robust = True
    lipschitz = 4.0

    def _f(self, t: FloatArray) -> Any:
        return np.where(t >= -1, np.square(np.maximum(1 - np.maximum(t, -1), 0)), -4 * t)

    def _slope(self, t: FloatArray) -> Any:
        return -2 * np.clip(1 - t, 0, 2)

    def _curvature(self, t: FloatArray) -> Any:
        return np.where((t >= -1) & (t < 1), 2, 0)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return within((v >= -4) & (v <= 0), v + v * v / 4)

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return np.minimum(super()._f_prox(t, step), t + 4 * step)


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """Logistic loss, the negative log-likelihood of logistic regression: log(1 + exp(-m)). Safe for margins of any size.

    `prox` solves its scalar equation to machine precision by a safeguarded Newton iteration.

    Parameters
    ----------
    base : float > 1, default=e
        Of the logarithm. To base 2 the loss counts bits, is 1 at a margin of 0, and nowhere less than the zero-one loss.

    Examples
    --------
    >>> from mercer.losses import Logistic
    >>> Logistic().value(1, [1000.0, 0.0, -1000.0]).round(4)
    array([0.000e+00, 6.931e-01, 1.000e+03])
    >>> float(Logistic(base=2).value(1, 0.0)), float(Logistic().inverse_link(0.0))
    (1.0, 0.5)
    """

    base: float = math.e

    name = "logistic"
    aliases = ("log_loss",)
    is_convex = True
    is_smooth = True
    is_robust = True
    estimates = "the log odds"
    _rules: ClassVar[Mapping[str, Rule]] = {"base": Real(above=1)}

    def __repr__(self) -> str:
        return f"Logistic(base={self.base:g})" if self.base != math.e else "Logistic()"

    @property
    def _unit(self) -> float:
        """By which a logarithm to the base is a natural one."""
        return math.log(self.base)

    @property
    def lipschitz(self) -> float:
        return 1 / self._unit

    @property
    def derivative_lipschitz(self) -> float:
        return 0.25 / self._unit

    def _f(self, t: FloatArray) -> Any:
        return np.logaddexp(0, -t) / self._unit

    def _slope(self, t: FloatArray) -> Any:
        return -expit(-t) / self._unit

    def _curvature(self, t: FloatArray) -> Any:
        return expit(t) * expit(-t) / self._unit

    def _f_conjugate(self, v: FloatArray) -> Any:
        # `entr` is -infinity outside its domain: the conjugate comes out as infinity there.
        v = v * self._unit
        return (-entr(-v) - entr(1 + v)) / self._unit

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        t, step = t.astype(np.float64), step.astype(np.float64) / self._unit

        def equation(s: FloatArray) -> tuple[FloatArray, FloatArray]:
            away = expit(-s)
            return s - t - step * away, 1 + step * away * (1 - away)

        return solve_increasing(equation, t, t + step, t + step * expit(-t - step))

    def inverse_link(self, raw: Any) -> Any:
        """The probability of +1."""
        raw = as_floats(raw)
        return finish(expit(raw), raw)


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """Exponential loss of AdaBoost: exp(-m). It exceeds all others on wrong answers.

    Beyond a margin of -709 (float32: -88) it overflows to infinity, without a warning; `prox` does not overflow.

    Examples
    --------
    >>> from mercer.losses import Exponential
    >>> Exponential().value(1, [0.0, -1.0]).round(4)
    array([1.    , 2.7183])
    """

    name = "exponential"
    is_convex = True
    is_smooth = True
    is_robust = False
    estimates = "half the log odds"
    lipschitz = np.inf
    derivative_lipschitz = np.inf

    def _f(self, t: FloatArray) -> Any:
        with np.errstate(over="ignore"):
            return np.exp(-t)

    def _slope(self, t: FloatArray) -> Any:
        return -self._f(t)

    def _curvature(self, t: FloatArray) -> Any:
        return self._f(t)

    def _f_conjugate(self, v: FloatArray) -> Any:
        return -entr(-v) + v

    def _f_prox(self, t: FloatArray, step: FloatArray) -> Any:
        return -solve_exponential(step, -t)

    def inverse_link(self, raw: Any) -> Any:
        """The probability of +1."""
        raw = as_floats(raw)
        return finish(expit(2 * raw), raw)
