"""Means over runs, with what they may be off by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from mercer._arrays import FloatArray
from mercer._params import Real, check_value


@dataclass(frozen=True, eq=False)
class Band:
    """A mean over runs at each place, and Student's interval about it; without limits for a single run."""

    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


def band_of(runs: FloatArray, confidence: float) -> Band:
    """The mean of the rows."""
    confidence = check_value("curve", "confidence", confidence, Real(above=0, below=1))
    n, mean = len(runs), runs.mean(axis=0)
    if n == 1:
        return Band(mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf))
    reach = student.ppf((1 + confidence) / 2, n - 1) * runs.std(axis=0, ddof=1) / np.sqrt(n)
    return Band(mean, mean - reach, mean + reach)
