"""One column of numbers: filled in, bent where it is very skewed, and scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer._saved import saved


@saved("mercer.preprocessing.Scale")
@dataclass(frozen=True)
class Scale:
    r"""(b(x) - centre) / spread with b(x) = x, or b(x) = arsinh((x - bend_centre) / bend_spread) where bend_spread > 0.

    The inverse hyperbolic sine is a logarithm far from the centre on either side and a straight line near it: it takes any
    number, keeps the order, and needs no rule for zeros and negative values as a logarithm does.
    """

    centre: float = 0.0
    spread: float = 1.0
    bend_centre: float = 0.0
    bend_spread: float = 0.0
    fill: float = np.nan  # what stands for a missing value, before scaling

    @property
    def is_bent(self) -> bool:
        return self.bend_spread > 0

    def of(self, values: FloatArray) -> FloatArray:
        if not np.isnan(self.fill):
            values = np.where(np.isnan(values), self.fill, values)
        if self.is_bent:
            values = np.arcsinh((values - self.bend_centre) / self.bend_spread)
        if self.centre == 0 and self.spread == 1:
            return values
        with np.errstate(over="ignore"):  # far beyond all that training had
            return (values - self.centre) / self.spread


def fit_scale(ordered: FloatArray, *, scales: bool, keeps_missing: bool, skew_limit: float) -> Scale:
    """The scale for a column with these values, sorted; it may have none."""
    if len(ordered) == 0:
        return Scale(fill=np.nan if keeps_missing else 0.0)
    fill = np.nan if keeps_missing else _quantile(ordered, 0.5)
    if not scales:
        return Scale(fill=fill)
    centre, spread = _moments(ordered)
    if spread > 0 and abs(_skewness(ordered, centre, spread)) > skew_limit:
        median = _quantile(ordered, 0.5)
        width = _quantile(ordered, 0.75) - _quantile(ordered, 0.25)
        width = width if 0 < width < np.inf else spread
        centre, spread = _moments(np.arcsinh((ordered - median) / width))
        return Scale(centre, spread or 1.0, median, width, fill)
    return Scale(centre, spread or 1.0, fill=fill)


def _quantile(ordered: FloatArray, share: float) -> float:
    """By linear interpolation between the two values around it."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    part = place - below
    return float(ordered[below] * (1 - part) + ordered[above] * part)


def _moments(values: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation; the latter is 0 where it is no more than rounding. No square overflows."""
    largest = float(np.abs(values).max())
    if largest == 0:
        return 0.0, 0.0
    parts = values / largest
    mean = float(parts.mean())
    deviation = float(np.sqrt(np.square(parts - mean).mean()))
    if deviation <= 4 * np.finfo(np.float64).eps * np.sqrt(len(values)):
        deviation = 0.0
    return mean * largest, deviation * largest


def _skewness(values: FloatArray, centre: float, spread: float) -> float:
    scores = values / spread - centre / spread
    return float((scores * scores * scores).mean())
