"""Over- and underfitting by errors on fitted and on held-out rows: the one place that has the rules."""

from __future__ import annotations

import math
from typing import Literal

Verdict = Literal["overfitting", "underfitting", "balanced"]

# By the course notes.
REMEDIES: dict[Verdict, tuple[str, ...]] = {
    "overfitting": ("more training rows", "a simpler model or stronger regularisation", "bagging"),
    "underfitting": ("a more flexible model (kernels, trees, more features of features)", "new columns", "boosting"),
    "balanced": (),
}


_LEAST_GAP = 0.1  # of the way from a constant model to a perfect one, that matters


def verdict_by_skill(gap: float, spread: float, way: float, skill: float, n_folds: int = 1) -> Verdict:
    """Without a target: scores are measured by the way from a constant model to a perfect one.

    Overfitting is a gap between fitted and held-out rows that is real (`is_real_gap`) and beyond a tenth of that way;
    underfitting is no such gap, and fitted rows that come less than half of it.
    """
    if is_real_gap(gap, spread, n_folds) and gap > _LEAST_GAP * way:
        return "overfitting"
    return "underfitting" if skill < 0.5 else "balanced"


def is_real_gap(gap: float, spread: float, n_folds: int = 1) -> bool:
    """Whether a mean gap over folds is beyond twice its standard error; `spread` is the standard deviation over folds."""
    return gap > 2 * spread / math.sqrt(n_folds)


def verdict_by_target(train_error: float, test_error: float, target: float) -> Verdict:
    """With a target: training rows that miss it show bias; where they reach it and held-out rows do not, it is variance.

    A validation error above the training error alone shows neither: it nearly always is.
    """
    if train_error > target:
        return "underfitting"
    return "overfitting" if test_error > target else "balanced"
