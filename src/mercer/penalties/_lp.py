"""The lp penalty with 0 < p < 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, solve_increasing
from mercer._params import Real, Rule
from mercer.penalties._base import Penalty, total


@dataclass(frozen=True)
class Lp(Penalty):
    """The lp penalty with 0 < p < 1: alpha sum_j |w_j|^p. Sparser than l1, and not convex.

    A solver finds a local minimum, and which one depends on where it starts: zero is always a local minimum of the sum of this
    penalty and a smooth loss, because the slope at zero is infinite. So `subdifferential_distance` is 0 at every w_j = 0, and
    `derivative` counts that coefficient as 0. There is no `conjugate`. `prox` gives the global minimum of its scalar problem:
    zero up to a threshold, at which it jumps, and beyond it the larger root, to machine precision. At the threshold itself both
    are minima; it is zero.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
    p : float in (0, 1), default=0.5

    References
    ----------
    G. Marjanovic and V. Solo, "On l_q optimization and matrix completion", IEEE Transactions on Signal Processing, 2012.

    Examples
    --------
    >>> from mercer.penalties import Lp
    >>> Lp(alpha=1.0, p=0.5).value([4.0, -9.0])
    5.0
    >>> Lp(alpha=1.0, p=0.5).prox([1.4, 1.6, 10.0], step=1.0).round(4)
    array([0.    , 1.1295, 9.8406])
    """

    alpha: float = 1.0
    p: float = 0.5

    name = "lp"
    is_convex = False
    is_smooth = False
    lipschitz = np.inf
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"alpha": Real(least=0), "p": Real(above=0, below=1)}

    def value(self, w: Any) -> float:
        return self.alpha * total(np.abs(as_floats(w)) ** self.p)

    def _slope(self, size: FloatArray) -> FloatArray:
        """The derivative at positive sizes, 0 at zero."""
        slope: FloatArray = np.where(size > 0, self.alpha * self.p * np.where(size > 0, size, 1) ** (self.p - 1), 0)
        return slope

    def derivative(self, w: Any) -> Any:
        w = as_floats(w)
        return finish(np.sign(w) * self._slope(np.abs(w)), w)

    def prox(self, w: Any, step: Any) -> Any:
        w = as_floats(w)
        size, step = np.broadcast_arrays(np.abs(w).astype(np.float64), np.asarray(step, dtype=np.float64))
        # The least non-zero minimum, and the argument that leads to it: there it is as good as zero.
        least = (2 * step * self.alpha * (1 - self.p)) ** (1 / (2 - self.p))
        is_zero = size <= least + step * self._slope(least)

        def equation(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            slope = step * self._slope(z)
            return z - size + slope, 1 - (1 - self.p) * slope / z

        # From the right end: the function is convex, so Newton's steps come down to the root and do not pass it.
        low = np.where(is_zero, 1, np.minimum(least, size))
        high = np.where(is_zero, 1, size)
        return finish(np.where(is_zero, 0, np.copysign(solve_increasing(equation, low, high, high), w)), w)

    def conjugate(self, u: Any) -> NoReturn:
        raise NotImplementedError(
            f"{self!r} is not convex, so its conjugate says nothing about it and no duality gap follows; "
            "choose a convex penalty (is_convex) where a dual is needed."
        )

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w = as_floats(w)
        away = np.abs(np.asarray(gradient, dtype=w.dtype) + self.derivative(w))
        return finish(np.where((w == 0) & (self.alpha > 0), 0, away), w)
