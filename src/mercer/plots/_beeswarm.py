"""All contributions at once: a row of points for each feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Integer, check_value
from mercer.plots._axes import QUIET, make_axes
from mercer.plots._contributions import leading, rows, scatter_shaded, shade_bar, shades_of, shortened

_N_BINS = 100
_HALF_WIDTH = 0.4  # of a feature's row


def plot_beeswarm(explanation: Any, *, max_display: int = 10, ax: Any = None) -> Any:
    """Draw what each feature gave to each prediction, coloured by the feature's value; the feature that gives most on top.

    Points of about the same contribution stand above one another, so that a swarm is wide where there are many. Values without
    an order, and missing ones, are grey.

    Parameters
    ----------
    explanation : Explanation
        Of rows and one output: as it comes, or `explanation[..., "yes"]` of several outputs.
    max_display : int, default=10
        Show so many lines; the sum of the least features, which has no value, is one of them.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> from mercer.plots import plot_beeswarm
    >>> explanation = Explanation(
    ...     np.array([[2.0, -0.5], [0.5, 1.0]]), np.array([1.0, 1.0]), np.array([[31.0, 4.0], [8.0, 6.0]]),
    ...     feature_names=["age", "size"],
    ... )
    >>> [label.get_text() for label in plot_beeswarm(explanation).get_yticklabels()]
    ['age', 'size']
    """
    check_value("plot_beeswarm", "max_display", max_display, Integer(1))
    explanation = rows("plot_beeswarm", explanation)
    shown, rest = leading(explanation.importances(), max_display)
    ax, points = make_axes(ax), None
    style = {"s": _size(len(explanation.values)), "linewidths": 0, "rasterized": len(explanation.values) > 2000}
    low, high = float(explanation.values.min()), float(explanation.values.max())
    for place, j in enumerate(shown):
        values = np.asarray(explanation.values[:, j])
        shades = shades_of(None if explanation.data is None else explanation.data[:, j])
        points = scatter_shaded(ax, values, place + _offsets(values, low, high), shades, **style) or points
    labels = [shortened(str(explanation.feature_names[j])) for j in shown]
    if rest:
        values = explanation.values[:, rest].sum(axis=1)
        scatter_shaded(ax, values, len(shown) + _offsets(values, low, high), None, **style)
        labels.append(f"{len(rest)} other features")
    ax.axvline(0.0, color=QUIET, linewidth=0.8, zorder=0)
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(axis="y", alpha=0.3, linestyle=":")
    ax.set_axisbelow(True)
    ax.set(xlabel="what the feature gave to a prediction", title="What the model goes by")
    if points is not None:
        shade_bar(ax, points, "value of the feature")
    return ax


def _size(n_rows: int) -> float:
    """The area of a point: smaller where there are many."""
    return float(np.clip(4000 / max(n_rows, 1), 3, 22))


def _offsets(values: FloatArray, low: float, high: float) -> FloatArray:
    """Heights by which points of a bin stand apart, half of them on either side; fuller bins fill more of the row."""
    bins = np.floor((values - low) / ((high - low) or 1.0) * (_N_BINS - 1)).astype(np.intp)
    counts = np.bincount(bins - bins.min())
    order = np.argsort(bins, kind="stable")
    number = np.empty(len(values))
    number[order] = np.arange(len(values)) - np.concatenate([[0], np.cumsum(counts)[:-1]])[bins[order] - bins.min()]
    steps = np.ceil(number / 2) * np.where(number % 2 == 1, 1, -1)
    most = max(float(np.abs(steps).max()), 8.0)  # few points stand close to the middle
    return _HALF_WIDTH * steps / most
