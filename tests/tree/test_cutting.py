"""Trees cut from others: at a depth, at a cost, and the first of many."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._trees.cutting import cut_at_depths, depths_of, first_trees
from mercer._trees.pruning import prune, prune_each
from mercer._trees.store import TreeStore
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from tests.ensemble.forest_data import with_categories, with_missing

FACTS = ("nodes", "impurity", "n_rows", "weight", "values")


def store_of(*trees):
    return TreeStore.join([tree.tree_._store for tree in trees])


def assert_same_trees(one, other):
    for name in FACTS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.starts, other.starts)


def grown(make, **params):
    X, y = with_categories(200) if make is not DecisionTreeRegressor else with_categories(200, is_regression=True)
    return make(random_state=0, **params).fit(X, y)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier])
@pytest.mark.parametrize("params", [{}, {"max_features": 1}, {"min_samples_leaf": 5}], ids=str)
def test_a_tree_cut_at_a_depth_is_one_grown_to_it(make, params):
    depths = [2, None, 1, 3, 100]
    cut = cut_at_depths(store_of(grown(make, **params)), depths)
    for part, depth in zip(cut, depths, strict=True):
        assert_same_trees(part, store_of(grown(make, **params, max_depth=depth)))


def test_missing_values_go_the_same_way_in_a_tree_that_was_cut():
    X, y = with_missing(300)
    whole = DecisionTreeClassifier().fit(X, y)
    for each in whole.sweep(X, y, "max_depth", [2, 4]):
        fitted = DecisionTreeClassifier(max_depth=each.max_depth).fit(X, y)
        np.testing.assert_array_equal(each.predict_proba(X), fitted.predict_proba(X))


def test_trees_of_several_targets_are_cut():
    random = np.random.RandomState(0)
    X, y = random.randn(100, 3), random.randn(100, 2)
    (each,) = DecisionTreeRegressor().sweep(X, y, "max_depth", [3])
    assert_same_trees(store_of(each), store_of(DecisionTreeRegressor(max_depth=3).fit(X, y)))


def test_depths_of_a_store_are_those_of_its_trees():
    store = store_of(grown(DecisionTreeClassifier), grown(ExtraTreeClassifier), grown(DecisionTreeClassifier, max_depth=1))
    expected = np.concatenate([store[tree].depths for tree in range(len(store))])
    np.testing.assert_array_equal(depths_of(store), expected)


def test_the_first_trees_of_a_store_stand_alone():
    trees = [grown(DecisionTreeClassifier), grown(ExtraTreeClassifier), grown(DecisionTreeClassifier, max_depth=1)]
    first = first_trees(store_of(*trees), 2)
    assert_same_trees(first, store_of(*trees[:2]))
    assert np.shares_memory(first_trees(first, 1).values, first.values)
    assert [first[0].left_categories(0)] == [trees[0].tree_.left_categories(0)]


def test_pruning_at_many_costs_is_pruning_at_each():
    store = store_of(grown(DecisionTreeRegressor), grown(DecisionTreeRegressor, max_depth=4))
    costs = [0.01, 0.0, 1e-4, 10.0, 0.01]
    for part, cost in zip(prune_each(store, costs), costs, strict=True):
        assert_same_trees(part, prune(store, cost))
        if cost > 0:
            alone = [store_of(grown(DecisionTreeRegressor, max_depth=depth, ccp_alpha=cost)) for depth in (None, 4)]
            assert_same_trees(part, TreeStore.join(alone))
    assert prune_each(store, [0.0])[0] is store


def test_counted_leaves_are_not_cut_at_a_depth():
    assert DecisionTreeClassifier(max_leaf_nodes=5).sweep_parameters() == ["ccp_alpha"]
    assert DecisionTreeClassifier().sweep_parameters() == ["max_depth", "ccp_alpha"]
