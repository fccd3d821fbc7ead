"""Residuals of a regressor on test rows, thinned for a picture, with a histogram of all of them."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.content import Residuals

_MOST_POINTS = 1000
_MOST_BINS = 24


def residuals_of(true: FloatArray, predicted: FloatArray) -> Residuals:
    """Rows spaced evenly in the order of residuals: both extremes and the distribution of residuals stay as they are."""
    residual = true - predicted
    at = np.argsort(residual, kind="stable")
    if len(at) > _MOST_POINTS:
        at = at[np.linspace(0, len(at) - 1, _MOST_POINTS).round().astype(np.intp)]
    count, edges = np.histogram(residual, bins=int(np.clip(2 * len(residual) ** (1 / 3), 5, _MOST_BINS)))
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    return Residuals(
        n=len(true),
        true=true[at].tolist(),
        predicted=predicted[at].tolist(),
        mean=float(residual.mean()),
        std=float(residual.std(ddof=1)) if len(residual) > 1 else 0.0,
        quantiles={str(level): float(value) for level, value in zip(levels, np.quantile(residual, levels), strict=True)},
        edges=edges.tolist(),
        count=count.tolist(),
    )
