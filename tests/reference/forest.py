"""Forests as the papers have them, from the trees and their rows: naive and slow."""

from __future__ import annotations

from typing import Any

import numpy as np


def weights_of_training_rows(forest: Any, X: Any, n_rows: int) -> Any:
    """Meinshausen's weights w_i(x): the mean over the trees of the share that a training row has in the leaf of x."""
    out = np.zeros((len(X), n_rows))
    for tree, rows, weight in zip(forest.estimators_, forest.estimators_samples_, forest.tree_weights_, strict=True):
        at, leaves = tree.apply(X), tree.apply(forest.training_X[rows])
        for row, leaf in enumerate(at):
            inside = rows[leaves == leaf]
            np.add.at(out[row], inside, weight / len(inside))
    return out


def quantile(y: Any, weights: Any, share: float) -> float:
    """The least target at which the distribution function reaches a share."""
    y, weights = y[weights > 0], weights[weights > 0]
    order = np.argsort(y)
    sums = np.cumsum(weights[order])
    return float(y[order][np.flatnonzero(sums >= share * sums[-1] - 1e-10)[0]])


def out_of_bag_shares(forest: Any, X: Any, n_classes: int) -> Any:
    """The mean class shares of the trees that have not seen a row."""
    sums, counts = np.zeros((len(X), n_classes)), np.zeros(len(X))
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        left_out = np.setdiff1d(np.arange(len(X)), rows)
        sums[left_out] += tree.predict_proba(X[left_out])
        counts[left_out] += 1
    return sums / counts[:, None]
