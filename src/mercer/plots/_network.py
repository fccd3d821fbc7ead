"""Networks as nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Bool, Integer, Null, check_value
from mercer.plots._axes import COLOURS, QUIET, make_axes

if TYPE_CHECKING:
    from mercer.neural_network import Network

_POSITIVE, _NEGATIVE = COLOURS[:2]
_WIDEST = 3.0  # points that the largest weight takes
_MOST_WRITTEN = 24  # weights that have room for their figures
_PLACES = (0.3, 0.7, 0.25, 0.75, 0.38, 0.62)  # of a figure along its edge
_NEAR = 0.4  # figures that are closer, in distances of nodes, hide one another
_RADIUS = 0.22  # of a node, in distances of nodes
_SPREAD = 2.0  # of layers, in distances of nodes, at least
_WIDTH = 1.3  # of the picture, in its heights


class _Column(NamedTuple):
    """The nodes of a layer that are drawn."""

    x: float
    units: list[int]  # their numbers, from 0
    y: list[float]
    gap: float | None  # where dots stand for those that are not drawn


def plot_network(
    model: Any,
    x: Any = None,
    *,
    max_units: int = 10,
    show_weights: bool | None = None,
    names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a network: a column of nodes for each layer, and an edge for each weight, the wider the larger it is.

    Edges of positive weights are blue and unbroken, those of negative ones orange and dashed; cut ones and zeros are not drawn.

    Parameters
    ----------
    model : Network or fitted estimator
        What `mercer.neural_network.network` takes.
    x : array-like of shape (n_inputs,), default=None
        One vector of inputs, whose activations are written into the nodes.
    max_units : int, default=10
        Of a larger layer the first and the last units are drawn, so many together, and dots for the others.
    show_weights : bool or None, default=None
        Whether weights and biases are written; None where they are few.
    names : sequence of str, default=None
        Names of the inputs; None for those that the model knows, or x1, x2, ...
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.neural_network import AND, NOT, OR, PASS, network
    >>> from mercer.plots import plot_network
    >>> plot_network(network([[OR, AND], [(PASS, 0), (NOT, 1)], [AND]]), [1, 0]).get_title()
    '2-2-2-1 network: 13 parameters'
    """
    from mercer.neural_network import network

    check_value("plot_network", "max_units", max_units, Integer(2))
    check_value("plot_network", "show_weights", show_weights, Null() | Bool())
    drawn = network(model)
    inputs = _input_names(model, names, drawn.sizes[0])
    values = None if x is None else _values(drawn, x)
    columns = _columns(drawn.sizes, max_units)
    if show_weights is None:
        show_weights = sum(int(connected.sum()) for connected in drawn.is_connected) <= _MOST_WRITTEN
    ax = make_axes(ax)
    _draw_edges(ax, drawn, columns, is_written=show_weights)
    for k, column in enumerate(columns):
        _draw_nodes(ax, column, None if values is None else values[k])
        _draw_heading(ax, column, drawn, k)
    _draw_names(ax, columns[0], inputs, is_left=True)
    _draw_names(ax, columns[-1], _output_names(model, drawn.sizes[-1]), is_left=False)
    if show_weights:
        _draw_biases(ax, drawn, columns)
    tallest = max(max(column.y) for column in columns)
    ax.set(aspect="equal", ylim=(-tallest - 0.6, tallest + 1.15), xlim=(-0.9, columns[-1].x + 0.9))
    ax.axis("off")
    n = drawn.n_parameters
    ax.set_title(f"{'-'.join(map(str, drawn.sizes))} network: {n} parameter{'s' * (n != 1)}")
    _make_room(ax)
    return ax


def _values(drawn: Network, x: Any) -> list[FloatArray]:
    """What each layer hands on, the inputs first."""
    table = drawn.forward_table(x)
    return [table.x, *(table.a[table.layer == k] for k in range(1, len(drawn.sizes)))]


def _columns(sizes: tuple[int, ...], max_units: int) -> list[_Column]:
    """As far apart as makes the picture about as wide as axes are."""
    tallest = min(max(sizes), max_units + 1)
    spread = max(_SPREAD, _WIDTH * tallest / (len(sizes) - 1))
    return [_column(spread * k, size, max_units) for k, size in enumerate(sizes)]


def _column(x: float, size: int, max_units: int) -> _Column:
    if size <= max_units:
        return _Column(x, list(range(size)), [(size - 1) / 2 - place for place in range(size)], None)
    n_first = (max_units + 1) // 2
    units = [*range(n_first), *range(size - max_units + n_first, size)]
    y = [max_units / 2 - place - (place >= n_first) for place in range(max_units)]  # a place is left to the dots
    return _Column(x, units, y, max_units / 2 - n_first)


def _draw_edges(ax: Any, drawn: Network, columns: list[_Column], *, is_written: bool) -> None:
    """The edges between nodes that are drawn, in one collection a sign, and the figures."""
    from matplotlib.collections import LineCollection

    largest = max(float(np.abs(W).max()) for W in drawn.coefs) or 1.0
    for sign, colour, dash in ((1, _POSITIVE, "-"), (-1, _NEGATIVE, (0, (4, 1.5)))):
        edges = [edge for edge in _edges(drawn, columns) if np.sign(edge[0]) == sign]
        widths = [max(_WIDEST * abs(weight) / largest, 0.3) for weight, *_ in edges]
        alpha = float(np.clip(40 / max(len(edges), 1), 0.25, 0.85))  # many edges would hide each other
        ends = [[start, end] for _, start, end in edges]
        ax.add_collection(LineCollection(ends, colors=colour, linewidths=widths, linestyles=dash, alpha=alpha, zorder=1))
    if is_written:
        _write_weights(ax, _edges(drawn, columns), [np.array(_below(column, y)) for column in columns[1:] for y in column.y])


