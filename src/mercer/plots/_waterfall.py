"""One prediction as a staircase from the base value."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._params import Integer, check_value
from mercer.plots._axes import QUIET, make_axes
from mercer.plots._contributions import colour_of, labels_of, leading, make_room, one_row, signed


def plot_waterfall(explanation: Any, *, max_display: int = 10, ax: Any = None) -> Any:
    """Draw how one prediction comes about: from the base value, feature by feature, the largest last, to what the model says.

    Parameters
    ----------
    explanation : Explanation
        Of one row and one output: `explanation[3]`, or `explanation[3, :, "yes"]`.
    max_display : int, default=10
        Show so many lines; what the least features gave together is one of them.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> from mercer.plots import plot_waterfall
    >>> explanation = Explanation(
    ...     np.array([[2.0, -0.5]]), np.array([1.0]), np.array([[31.0, 4.0]]), feature_names=["age", "size"]
    ... )
    >>> [label.get_text() for label in plot_waterfall(explanation[0]).get_yticklabels()]
    ['size = 4', 'age = 31']
    """
    check_value("plot_waterfall", "max_display", max_display, Integer(1))
    explanation = one_row("plot_waterfall", explanation)
    shown, rest = leading(np.abs(explanation.values), max_display)
    values = [float(explanation.values[j]) for j in shown]
    labels = labels_of(explanation, shown)
    if rest:
        values.append(float(explanation.values[rest].sum()))
        labels.append(f"{len(rest)} other features")
    values, labels = values[::-1], labels[::-1]  # from the bottom, the least first
    base = float(explanation.base_values)
    ends = base + np.cumsum(values)
    starts = ends - values
    ax = make_axes(ax)
    places = np.arange(len(values))
    ax.barh(places, values, left=starts, color=[colour_of(value) for value in values], height=0.7)
    for place, end in zip(places[:-1], ends[:-1], strict=True):  # each step begins where the one before ends
        ax.plot([end, end], [place, place + 1], color=QUIET, linewidth=0.8, zorder=0)
    for place, value, end in zip(places, values, ends, strict=True):
        ax.annotate(
            signed(value), (end, place), xytext=(4 if value >= 0 else -4, 0), textcoords="offset points",
            ha="left" if value >= 0 else "right", va="center", fontsize="small", color=colour_of(value),
        )  # fmt: skip
    final = float(ends[-1]) if len(ends) else base
    for at, words, line in ((base, f"base value {base:.4g}", ":"), (final, f"sum {final:.4g}", "--")):
        ax.axvline(at, color=QUIET, linewidth=1, linestyle=line, zorder=0, label=words)
    ax.set_yticks(places, labels)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False, fontsize="small")
    make_room(ax, starts, ends, [base])
    ax.set(xlabel="prediction" + _output_words(explanation), title="What made this prediction")
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return ax


def _output_words(explanation: Any) -> str:
    return f" for {explanation.output_names}" if isinstance(explanation.output_names, str) else ""
