"""Decision processes as the textbook has them: dense arrays, direct solutions, one line a formula."""

from __future__ import annotations

import itertools

import numpy as np


def policy_values(P, R, policy, discount):
    """v = (I - discount P_pi)^-1 r_pi, of probabilities `policy` (n_states, n_actions); rows of zeros in P are terminal."""
    chain = np.einsum("sa,sat->st", policy, P)
    return np.linalg.solve(np.eye(len(P)) - discount * chain, np.einsum("sa,sa->s", policy, R))


def best_values(P, R, discount):
    """The largest values over all deterministic policies."""
    n, k, _ = P.shape
    tables = (np.eye(k)[list(actions)] for actions in itertools.product(range(k), repeat=n))
    return np.max([policy_values(P, R, policy, discount) for policy in tables], axis=0)


def best_values_by_iteration(P, R, discount, n_sweeps=5000):
    v = np.zeros(len(P))
    for _ in range(n_sweeps):
        v = np.max(R + discount * P @ v, axis=1)
    return v


def best_average(P, R):
    """The best average reward a step over all deterministic policies, of processes where one chain class holds all."""
    n, k, _ = P.shape
    gains = []
    for actions in itertools.product(range(k), repeat=n):
        chain = P[np.arange(n), list(actions)]
        equations = np.vstack([chain.T - np.eye(n), np.ones(n)])
        law = np.linalg.lstsq(equations, np.append(np.zeros(n), 1.0), rcond=None)[0]
        gains.append(law @ R[np.arange(n), list(actions)])
    return max(gains)
