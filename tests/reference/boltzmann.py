"""Restricted Boltzmann machines as in the textbook: every state is gone through, every unit is drawn by itself."""

from __future__ import annotations

import itertools

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def energy(v, h, weights, visible, hidden):
    """E(v, h) = -b'v - c'h - h'W v."""
    return -(visible @ v + hidden @ h + h @ weights @ v)


def states(n):
    return [np.array(state, dtype=float) for state in itertools.product([0, 1], repeat=n)]


def free_energy(v, weights, visible, hidden):
    """-log sum_h exp(-E(v, h)), by all h."""
    return -np.log(sum(np.exp(-energy(v, h, weights, visible, hidden)) for h in states(len(hidden))))


def probability(v, weights, visible, hidden):
    """P(v), by all states of all units."""
    total = sum(np.exp(-free_energy(u, weights, visible, hidden)) for u in states(len(visible)))
    return np.exp(-free_energy(v, weights, visible, hidden)) / total


def contrastive_divergence(X, weights, visible, hidden, chains, *, batch_size, rate, random):
    """An epoch, batch by batch; the arrays are changed."""
    for first in range(0, len(X), batch_size):
        batch = X[first : first + batch_size]
        fantasies = np.empty((len(chains), len(visible)))
        for i, h in enumerate(chains):
            for j in range(len(visible)):
                fantasies[i, j] = random.uniform() < sigmoid(visible[j] + weights[:, j] @ h)
        of_batch = [sigmoid(hidden + weights @ v) for v in batch]
        of_chains = [sigmoid(hidden + weights @ v) for v in fantasies]
        step = rate / len(batch)
        pairs = [(step, v, h) for v, h in zip(batch, of_batch, strict=True)]
        pairs += [(-step, v, h) for v, h in zip(fantasies, of_chains, strict=True)]
        for factor, v, h in pairs:
            weights += factor * np.outer(h, v)
            visible += factor * v
            hidden += factor * h
        for i, h in enumerate(of_chains):
            for k in range(len(hidden)):
                chains[i, k] = random.uniform() < h[k]
