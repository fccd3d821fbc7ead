"""One prediction as forces that push it up and down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer._params import Real, check_value
from mercer.plots._axes import QUIET, make_axes
from mercer.plots._contributions import FALL, RISE, labels_of, make_room, one_row, signed

_LINE = 0.62  # of the height of a bar, of a label and what is free below it


class _Piece(NamedTuple):
    """What one feature gave, from where to where; `label` is empty for one too small to be named."""

    start: float
    end: float
    label: str


def plot_force(explanation: Any, *, min_share: float = 0.05, ax: Any = None) -> Any:
    """Draw what pushed one prediction up, from the left, and down, from the right; they meet at what the model says.

    Parameters
    ----------
    explanation : Explanation
        Of one row and one output: `explanation[3]`, or `explanation[3, :, "yes"]`.
    min_share : float, default=0.05
        Features that gave less than this share of all pushes have no label.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.inspection import Explanation
    >>> from mercer.plots import plot_force
    >>> explanation = Explanation(
    ...     np.array([[2.0, -0.5]]), np.array([1.0]), np.array([[31.0, 4.0]]), feature_names=["age", "size"]
    ... )
    >>> [text.get_text() for text in plot_force(explanation[0]).texts[:2]]
    ['age = 31\\n+2', 'size = 4\\n\u22120.5']
    """
    check_value("plot_force", "min_share", min_share, Real(least=0, most=1))
    explanation = one_row("plot_force", explanation)
    values, final = explanation.values, float(explanation.sums)
    ups = _pieces(explanation, np.flatnonzero(values > 0), final, min_share)
    downs = _pieces(explanation, np.flatnonzero(values < 0), final, min_share)
    ax = make_axes(ax)
    n_ups, n_downs = (sum(bool(piece.label) for piece in pieces) for pieces in (ups, downs))
    is_both = n_ups > 0 and n_downs > 0
    _draw(ax, ups, RISE, range(0, 2 * n_ups, 2) if is_both else range(n_ups))
    _draw(ax, downs, FALL, range(1, 2 * n_downs, 2) if is_both else range(n_downs))
    base = float(explanation.base_values)
    marks = (
        (base, 1.1, f"base value {base:.4g}", QUIET, ":", "normal"),
        (final, 1.55, f"sum {final:.4g}", "black", "-", "bold"),
    )
    for at, height, words, colour, line, weight in marks:
        ax.plot([at, at], [0, height], color=colour, linestyle=line, linewidth=1.2)
        ax.annotate(
            words, (at, height), xytext=(0, 2), textcoords="offset points",
            ha="center", va="bottom", fontsize="small", color=colour, fontweight=weight,
        )  # fmt: skip
    n_lines = max(2 * n_ups - 1, 2 * n_downs) if is_both else max(n_ups, n_downs)
    ax.set(ylim=(-0.6 - _LINE * n_lines, 2.2), yticks=[], xlabel="prediction", title="What pushed this prediction")
    make_room(ax, [base, final], *([piece.start for piece in pieces] for pieces in (ups, downs) if pieces))
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _pieces(explanation: Any, chosen: Any, final: float, min_share: float) -> list[_Piece]:
    """Side by side from the prediction outwards, the largest first."""
    order = chosen[np.argsort(-np.abs(explanation.values[chosen]), kind="stable")]
    total = float(np.abs(explanation.values).sum())
    pieces, end = [], final
    for j, label in zip(order, labels_of(explanation, order.tolist()), strict=True):
        value = float(explanation.values[j])
        is_named = abs(value) >= min_share * total
        pieces.append(_Piece(end - value, end, f"{label}\n{signed(value)}" if is_named else ""))
        end -= value
    return pieces


def _draw(ax: Any, pieces: list[_Piece], colour: str, lines: range) -> None:
    """Bars with white seams, and each label on a line of its own below them, so that none hides another."""
    for number, piece in enumerate(pieces):
        ax.barh(0.4, piece.end - piece.start, left=piece.start, height=0.8, color=colour, edgecolor="white", linewidth=1.2)
        if not piece.label:
            continue
        middle, depth = (piece.start + piece.end) / 2, -0.25 - _LINE * lines[number]
        ax.plot([middle, middle], [0, depth], color=colour, linewidth=0.8)
        ax.annotate(
            piece.label, (middle, depth), xytext=(0, -1), textcoords="offset points",
            ha="center", va="top", fontsize="small", color=colour,
        )  # fmt: skip
