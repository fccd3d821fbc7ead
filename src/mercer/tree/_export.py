"""Trees as text and as graphs in the DOT language."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mercer._params import ArrayLike, Bool, Instance, Integer, Null, Rule, check_value
from mercer.tree._colours import NodeColours
from mercer.tree._node_text import EXPORT_RULES, KNOWN, MISSING, NamedTree, NodeLabel, Signs, check_options, heights, name_tree

_TEXT_RULES: dict[str, Rule] = {
    "feature_names": Null() | ArrayLike(),
    "class_names": Null() | ArrayLike(),
    "max_depth": Integer(0),
    "spacing": Integer(1),
    "decimals": Integer(0),
    "show_weights": Bool(),
    "show_missing": Bool(),
}


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    show_missing: bool = False,
) -> str:
    """The rules of a tree as text.

    Parameters
    ----------
    decision_tree : estimator or Tree
        Any fitted tree of Mercer, also one of an ensemble's `estimators_`, or a bare `tree_`.
    feature_names : array-like of str or None, default=None
        None takes the column names of the fit, or "feature_0", "feature_1", … where there were none.
    class_names : array-like of str or None, default=None
        None takes the class labels of the fit.
    max_depth : int, default=10
        What lies deeper is said to be truncated.
    spacing : int, default=3
        The width of a level.
    decimals : int, default=2
        Digits after the point.
    show_weights : bool, default=False
        Whether a leaf of a classification tree says the weight of every class.
    show_missing : bool, default=False
        Whether each split says on which side missing values go.

    Returns
    -------
    str

    Notes
    -----
    On trees that split numbers the text is that of scikit-learn, with two exceptions: with several outputs the class of every
    one stands here, and a split that only parts missing values from others says so.

    Examples
    --------
    >>> from mercer.tree import DecisionTreeClassifier, export_text
    >>> tree = DecisionTreeClassifier().fit([[5, 0], [5, 1], [10, 2]], ["Premium", "Basic", "Advanced"])
    >>> print(export_text(tree, feature_names=["wealth", "country"]))
    |--- wealth <= 7.50
    |   |--- country <= 0.50
    |   |   |--- class: Premium
    |   |--- country >  0.50
    |   |   |--- class: Basic
    |--- wealth >  7.50
    |   |--- class: Advanced
    <BLANKLINE>
    """
    options = {
        "feature_names": feature_names, "class_names": class_names, "max_depth": max_depth, "spacing": spacing,
        "decimals": decimals, "show_weights": show_weights, "show_missing": show_missing,
    }  # fmt: skip
    check_options("export_text", _TEXT_RULES, options)
    named = name_tree(
        "export_text", decision_tree, feature_names=feature_names, class_names=class_names, show_missing=show_missing
    )
    height = heights(named.tree)
    is_leaf, right = named.tree.is_leaf.tolist(), named.tree.children_right.tolist()
    lines: list[str] = []
    waiting: list[tuple[int | str, int]] = [(0, 1)]  # nodes, and lines that come after all of a left side
    while waiting:
        item, depth = waiting.pop()
        indent = ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing
        if isinstance(item, str):
            lines.append(f"{indent} {item}")
        elif is_leaf[item]:
            lines.append(f"{indent} {_leaf_text(named, item, decimals, show_weights)}")
        elif depth > max_depth + 1:
            lines.append(f"{indent} truncated branch of depth {height[item]}")
        else:
            on_left, on_right = _branch_texts(named, item, decimals)
            waiting += [(right[item], depth + 1), (on_right, depth), (item + 1, depth + 1), (on_left, depth)]
    return "\n".join(lines) + "\n"


def _branch_texts(named: NamedTree, node: int, decimals: int) -> tuple[str, str]:
    """What holds on the left and on the right of a split."""
    name = named.feature(node, "feature_{}")
    if named.tree.is_categorical[node]:
        among = named.left_set(node)
        texts = [f"{name} in {among}", f"{name} not in {among}"]
    elif np.isinf(named.tree.threshold[node]):
        return f"{name} {KNOWN}", f"{name} {MISSING}"
    else:
        threshold = f"{named.tree.threshold[node]:.{decimals}f}"
        texts = [f"{name} <= {threshold}", f"{name} >  {threshold}"]
    if named.show_missing:
        texts[0 if named.tree.missing_go_to_left[node] else 1] += " or missing"
    return texts[0], texts[1]


def _leaf_text(named: NamedTree, node: int, decimals: int, show_weights: bool) -> str:
    if not named.is_classification:
        return "value: [" + ", ".join(f"{value:.{decimals}f}" for value in named.tree.value[node][:, 0]) + "]"
    labels = [str(label) for label in named.labels_at(node)]
    if named.class_names is not None:
        labels = [str(named.class_names[int(named.tree.value[node, 0].argmax())])]  # type: ignore[index]
    text = "class: " + (labels[0] if len(labels) == 1 else "[" + ", ".join(labels) + "]")
    if not show_weights:
        return text
    counts = [[f"{count:.{decimals}f}" for count in output] for output in named.counts_at(node)]
    return "weights: " + ", ".join("[" + ", ".join(output) + "]" for output in counts) + " " + text


_HTML = Signs("&#35;", "x<SUB>{}</SUB>", "y<SUB>{}</SUB>", "&le;", "&isin;", "<br/>")
_PLAIN = Signs(line="\\n")
_GRAPH_RULES: dict[str, Rule] = {
    **EXPORT_RULES,
    "leaves_parallel": Bool(),
    "rotate": Bool(),
    "special_characters": Bool(),
    "fontname": Instance(str),
}


def export_graphviz(
    decision_tree: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
    show_missing: bool = False,
) -> str | None:
    r"""A tree as a graph in the DOT language of Graphviz.

    Parameters
    ----------
    decision_tree : estimator or Tree
        Any fitted tree of Mercer, also one of an ensemble's `estimators_`, or a bare `tree_`.
    out_file : str, path, file or None, default=None
        Where to write; None returns the text.
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
    leaves_parallel : bool, default=False
        Whether all leaves are drawn at the bottom.
    impurity, node_ids : bool, default=True, False
        Whether nodes show their impurity and their number.
    proportion : bool, default=False
        Whether counts are shown as shares.
    rotate : bool, default=False
        Whether the tree grows from left to right.
    rounded : bool, default=False
        Whether corners are round.
    special_characters : bool, default=False
        Whether labels are HTML.
    precision : int, default=3
        Digits after the point.
    fontname : str, default="helvetica"
        The font.
    show_missing : bool, default=False
        Whether each split says on which side missing values go.

    Returns
    -------
    str, or None where the text was written to `out_file`

    Examples
    --------
    >>> from mercer.tree import DecisionTreeRegressor, export_graphviz
    >>> tree = DecisionTreeRegressor().fit([[0], [1]], [1.0, 3.0])
    >>> print(export_graphviz(tree).splitlines()[3])
    0 [label="x[0] <= 0.5\nsquared_error = 1.0\nsamples = 2\nvalue = 2.0"] ;
    """
    options = {
        "max_depth": max_depth, "feature_names": feature_names, "class_names": class_names, "label": label, "filled": filled,
        "leaves_parallel": leaves_parallel, "impurity": impurity, "node_ids": node_ids, "proportion": proportion,
        "rotate": rotate, "rounded": rounded, "special_characters": special_characters, "precision": precision,
        "fontname": fontname, "show_missing": show_missing,
    }  # fmt: skip
    check_options("export_graphviz", _GRAPH_RULES, options)
    named = name_tree(
        "export_graphviz", decision_tree, feature_names=feature_names, class_names=class_names, show_missing=show_missing,
        escape=html.escape if special_characters else _escape_quotes,
    )  # fmt: skip
    text_of = NodeLabel(named, _HTML if special_characters else _PLAIN, label, impurity, node_ids, proportion, precision)
    quotes = ("<", ">") if special_characters else ('"', '"')
    styles = [name for name, is_set in (("filled", filled), ("rounded", rounded)) if is_set]
    style = f', style="{", ".join(styles)}", color="black"' if styles else ""
    lines = ["digraph Tree {", f'node [shape=box{style}, fontname="{fontname}"] ;']
    lines += ["graph [ranksep=equally, splines=polyline] ;"] if leaves_parallel else []
    lines.append(f'edge [fontname="{fontname}"] ;')
    lines += ["rankdir=LR ;"] if rotate else []
    colours = NodeColours(named) if filled else None
    lines += _graph_lines(named, max_depth, lambda node: quotes[0] + text_of(node) + quotes[1], colours, rotate=rotate)
    lines += _rank_lines(named, max_depth) if leaves_parallel else []
    return _write("\n".join([*lines, "}"]), out_file)


def _escape_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', r"\"")


def _graph_lines(
    named: NamedTree, max_depth: int | None, label: Any, colours: NodeColours | None, *, rotate: bool
) -> list[str]:
    """The nodes as far as they are shown, each followed by the edge that leads to it."""
    depths, parents = named.tree.depths.tolist(), named.tree.parents.tolist()
    angle = 45 if not rotate else -45
    lines = []
    for node, (depth, parent) in enumerate(zip(depths, parents, strict=True)):
        if max_depth is not None and depth > max_depth + 1:
            continue
        is_shown = max_depth is None or depth <= max_depth
        colour = "" if colours is None else f', fillcolor="{colours(node) if is_shown else "#C0C0C0"}"'
        text = label(node) if is_shown else '"(...)"'
        lines.append(f"{node} [label={text}{colour}] ;")
        if parent < 0:
            continue
        is_left = node == parent + 1
        head = f' [labeldistance=2.5, labelangle={angle if is_left else -angle}, headlabel="{is_left}"]'
        lines.append(f"{parent} -> {node}{head if parent == 0 and is_shown else ''} ;")
    return lines


def _rank_lines(named: NamedTree, max_depth: int | None) -> list[str]:
    """Which nodes are drawn side by side: those of a depth, and all leaves."""
    ranks: dict[str, list[str]] = {"leaves": []}
    for node, depth in enumerate(named.tree.depths.tolist()):
        if max_depth is not None and depth > max_depth + 1:
            continue
        is_end = named.tree.is_leaf[node] or (max_depth is not None and depth > max_depth)
        ranks.setdefault("leaves" if is_end else str(depth), []).append(str(node))
    return ["{rank=same ; " + "; ".join(ranks[rank]) + "} ;" for rank in sorted(ranks)]


def _write(text: str, out_file: Any) -> str | None:
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text)
        return None
    check_value("export_graphviz", "out_file", out_file, Null() | Instance(str) | Instance(PathLike))
    Path(out_file).write_text(text, encoding="utf-8")
    return None
