"""Hierarchies by definition: distances of clusters from their rows, merged or split one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def distance_between(X, a, b, linkage):
    """How far two sets of rows are apart."""
    distances = np.linalg.norm(X[a][:, None] - X[b], axis=2)
    if linkage == "single":
        return distances.min()
    if linkage == "complete":
        return distances.max()
    if linkage == "average":
        return distances.mean()
    apart = np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0))
    return apart if linkage == "centroid" else np.sqrt(2 * len(a) * len(b) / (len(a) + len(b))) * apart


def merged_sets(X, linkage):
    """The rows under each merge, and its height, in order."""
    clusters, merges = [[i] for i in range(len(X))], []
    while len(clusters) > 1:
        a, b = min(combinations(clusters, 2), key=lambda pair: distance_between(X, *pair, linkage))
        merges.append((frozenset(a + b), distance_between(X, a, b, linkage)))
        clusters = [cluster for cluster in clusters if cluster is not a and cluster is not b] + [a + b]
    return merges


def divided_sets(D):
    """DIANA: the rows of each cluster that is split, and its diameter."""
    splits, waiting = [], [list(range(len(D)))]
    while waiting:
        members = waiting.pop()
        if len(members) == 1:
            continue
        splits.append((frozenset(members), D[np.ix_(members, members)].max()))
        stay, leave = list(members), []
        first = max(members, key=lambda i: D[i, members].sum())
        while True:
            stay.remove(first)
            leave.append(first)
            if len(stay) == 1:
                break
            gains = {i: D[i, stay].sum() / (len(stay) - 1) - D[i, leave].mean() for i in stay}
            first = max(stay, key=gains.__getitem__)
            if gains[first] <= 1e-12:
                break
        waiting += [stay, leave]
    return splits


def sets_of(Z):
    """The rows under each merge of a linkage matrix, and its height."""
    n = len(Z) + 1
    rows = [frozenset([i]) for i in range(n)]
    for left, right in Z[:, :2].astype(int):
        rows.append(rows[left] | rows[right])
    return list(zip(rows[n:], Z[:, 2], strict=True))
