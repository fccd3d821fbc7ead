"""Two models on the same rows: the difference of a measure, and whether it is more than these rows would show by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Bootstrap, Statistic


@dataclass(frozen=True)
class Comparison:
    """The measure of both models, and the interval of the difference (first minus second); NaN is what is not defined."""

    first: float
    second: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        return self.first - self.second

    @property
    def is_real(self) -> bool | None:
        """Whether the interval of the difference leaves out zero; None where there is no interval."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return None
        return self.low > 0 or self.high < 0


def compare(first: Statistic, second: Statistic, bootstrap: Bootstrap, level: float) -> Comparison:
    """The paired bootstrap: both models are measured on the same resamples, so that what rows have in common cancels.

    O(n_resamples n_rows).
    """

    def difference(counts: FloatArray) -> FloatArray:
        return first(counts) - second(counts)

    ends = bootstrap.intervals({"difference": difference}, level)["difference"]
    return Comparison(bootstrap.on_sample(first), bootstrap.on_sample(second), *ends)
