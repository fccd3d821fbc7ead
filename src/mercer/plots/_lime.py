"""A local surrogate's weights as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Integer, check_value
from mercer.plots._axes import QUIET, make_axes
from mercer.plots._contributions import colour_of, make_room, shortened, signed


def plot_lime(explanation: Any, *, label: Any = None, max_display: int = 10, ax: Any = None) -> Any:
    """Draw the weights of a local surrogate, the largest on top, and how well it fits around the row.

    Parameters
    ----------
    explanation : object
        What `mercer.inspection.LimeExplainer` gives for a row, or anything else with `as_list()`, which gives pairs of a
        condition in words and its weight, and `score`, the weighted R2 of the surrogate.
    label : object, default=None
        The class whose surrogate is meant, handed to `as_list`; None hands nothing.
    max_display : int, default=10
        Show so many of the largest weights.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.plots import plot_lime
    >>> class Explained:
    ...     score = 0.83
    ...     def as_list(self):
    ...         return [("age > 40", 0.3), ("size <= 2", -0.1)]
    >>> [text.get_text() for text in plot_lime(Explained()).get_yticklabels()]
    ['age > 40', 'size <= 2']
    """
    check_value("plot_lime", "max_display", max_display, Integer(1))
    if not (hasattr(explanation, "as_list") and hasattr(explanation, "score")):
        raise TypeError(f"plot_lime: explanation is a {type(explanation).__name__}; it must have as_list() and score.")
    listed = explanation.as_list() if label is None else explanation.as_list(label)
    pairs = [(str(words), float(weight)) for words, weight in listed]
    if not pairs:
        raise ValueError("plot_lime: the explanation has no weights to draw.")
    shown = sorted(pairs, key=lambda pair: -abs(pair[1]))[:max_display]
    values = np.array([weight for _, weight in shown])
    ax = make_axes(ax)
    places = np.arange(len(shown))
    ax.barh(places, values, color=[colour_of(value) for value in values])
    for place, value in zip(places, values.tolist(), strict=True):
        ax.annotate(
            signed(value), (value, place), xytext=(4 if value >= 0 else -4, 0), textcoords="offset points",
            ha="left" if value >= 0 else "right", va="center", fontsize="small", color=colour_of(value),
        )  # fmt: skip
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    ax.set_yticks(places, [shortened(words) for words, _ in shown])
    ax.invert_yaxis()
    make_room(ax, [0.0, *values])
    left_out = len(pairs) - len(shown)
    whose = "" if label is None else f", for {label}"
    ax.set(
        xlabel="weight in the local surrogate" + (f" ({left_out} smaller ones are not shown)" if left_out else ""),
        title=f"Around this row{whose}: R2 of the surrogate {float(_score(explanation, label)):.2f}",
    )
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return ax


def _score(explanation: Any, label: Any) -> Any:
    """The fit of the surrogate; one a class, by the label, where there are several."""
    score = explanation.score
    return score[label] if hasattr(score, "keys") and label is not None else score
