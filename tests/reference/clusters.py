"""Clusterings other than k-means and density clusters as the textbooks have them, in float64."""

from __future__ import annotations

import numpy as np

from tests.reference.kmeans import assign, squared_distances


def running_means(batches, centres):
    """Mini-batch k-means: each row moves its centre by 1/N of the way, N counting the rows of the centre with this one."""
    centres, counts = centres.astype(float).copy(), np.zeros(len(centres))
    for batch in batches:
        for row, c in zip(batch, assign(batch, centres), strict=True):
            counts[c] += 1
            centres[c] += (row - centres[c]) / counts[c]
    return centres, counts


def climb(X, seed, bandwidth, max_iter=300):
    """Mean shift of one seed: where it ends, and how many rows were within the bandwidth before its last move."""
    for _ in range(max_iter + 1):
        near = np.sqrt(((X - seed) ** 2).sum(axis=1)) <= bandwidth
        if not near.any():
            return seed, 0
        before, seed = seed, X[near].mean(axis=0)
        if np.linalg.norm(seed - before) <= 1e-3 * bandwidth:
            break
    return seed, int(near.sum())


def responsibilities(S, A, R, damping):
    new = np.empty_like(S)
    for i in range(len(S)):
        for k in range(len(S)):
            new[i, k] = S[i, k] - max(A[i, j] + S[i, j] for j in range(len(S)) if j != k)
    return damping * R + (1 - damping) * new


def availabilities(A, R, damping):
    new = np.empty_like(A)
    for i in range(len(A)):
        for k in range(len(A)):
            others = sum(max(0.0, R[j, k]) for j in range(len(A)) if j not in (i, k))
            new[i, k] = others if i == k else min(0.0, R[k, k] + others)
    return damping * A + (1 - damping) * new


def laplacian_values(W):
    """The eigenvalues of I - D^-1/2 W D^-1/2, without the diagonal of W."""
    W = W - np.diag(W.diagonal())
    roots = np.sqrt(W.sum(axis=1))
    return np.linalg.eigvalsh(np.eye(len(W)) - W / roots / roots[:, None])


def batch_epoch(X, vectors, positions, radius, weights=None):
    """An epoch of a self-organising map: each vector becomes the mean of all rows by how near their winner is on the grid."""
    weights = np.ones(len(X)) if weights is None else weights
    winners = squared_distances(X, vectors).argmin(axis=1)
    after = vectors.copy()
    for j in range(len(vectors)):
        h = weights * np.exp(-((positions[winners] - positions[j]) ** 2).sum(axis=1) / (2 * radius**2))
        after[j] = h @ X / h.sum()
    return after


def online_epoch(X, vectors, positions, order, rates, radii):
    vectors = vectors.copy()
    for i, rate, radius in zip(order, rates, radii, strict=True):
        winner = ((vectors - X[i]) ** 2).sum(axis=1).argmin()
        h = np.exp(-((positions - positions[winner]) ** 2).sum(axis=1) / (2 * radius**2))
        vectors += rate * h[:, None] * (X[i] - vectors)
    return vectors
