"""What the pictures of clusters show: the projection, the silhouettes, the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer._report.clustering.content import Axis, Dendrogram, Projection, Silhouettes
from mercer._report.numbers import MINUS
from mercer.decomposition import PCA

_MOST_POINTS = 1_200
_MOST_BARS = 400
_MOST_LEAVES = 24
_MOST_NAMED = 3


def projection_of(X: FloatArray, labels: Any, names: Sequence[str], rows: Any, seed: int) -> Projection:
    """Rows along the two directions in which they spread most. `rows` are those that are shown."""
    n_axes = min(2, *X.shape)
    model = PCA(n_axes, random_state=seed).fit(X)
    shown = (
        rows if len(rows) <= _MOST_POINTS else np.sort(np.random.default_rng(seed).choice(rows, _MOST_POINTS, replace=False))
    )
    points = model.transform(X[shown])
    shares: list[float | None] = [float(share) for share in model.explained_variance_ratio_]
    axes = [
        Axis(share=share, columns=_named(component, names)) for share, component in zip(shares, model.components_, strict=True)
    ]
    if n_axes == 1:  # spread at random, so that rows do not hide one another
        points = np.column_stack([points[:, 0], np.random.default_rng(seed).uniform(-1, 1, len(points))])
        axes.append(Axis(share=None, columns=[]))
    return Projection(
        n=len(X), x=_short(points[:, 0]), y=_short(points[:, 1]), cluster=[int(label) for label in labels[shown]], axes=axes
    )


def _named(component: FloatArray, names: Sequence[str]) -> list[str]:
    order = np.argsort(-np.abs(component), kind="stable")[:_MOST_NAMED]
    return [f"{'+' if component[place] > 0 else MINUS} {names[place]}" for place in order if abs(component[place]) > 0.15]


def _short(values: FloatArray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def silhouettes_for(values: FloatArray, labels: Any) -> Silhouettes | None:
    """By cluster and falling; long lists are thinned evenly. None where they are not defined."""
    if not np.isfinite(values).all() or len(values) == 0:
        return None
    groups = [np.sort(values[labels == cluster])[::-1] for cluster in range(int(labels.max()) + 1)]
    kept = max(1, int(np.ceil(len(values) / _MOST_BARS)))
    return Silhouettes(
        n=len(values),
        mean=float(values.mean()),
        values=[_short(group[::kept]) for group in groups],
        counts=[len(group) for group in groups],
    )


def dendrogram_of(children: Any, heights: FloatArray, labels: Any, n_clusters: int, method: str) -> Dendrogram:
    """The last merges of a hierarchy over rows with these clusters; what was merged before is a leaf."""
    n_rows = len(heights) + 1
    n_leaves = min(_MOST_LEAVES, n_rows)
    first = n_rows - n_leaves  # merges that are hidden in leaves
    members = _members(children, n_rows, first)
    place: dict[int, tuple[float, float]] = {}
    leaves = _in_order(children, n_rows, first)
    for at, node in enumerate(leaves):
        place[node] = (float(at), 0.0)
    merges = []
    for number in range(first, n_rows - 1):
        left, right = sorted(place[int(child)] for child in children[number])
        height = float(heights[number])
        merges.append([*left, *right, height])
        place[n_rows + number] = ((left[0] + right[0]) / 2, height)
    most = [np.unique(labels[members[node]], return_counts=True) for node in leaves]
    cut = None
    if 2 <= n_clusters <= n_leaves:
        above = float(heights[n_rows - n_clusters])
        cut = (float(heights[n_rows - n_clusters - 1]) + above) / 2
    return Dendrogram(
        method=method,
        n=n_rows,
        merges=merges,
        leaves=[len(members[node]) for node in leaves],
        leaf_clusters=[int(found[np.argmax(counts)]) for found, counts in most],
        cut=cut,
    )


def _members(children: Any, n_rows: int, n_merges: int) -> dict[int, list[int]]:
    """The rows of every node that is left after the first merges."""
    members = {row: [row] for row in range(n_rows)}
    for number in range(n_merges):
        left, right = (members.pop(int(child)) for child in children[number])
        members[n_rows + number] = left + right if len(left) >= len(right) else right + left
    return members


def _in_order(children: Any, n_rows: int, first: int) -> list[int]:
    """The leaves from left to right, so that no two branches cross."""
    order, stack = [], [n_rows + len(children) - 1]
    while stack:
        node = stack.pop()
        if node < n_rows + first:
            order.append(node)
        else:
            stack += [int(child) for child in reversed(children[node - n_rows])]
    return order
