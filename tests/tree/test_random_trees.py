"""Trees with random thresholds: what every node must be, and how its splits are distributed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split

from tests.reference import tree as reference
from tests.tree.growing import CLASSES, assert_facts_hold, grow as grow_any
from tests.tree.test_criteria import CRITERIA, make


def grow(*args, **kwargs):
    return grow_any(*args, kind="PlainColumns", **kwargs)


def assert_thresholds_are_inside(tree, X, categorical=()):
    """Every threshold lies between the least and the largest value of its node, and both sides of a split have rows."""
    rows = reference.rows_of_nodes(tree, X)
    for node in np.flatnonzero(~tree.is_leaf):
        x = X[rows[node], tree.feature[node]]
        known = x[~np.isnan(x)]
        assert rows[tree.children_left[node]].any()
        assert rows[tree.children_right[node]].any()
        if tree.feature[node] in categorical:
            assert set(tree.left_categories(node)) <= set(known)
        elif known.min() < known.max():
            assert known.min() <= tree.threshold[node] < known.max()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_trees_grow_to_purity_by_thresholds_inside_their_nodes(criterion, n_outputs, dtype):
    X, y = make(criterion, 80, 4, n_outputs)
    X = X.astype(dtype)
    tree = grow(criterion, X, y, max_features=2)[0]
    X = X.astype(np.float64)
    assert_facts_hold(tree, criterion, X, y)
    assert_thresholds_are_inside(tree, X)
    if criterion != "poisson":  # which refuses sides of zeros
        assert (tree.impurity[tree.is_leaf] <= 1e-12).all()


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "poisson"])
def test_targets_of_one_number_give_the_tree_of_the_general_criterion(criterion):
    X, y = make(criterion, 300, 5, 1, seed=1)
    y = np.minimum(y, 1) if criterion == "gini" else y
    for weights in (None, np.random.RandomState(0).randint(0, 3, size=300).astype(float)):
        pair = grow(criterion, X, y.astype(float), weights, is_pair=True, max_depth=3)[0]
        general = grow(criterion, X, y, weights, max_depth=3)[0]
        np.testing.assert_array_equal(pair.feature, general.feature)
        np.testing.assert_array_equal(pair.threshold, general.threshold)
        np.testing.assert_allclose(pair.value, general.value, atol=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_missing_values_and_categories_go_where_training_sent_them(criterion):
    X, y = make(criterion, 120, 3, 1, seed=2)
    random = np.random.RandomState(0)
    X[:, 2] = random.randint(40, size=120)
    X[random.rand(*X.shape) < 0.2] = np.nan
    for seed in range(5):
        tree = grow(criterion, X, y, categorical=(2,), seeds=(seed,), max_features=2)[0]
        assert_facts_hold(tree, criterion, X, y)
        assert_thresholds_are_inside(tree, X, categorical=(2,))
        assert set(tree.feature) == {-2, 0, 1, 2}


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_leaves_keep_to_their_limits(criterion):
    X, y = make(criterion, 200, 3, 1, seed=3)
    weights = np.random.RandomState(0).uniform(0.5, 2, size=200)
    tree = grow(criterion, X, y, weights, min_rows_leaf=5, min_weight_leaf=7.0, max_depth=4)[0]
    assert_facts_hold(tree, criterion, X, y, weights)
    assert tree.n_node_samples.min() >= 5
    assert tree.weighted_n_node_samples.min() >= 7
    assert tree.max_depth <= 4
    assert grow(criterion, X, y, weights, max_leaves=9)[0].n_leaves == 9


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_monotone_trees_are_monotone(criterion):
    X, y = make(criterion, 300, 2, 1, seed=4)
    store = grow(criterion, X, y, directions=(1, -1), seeds=range(20), is_pair=criterion == "squared_error")
    grid = np.linspace(-3, 3, 61)
    for feature, direction in ((0, 1), (1, -1)):
        line = np.full((61, 2), 0.3)
        line[:, feature] = grid
        for tree in range(20):
            assert (np.diff(store[tree].predict(line)[:, 0]) * direction >= -1e-12).all()


@pytest.mark.parametrize("criterion", [*CLASSES, "absolute_error", "squared_error"])
@pytest.mark.parametrize("max_leaves", [0, 60])
def test_the_same_forest_for_any_number_of_threads(criterion, max_leaves):
    X, y = make(criterion, 9000, 6, 2, seed=5)
    X[::7, 0] = np.nan
    for seeds in ((3,), (3, 4, 5)):
        kwargs = {"max_features": 3, "max_leaves": max_leaves, "max_depth": 10, "seeds": seeds, "n_draws": 4000}
        stores = [grow(criterion, X, y, n_threads=n, **kwargs) for n in (1, 2, 7)]
        for other in stores[1:]:
            np.testing.assert_array_equal(stores[0].trees.nodes, other.trees.nodes)
            np.testing.assert_array_equal(stores[0].values, other.values)


def test_a_tree_depends_on_its_seed_alone():
    X, y = make("gini", 200, 4, 1, seed=6)
    store = grow("gini", X, y, seeds=(1, 2, 1), n_draws=150, max_features=2)
    np.testing.assert_array_equal(store[0].nodes, store[2].nodes)
    assert len(store[0].nodes) != len(store[1].nodes) or (store[0].nodes != store[1].nodes).any()


def test_a_weight_is_a_number_of_repetitions():
    X, y = make("squared_error", 100, 3, 1, seed=7)
    counts = np.random.RandomState(0).randint(0, 4, size=100)
    weighted = grow("squared_error", X, y, counts.astype(float))[0]
    repeated = grow("squared_error", np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0))[0]
    np.testing.assert_array_equal(weighted.threshold, repeated.threshold)
    np.testing.assert_allclose(weighted.value, repeated.value, atol=1e-12)


# ---- what is drawn


def test_thresholds_are_uniform_between_the_least_and_the_largest_value():
    X = np.array([[-1.0], [-0.9], [-0.95], [3.0]])
    y = np.arange(4.0)[:, None]
    store = grow("squared_error", X, y, seeds=range(2000), max_depth=1)
    thresholds = np.array([store[tree].threshold[0] for tree in range(2000)])
    assert stats.kstest(thresholds, stats.uniform(-1, 4).cdf).pvalue > 1e-3


def test_sets_of_categories_are_uniform():
    X = np.repeat([0.0, 3.0, 40.0], 4)[:, None]
    y = np.arange(12.0)[:, None]
    store = grow("squared_error", X, y, categorical=(0,), seeds=range(3000), max_depth=1)
    sets = [tuple(store[tree].left_categories(0)) for tree in range(3000)]
    found, counts = np.unique([str(chosen) for chosen in sets], return_counts=True)
    assert len(found) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_missing_values_go_to_either_side():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]])
    y = np.arange(6.0)[:, None]
    store = grow("squared_error", X, y, seeds=range(1000), max_depth=1)
    share = np.mean([store[tree].missing_go_to_left[0] for tree in range(1000)])
    assert abs(share - 0.5) < 0.06


def test_a_column_that_is_known_or_missing_is_split_by_that():
    X = np.array([[1.0], [1.0], [np.nan]])
    y = np.array([[0.0], [0.0], [5.0]])
    for categorical in ((), (0,)):
        tree = grow("squared_error", X, y, categorical=categorical)[0]
        np.testing.assert_array_equal(tree.predict(X)[:, 0], y[:, 0])


def test_features_are_drawn_without_replacement_until_one_varies():
    X = np.zeros((6, 10))
    X[:, 7] = np.arange(6)
    y = np.arange(6.0)[:, None]
    store = grow("squared_error", X, y, seeds=range(50), max_features=1)
    assert all(set(store[tree].feature) == {-2, 7} for tree in range(50))
    X = np.random.RandomState(0).standard_normal((50, 4))
    store = grow("squared_error", X, np.arange(50.0)[:, None], seeds=range(2000), max_features=1, max_depth=1)
    counts = np.bincount([store[tree].feature[0] for tree in range(2000)])
    assert stats.chisquare(counts).pvalue > 1e-3


def test_the_best_of_the_drawn_splits_is_taken():
    """The share of the trees that first split the feature that matters is that of a simulation."""
    random = np.random.RandomState(8)
    X = random.standard_normal((40, 3))
    y = X[:, :1] + 0.7 * random.standard_normal((40, 1))
    store = grow("squared_error", X, y, seeds=range(3000), max_depth=1)
    share = np.mean([store[tree].feature[0] == 0 for tree in range(3000)])

    def worth(x):
        left = x <= random.uniform(x.min(), x.max())
        return -sum(((y[side] - y[side].mean()) ** 2).sum() for side in (left, ~left))

    simulated = np.mean([np.argmax([worth(x) for x in X.T]) == 0 for _ in range(3000)])
    assert abs(share - simulated) < 4 * np.sqrt(2 * 0.25 / 3000)


# ---- scikit-learn


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_forests_classify_as_well_as_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    store = grow("gini", X, y[:, None], seeds=range(100), max_features=int(np.sqrt(X.shape[1])), n_threads=2)
    ours = store.sum_values(X_test, n_threads=2)[:, 0].argmax(axis=1)
    theirs = ExtraTreesClassifier(random_state=0).fit(X, y).score(X_test, y_test)
    assert (ours == y_test).mean() > theirs - 0.02


def test_forests_predict_as_well_as_those_of_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    for criterion in ("squared_error", "absolute_error"):
        store = grow(criterion, X, y[:, None], seeds=range(100), n_threads=2)
        ours = store.sum_values(X_test, n_threads=2)[:, 0, 0] / 100
        theirs = ExtraTreesRegressor(criterion=criterion, random_state=0).fit(X, y).score(X_test, y_test)
        assert 1 - ((ours - y_test) ** 2).mean() / y_test.var() > theirs - 0.04
