"""Pictures of trees. Needs matplotlib: ``pip install mercer[plots]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._params import Null, Real, Rule
from mercer._trees.store import IntArray
from mercer.tree._colours import NodeColours
from mercer.tree._id3 import ID3
from mercer.tree._layout import Children, lay_out
from mercer.tree._node_text import (
    EXPORT_RULES,
    AttributeLabel,
    NodeLabel,
    Signs,
    check_options,
    name_attributes,
    name_tree,
)

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
        Any fitted tree of Mercer, also one of an ensemble's `estimators_`, an `ID3`, or a bare `tree_`.
    max_depth : int or None, default=None
        What lies deeper is drawn as "(...)".
    feature_names : array-like of str or None, default=None
        None takes the column names of the fit, or "x[0]", "x[1]", … where there were none.
    class_names : array-like of str, bool or None, default=None
        Names of the classes in their order; True writes symbols; None writes no class, but the labels of an `ID3`. For one
        output.
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
    list of matplotlib annotations: the boxes in the order of the nodes, each word on a branch after the box it leads to

    Notes
    -----
    A node of `ID3` names the attribute that it splits on, and each of its branches the value. The layout is that of Reingold
    and Tilford with the boxes' own widths. Sets of more than four categories are shortened; `export_text` has them all.
    """
    options = {
        "max_depth": max_depth, "feature_names": feature_names, "class_names": class_names, "label": label, "filled": filled,
        "impurity": impurity, "node_ids": node_ids, "proportion": proportion, "rounded": rounded, "precision": precision,
        "fontsize": fontsize, "show_missing": show_missing,
    }  # fmt: skip
    check_options("plot_tree", _PLOT_RULES, options)
    is_multiway = isinstance(decision_tree, ID3)
    names = {"feature_names": feature_names, "class_names": class_names}
    if is_multiway:
        named = name_attributes("plot_tree", decision_tree, **names)
    else:
        named = name_tree("plot_tree", decision_tree, show_missing=show_missing, **names)
    figures = (label, impurity, node_ids, proportion, precision)
    text_of = (AttributeLabel if is_multiway else NodeLabel)(named, Signs(), *figures, at_most=3)
    ax = _make_axes(ax)
    ax.clear()
    ax.set_axis_off()
    face_of = NodeColours(named) if filled else lambda node: ax.get_facecolor()
    if is_multiway:
        children = [list(decision_tree.tree_.children(node)) for node in range(decision_tree.tree_.node_count)]
        words = {child: _Word(decision_tree.value_of_branch(child)) for below in children for child in below}
    else:
        right, is_leaf = named.tree.children_right.tolist(), named.tree.is_leaf.tolist()
        children = [[] if is_leaf[node] else [node + 1, right[node]] for node in range(len(right))]
        words = dict(zip(children[0], (_Word("True  ", "right"), _Word("  False", "left")), strict=False))
    picture = _compose(named.tree.depths, children, max_depth, text_of, face_of, words)
    return _draw(ax, picture, "round" if rounded else "square", fontsize)


def _make_axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("mercer.tree.plot_tree needs matplotlib: pip install 'mercer[plots]'") from error
    return plt.gca()


@dataclass(frozen=True)
class _Word:
    """What is written on a branch; `side` is the side of the text that the branch is on."""

    text: str
    side: str = "center"


@dataclass(frozen=True)
class _Picture:
    """Boxes, the branches between them, and words on the branches by the box that they lead to."""

    children: list[list[int]]
    texts: list[str]
    faces: list[Any]
    words: dict[int, _Word]


def _compose(
    depths: IntArray, children: list[list[int]], max_depth: int | None, text_of: Any, face_of: Any, words: dict[int, _Word]
) -> _Picture:
    """The picture of the nodes down to a depth; those below it are hinted at."""
    is_shown = np.ones(len(depths), dtype=bool) if max_depth is None else depths <= max_depth + 1
    is_cut = np.zeros(len(depths), dtype=bool) if max_depth is None else depths > max_depth
    places, nodes = np.cumsum(is_shown) - 1, np.flatnonzero(is_shown).tolist()
    return _Picture(
        [[] if is_cut[node] else [int(places[child]) for child in children[node]] for node in nodes],
        [_TRUNCATED if is_cut[node] else text_of(node) for node in nodes],
        ["lightgrey" if is_cut[node] else face_of(node) for node in nodes],
        {int(places[node]): word for node, word in words.items() if is_shown[node]},
    )


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


def _draw(ax: Any, picture: _Picture, boxstyle: str, fontsize: float | None) -> list[Any]:
    (widths, heights), em = _measure(ax, picture.texts), _REFERENCE_SIZE * ax.figure.dpi / 72
    of_words, _ = _measure(ax, [picture.words[node].text if node in picture.words else "" for node in range(len(widths))])
    centred = [node in picture.words and picture.words[node].side == "center" for node in range(len(widths))]
    widths = np.maximum(widths, np.where(centred, of_words, 0.0))  # words on neighbouring branches do not touch either
    widths, heights = widths + _GAPS[0] * em, heights + _GAPS[1] * em
    parents, levels = _links(picture.children)
    x = lay_out(picture.children, widths.tolist())
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
    ink, paper = ax.xaxis.label.get_color(), ax.get_facecolor()
    edges = (heights - _GAPS[1] * em) / 2 / of_level.sum()
    drawn = []
    for node, parent in enumerate(parents.tolist()):
        frame = {"boxstyle": f"{boxstyle},pad=0.3", "fc": picture.faces[node], "ec": ink, "lw": fontsize / 10}
        arrow = {"arrowstyle": "<-", "color": ink, "lw": fontsize / 10}
        text = picture.texts[node]
        if parent < 0:
            drawn.append(ax.annotate(text, places[node], bbox=frame, zorder=100, **box))
            continue
        options = {"bbox": frame, "arrowprops": arrow, "zorder": 99 - levels[node], **box}
        drawn.append(ax.annotate(text, places[parent], places[node], **options))
        if node in picture.words:
            word, middle = picture.words[node], _halfway(places[[parent, node]], edges[[parent, node]])
            if word.side == "center":  # on the branch, which it covers
                cover = {"boxstyle": "square,pad=0.15", "fc": paper, "ec": "none"}
                drawn.append(ax.annotate(word.text, middle, bbox=cover, zorder=100, **box))
            else:
                drawn.append(ax.annotate(word.text, middle, ha=word.side, va="bottom", **style))
    return drawn


def _halfway(places: FloatArray, edges: FloatArray) -> FloatArray:
    """The middle of the visible part of the line from a box to one below it, given half of their heights."""
    (x, y), down = places[0], places[1] - places[0]
    share = (edges[0] - (down[1] + edges[1])) / 2 / -down[1]
    return np.array([x + share * down[0], y + share * down[1]])


def _links(children: Children) -> tuple[IntArray, IntArray]:
    """The parent (-1 for the root) and the level of every node."""
    parents, levels = np.full(len(children), -1), np.zeros(len(children), dtype=np.int64)
    for node, below in enumerate(children):
        for child in below:
            parents[child], levels[child] = node, levels[node] + 1
    return parents, levels
