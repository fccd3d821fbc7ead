"""Confidence intervals in closed form: shares, and the area under the ROC curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from mercer._arrays import FloatArray


def wilson(share: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent rows: inside [0, 1], and of some width even at 0 and 1.

    Reference: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if n == 0 or math.isnan(share):
        return math.nan, math.nan
    z = float(norm.ppf((1 + level) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def delong(is_positive: npt.NDArray[Any], score: FloatArray, level: float) -> tuple[float, float]:
    """DeLong's interval for the area under the ROC curve, on the logit scale so that it stays inside [0, 1]. O(n log n).

    Where the order is perfect the variance is zero and says nothing; the interval is then that of as many successes in a row as
    there are rows of the smaller class.

    Reference: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44 (1988); computed by ranks.
    """
    positives, negatives = score[is_positive], score[~is_positive]
    m, n = len(positives), len(negatives)
    if m == 0 or n == 0:
        return math.nan, math.nan
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
