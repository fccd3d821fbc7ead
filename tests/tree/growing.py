"""Calls of the kernels that grow trees, and what must hold of every tree that they give."""

from __future__ import annotations

import numpy as np

from mercer._native import kernels
from mercer._trees.store import TreeStore
from tests.reference import tree as reference

CLASSES = ("gini", "entropy", "misclassification")
MEANS = ("squared_error", "poisson")


def limits(*, max_depth=2**31, min_rows_split=2, min_rows_leaf=1, min_weight_leaf=0.0, min_gain=0.0, max_leaves=0):
    return kernels.GrowthLimits(max_depth, min_rows_split, min_rows_leaf, min_weight_leaf, min_gain, max_leaves)


def columns(X, categorical=(), kind="RankedColumns", n_threads=1, n_looks=10**6):
    if kind == "WideColumns":
        return kernels.WideColumns(X, n_looks, n_threads)
    mask = np.isin(np.arange(X.shape[1]), categorical).astype(np.uint8) if len(categorical) else None
    if kind == "PlainColumns":
        return kernels.PlainColumns(X, mask, n_looks, n_threads)
    return kernels.RankedColumns(X, mask, n_threads)


def grow(
    criterion, X, y, weights=None, *, categorical=(), kind="RankedColumns", seeds=(0,), n_draws=0, max_features=None,
    directions=None, n_threads=1, is_pair=False, n_looks=10**6, **stops,
):  # fmt: skip
    """A store of trees for targets of shape (rows, outputs): classes as whole numbers, or numbers."""
    X = np.asarray(X)
    x = columns(X, categorical, kind, n_looks=n_looks)
    forest = (weights, np.array(seeds, dtype=np.uint64), n_draws, max_features or X.shape[1])
    directions = None if directions is None else np.array(directions, dtype=np.int8)
    end = (limits(**stops), n_threads)
    if is_pair:
        offset = y[:, 0].mean() if criterion == "squared_error" else 0.0
        target = np.ascontiguousarray(y[:, 0] - offset)
        grown = kernels.grow_pair(criterion, x, target, offset, criterion in CLASSES, *forest, directions, *end)
        shape = (1, 2) if criterion in CLASSES else (1, 1)
    elif criterion in CLASSES:
        codes = np.ascontiguousarray(y, dtype=np.int32)
        grown = kernels.grow_classes(criterion, x, codes, int(codes.max()) + 1, *forest, *end)
        shape = (y.shape[1], int(codes.max()) + 1)
    elif criterion in MEANS:
        offsets = y.mean(axis=0) if criterion == "squared_error" else np.zeros(y.shape[1])
        grown = kernels.grow_means(criterion, x, np.ascontiguousarray(y - offsets), offsets, *forest, *end)
        shape = (y.shape[1], 1)
    else:
        grown = kernels.grow_absolute(x, np.ascontiguousarray(y), *forest, directions, *end)
        shape = (y.shape[1], 1)
    *facts, values = grown
    return TreeStore(*facts, values.reshape(len(values), *shape))


def assert_facts_hold(tree, criterion, X, y, weights=None):
    """Counts, weights, impurities and values are those of the rows in each node. Returns the rows of each node."""
    weights = np.ones(len(X)) if weights is None else weights
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    rows = reference.rows_of_nodes(tree, X)
    for node in range(tree.node_count):
        here = rows[node]
        assert tree.n_node_samples[node] == here.sum() > 0
        np.testing.assert_allclose(tree.weighted_n_node_samples[node], weights[here].sum())
        if not reference.is_refused(criterion, y[here]):
            np.testing.assert_allclose(tree.impurity[node], reference.impurity(criterion, y[here], weights[here]), atol=1e-9)
        if criterion in CLASSES:
            for output, codes in enumerate(y.T):
                share = reference.shares(codes[here].astype(np.int64), weights[here])
                np.testing.assert_allclose(tree.value[node, output, : len(share)], share, atol=1e-12)
        else:
            np.testing.assert_allclose(tree.value[node, :, 0], reference.value(criterion, y[here], weights[here]), atol=1e-9)
    return rows


def assert_splits_are_best(tree, criterion, X, y, weights=None, *, categorical=(), directions=None, max_depth=2**31, **stops):
    """No split of any node is better than the one that was made, and no leaf could have been split."""
    weights = np.ones(len(X)) if weights is None else weights
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    rows = reference.rows_of_nodes(tree, X)
    bounds = None if directions is None else reference.node_bounds(tree, _raw_values(criterion, rows, y, weights), directions)
    for node in range(tree.node_count):
        here = rows[node]
        if tree.is_leaf[node] and (tree.depths[node] >= max_depth or tree.impurity[node] <= 1e-12):
            continue
        best = reference.best_gain(
            X[here], y[here], weights[here], criterion, categorical=categorical, directions=directions,
            bounds=(-np.inf, np.inf) if bounds is None else bounds[node], **stops,
        )  # fmt: skip
        if tree.is_leaf[node]:
            assert best == -np.inf, f"node {node} is a leaf, but could be split with a gain of {best}"
            continue
        children = [tree.children_left[node], tree.children_right[node]]
        mass = tree.impurity * tree.weighted_n_node_samples
        made = mass[node] - mass[children].sum()
        np.testing.assert_allclose(made, best, rtol=1e-7, atol=1e-9 * weights.sum(), err_msg=f"the gain of node {node}")


def _raw_values(criterion, rows, y, weights):
    return np.array([reference.value(criterion, y[here], weights[here])[0] for here in rows])
