"""How far to go along a direction: the step that lowers a loss most."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mercer._arrays import FloatArray
from mercer.losses import Absolute, Pinball, Squared

_MAX_DOUBLINGS = 60
_MAX_STEPS = 100
_TOL = 1e-12  # of the slope, against that at the start; and of the step


class Slopes(Protocol):
    """All that a line search asks of a loss of one raw output."""

    def derivative(self, y: FloatArray, raw: FloatArray) -> FloatArray: ...

    def second_derivative(self, y: FloatArray, raw: FloatArray) -> FloatArray: ...


class Line:
    """phi(t) = sum of w loss(y, raw + t h), with phi'(0) < 0."""

    def __init__(self, loss: Slopes, y: FloatArray, raw: FloatArray, h: FloatArray, weights: FloatArray | None) -> None:
        self._loss, self._y, self._raw, self._h = loss, y, raw, h
        self._weighted = h if weights is None else weights * h

    def slope(self, t: float) -> float:
        """phi'(t); infinite where it overflows: that is too far."""
        with np.errstate(all="ignore"):
            slope = float(self._weighted @ self._loss.derivative(self._y, self._raw + t * self._h))
        return slope if np.isfinite(slope) else np.inf

    def curvature(self, t: float) -> float:
        with np.errstate(all="ignore"):
            return float((self._weighted * self._h) @ self._loss.second_derivative(self._y, self._raw + t * self._h))

    def minimum(self) -> float:
        """The least t > 0 at which phi stops to fall: its minimiser if the loss is convex."""
        if isinstance(self._loss, Squared):
            return -self.slope(0.0) / self.curvature(0.0)
        if isinstance(self._loss, (Absolute, Pinball)):
            return self._best_kink(self._loss.quantile if isinstance(self._loss, Pinball) else 0.5)
        return self._search()

    def _best_kink(self, share: float) -> float:
        """Of a piecewise linear phi: the first kink from which on it does not fall. O(n log n)."""
        counts = self._weighted != 0
        h, weighted = self._h[counts], self._weighted[counts]
        kinks = (self._y[counts] - self._raw[counts]) / h
        order = np.argsort(kinks)
        # Far to the left the slope of a row is -share |w h| where h > 0, -(1 - share) |w h| where h < 0; each kink adds |w h|.
        first = np.where(h > 0, share, 1 - share) @ np.abs(weighted)
        slopes = np.cumsum(np.abs(weighted[order])) - first
        return float(kinks[order[min(int(np.searchsorted(slopes, 0.0)), len(order) - 1)]])

    def _search(self) -> float:
        """Newton's iteration on phi', within brackets; O(n) a step. Where phi falls for ever, it ends at a slope near 0."""
        first = self.slope(0.0)
        enough = _TOL * abs(first)
        curvature = self.curvature(0.0)
        low, t = 0.0, -first / curvature if curvature > 0 else 1.0
        slope = self.slope(t)
        for _ in range(_MAX_DOUBLINGS):
            if slope >= -enough:
                break
            low, t = t, 2 * t
            slope = self.slope(t)
        high = t
        for _ in range(_MAX_STEPS):
            if abs(slope) <= enough or high - low <= _TOL * high:
                break
            low, high = (t, high) if slope < 0 else (low, t)
            curvature = self.curvature(t)
            newton = t - slope / curvature if 0 < curvature < np.inf and np.isfinite(slope) else low
            t = newton if low < newton < high else (low + high) / 2
            slope = self.slope(t)
        return t
