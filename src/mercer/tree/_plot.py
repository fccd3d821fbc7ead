"""Pictures of trees. Needs matplotlib: ``pip install mercer[plots]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Null, Real, Rule
from mercer.tree._colours import NodeColours
from mercer.tree._layout import lay_out
from mercer.tree._node_text import EXPORT_RULES, NodeLabel, Signs, check_options, name_tree

_PLOT_RULES: dict[str, Rule] = {**EXPORT_RULES, "fontsize": Null() | Real(above=0)}
_TRUNCATED = "(...)"
_REFERENCE_SIZE = 10.0  # of the font in which boxes are measured
_LARGEST_SIZE = 14.0  # a small tree need not fill the picture
_GAPS = (1.6, 3.0)  # between boxes, across and down, in ems


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: float | None = None,
    show_missing: bool = False,
) -> list[Any]:
    """Draw a tree.

    Parameters
    ----------
    decision_tree : estimator or Tree
        Any fitted tree of Mercer, also one of an ensemble's `estimators_`, or a bare `tree_`.
    max_depth : int or None, default=None
        What lies deeper is drawn as "(...)".
    feature_names : array-like of str or None, default=None
        None takes the column names of the fit, or "x[0]", "x[1]", … where there were none.
    class_names : array-like of str, bool or None, default=None
        Names of the classes in their order; True writes symbols; None writes no class. For one output.
    label : {"all", "root", "none"}, default="all"
        Which nodes say what their figures are.
    filled : bool, default=False
        Whether nodes are painted: by class, by value, or by purity where there are several outputs.
    impurity, node_ids : bool, default=True, False
        Whether nodes show their impurity and their number.
    proportion : bool, default=False
        Whether counts are shown as shares.
    rounded : bool, default=False
        Whether corners are round.
    precision : int, default=3
        Digits after the point.
    ax : matplotlib axes or None, default=None
        Where to draw, after what is there is cleared; None takes the current axes.
    fontsize : float or None, default=None
        The size of the font; None takes the largest at which no two boxes touch.
    show_missing : bool, default=False
        Whether each split says on which side missing values go.

    Returns
    -------
    list of matplotlib annotations, the boxes in the order of the nodes, then the words on the first two branches

    Notes
    -----
    The layout is that of Reingold and Tilford with the boxes' own widths. Sets of more than four categories are shortened;
    `export_text` has them all.
    """
    options = {
        "max_depth": max_depth, "feature_names": feature_names, "class_names": class_names, "label": label, "filled": filled,
        "impurity": impurity, "node_ids": node_ids, "proportion": proportion, "rounded": rounded, "precision": precision,
        "fontsize": fontsize, "show_missing": show_missing,
    }  # fmt: skip
    check_options("plot_tree", _PLOT_RULES, options)
    named = name_tree(
        "plot_tree", decision_tree, feature_names=feature_names, class_names=class_names, show_missing=show_missing
    )
    text_of = NodeLabel(named, Signs(), label, impurity, node_ids, proportion, precision, at_most=3)
    colours = NodeColours(named) if filled else None
    ax = _make_axes(ax)
    ax.clear()
    ax.set_axis_off()
    nodes, right = _shown(named.tree, max_depth)
    is_cut = [max_depth is not None and depth > max_depth for depth in named.tree.depths[nodes].tolist()]
    texts = [_TRUNCATED if cut else text_of(node) for node, cut in zip(nodes.tolist(), is_cut, strict=True)]
    faces: list[Any] = []
    for node, cut in zip(nodes.tolist(), is_cut, strict=True):
        faces.append("lightgrey" if cut else ax.get_facecolor() if colours is None else colours(node))
    return _draw(ax, right, texts, faces, "round" if rounded else "square", fontsize)


def _make_axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.tree.plot_tree needs matplotlib: pip install 'mercer[plots]'") from error
    return plt.gca()


def _shown(tree: Any, max_depth: int | None) -> tuple[Any, list[int]]:
    """The nodes that are drawn, and the right child of each among them (0: drawn as a leaf)."""
    depths = tree.depths
    is_shown = np.ones(len(depths), dtype=bool) if max_depth is None else depths <= max_depth + 1
    nodes = np.flatnonzero(is_shown)
    places = np.cumsum(is_shown) - 1
    has_children = ~tree.is_leaf[nodes] & (True if max_depth is None else depths[nodes] <= max_depth)
    return nodes, np.where(has_children, places[tree.children_right[nodes]], 0).tolist()


def _measure(ax: Any, texts: list[str]) -> tuple[FloatArray, FloatArray]:
    """Widths and heights of the texts in the font of reference, in pixels; equal texts are measured once."""
    renderer = ax.figure.canvas.get_renderer()
    probe = ax.text(0, 0, "", fontsize=_REFERENCE_SIZE)
    sizes = {}
    for text in set(texts):
        probe.set_text(text)
        extent = probe.get_window_extent(renderer)
        sizes[text] = (extent.width, extent.height)
    probe.remove()
    return np.array([sizes[text][0] for text in texts]), np.array([sizes[text][1] for text in texts])


def _draw(ax: Any, right: list[int], texts: list[str], faces: list[Any], boxstyle: str, fontsize: float | None) -> list[Any]:
    widths, heights = _measure(ax, texts)
    em = _REFERENCE_SIZE * ax.figure.dpi / 72
    widths, heights = widths + _GAPS[0] * em, heights + _GAPS[1] * em
    parents, levels = _links(right)
    x = lay_out(right, widths.tolist())
    left, width = (x - widths / 2).min(), (x + widths / 2).max() - (x - widths / 2).min()
    of_level = np.array([heights[levels == level].max() for level in range(levels.max() + 1)])
    y = (np.cumsum(of_level) - of_level / 2)[levels]
    if fontsize is None:
        window = ax.get_window_extent()
        fit = min(window.width / width, window.height / of_level.sum())
        fontsize = min(_LARGEST_SIZE, _REFERENCE_SIZE * fit)
    places = np.column_stack([(x - left) / width, 1 - y / of_level.sum()])
    style = {"fontsize": fontsize, "xycoords": "axes fraction"}
    box = {"ha": "center", "va": "center", **style}
    ink = ax.xaxis.label.get_color()
    edges = (heights - _GAPS[1] * em) / 2 / of_level.sum()
    drawn, words = [], []
    for node, parent in enumerate(parents.tolist()):
        frame = {"boxstyle": f"{boxstyle},pad=0.3", "fc": faces[node], "ec": ink, "lw": fontsize / 10}
        arrow = {"arrowstyle": "<-", "color": ink, "lw": fontsize / 10}
        if parent < 0:
            drawn.append(ax.annotate(texts[node], places[node], bbox=frame, zorder=100, **box))
            continue
        drawn.append(
            ax.annotate(
                texts[node], places[parent], places[node], bbox=frame, arrowprops=arrow, zorder=99 - levels[node], **box
            )
        )
        if parent == 0:
            word, side = ("True  ", "right") if node == 1 else ("  False", "left")
            words.append(ax.annotate(word, _halfway(places[[0, node]], edges[[0, node]]), ha=side, va="bottom", **style))
    return drawn + words


def _halfway(places: FloatArray, edges: FloatArray) -> FloatArray:
    """The middle of the visible part of the line from a box to one below it, given half of their heights."""
    (x, y), down = places[0], places[1] - places[0]
    share = (edges[0] - (down[1] + edges[1])) / 2 / -down[1]
    return np.array([x + share * down[0], y + share * down[1]])


def _links(right: list[int]) -> tuple[Any, Any]:
    """The parent (-1 for the root) and the level of every node."""
    parents, levels = np.full(len(right), -1), np.zeros(len(right), dtype=int)
    for node, child in enumerate(right):
        if child:
            parents[[node + 1, child]] = node
            levels[[node + 1, child]] = levels[node] + 1
    return parents, levels
