"""What the test rows say of intervals and sets of labels: the coverage reached beside the one asked for, and their width."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._assessment.intervals import wilson
from mercer._report.content import Intervals, SetSize
from mercer._report.measures import LEVEL
from mercer._report.numbers import level, number, percent, plural


def describe_intervals(
    coverage: float, n_calibration: int, lower: Any, upper: Any, y_test: Any, y_train: Any, weights: Any = None
) -> Intervals:
    """Of intervals for numbers; beside their width that of the interval which as many training targets fill without a model.

    `weights`: how much each test row counts in the share that is held.
    """
    is_held = (lower <= y_test) & (y_test <= upper)
    width = float(np.mean(upper - lower))
    ends = np.quantile(y_train, [(1 - coverage) / 2, (1 + coverage) / 2])
    plain = float(ends[1] - ends[0])
    size = f"An interval is {number(width)} wide; the middle {percent(coverage)} of the training targets span {number(plain)}."
    return _described("interval", coverage, n_calibration, is_held, weights, size, width=width, plain_width=plain)


def describe_sets(coverage: float, n_calibration: int, is_in: Any, codes: Any, weights: Any = None) -> Intervals:
    """Of sets of labels: `is_in` has a column a class, `codes` are the columns of the true ones."""
    is_held = is_in[np.arange(len(codes)), codes]
    n_labels = is_in.sum(axis=1)
    sizes = [
        SetSize(size=int(size), n=int((n_labels == size).sum()), n_held=int(is_held[n_labels == size].sum()))
        for size in np.unique(n_labels)
    ]
    mean = float(n_labels.mean())
    alone = percent(float((n_labels == 1).mean()))
    size = (
        f"A set has {number(mean, 2)} of the {is_in.shape[1]} labels on average, and one label alone for {alone} of the rows."
    )
    return _described("labels", coverage, n_calibration, is_held, weights, size, mean_size=mean, sizes=sizes)


def _described(
    kind: Any,
    coverage: float,
    n_calibration: int,
    is_held: Any,
    weights: Any,
    size: str,
    *,
    width: float | None = None,
    plain_width: float | None = None,
    mean_size: float | None = None,
    sizes: list[SetSize] | None = None,
) -> Intervals:
    n, reached = len(is_held), float(np.average(is_held, weights=weights))
    low, high = _share_interval(is_held, weights)
    what = "intervals" if kind == "interval" else "sets of labels"
    reading = (
        f"The {what} hold the truth of {percent(reached)} of {plural(n, 'test row')}"
        f"{'' if weights is None else ', which count by their weights'} "
        f"({level(LEVEL)} {percent(low)} to {percent(high)}); {percent(coverage)} was asked for. "
        f"{_verdict(kind, coverage, low, high)} {size}"
    )
    return Intervals(
        kind=kind,
        coverage=coverage,
        n_calibration=n_calibration,
        n_test=n,
        reached=reached,
        low=low,
        high=high,
        width=width,
        plain_width=plain_width,
        mean_size=mean_size,
        sizes=sizes,
        reading=reading,
    )


def _share_interval(is_held: Any, weights: Any) -> tuple[float, float]:
    """Of a weighted share: as of so many equal rows as estimate it as well (Kish)."""
    if weights is None:
        return wilson(int(is_held.sum()), len(is_held), LEVEL)
    n_effective = weights.sum() ** 2 / (weights**2).sum()
    return wilson(float(np.average(is_held, weights=weights)) * n_effective, n_effective, LEVEL)


def _verdict(kind: str, coverage: float, low: float, high: float) -> str:
    if high < coverage:
        return "That is clearly less: the test rows differ from the training rows, or the search fitted its folds."
    if low <= coverage:
        return "As far as so many rows can tell, the two agree."
    if kind == "labels":
        return "That is more: the likeliest label is in every set, and it alone is right more often than was asked for."
    return "That is more: the intervals are wider than they need be."
