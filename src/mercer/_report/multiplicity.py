"""Many comparisons at once: what is left of a p-value when there were others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of one false finding among all is at most that of each corrected value."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if len(p) else p
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    found: list[float] = corrected.tolist()
    return found
