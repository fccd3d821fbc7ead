"""How trees are compared with scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier as PeerClassifier, DecisionTreeRegressor as PeerRegressor

PEERS = {"DecisionTreeClassifier": PeerClassifier, "DecisionTreeRegressor": PeerRegressor}
LINKS = ("children_left", "children_right", "feature", "n_node_samples")
FIGURES = ("threshold", "impurity", "value", "weighted_n_node_samples")


def fit_peer(model, X, y, sample_weight=None):
    """scikit-learn's tree of the same parameters."""
    peer = PEERS[type(model).__name__]
    shared = {name: value for name, value in model.get_params().items() if name in peer().get_params()}
    return peer(**{**shared, "random_state": 0}).fit(X, y, sample_weight)


def parents_first(tree):
    """scikit-learn's nodes in the order parents first, left before right: with `max_leaf_nodes` it numbers them by gain.

    It may split a pure node whose impurity is not quite 0 by rounding; such splits are taken back.
    """
    order, waiting = [], [0]
    is_leaf = (tree.children_left < 0) | (tree.impurity < 1e-12)
    while waiting:
        node = waiting.pop()
        order.append(node)
        if not is_leaf[node]:
            waiting += [tree.children_right[node], tree.children_left[node]]
    places = np.full(tree.node_count + 1, -1)
    places[order] = np.arange(len(order))
    arrays = {name: getattr(tree, name)[order] for name in (*LINKS, *FIGURES)}
    is_leaf = is_leaf[order]
    links = {name: np.where(is_leaf, -1, places[arrays[name]]) for name in LINKS[:2]}
    return {
        **arrays,
        **links,
        "feature": np.where(is_leaf, -2, arrays["feature"]),
        "threshold": np.where(is_leaf, -2, arrays["threshold"]),
    }


def gain_of(arrays, node):
    """The weighted impurity that a node's split removes."""
    risk = arrays["weighted_n_node_samples"] * arrays["impurity"]
    left, right = arrays["children_left"][node], arrays["children_right"][node]
    return 0.0 if left < 0 else risk[node] - risk[left] - risk[right]


def assert_same_up_to_ties(tree, peer):
    """Follow both trees from the root: where their splits differ, the peer's must gain exactly as much."""
    mine, yours = {name: getattr(tree, name) for name in (*LINKS, *FIGURES)}, parents_first(peer)
    waiting = [(0, 0)]
    while waiting:
        i, j = waiting.pop()
        assert mine["n_node_samples"][i] == yours["n_node_samples"][j]
        for name in FIGURES[1:]:
            np.testing.assert_allclose(mine[name][i], yours[name][j], rtol=1e-8, atol=1e-11, err_msg=name)
        np.testing.assert_allclose(gain_of(mine, i), gain_of(yours, j), rtol=1e-8, atol=1e-8)
        is_same = mine["feature"][i] == yours["feature"][j] and abs(mine["threshold"][i] - yours["threshold"][j]) < 1e-6
        if is_same and mine["children_left"][i] >= 0:
            waiting += [(mine[name][i], yours[name][j]) for name in LINKS[:2]]


def assert_same_tree(tree, peer):
    """Equal structure and figures."""
    mine, yours = {name: getattr(tree, name) for name in (*LINKS, *FIGURES)}, parents_first(peer)
    assert tree.node_count == len(yours["feature"])
    for name in LINKS:
        np.testing.assert_array_equal(mine[name], yours[name], err_msg=name)
    for name in FIGURES:
        np.testing.assert_allclose(mine[name], yours[name], rtol=1e-9, atol=1e-11, err_msg=name)
