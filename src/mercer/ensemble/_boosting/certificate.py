"""What rounds of boosting reached: where early stopping ended them, or how much the last one gained."""

from __future__ import annotations

import math
import sys

from mercer._trace import Certificate, Status

FALL = "fall of the loss in the last round"
IMPROVEMENT = "improvement of the score by the last rounds"


def boosting_certificate(
    method: str, status: Status, loss: float | None, condition: str, gain: float, tol: float
) -> Certificate:
    """`gain` is what the last rounds were good for: a loss counts as none, and before there are enough rounds it is endless."""
    residual = max(gain, 0.0) if math.isfinite(gain) else sys.float_info.max
    return Certificate(method, status, loss, condition, residual, tol)
