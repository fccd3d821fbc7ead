"""Where the nodes of a tree stand in a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer._arrays import FloatArray

Children = Sequence[Sequence[int]]
Outline = tuple[list[float], list[float]]  # the left and the right edges of a subtree's levels, as seen from its root


def lay_out(children: Children, widths: Sequence[float]) -> FloatArray:
    """The horizontal places of nodes: parents midway between their outer children, no two nodes of a level on each other.

    The tidy drawing of Reingold and Tilford. Each subtree keeps its outline, level by level, as seen from its root; each is
    moved towards those on its left until their outlines touch. O(n times the depth).

    Parameters
    ----------
    children : list of lists of int
        The children of every node from left to right, each after its parent; none for a leaf.
    widths : list of float
        How much room every node takes.

    Returns
    -------
    ndarray of shape (n_nodes,), the root at 0

    References
    ----------
    E. Reingold and J. Tilford, "Tidier drawings of trees", 1981.
    """
    offsets = np.zeros(len(children))  # of a node from its parent
    outlines: dict[int, Outline] = {}
    for node in range(len(children) - 1, -1, -1):  # children come after their parents
        below, roots = _side_by_side([outlines.pop(child) for child in children[node]])
        middle = (roots[0] + roots[-1]) / 2 if roots else 0.0
        for child, root in zip(children[node], roots, strict=True):
            offsets[child] = root - middle
        left, right = ([edge - middle for edge in edges] for edges in below)
        outlines[node] = ([-widths[node] / 2, *left], [widths[node] / 2, *right])
    places = offsets
    for parent, branches in enumerate(children):
        for child in branches:
            places[child] += places[parent]
    return places


def _side_by_side(outlines: Sequence[Outline]) -> tuple[Outline, list[float]]:
    """The outline of subtrees that touch, and the places of their roots, the first at 0."""
    if not outlines:
        return ([], []), []
    (left, right), places = outlines[0], [0.0]
    for one, other in outlines[1:]:
        place = max(edge - begin for edge, begin in zip(right, one, strict=False))
        places.append(place)
        left = [*left, *(edge + place for edge in one[len(left) :])]
        right = [*(edge + place for edge in other), *right[len(other) :]]
    return (left, right), places
