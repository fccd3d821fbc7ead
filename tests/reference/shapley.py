"""Shapley values as the definition has them, one line a formula."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np


def coalitions(players):
    """All sets of some players."""
    return [frozenset(chosen) for size in range(len(players) + 1) for chosen in combinations(players, size)]


def weight(size, n):
    """The share of orders in which a coalition of this size comes first, and then one given player."""
    return factorial(size) * factorial(n - size - 1) / factorial(n)


def shapley_values(game, n):
    """phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! (v(S + i) - v(S))."""
    worth = {S: np.asarray(game(S), dtype=float) for S in coalitions(range(n))}
    return np.array(
        [sum(weight(len(S), n) * (worth[S | {i}] - worth[S]) for S in coalitions(set(range(n)) - {i})) for i in range(n)]
    )


def interaction_value(game, n, i, j):
    """Half of what i and j give together beyond what each gives alone: their place (i, j) of the matrix."""
    total = 0.0
    for S in coalitions(set(range(n)) - {i, j}):
        share = factorial(len(S)) * factorial(n - len(S) - 2) / (2 * factorial(n - 1))
        total += share * (game(S | {i, j}) - game(S | {i}) - game(S | {j}) + game(S))
    return total


def model_game(function, x, background, weights=None):
    """v(S) = the mean over the background of f with the values of x on S."""

    def game(S):
        rows = np.array(background, dtype=float)
        rows[:, sorted(S)] = x[sorted(S)]
        return np.average(np.asarray(function(rows), dtype=float), axis=0, weights=weights)

    return game


def conditional_game(coef, intercept, mean, covariance, x):
    """v(S) = the linear value of E[x | x_S] of a Gaussian."""

    def game(S):
        known = sorted(S)
        row = np.array(mean, dtype=float)
        if known:
            row += covariance[:, known] @ np.linalg.pinv(covariance[np.ix_(known, known)]) @ (x[known] - mean[known])
        return coef @ row + intercept

    return game


def rescaled(coefs, intercepts, activation, x, b):
    """DeepLIFT's rescale rule for layers one after another, whose last is linear, for one pair of rows."""
    sums, values = [], [np.stack([x, b])]
    for place, (coef, intercept) in enumerate(zip(coefs, intercepts, strict=True)):
        sums.append(values[-1] @ coef + intercept)
        values.append(sums[-1] if place == len(coefs) - 1 else activation(sums[-1]))
    towards = np.eye(coefs[-1].shape[1])
    for place in range(len(coefs) - 1, -1, -1):
        quotient = (values[place + 1][0] - values[place + 1][1]) / (sums[place][0] - sums[place][1])
        towards = coefs[place] @ (quotient[:, None] * towards)
    return (x - b)[:, None] * towards
