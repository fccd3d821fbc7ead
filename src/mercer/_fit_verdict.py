"""Over- and underfitting by errors on fitted and on held-out rows: the one place that has the rules."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["overfitting", "underfitting", "balanced"]

# By the course notes.
REMEDIES: dict[Verdict, tuple[str, ...]] = {
    "overfitting": ("more training rows", "a simpler model or stronger regularisation", "bagging"),
    "underfitting": ("a more flexible model (kernels, trees, more features of features)", "new columns", "boosting"),
    "balanced": (),
}


def verdict_by_skill(gap: float, spread: float, way: float, skill: float) -> Verdict:
    """Without a target: scores are measured by the way from a constant model to a perfect one.

    Overfitting is a gap beyond twice the spread over folds and a fifth of that way; underfitting is no such gap, and fitted
    rows that come less than half of it.
    """
    if gap > max(2 * spread, 0.2 * way):
        return "overfitting"
    return "underfitting" if skill < 0.5 else "balanced"


def verdict_by_target(train_error: float, test_error: float, target: float) -> Verdict:
    """With a target: training rows that miss it show bias; where they reach it and held-out rows do not, it is variance.

    A validation error above the training error alone shows neither: it nearly always is.
    """
    if train_error > target:
        return "underfitting"
    return "overfitting" if test_error > target else "balanced"
