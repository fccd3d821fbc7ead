"""Exact trees under every criterion: each split is the best of all, by brute force, and the one that scikit-learn makes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from mercer._native import kernels
from tests.reference import tree as reference
from tests.tree.growing import CLASSES, assert_facts_hold, assert_splits_are_best, grow

CRITERIA = [*CLASSES, "squared_error", "poisson", "absolute_error"]


def make(criterion, n, d, n_outputs, seed=0):
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d))
    signal = X @ random.standard_normal((d, n_outputs)) + random.standard_normal((n, n_outputs))
    if criterion in CLASSES:
        return X, np.digitize(signal, [-1.0, 0.7]).astype(np.int64)
    return X, random.poisson(np.exp(signal / 4)).astype(float) if criterion == "poisson" else signal


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighting", ["none", "whole", "wild"])
def test_every_split_is_the_best_of_all(criterion, n_outputs, weighting):
    X, y = make(criterion, 60, 3, n_outputs)
    random = np.random.RandomState(1)
    weights = {
        "none": None,
        "whole": random.randint(0, 4, size=60).astype(float),
        "wild": 10.0 ** random.uniform(-4, 4, size=60),
    }[weighting]
    tree = grow(criterion, X, y, weights)[0]
    assert tree.node_count > 10
    assert_facts_hold(tree, criterion, X, y, weights)
    assert_splits_are_best(tree, criterion, X, y, weights)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_tied_and_missing_values_go_to_the_better_side(criterion, n_outputs):
    X, y = make(criterion, 50, 3, n_outputs, seed=2)
    X = np.round(X)
    X[np.random.RandomState(0).rand(*X.shape) < 0.2] = np.nan
    tree = grow(criterion, X, y)[0]
    assert_facts_hold(tree, criterion, X, y)
    assert_splits_are_best(tree, criterion, X, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_leaves_keep_to_their_limits(criterion):
    X, y = make(criterion, 80, 2, 2, seed=3)
    weights = np.random.RandomState(0).uniform(0.5, 2, size=80)
    stops = {"min_rows_leaf": 4, "min_weight_leaf": 6.0}
    tree = grow(criterion, X, y, weights, **stops)[0]
    assert_splits_are_best(tree, criterion, X, y, weights, **stops)
    assert tree.n_node_samples.min() >= 4
    assert tree.weighted_n_node_samples.min() >= 6


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_categories_of_one_target_are_split_into_sets_in_the_order_of_their_centres(criterion, share_missing):
    random = np.random.RandomState(4)
    X = random.randint(6, size=(80, 2)).astype(float)
    y = random.standard_normal((6, 1))[X[:, 0].astype(int)] + random.standard_normal((80, 1))
    X[random.rand(*X.shape) < share_missing] = np.nan
    tree = grow(criterion, X, y, categorical=(0, 1), max_depth=3)[0]
    assert_facts_hold(tree, criterion, X, y)
    if criterion == "squared_error":  # the order by medians need not hold the best set
        assert_splits_are_best(tree, criterion, X, y, categorical=(0, 1), max_depth=3)
    for node in np.flatnonzero(~tree.is_leaf):
        here = reference.rows_of_nodes(tree, X)[node]
        x, left = X[here, tree.feature[node]], np.isin(X[here, tree.feature[node]], tree.left_categories(node))
        centres = {side: [reference.value(criterion, y[here][x == c], np.ones((x == c).sum()))[0] for c in np.unique(x[keep])]
                   for side, keep in (("left", left), ("right", ~left & ~np.isnan(x)))}  # fmt: skip
        assert max(centres["left"]) <= min(centres["right"], default=np.inf) + 1e-12


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_monotone_trees_keep_the_best_of_the_splits_that_are_allowed(criterion):
    X, y = make(criterion, 90, 2, 1, seed=5)
    directions = (1, -1)
    tree = grow(criterion, X, y, directions=directions, is_pair=criterion == "squared_error")[0]
    assert_splits_are_best(tree, criterion, X, y, directions=directions)
    grid = np.linspace(-3, 3, 101)
    for feature, direction in enumerate(directions):
        for other in np.linspace(-2, 2, 7):
            line = np.full((101, 2), other)
            line[:, feature] = grid
            assert (np.diff(tree.predict(line)[:, 0]) * direction >= -1e-12).all()


# ---- scikit-learn


def assert_same_tree(ours, theirs):
    np.testing.assert_array_equal(ours.children_left, theirs.children_left)
    np.testing.assert_array_equal(ours.children_right, theirs.children_right)
    np.testing.assert_array_equal(ours.feature, theirs.feature)
    np.testing.assert_allclose(ours.threshold, theirs.threshold, rtol=1e-12)
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.n_node_samples, theirs.n_node_samples)


def weights_without_ties(n):
    """Under whole weights many cuts have the very same absolute error, and rounding decides which one scikit-learn takes."""
    return np.random.RandomState(0).uniform(0.1, 3, size=n)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_regression_trees_are_those_of_scikit_learn(criterion, n_outputs, is_weighted):
    """Of one feature, so that no two splits are the same."""
    random = np.random.RandomState(6)
    X = random.standard_normal((400, 1)).astype(np.float32).astype(np.float64)
    y = np.sin(3 * X) + random.standard_normal((400, n_outputs))
    y = np.exp(y) if criterion == "poisson" else y
    weights = weights_without_ties(400) if is_weighted or criterion == "absolute_error" else None
    ours = grow(criterion, X, y, weights, max_depth=6)[0]
    theirs = DecisionTreeRegressor(criterion=criterion, max_depth=6).fit(X, y, sample_weight=weights).tree_
    assert_same_tree(ours, theirs)
    if criterion != "absolute_error":  # scikit-learn 1.9 takes that of a node from the first row of all, not of the node
        np.testing.assert_allclose(ours.impurity, theirs.impurity, rtol=1e-8, atol=1e-12)


def test_absolute_error_trees_are_those_of_scikit_learn_with_many_features():
    X, y = make("absolute_error", 500, 8, 1, seed=7)
    X, weights = X.astype(np.float32).astype(np.float64), weights_without_ties(500)
    ours = grow("absolute_error", X, y, weights, max_depth=5, min_rows_leaf=5)[0]
    theirs = DecisionTreeRegressor(criterion="absolute_error", max_depth=5, min_samples_leaf=5).fit(X, y, sample_weight=weights)
    assert_same_tree(ours, theirs.tree_)


@pytest.mark.parametrize("direction", [1, -1])
def test_monotone_absolute_error_is_that_of_scikit_learn(direction):
    random = np.random.RandomState(8)
    X, weights = random.standard_normal((300, 1)).astype(np.float32).astype(np.float64), weights_without_ties(300)
    y = direction * X + 2 * random.standard_normal((300, 1))
    ours = grow("absolute_error", X, y, weights, directions=(direction,), max_depth=5)[0]
    theirs = DecisionTreeRegressor(criterion="absolute_error", max_depth=5, monotonic_cst=[direction])
    assert_same_tree(ours, theirs.fit(X, y, sample_weight=weights).tree_)


@pytest.mark.parametrize("seed", range(5))
def test_as_much_absolute_error_is_left_as_in_scikit_learn(seed):
    X, y = make("absolute_error", 300, 4, 1, seed=seed)
    X = X.astype(np.float32).astype(np.float64)
    ours = grow("absolute_error", X, y, max_depth=1)[0].predict(X)[:, 0]
    theirs = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).predict(X)
    np.testing.assert_allclose(np.abs(y[:, 0] - ours).sum(), np.abs(y[:, 0] - theirs).sum(), rtol=1e-12)


# ---- what every criterion owes


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_weight_is_a_number_of_repetitions(criterion):
    X, y = make(criterion, 70, 3, 2, seed=9)
    counts = np.random.RandomState(0).randint(0, 4, size=70)
    weighted = grow(criterion, X, y, counts.astype(float))[0]
    repeated = grow(criterion, np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0))[0]
    present = X[counts > 0]  # between them several thresholds may be as good
    np.testing.assert_allclose(weighted.predict(present), repeated.predict(present), atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_leaves", [0, 50])
def test_the_same_tree_for_any_number_of_threads(criterion, max_leaves):
    X, y = make(criterion, 9000, 3, 2, seed=10)
    stores = [grow(criterion, X, y, max_features=2, n_threads=n, max_leaves=max_leaves, max_depth=8) for n in (1, 2, 7)]
    for other in stores[1:]:
        np.testing.assert_array_equal(stores[0].trees.nodes, other.trees.nodes)
        np.testing.assert_array_equal(stores[0].values, other.values)


def test_medians_of_large_targets_are_the_targets_themselves():
    X = np.arange(5.0)[:, None]
    y = np.array([[1e15 + 1], [1e15 + 2], [1e15 + 4], [1e15 + 8], [1e15 + 16]])
    np.testing.assert_array_equal(grow("absolute_error", X, y)[0].predict(X), y)


def test_a_side_of_zero_counts_is_refused():
    """Also where rounding leaves something of them: a sum depends on the order of its rows, and each feature has its own."""
    random = np.random.RandomState(0)
    for _ in range(50):
        X = np.stack([random.permutation(np.arange(12.0)), np.arange(12.0)], axis=1)
        y = np.stack([random.rand(12) * (np.arange(12) < 7), random.rand(12)], axis=1)
        assert (grow("poisson", X, y)[0].value[:, :, 0] > 0).all()
        assert (grow("poisson", X, y[:, :1], is_pair=True)[0].value > 0).all()


def test_targets_that_are_no_numbers_are_refused():
    X, y = np.zeros((4, 1)), np.array([[1.0], [np.nan], [2.0], [3.0]])
    for criterion in ("squared_error", "absolute_error"):
        with pytest.raises(ValueError, match="finite"):
            grow(criterion, X, y)


def test_directions_are_for_one_output():
    with pytest.raises(ValueError, match="one output"):
        grow("absolute_error", np.zeros((4, 1)), np.zeros((4, 2)), directions=(1,))


def test_an_unknown_measure_is_refused():
    with pytest.raises(ValueError, match="no such measure"):
        kernels.grow_means("cubic", kernels.RankedColumns(np.zeros((4, 1)), None, 1), np.zeros((4, 1)), np.zeros(1), None,
                           np.zeros(1, dtype=np.uint64), 0, 1, kernels.GrowthLimits(1, 2, 1, 0.0, 0.0, 0), 1)  # fmt: skip
