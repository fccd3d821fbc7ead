"""What stochastic descent reached: the objective at the end, and a bound on the best one from the dual, in one pass.

With u_i the derivative of the loss at x_i w + b, the dual value of the u_i, scaled so that the intercept's condition holds, is

    D = -(1/n) sum_i s_i loss*(u_i) - (alpha penalty)*(-(1/n) sum_i s_i u_i x_i)

and no model is better than D. Scaling all u_i by one more factor keeps the condition, so the best factor in [0, 1] is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._arrays import FloatArray
from mercer.linear_model._online.stochastic import Problem, Settings

# The columns of the kernel's sums; three more for negative, then for positive derivatives: slopes, conjugates, least losses.
TOTAL_LOSS, ROWS, MISCLASSIFIED, LEAST_MARGIN, SIDES = range(5)
N_SUMS = SIDES + 6
N_HALVINGS = 50


@dataclass(frozen=True)
class Reached:
    """Added over outputs, except for the margins. `dual` is None where there is none at hand."""

    primal: float
    dual: float | None
    n_misclassified: int
    least_margins: FloatArray  # the least y (x w + b) of each output


def measure(problem: Problem, settings: Settings, rule: object, coef: FloatArray, intercept: FloatArray) -> Reached:
    """The objective and the bound at a model. One pass over the rows for each output."""
    k, d = coef.shape
    has_dual = (settings.l2 > 0 or settings.l1 > 0) and not settings.is_passive_aggressive
    sums, sides = np.empty((k, N_SUMS)), np.empty((2 * k if has_dual else 0, d))
    problem.call("stochastic_bound", rule, coef, intercept.astype(np.float64), sums, sides, settings.n_threads)
    n = np.maximum(sums[:, ROWS], 1)
    primal = float((sums[:, TOTAL_LOSS] / n).sum()) + _penalty(settings, coef.astype(np.float64))
    dual = None
    if has_dual:
        dual = sum(_dual(settings, sums[i, SIDES:].reshape(2, 3) / n[i], sides[2 * i : 2 * i + 2] / n[i]) for i in range(k))
    return Reached(primal, dual, int(sums[:, MISCLASSIFIED].sum()), sums[:, LEAST_MARGIN])


def _penalty(settings: Settings, coef: FloatArray) -> float:
    if settings.is_passive_aggressive:
        return 0.0
    value = settings.l2 / 2 * np.square(coef).sum() + settings.l1 * np.abs(coef).sum()
    return float(value + settings.lp * (np.abs(coef) ** settings.p).sum())


def _dual(settings: Settings, sums: FloatArray, sides: FloatArray) -> float:
    """The dual value of one output, from sums by the sign of the derivative."""
    slopes, conjugates, least = sums.T
    shares = np.ones(2)
    if settings.fit_intercept:
        sizes = np.abs(slopes)
        shares = np.divide(sizes.min(), sizes, out=np.ones(2), where=sizes > sizes.min())
    start = float(least.sum())  # at factor zero: the sum of the least losses
    gain = -float(shares @ (conjugates + least))  # by which the first term grows with the factor
    return start + _best_factor_value(settings, gain, shares @ sides)


def _best_factor_value(settings: Settings, gain: float, v: FloatArray) -> float:
    """The largest gain f - (alpha penalty)*(f v) over f in [0, 1]; zero at f = 0."""
    if gain <= 0:
        return 0.0
    if settings.l2 == 0:  # the conjugate is zero within the box |f v_j| <= l1, infinite outside
        largest = float(np.abs(v).max(initial=0))
        return gain * (1.0 if largest <= settings.l1 else settings.l1 / largest)
    size = np.abs(v)

    def slope(f: float) -> float:
        return gain - float(np.maximum(f * size - settings.l1, 0) @ size) / settings.l2

    low, high = 0.0, 1.0
    if slope(1.0) >= 0:
        low = 1.0
    elif settings.l1 == 0:
        low = gain * settings.l2 / float(size @ size)
    else:
        for _ in range(N_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return gain * low - float(np.square(np.maximum(low * size - settings.l1, 0)).sum()) / (2 * settings.l2)
