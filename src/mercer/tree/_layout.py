"""Where the nodes of a tree stand in a picture."""

from __future__ import annotations

import numpy as np

from mercer._arrays import FloatArray


def lay_out(right: list[int], widths: list[float]) -> FloatArray:
    """The horizontal places of nodes: parents midway between their children, no two nodes of a level on top of each other.

    The tidy drawing of Reingold and Tilford. Each subtree keeps its outline, level by level, as seen from its root; two
    subtrees are moved together until their outlines touch. O(n times the depth).

    Parameters
    ----------
    right : list of int
        The right child of every node, 0 for a leaf; the left one is the next node.
    widths : list of float
        How much room every node takes.

    Returns
    -------
    ndarray of shape (n_nodes,), the root at 0

    References
    ----------
    E. Reingold and J. Tilford, "Tidier drawings of trees", 1981.
    """
    offsets = np.zeros(len(right))  # of a node from its parent
    outlines: dict[int, tuple[list[float], list[float]]] = {}  # left and right edges of a subtree's levels
    for node in range(len(right) - 1, -1, -1):  # children come after their parents
        edges = ([-widths[node] / 2], [widths[node] / 2])
        if right[node]:
            one, other = outlines.pop(node + 1), outlines.pop(right[node])
            gap = max(edge - begin for edge, begin in zip(one[1], other[0], strict=False))
            offsets[node + 1], offsets[right[node]] = -gap / 2, gap / 2
            edges[0].extend(_merge(one[0], other[0], gap / 2, is_left=True))
            edges[1].extend(_merge(other[1], one[1], gap / 2, is_left=False))
        outlines[node] = edges
    places = offsets
    for node, child in enumerate(right):
        if child:
            places[node + 1] += places[node]
            places[child] += places[node]
    return places


def _merge(outer: list[float], inner: list[float], shift: float, *, is_left: bool) -> list[float]:
    """The edge of two subtrees side by side: the outer one's, and below it the inner one's."""
    sign = -1 if is_left else 1
    return [edge + sign * shift for edge in outer] + [edge - sign * shift for edge in inner[len(outer) :]]
