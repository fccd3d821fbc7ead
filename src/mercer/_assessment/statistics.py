"""Statistics of a number a row as functions of counts: how often each row counts, many resamples at a time.

Every function takes counts of shape (n_resamples, n_rows) and gives one number a resample. What is not defined is NaN.
"""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._assessment.bootstrap import Statistic
from mercer._confusion import ratio


def mean_of(values: FloatArray) -> Statistic:
    """The mean of a number a row."""
    return lambda counts: counts @ values / counts.sum(axis=1)


def root_mean_of(values: FloatArray) -> Statistic:
    """The root of the mean of a number a row."""
    return lambda counts: np.sqrt(counts @ values / counts.sum(axis=1))


def median_of(values: FloatArray) -> Statistic:
    """The median of a number a row, the mean of the two in the middle where their number is even."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]

    def statistic(counts: FloatArray) -> FloatArray:
        below = np.cumsum(counts.take(order, axis=1), axis=1)
        half = below[:, -1:] / 2
        lower = ranked[np.argmax(below >= half, axis=1)]
        upper = ranked[np.argmax(below > half, axis=1)]
        return np.asarray((lower + upper) / 2)

    return statistic


def r2(true: FloatArray, predicted: FloatArray) -> Statistic:
    """One minus the squared error over that of the mean; not defined where the truth is constant."""
    errors = (true - predicted) ** 2
    centred = true - true.mean()  # the mean of all rows, so that the difference of squares below keeps its digits
    squares = centred**2

    def statistic(counts: FloatArray) -> FloatArray:
        total = counts @ squares - (counts @ centred) ** 2 / counts.sum(axis=1)
        return 1 - ratio(counts @ errors, np.maximum(total, 0))

    return statistic
