"""The dendrogram of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._hierarchy import hierarchy_of
from mercer._params import Integer, Null, Real, check_value
from mercer.plots._axes import COLOURS, QUIET, make_axes

MOST_LABELS = 60  # leaves that have room for a name each


def plot_dendrogram(
    tree: Any,
    *,
    max_leaves: int | None = 30,
    n_clusters: int | None = None,
    height: float | None = None,
    labels: Any = None,
    ax: Any = None,
) -> Any:
    """Draw a hierarchy: what is merged how high. Small clusters stand as one leaf, with the number of their rows.

    Parameters
    ----------
    tree : fitted AgglomerativeClustering or DivisiveClustering, or array of shape (n_samples - 1, 4)
        The hierarchy, also as a linkage matrix in SciPy's format.
    max_leaves : int or None, default=30
        How many leaves to draw, those of the last merges: others are within "(rows)". None draws every row.
    n_clusters : int or None, default=None
        Colour the clusters of a cut by number. Without a cut, those of :func:`mercer.cluster.suggest_n_clusters` of up to
        `max_leaves` clusters.
    height : float or None, default=None
        Colour those of a cut at a height.
    labels : array-like of shape (n_samples,), default=None
        Names of the rows; None means their numbers.
    ax : matplotlib axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from mercer.cluster import AgglomerativeClustering
    >>> from mercer.plots import plot_dendrogram
    >>> X = [[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]
    >>> plot_dendrogram(AgglomerativeClustering(linkage="average").fit(X)).get_title()
    'Dendrogram: cut into 3 clusters'
    """
    from mercer.cluster import cut_linkage, suggest_n_clusters

    hierarchy = hierarchy_of(tree)
    n = hierarchy.n_leaves
    max_leaves = check_value("plot_dendrogram", "max_leaves", max_leaves, Null() | Integer(2))
    if n_clusters is not None and height is not None:
        raise TypeError("plot_dendrogram: n_clusters and height are two cuts; give one of them at most.")
    if labels is not None and len(labels) != n:
        raise ValueError(f"plot_dendrogram: labels holds {len(labels)} names; there are {n} rows.")
    n_drawn = n if max_leaves is None else min(n, max_leaves)
    if height is not None:
        clusters = cut_linkage(hierarchy.matrix, height=check_value("plot_dendrogram", "height", height, Real(least=0)))
    else:
        wanted = suggest_n_clusters(hierarchy.matrix, max_clusters=n_drawn) if n_clusters is None else n_clusters
        clusters = cut_linkage(hierarchy.matrix, wanted)
    ax = make_axes(ax)
    _draw(ax, hierarchy, clusters, n_drawn, np.arange(n) if labels is None else labels)
    k = int(clusters.max()) + 1
    ax.set(ylabel="distance", title=f"Dendrogram: cut into {k} cluster{'s' * (k != 1)}")
    level = _level(hierarchy, k) if height is None else height
    if level is not None:
        ax.axhline(level, color=QUIET, linestyle="--", linewidth=1)
    return ax


def _draw(ax: Any, hierarchy: Any, clusters: Any, n_drawn: int, names: Any) -> None:
    n, children, heights = hierarchy.n_leaves, hierarchy.children, hierarchy.heights
    drawn = set(range(2 * n - n_drawn, 2 * n - 1))  # nodes that are drawn as merges
    order = _leaves(children, n, drawn)
    of_node = _cluster_of_nodes(children, clusters)
    places: dict[int, float] = {node: 10.0 * i + 5 for i, node in enumerate(order)}
    base = {node: 0.0 for node in order}
    names_of = {label: i for i, label in enumerate(dict.fromkeys(of_node[node] for node in order if of_node[node] >= 0))}
    for node in sorted(drawn):
        left, right = (int(child) for child in children[node - n])
        x, top = (places[left], places[right]), float(heights[node - n])
        color = QUIET if of_node[node] < 0 else COLOURS[names_of[of_node[node]] % len(COLOURS)]
        ax.plot(
            [x[0], x[0], x[1], x[1]], [base[left], top, top, base[right]], color=color, linewidth=1.4, solid_joinstyle="miter"
        )
        places[node], base[node] = (x[0] + x[1]) / 2, top
    ax.set_xlim(0, 10 * len(order))
    ax.set_ylim(0, 1.05 * float(heights.max()) or 1.0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if len(order) > MOST_LABELS:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(order):,} rows")
        return
    texts = [str(names[node]) if node < n else f"({hierarchy.sizes[node - n]:,})" for node in order]
    is_crowded = len(order) * max(map(len, texts)) > 70
    ax.set_xticks([places[node] for node in order], texts, rotation=90 if is_crowded else 0, fontsize="small")
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("rows, or how many of them" if any(node >= n for node in order) else "rows")


def _leaves(children: Any, n: int, drawn: set[int]) -> list[int]:
    """What is drawn as a leaf, from left to right."""
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node in drawn:
            left, right = (int(child) for child in children[node - n])
            waiting += [right, left]
        else:
            order.append(node)
    return order


def _cluster_of_nodes(children: Any, clusters: Any) -> Any:
    """The cluster that all rows under a node have; -1 above the cut."""
    of_node = np.concatenate([clusters, np.full(len(children), -1)])
    for i, (left, right) in enumerate(children):
        if of_node[left] == of_node[right]:
            of_node[len(clusters) + i] = of_node[left]
    return of_node


def _level(hierarchy: Any, k: int) -> float | None:
    """A height between the merges that a cut into k clusters undoes and the others."""
    reach = np.sort(hierarchy.reach)
    if k == 1 or k > len(reach):
        return None
    return float((reach[-(k - 1)] + (reach[-k] if k <= len(reach) else 0.0)) / 2)
