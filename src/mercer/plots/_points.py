"""Rows as points of a plane, coloured by what is true of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray, check_labels
from mercer.plots._axes import COLOURS

_MARKERS = "osD^vPX"


def draw_points(owner: str, ax: Any, points: FloatArray, y: Any) -> None:
    """Points in the colours and with the marks of their classes; `owner` checks their number."""
    if y is None:
        ax.scatter(*points.T, color=COLOURS[0], **_look(len(points)))
        return
    classes, codes = check_labels(y)
    require_as_many(owner, len(codes), len(points))
    for place, label in enumerate(classes.tolist()):
        colour, marker = COLOURS[place % len(COLOURS)], _MARKERS[(place + place // len(COLOURS)) % len(_MARKERS)]
        ax.scatter(*points[codes == place].T, color=colour, marker=marker, label=str(label), **_look(len(points)))


def draw_shaded_points(owner: str, ax: Any, points: FloatArray, values: FloatArray) -> None:
    """Points in the colours of numbers, with a bar that says which."""
    require_as_many(owner, len(values), len(points))
    drawn = ax.scatter(*points.T, c=values, cmap="viridis", **_look(len(points)))
    ax.figure.colorbar(drawn, ax=ax, label="y")


def require_as_many(owner: str, n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(f"{owner}: y has {n_labels} labels; it must have one for each of {n_rows} rows of X.")


def _look(n_points: int) -> dict[str, Any]:
    alpha = float(np.clip(300 / max(n_points, 1), 0.25, 0.85))  # many points would hide each other
    return {"s": 24, "alpha": alpha, "linewidth": 0.4, "edgecolor": "white", "zorder": 2}
