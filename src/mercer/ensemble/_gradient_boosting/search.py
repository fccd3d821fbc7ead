"""Line searches over the leaves of a tree: for each leaf the step that lowers a smooth loss of its rows most."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer.ensemble._gradient_boosting.leaves import Leaves, divide
from mercer.losses import Loss

_MAX_STEPS = 50
_TOL = 1e-12
# How far one iteration may go where no bracket is known. A leaf of zeros under the Poisson loss, or of one class under a loss
# that falls for ever, would go to infinity: such leaves stop after `_FEW_STEPS`.
_LIMITS = {"margin": 1.0, "positive": 1.0}
_FEW_STEPS = 8


def search_leaves(loss: Loss, leaves: Leaves, y: FloatArray, raw: FloatArray) -> FloatArray:
    """The minimiser of sum of w loss(y, raw + c) over each leaf: Newton's iteration, kept within brackets by bisection.

    For a residual loss the minimiser lies among the residuals, and is found to rounding; for others the iteration moves by one
    at most, a few times. O(n) an iteration, for all leaves at once.
    """
    step = np.zeros(leaves.n_nodes)
    is_residual = loss.kind == "residual"
    limit = _LIMITS.get(loss.kind, np.inf)
    low, high = leaves.ranges(y - raw) if is_residual else (np.full(len(step), -np.inf), np.full(len(step), np.inf))
    if is_residual:
        step = np.clip(step, low, high)
    for _ in range(_MAX_STEPS if is_residual else _FEW_STEPS):
        moved = raw + step[leaves.at]
        slope = leaves.sums(loss.derivative(y, moved))
        curvature = leaves.sums(loss.second_derivative(y, moved))
        low, high = np.where(slope < 0, step, low), np.where(slope > 0, step, high)
        newton = -divide(slope, curvature)
        newton = np.where((curvature <= 0) & (slope != 0), np.copysign(np.inf, -slope), newton)
        is_settled = np.abs(newton) <= _TOL * (1 + np.abs(step))
        if is_settled.all():
            break
        wanted = step + np.clip(newton, -limit, limit)
        with np.errstate(invalid="ignore"):  # where both brackets are infinite, `wanted` is within them
            middle = low / 2 + high / 2
        wanted = np.where((wanted > low) & (wanted < high), wanted, middle)
        step = np.where(is_settled, step, wanted)
    return step
