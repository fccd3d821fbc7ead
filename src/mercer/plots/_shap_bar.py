"""The sizes of contributions as bars: over all rows, or of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Integer, check_value
from mercer.inspection import Explanation
from mercer.plots._axes import COLOURS, QUIET, make_axes
from mercer.plots._contributions import colour_of, labels_of, leading, make_room, shortened, signed

_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")


def plot_shap_bar(explanation: Any, *, max_display: int = 10, ax: Any = None) -> Any:
    """Draw the mean absolute contribution of each feature, the largest on top; of one row what each feature gave.

    Parameters
    ----------
    explanation : Explanation
        Of rows, of one output or of several, whose bars are then put end to end; or of one row and one output.
    max_display : int, default=10
        Show so many lines; the least features together are one of them.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> from mercer.plots import plot_shap_bar
    >>> explanation = Explanation(np.array([[2.0, -0.5], [0.5, 1.5]]), np.array([1.0, 1.0]), feature_names=["age", "size"])
    >>> [float(bar.get_width()) for bar in plot_shap_bar(explanation).patches]
    [1.25, 1.0]
    """
    check_value("plot_shap_bar", "max_display", max_display, Integer(1))
    if not isinstance(explanation, Explanation) or "feature" not in (explanation.axes or ()):
        raise TypeError(
            "plot_shap_bar: explanation must be a mercer.inspection.Explanation of all features, such as an explainer gives."
        )
    if explanation.axes == ("feature",):
        return _draw_row(explanation, max_display, make_axes(ax))
    sizes = explanation.importances()
    sizes = sizes[:, None] if sizes.ndim == 1 else sizes
    return _draw_sizes(explanation, sizes, max_display, make_axes(ax))


def _draw_row(explanation: Explanation, max_display: int, ax: Any) -> Any:
    shown, rest = leading(np.abs(explanation.values), max_display)
    values = [float(explanation.values[j]) for j in shown]
    labels = labels_of(explanation, shown)
    if rest:
        values.append(float(explanation.values[rest].sum()))
        labels.append(f"{len(rest)} other features")
    ax.barh(np.arange(len(values)), values, color=[colour_of(value) for value in values])
    for place, value in enumerate(values):
        _number(ax, place, value, signed(value), colour_of(value), is_left=value < 0)
    ax.axvline(0.0, color=QUIET, linewidth=0.8)
    make_room(ax, [0.0, *values])
    return _finished(ax, labels, "what each feature gave", "What made this prediction")


def _draw_sizes(explanation: Explanation, sizes: FloatArray, max_display: int, ax: Any) -> Any:
    """Bars of the outputs end to end; colour and hatch tell them apart."""
    shown, rest = leading(sizes.sum(axis=1), max_display)
    labels = [shortened(str(explanation.feature_names[j])) for j in shown]
    lines = sizes[shown]
    if rest:
        lines = np.vstack([lines, sizes[rest].sum(axis=0)])
        labels.append(f"{len(rest)} other features")
    n_outputs = sizes.shape[1]
    given = explanation.output_names
    names = [str(name) for name in given] if isinstance(given, np.ndarray) else [f"output {k}" for k in range(n_outputs)]
    ends = np.cumsum(lines, axis=1)
    places = np.arange(len(lines))
    for k in range(n_outputs):
        look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)]}
        if n_outputs > 1:
            look |= {"hatch": _HATCHES[k % len(_HATCHES)], "edgecolor": "white", "linewidth": 0.5, "label": names[k]}
        ax.barh(places, lines[:, k], left=ends[:, k] - lines[:, k], **look)
    for place, end in enumerate(ends[:, -1]):
        _number(ax, place, float(end), f"{end:.3g}", "black", is_left=False)
    make_room(ax, [0.0, *ends[:, -1]])
    if n_outputs > 1:
        ax.legend(fontsize="small", loc="best", framealpha=0.9)
    words = "mean |contribution|" + (", of all outputs together" if n_outputs > 1 else "")
    return _finished(ax, labels, words, "What the model goes by")


def _number(ax: Any, place: int, value: float, text: str, colour: str, *, is_left: bool) -> None:
    ax.annotate(
        text, (value, place), xytext=(-4 if is_left else 4, 0), textcoords="offset points",
        ha="right" if is_left else "left", va="center", fontsize="small", color=colour,
    )  # fmt: skip


def _finished(ax: Any, labels: list[str], xlabel: str, title: str) -> Any:
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.invert_yaxis()
    ax.set(xlabel=xlabel, title=title)
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return ax
