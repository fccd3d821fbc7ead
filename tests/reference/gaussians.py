"""Gaussians, mixtures and hidden Markov models as the textbooks have them, one line a formula, in float64."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.stats import multivariate_normal


def as_matrix(covariance, kind, component, d):
    """The covariance matrix of a component."""
    if kind == "tied":
        return covariance
    return covariance[component] * (np.eye(d) if kind != "full" else 1)


def log_joint(X, weights, means, covariances, kind):
    """log pi_k + log N(x; mean_k, covariance_k)."""
    matrices = [as_matrix(covariances, kind, k, X.shape[1]) for k in range(len(means))]
    densities = [
        multivariate_normal(mean, matrix).logpdf(X).reshape(len(X)) for mean, matrix in zip(means, matrices, strict=True)
    ]
    return np.stack(densities, axis=1) + np.log(weights)


def log_sum(values, axis=1):
    return np.logaddexp.reduce(values, axis=axis)


def moments(X, shares, centres):
    """The sums of shares, of share (x - centre) and of share (x - centre)(x - centre)'."""
    off = X[:, None, :] - centres
    return shares.sum(axis=0), np.einsum("nk,nkd->kd", shares, off), np.einsum("nk,nkd,nke->kde", shares, off, off)


def paths(start, transitions, emissions):
    """Every path of a chain, and the logarithm of its probability with the emissions (logarithms, a line a step)."""
    n, k = emissions.shape
    with np.errstate(divide="ignore"):
        log_start, log_moves = np.log(start), np.log(transitions)
    for path in itertools.product(range(k), repeat=n):
        moves = sum(log_moves[a, b] for a, b in itertools.pairwise(path))
        yield path, log_start[path[0]] + moves + sum(emissions[step, state] for step, state in enumerate(path))


def expectations(start, transitions, emissions):
    """By all paths: the log-likelihood, the probability of each state at each step, and how often each transition is taken."""
    found = list(paths(start, transitions, emissions))
    total = np.logaddexp.reduce([value for _, value in found])
    posteriors, taken = np.zeros(emissions.shape), np.zeros(transitions.shape)
    for path, value in found:
        share = np.exp(value - total)
        for step, state in enumerate(path):
            posteriors[step, state] += share
        for a, b in itertools.pairwise(path):
            taken[a, b] += share
    return total, posteriors, taken