def _edges(drawn: Network, columns: list[_Column]) -> list[tuple[float, tuple[float, float], tuple[float, float]]]:
    """Weights that are not cut, with the places of both ends."""
    return [
        (float(W[i, j]), (before.x, y_before), (after.x, y_after))
        for W, connected, before, after in zip(drawn.coefs, drawn.is_connected, columns, columns[1:], strict=False)
        for i, y_before in zip(before.units, before.y, strict=True)
        for j, y_after in zip(after.units, after.y, strict=True)
        if connected[i, j]
    ]


def _write_weights(
    ax: Any, edges: list[tuple[float, tuple[float, float], tuple[float, float]]], taken: list[FloatArray]
) -> None:
    """Each figure on its edge, at the first place that is free, or else at the place farthest from what is written."""
    box = {"boxstyle": "round,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
    for weight, start, end in edges:
        places = [np.array(start) + share * (np.array(end) - np.array(start)) for share in _PLACES]
        distances = [min(float(np.hypot(*(place - other))) for other in taken) for place in places]
        free = next((k for k, distance in enumerate(distances) if distance > _NEAR), int(np.argmax(distances)))
        taken.append(places[free])
        colour = _NEGATIVE if weight < 0 else _POSITIVE if weight > 0 else QUIET
        ax.text(*places[free], f"{weight:.3g}", ha="center", va="center", fontsize="x-small", color=colour, bbox=box, zorder=2)


def _draw_nodes(ax: Any, column: _Column, values: FloatArray | None) -> None:
    from matplotlib.patches import Circle

    for unit, y in zip(column.units, column.y, strict=True):
        ax.add_patch(Circle((column.x, y), _RADIUS, facecolor="white", edgecolor="black", linewidth=1.2, zorder=3))
        if values is not None:
            ax.text(column.x, y, _short(values[unit]), ha="center", va="center", fontsize="x-small", zorder=4)
    if column.gap is not None:
        ax.text(column.x, column.gap, "\N{VERTICAL ELLIPSIS}", ha="center", va="center", fontsize="x-large", zorder=4)


def _short(value: float) -> str:
    """A figure that has room in a node."""
    figure = f"{value:.2g}"
    return f"{value:.0e}" if "e" in figure else figure


def _draw_heading(ax: Any, column: _Column, drawn: Network, k: int) -> None:
    """Above each column: which layer it is, its activation, and how many units are not drawn."""
    is_last = k == len(drawn.sizes) - 1
    lines = ["inputs"] if k == 0 else ["outputs" if is_last else f"layer {k}", drawn.activations[k - 1]]
    if column.gap is not None:
        lines.append(f"{len(column.units)} of {drawn.sizes[k]} shown")
    ax.text(column.x, max(column.y) + 0.5, "\n".join(lines), ha="center", va="bottom", fontsize="small")


def _draw_biases(ax: Any, drawn: Network, columns: list[_Column]) -> None:
    box = {"boxstyle": "round,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    look = {"fontsize": "x-small", "color": QUIET, "bbox": box, "zorder": 2.5}
    for column, biases in zip(columns[1:], drawn.intercepts, strict=True):
        for unit, y in zip(column.units, column.y, strict=True):
            ax.text(*_below(column, y), f"b = {biases[unit]:.3g}", ha="center", va="center", **look)


def _below(column: _Column, y: float) -> tuple[float, float]:
    """Where the bias of a node is written."""
    return column.x, y - _RADIUS - 0.15


def _draw_names(ax: Any, column: _Column, names: list[str], *, is_left: bool) -> None:
    side, away = ("right", -1) if is_left else ("left", 1)
    for unit, y in zip(column.units, column.y, strict=True):
        ax.text(column.x + away * (_RADIUS + 0.1), y, names[unit], ha=side, va="center", fontsize="small")


def _make_room(ax: Any) -> None:
    """Widen the picture until its words are within it; a wider one makes them longer in its units."""
    for _ in range(3):
        boxes = [text.get_window_extent().transformed(ax.transData.inverted()) for text in ax.texts]
        left, right = ax.get_xlim()
        bottom, top = ax.get_ylim()
        ax.set_xlim(min(left, *(box.x0 for box in boxes)), max(right, *(box.x1 for box in boxes)))
        ax.set_ylim(min(bottom, *(box.y0 for box in boxes)), max(top, *(box.y1 for box in boxes)))


def _input_names(model: Any, names: Sequence[str] | None, n_inputs: int) -> list[str]:
    known = getattr(model, "feature_names_in_", None) if names is None else names
    labels = [f"x{j}" for j in range(1, n_inputs + 1)] if known is None else [str(name) for name in known]
    if isinstance(names, str) or len(labels) != n_inputs:
        raise ValueError(f"plot_network: names={names!r} is not valid; it must hold {n_inputs} names, one for each input.")
    return labels


def _output_names(model: Any, n_outputs: int) -> list[str]:
    """The classes of a classifier, where there is an output for each or one for the second of two; else y1, y2, ..."""
    classes = [str(label) for label in getattr(model, "classes_", ())]
    if len(classes) == n_outputs:
        return classes
    if len(classes) == 2 and n_outputs == 1:
        return classes[1:]
    return ["y"] if n_outputs == 1 else [f"y{j}" for j in range(1, n_outputs + 1)]
