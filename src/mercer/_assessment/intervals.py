"""Confidence intervals: of shares and of the area under the ROC curve in closed form, of resamples by their percentiles.

An end that is not defined is NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from mercer._arrays import FloatArray

Interval = tuple[float, float]
UNKNOWN: Interval = (math.nan, math.nan)


def wilson(successes: float, n: float, level: float) -> Interval:
    """Wilson's score interval of a share of n independent rows: the shares that a two-sided normal test does not refuse.

    Unlike the estimate plus and minus its standard error it stays inside [0, 1] and has some width even at 0 and 1.

    Reference: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if n == 0:
        return UNKNOWN
    z = float(norm.ppf((1 + level) / 2))
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == n else centre + half)


def delong(is_positive: npt.NDArray[Any], score: FloatArray, level: float) -> Interval:
    """DeLong's interval for the area under the ROC curve, on the logit scale so that it stays inside [0, 1]. O(n log n).

    Where the order is perfect the variance is zero and says nothing; the interval is then that of as many successes in a row as
    there are rows of the smaller class.

    Reference: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44 (1988); computed by ranks.
    """
    positives, negatives = score[is_positive], score[~is_positive]
    m, n = len(positives), len(negatives)
    if m == 0 or n == 0:
        return UNKNOWN
    ranks = rankdata(np.concatenate([positives, negatives]))
    above = (ranks[:m] - rankdata(positives)) / n  # for each positive, the share of negatives below it
    below = 1 - (ranks[m:] - rankdata(negatives)) / m  # for each negative, the share of positives above it
    area = float(above.mean())
    if area in (0.0, 1.0):
        bound = ((1 - level) / 2) ** (1 / min(m, n))
        return (bound, 1.0) if area == 1.0 else (0.0, 1 - bound)
    variance = sum(np.var(part, ddof=1) / len(part) for part in (above, below) if len(part) > 1)
    half = float(norm.ppf((1 + level) / 2)) * math.sqrt(variance) / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


def percentiles(values: FloatArray, level: float) -> Interval:
    """The middle of resampled values; not defined where most of them are not."""
    defined = values[np.isfinite(values)]
    if 2 * len(defined) < len(values) or not len(defined):
        return UNKNOWN
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
