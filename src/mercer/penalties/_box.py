"""Bounds on the coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from mercer._convex import as_floats, finish
from mercer._params import InvalidParameterError, Real, Rule
from mercer.penalties._base import Penalty, indicator, total


class Bound(Rule):
    """A number or an infinity."""

    def accept(self, value: Any) -> Any:
        if isinstance(value, (float, np.floating)) and np.isinf(value):
            return float(value)
        return Real().accept(value)

    def describe(self) -> str:
        return "a number or an infinity"


@dataclass(frozen=True)
class Box(Penalty):
    """A constraint: 0 if low <= w_j <= high for every j, else infinity. Non-negative coefficients by default.

    `prox` clips. Outside the box the subdifferential is empty, and `subdifferential_distance` infinite. There is no
    `derivative`.

    Parameters
    ----------
    low : float, default=0.0
    high : float >= low, default=inf

    Examples
    --------
    >>> from mercer.penalties import Box
    >>> Box(low=0.0, high=1.0).prox([-2.0, 0.25, 3.0], step=1.0)
    array([0.  , 0.25, 1.  ])
    """

    low: float = 0.0
    high: float = np.inf

    name = "box"
    is_smooth = False
    lipschitz = np.inf
    derivative_lipschitz = np.inf
    _rules: ClassVar[Mapping[str, Rule]] = {"low": Bound(), "high": Bound()}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high or self.low == np.inf or self.high == -np.inf:
            raise InvalidParameterError(
                f"Box: low={self.low!r} and high={self.high!r} leave nothing between them; low must be <= high."
            )

    def value(self, w: Any) -> float:
        w = as_floats(w)
        return indicator((w >= self.low) & (w <= self.high))

    def derivative(self, w: Any) -> NoReturn:
        raise NotImplementedError("Box is a constraint and has no derivative; use a method that takes `prox`.")

    def prox(self, w: Any, step: Any) -> Any:
        w = as_floats(w)
        return finish(np.clip(w, self.low, self.high), w)

    def conjugate(self, u: Any) -> float:
        u = as_floats(u)
        # The support function; a bound at infinity counts only where u points to it.
        down = np.where(u < 0, self.low * np.where(u < 0, u, -1), 0)
        up = np.where(u > 0, self.high * np.where(u > 0, u, 1), 0)
        return total(down + up)

    def subdifferential_distance(self, w: Any, gradient: Any) -> Any:
        w = as_floats(w)
        gradient = np.asarray(gradient, dtype=w.dtype)
        # At a bound only the part of -gradient that points into the box is left.
        inward = np.where(w == self.low, np.maximum(-gradient, 0), np.abs(gradient))
        inward = np.where(w == self.high, np.minimum(np.maximum(gradient, 0), inward), inward)
        return finish(np.where((w >= self.low) & (w <= self.high), inward, np.inf), w)
