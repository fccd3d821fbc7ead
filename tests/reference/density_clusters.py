"""Density clustering by its definitions, from the table of all distances."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components


def dbscan(distances, eps, min_samples, weights=None):
    """Labels and core rows: components of core rows within eps, by their first; others join the lowest they are near."""
    n = len(distances)
    near = distances <= eps
    is_core = near @ (np.ones(n) if weights is None else weights) >= min_samples
    labels = np.full(n, -1)
    core = np.flatnonzero(is_core)
    if len(core):
        _, parts = connected_components(near[np.ix_(core, core)], directed=False)
        names = {part: name for name, part in enumerate(dict.fromkeys(parts))}
        labels[core] = [names[part] for part in parts]
    for row in np.flatnonzero(~is_core):
        labels[row] = labels[core][near[row, core]].min(initial=n)
    labels[labels == n] = -1
    return labels, is_core


def reachability(distances, min_samples, alpha=1.0):
    """max(core(a), core(b), d(a, b) / alpha)."""
    core = np.sort(distances, axis=1)[:, min_samples - 1]
    return np.maximum(distances / alpha, np.maximum(core[:, None], core))


def spanning_weights(reach):
    """Weights of a minimum spanning tree, from the lightest on, by Prim."""
    n, left, best, weights = len(reach), np.ones(len(reach), dtype=bool), np.full(len(reach), np.inf), []
    row = 0
    for _ in range(n - 1):
        left[row] = False
        best = np.minimum(best, reach[row])
        row = int(np.flatnonzero(left)[np.argmin(best[left])])
        weights.append(best[row])
    return np.sort(weights)


def optics(distances, min_samples, max_eps=np.inf):
    """Order, reachability and predecessors: next comes the row of the least reachability, of equal ones the lowest."""
    n = len(distances)
    core = np.sort(distances, axis=1)[:, min_samples - 1]
    reach, before, order, left = np.full(n, np.inf), np.full(n, -1), [], list(range(n))
    while left:
        row = min(left, key=lambda other: (reach[other], other))
        left.remove(row)
        order.append(row)
        if core[row] > max_eps:
            continue
        for other in left:
            new = max(core[row], distances[row, other])
            if distances[row, other] <= max_eps and new < reach[other]:
                reach[other], before[other] = new, row
    return np.array(order), reach, before


class Cluster:
    """Of the condensed tree: its rows when it splits off at a density, who leaves it when, and what it splits into."""

    def __init__(self, rows, birth, parent=None):
        self.rows, self.birth, self.parent, self.leaving, self.parts = rows, birth, parent, {}, []

    @property
    def stability(self):
        left = sum(density - self.birth for density in self.leaving.values())
        return left + sum((part.birth - self.birth) * len(part.rows) for part in self.parts)

    @property
    def below(self):
        return [self, *(cluster for part in self.parts for cluster in part.below)]


def condensed(reach, size):
    """The root of the condensed tree: below the heaviest edge that holds rows together they fall apart, all at once."""
    root = Cluster(np.arange(len(reach)), 0.0)
    pending = [root]
    while pending:
        cluster = pending.pop()
        rows, parts = cluster.rows, [cluster.rows]
        while len(parts) == 1:
            within = reach[np.ix_(rows, rows)]
            height = spanning_weights(within)[-1]
            names = connected_components(within < height, directed=False)[1]
            groups = [rows[names == name] for name in range(names.max() + 1)]
            parts = [group for group in groups if len(group) >= size]
            cluster.leaving |= {row: 1 / height for group in groups if len(group) < size for row in group}
            rows = parts[0] if parts else rows
        cluster.parts = [Cluster(part, 1 / height, cluster) for part in parts]
        pending.extend(cluster.parts)
    return root


def hdbscan(reach, size, method="eom", epsilon=0.0, allows_root=False):
    """Labels: the most stable clusters, or the leaves, and above epsilon in their place the ones that split there."""
    root = condensed(reach, size)

    def choose(cluster):
        best = [chosen for part in cluster.parts for chosen in choose(part)]
        if cluster is root and not allows_root:
            return best
        return best if sum(map(value, cluster.parts)) > cluster.stability else [cluster]

    def value(cluster):
        return max(cluster.stability, sum(map(value, cluster.parts)))

    def climb(cluster):
        while cluster is not root and 1 / cluster.birth < epsilon:
            if cluster.parent is root:
                return root if allows_root else cluster
            if 1 / cluster.parent.birth > epsilon:
                return cluster.parent
            cluster = cluster.parent
        return cluster

    leaves = [cluster for cluster in root.below if not cluster.parts and cluster is not root]
    chosen = {climb(cluster) for cluster in (leaves if method == "leaf" else choose(root))}
    labels = np.full(len(reach), -1)
    for name, cluster in enumerate(chosen):
        rows = cluster.rows
        if cluster is root:
            density = {row: lasts for each in root.below for row, lasts in each.leaving.items()}
            last = max([*root.leaving.values(), *(part.birth for part in root.parts)])
            rows = [row for row in rows if density[row] >= (1 / epsilon if epsilon else last)]
        labels[rows] = name
    return labels
