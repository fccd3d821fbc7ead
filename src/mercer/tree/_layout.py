"""Where the nodes of a tree stand in a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer._arrays import FloatArray

Outline = tuple[list[float], list[float]]  # left and right edges of a subtree's levels, as seen from its root


def lay_out(parents: Sequence[int], widths: Sequence[float]) -> FloatArray:
    """The horizontal places of nodes: parents above the middle of their children, no two nodes of a level on top of each other.

    The tidy drawing of Reingold and Tilford. A parent stands midway between its first child and its last. Each subtree keeps
    its outline, level by level; subtrees are moved together until their outlines touch. O(n times the depth).

    Parameters
    ----------
    parents : sequence of int
        The parent of every node, which comes before it; -1 for the root, which is the first.
    widths : sequence of float
        How much room every node takes.

    Returns
    -------
    ndarray of shape (n_nodes,), the root at 0

    References
    ----------
    E. Reingold and J. Tilford, "Tidier drawings of trees", 1981.
    """
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    places = np.zeros(len(parents))  # first of a node from its parent
    outlines: dict[int, Outline] = {}
    for node in range(len(parents) - 1, -1, -1):  # children come after their parents
        edges: Outline = ([-widths[node] / 2], [widths[node] / 2])
        if children[node]:
            below, offsets = _side_by_side([outlines.pop(child) for child in children[node]])
            middle = (offsets[0] + offsets[-1]) / 2
            places[children[node]] = np.subtract(offsets, middle)
            for edge, levels in zip(edges, below, strict=True):
                edge.extend(level - middle for level in levels)
        outlines[node] = edges
    for node, parent in enumerate(parents):
        if parent >= 0:
            places[node] += places[parent]
    return places


def _side_by_side(outlines: list[Outline]) -> tuple[Outline, list[float]]:
    """The outline of subtrees that touch, and the places of their roots, the first at 0."""
    (left, right), offsets = outlines[0], [0.0]
    for begin, end in outlines[1:]:
        offset = max(edge - other for edge, other in zip(right, begin, strict=False))
        left = left + [edge + offset for edge in begin[len(left) :]]
        right = [edge + offset for edge in end] + right[len(end) :]
        offsets.append(offset)
    return (left, right), offsets
