"""A function along a line, and the search for a step length on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer.optim._functions import Objective, Point
from mercer.optim._trace import Vector

_EPS = float(np.finfo(np.float64).eps)
_NOISE = 1e-10  # a function may cancel digits inside; Hager and Zhang allow 1e-6


class StepResult(NamedTuple):
    """The step length found, or None and the reason in the note."""

    length: float | None
    note: str = ""
    is_unbounded: bool = False  # whether the function seems to fall for ever


class Line:
    """phi(t) = f(x + t p) for a direction p, with every trial remembered.

    A value that is not a number counts as infinitely high and a slope that is not one as infinitely steep upwards: the search
    then turns back. A value of minus infinity stays.
    """

    def __init__(self, objective: Objective, start: Point, direction: Vector) -> None:
        self.objective, self.start, self.direction = objective, start, direction
        self.slope_at_start = float(start.jac @ direction)
        # What rounding may do to a value: its own last digits, and those of x.
        self.rounding = _NOISE * abs(start.fun) + 4 * _EPS * float(np.abs(start.jac) @ np.abs(start.x))
        self._values: dict[float, float] = {0.0: start.fun}
        self._gradients: dict[float, Vector] = {0.0: start.jac}

    def at(self, t: float) -> Vector:
        return self.start.x + t * self.direction

    def value(self, t: float) -> float:
        if t not in self._values:
            self._values[t] = self.objective.value(self.at(t))
        value = self._values[t]
        return np.inf if np.isnan(value) else value

    def slope(self, t: float) -> float:
        if t not in self._gradients:
            self._gradients[t] = self.objective.gradient(self.at(t))
        slope = float(self._gradients[t] @ self.direction)
        return slope if np.isfinite(slope) else np.inf

    def known_slope(self, t: float) -> float | None:
        return self.slope(t) if t in self._gradients else None

    def point(self, t: float) -> Point:
        self.value(t)
        self.slope(t)
        gradient = self._gradients[t]
        return Point(self.at(t), self._values[t], gradient, float(np.linalg.norm(gradient)))

    def is_above(self, t: float, other: float) -> bool:
        """Whether phi(t) > phi(other), by more than rounding can feign."""
        return self.value(t) > self.value(other) + self.rounding

    def has_decreased(self, t: float, decrease: float) -> bool:
        """Armijo's condition phi(t) <= phi(0) + c t phi'(0).

        Where phi(t) and phi(0) differ by rounding alone, the slope decides, as for the parabola: phi'(t) <= (2c - 1) phi'(0).
        Without this the last digits of a minimum would be out of reach (Hager and Zhang 2005).
        """
        change = self.value(t) - self.start.fun
        if change <= decrease * t * self.slope_at_start:
            return True
        return abs(change) <= self.rounding and self.slope(t) <= (2 * decrease - 1) * self.slope_at_start


@dataclass
class BracketSearch:
    """Finds a t with Armijo's condition and |phi'(t)| <= curvature |phi'(0)|: the strong Wolfe conditions.

    Goes up to a bracket of such a point and closes in on it (Nocedal and Wright, algorithms 3.5 and 3.6). Trials are where
    the line through two slopes of different sign crosses zero, else the minimum of a parabola, and the middle where
    these close in too slowly. As `curvature` goes to 0 this becomes the exact line search.
    """

    line: Line
    decrease: float
    curvature: float
    max_trials: int
    wants_slopes: bool = False  # whether a gradient is worth its cost at the far end of a bracket too

    def run(self, trial: float) -> StepResult:
        line, low, t = self.line, 0.0, trial
        for _ in range(self.max_trials):
            if self._is_too_long(t, low):
                return self._zoom(low, t)
            if self._is_flat(t):
                return StepResult(t)
            if line.slope(t) >= 0:
                return self._zoom(t, low)
            low, t = t, self._extrapolate(low, t)
        return StepResult(None, f"the function still falls at a step of {low:.3g}", is_unbounded=True)

    def _is_too_long(self, t: float, low: float) -> bool:
        line = self.line
        if line.value(t) == -np.inf:
            return False
        is_high = not line.has_decreased(t, self.decrease) or (low > 0 and line.is_above(t, low))
        return is_high or line.slope(t) == np.inf

    def _is_flat(self, t: float) -> bool:
        # The driver takes a value of minus infinity for what it is; no slope can be asked for there.
        return self.line.value(t) == -np.inf or abs(self.line.slope(t)) <= -self.curvature * self.line.slope_at_start

    def _extrapolate(self, low: float, t: float) -> float:
        """A longer step: where the slope would be zero if it went on as from `low` to `t`, within limits."""
        before, now = self.line.slope(low), self.line.slope(t)
        guess = t + now * (t - low) / (before - now) if now > before else np.inf
        return float(np.clip(guess, 1.1 * t, 10 * t))

    def _zoom(self, low: float, high: float) -> StepResult:
        """Close in between `low`, the best trial so far, from where the function falls towards `high`, and `high`."""
        line = self.line
        widths = [np.inf, np.inf]
        for _ in range(self.max_trials):
            width = abs(high - low)
            if width <= _EPS * max(low, high):
                break
            t = 0.5 * (low + high) if width > 0.6 * widths[-2] else self._interpolate(low, high)
            widths.append(width)
            if self._is_too_long(t, low):
                high = t
            elif self._is_flat(t):
                return StepResult(t)
            else:
                if line.slope(t) * (high - low) >= 0:
                    high = low
                low = t
        if low > 0:
            return StepResult(low, "the slope could not be brought down further")
        return StepResult(None, f"no step down to {high:.3g} lowers the function enough")

    def _interpolate(self, low: float, high: float) -> float:
        """A trial between `low` and `high`, at least a tenth of the way from either."""
        line, width = self.line, high - low
        slope, other = line.slope(low), line.slope(high) if self.wants_slopes else line.known_slope(high)
        if other is not None and np.isfinite(other) and slope * other < 0:
            share = slope / (slope - other)
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                bend = 2 * (line.value(high) - line.value(low) - slope * width)
            share = -slope * width / bend if np.isfinite(bend) and bend > 0 else 0.5
        return low + width * float(np.clip(share, 0.1, 0.9))
