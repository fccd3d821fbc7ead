"""Coordinate descent: one coordinate at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._params import OneOf, Rule
from mercer.optim._directions import Direction, Method
from mercer.optim._functions import Objective, Point
from mercer.optim._trace import Vector


@dataclass(frozen=True)
class CoordinateDescent(Method):
    r"""Descent along one coordinate, :math:`p_k = -\partial_j f(x_k) e_j`. Its name is ``"coordinate"``.

    Parameters
    ----------
    order : {"steepest", "cyclic"}, default="steepest"
        The coordinate j whose partial derivative is largest, or the next one.

    Notes
    -----
    O(d) a step besides the function. With the step ``"optimal"`` and the exponential loss of a combination of weak learners it
    is AdaBoost: the steepest coordinate is the learner with the smallest weighted error, and the exact step its weight.

    Where f is not smooth it may stand still away from the minimum, as all descent by coordinates does.

    Examples
    --------
    >>> from mercer.optim import CoordinateDescent, Quadratic, minimize
    >>> result = minimize(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [3.0, 2.0], method="coordinate", step="optimal")
    >>> result.success, result.trace.x[1].tolist()
    (True, [3.0, 0.75])

    References
    ----------
    J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., Springer 2006, section 9.3.
    """

    order: str = "steepest"

    _rules: ClassVar[Mapping[str, Rule]] = {"order": OneOf("steepest", "cyclic")}
    curvature: ClassVar[float] = 0.1

    def init(self) -> int:
        return 0

    def direction(self, state: int, point: Point, objective: Objective) -> Direction:
        slopes = point.jac
        if self.order == "steepest":
            chosen = int(np.abs(slopes).argmax())
        else:  # a coordinate along which f is flat is passed over
            turn = ((state + k) % len(slopes) for k in range(len(slopes)))
            chosen = next(j for j in turn if slopes[j] != 0)
        vector = np.zeros_like(slopes)
        vector[chosen] = -slopes[chosen]
        return Direction(vector, True)  # the length along one coordinate tells nothing of that along the next

    def update(self, state: int, old: Point, new: Point, direction: Vector) -> tuple[int, str]:
        return int(np.flatnonzero(direction)[0] + 1) % len(direction), ""
