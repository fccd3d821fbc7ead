"""Bounds on a norm of all coefficients together: the constrained forms of the lasso and of ridge regression."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from mercer._arrays import FloatArray
from mercer._convex import as_floats, finish, shrink
from mercer._params import Real, Rule
from mercer.penalties._base import Penalty, indicator, total

SLACK = 8  # roundings, in the float type of the coefficients, by which a norm may miss the radius


@dataclass(frozen=True)
class Ball(Penalty):
    """A constraint on the norm of all coefficients: 0 inside, infinity outside. A subclass says which norm."""

    radius: float = 1.0

    is_smooth = False
    is_separable = False
    lipschitz = np.inf
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"radius": Real(above=0)}

    @abstractmethod
    def _norm(self, w: FloatArray) -> float: ...

    @abstractmethod
    def _project(self, w: FloatArray) -> FloatArray:
        """The nearest point of the ball to a vector outside of it, in double precision."""

    @abstractmethod
    def _multiplier(self, w: FloatArray, gradient: FloatArray) -> float:
        """The multiple of the norm's cone, >= 0, that is nearest to -gradient at a point of the sphere."""

    @abstractmethod
    def _distance(self, w: FloatArray, gradient: FloatArray, multiplier: float) -> FloatArray:
        """How far -gradient is from that multiple of the cone, for each coefficient."""

    def _place(self, w: FloatArray) -> int:
        """-1 inside the ball, 0 on the sphere up to rounding, 1 outside."""
        excess, slack = self._norm(w) / self.radius - 1, SLACK * float(np.finfo(w.dtype).eps)
        return 0 if abs(excess) <= slack else 1 if excess > 0 else -1

    def value(self, w: Any) -> float:
        return indicator(self._place(as_floats(w)) <= 0)

    def derivative(self, w: Any) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} is a constraint and has no derivative; use a method that takes `prox`."
        )

    def prox(self, w: Any, step: Any) -> Any:
        """The projection onto the ball, whatever the step."""
        w = as_floats(w)
        if not self._norm(w) > self.radius:
            return w.copy()[()]
        return finish(self._project(w.astype(np.float64).ravel()).reshape(w.shape), w)

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w = as_floats(w)
        gradient = np.asarray(gradient, dtype=w.dtype)
        place = self._place(w)
        if place > 0:
            return finish(np.full(w.shape, np.inf), w)
        if place < 0:
            return finish(np.abs(gradient), w)
        return finish(self._distance(w, gradient, self._multiplier(w, gradient)), w)

    def strength(self, w: Any, gradient: Any) -> float:
        """The strength of the penalty that keeps w where this bound keeps it: the multiplier of the bound.

        Where w minimises a function with that gradient inside the ball, it also minimises the function plus the penalty of
        that strength (`L1` or `L2`), without the bound.

        Parameters
        ----------
        w : array
            A solution: in the ball.
        gradient : array of the same shape
            The gradient there of the function that was minimised.

        Returns
        -------
        alpha : float
            0 where w lies inside: the bound holds nothing back.
        """
        w = as_floats(w)
        place = self._place(w)
        if place > 0:
            raise ValueError(
                f"{type(self).__name__}: w has the norm {self._norm(w):g}, outside the ball of radius={self.radius:g}; project "
                "it first with `prox`."
            )
        return 0.0 if place < 0 else self._multiplier(w, np.asarray(gradient, dtype=w.dtype))


@dataclass(frozen=True)
class L1Ball(Ball):
    """The constrained form of the lasso: 0 if |w|_1 <= radius, else infinity. Solutions are sparse.

    `prox` is the projection: a soft threshold that is found by sorting, in O(d log d). `strength` gives the `alpha` of `L1`
    that corresponds to the bound at a solution. There is no `derivative`.

    Parameters
    ----------
    radius : float > 0, default=1.0

    References
    ----------
    J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the l1-ball for learning in high
    dimensions", ICML 2008.

    Examples
    --------
    >>> from mercer.penalties import L1Ball
    >>> ball = L1Ball(radius=2.0)
    >>> ball.prox([3.0, -1.0, 0.5], step=1.0)
    array([2., 0., 0.])
    >>> ball.strength([2.0, 0.0, 0.0], gradient=[-1.0, 1.0, -0.5])  # L1(alpha=1.0) holds it there, too
    1.0
    """

    name = "l1_ball"

    def _norm(self, w: FloatArray) -> float:
        return total(np.abs(w))

    def _project(self, w: FloatArray) -> FloatArray:
        z = shrink(w, _level(np.abs(w), self.radius))
        return z * (self.radius / max(total(np.abs(z)), self.radius))  # what rounding left beyond the radius

    def _multiplier(self, w: FloatArray, gradient: FloatArray) -> float:
        # On the support -gradient should be alpha sign(w), off it no larger: the alpha of least squares of what is left.
        support, off = w != 0, np.sort(np.abs(gradient[w == 0]).astype(np.float64))[::-1]
        pull = -total((gradient * np.sign(w))[support])
        n_support = np.count_nonzero(support)
        levels = (pull + np.append(0.0, np.cumsum(off))) / (n_support + np.arange(len(off) + 1))
        n_beyond = np.count_nonzero(off > levels[:-1])
        return float(max(levels[n_beyond], 0.0))

    def _distance(self, w: FloatArray, gradient: FloatArray, multiplier: float) -> FloatArray:
        at_zero = np.maximum(np.abs(gradient) - multiplier, 0)
        distance: FloatArray = np.where(w == 0, at_zero, np.abs(gradient + multiplier * np.sign(w)))
        return distance

    def conjugate(self, u: Any) -> float:
        return self.radius * float(np.abs(as_floats(u)).max(initial=0))


@dataclass(frozen=True)
class L2Ball(Ball):
    """The constrained form of ridge regression: 0 if |w|_2 <= radius, else infinity.

    `prox` scales what lies outside back to the sphere. `strength` gives the `alpha` of `L2` that corresponds to the bound at
    a solution. There is no `derivative`.

    Parameters
    ----------
    radius : float > 0, default=1.0

    Examples
    --------
    >>> from mercer.penalties import L2Ball
    >>> ball = L2Ball(radius=1.0)
    >>> ball.prox([3.0, -4.0], step=1.0)
    array([ 0.6, -0.8])
    >>> ball.strength([0.6, -0.8], gradient=[-1.2, 1.6])  # L2(alpha=2.0) holds it there, too
    2.0
    """

    name = "l2_ball"

    def _norm(self, w: FloatArray) -> float:
        return float(np.linalg.norm(w.astype(np.float64).ravel()))

    def _project(self, w: FloatArray) -> FloatArray:
        return w * (self.radius / self._norm(w))

    def _multiplier(self, w: FloatArray, gradient: FloatArray) -> float:
        return max(-total(w * gradient) / self._norm(w) ** 2, 0.0)

    def _distance(self, w: FloatArray, gradient: FloatArray, multiplier: float) -> FloatArray:
        distance: FloatArray = np.abs(gradient + multiplier * w)
        return distance

    def conjugate(self, u: Any) -> float:
        return self.radius * self._norm(as_floats(u))


def _level(sizes: FloatArray, bound: float) -> float:
    """The threshold that leaves a sum of `bound` of non-negative sizes that sum to more."""
    ordered = np.sort(sizes)[::-1]
    levels = (np.cumsum(ordered) - bound) / np.arange(1, len(ordered) + 1)
    return float(levels[np.count_nonzero(ordered > levels) - 1])
