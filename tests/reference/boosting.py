"""Boosting as the papers have it, by the library's trees fitted from scratch each round: slow, float64, one line a formula."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from mercer.tree import DecisionTreeRegressor


def samme(X, y, learner, n_rounds, weights=None):
    """SAMME: lists of members, their weights and their errors; ends at error 0 or at chance."""
    classes = np.unique(y)
    w = np.full(len(y), 1.0) if weights is None else weights.astype(float)
    w = w / w.sum()
    members, alphas, errors = [], [], []
    for _ in range(n_rounds):
        member = clone(learner).fit(X, y, sample_weight=w)
        is_wrong = member.predict(X) != y
        error = w[is_wrong].sum()
        if error >= 1 - 1 / len(classes):
            break
        members.append(member)
        errors.append(error)
        if error == 0:
            alphas.append(1.0)
            break
        alphas.append(np.log((1 - error) / error) + np.log(len(classes) - 1))
        w = w * np.exp(alphas[-1] * is_wrong)
        w = w / w.sum()
    return members, np.array(alphas), np.array(errors)


def votes(members, alphas, X, classes):
    """The class with the largest sum of weights of the members that name it."""
    shares = np.stack([sum(a * (m.predict(X) == k) for m, a in zip(members, alphas, strict=True)) for k in classes], axis=1)
    return classes[shares.argmax(axis=1)]


def tree_boost(X, y, loss, start, n_rounds, rate=0.1, depth=3, min_rows=1, weights=None):
    """Friedman's TreeBoost with leaves minimised by brute force: the raw outputs after the last round."""
    w = np.ones(len(y)) if weights is None else weights
    raw = np.full(len(y), float(start))
    for _ in range(n_rounds):
        tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=min_rows).fit(
            X, -loss.derivative(y, raw), sample_weight=w
        )
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            raw[rows] += rate * best_step(lambda c, rows=rows: w[rows] @ loss.value(y[rows], raw[rows] + c))
    return raw


def best_step(objective):
    """The minimiser of a function of one number."""
    return minimize_scalar(objective, bracket=(-0.5, 0.5), tol=1e-13).x
