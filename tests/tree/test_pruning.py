"""Cost-complexity pruning against scikit-learn's and against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.tree.comparison import assert_same_tree, fit_peer


def make_rows(kind, seed=0, n=300):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n)
    weights = random.uniform(0.5, 1.5, n)  # no ties
    return X, (signal > 0).astype(int) if kind is DecisionTreeClassifier else signal, weights


KINDS = pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])


@KINDS
def test_the_pruning_path_is_scikit_learns(kind):
    for seed in range(3):
        X, y, weights = make_rows(kind, seed)
        model = kind(min_samples_leaf=5)
        mine = model.cost_complexity_pruning_path(X, y, weights)
        yours = fit_peer(model, X, y, weights).cost_complexity_pruning_path(X, y, weights)
        kept = np.flatnonzero(np.diff(yours.ccp_alphas, append=np.inf) > 1e-12)  # the peer repeats what rounding parts
        np.testing.assert_allclose(mine.ccp_alphas, yours.ccp_alphas[kept], atol=1e-10)
        np.testing.assert_allclose(mine.impurities, yours.impurities[kept], atol=1e-10)
        assert (np.diff(mine.ccp_alphas) > 0).all()
        assert (np.diff(mine.impurities) > 0).all()
        assert not hasattr(model, "tree_")


@KINDS
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9, 0.999])
def test_a_pruned_tree_is_scikit_learns(kind, place):
    X, y, weights = make_rows(kind)
    path = kind(min_samples_leaf=5).cost_complexity_pruning_path(X, y, weights).ccp_alphas
    at = int(place * (len(path) - 1))
    alpha = (path[at] + path[at + 1]) / 2
    model = kind(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y, weights)
    assert_same_tree(model.tree_, fit_peer(model, X, y, weights).tree_)
    np.testing.assert_allclose(model.predict(X), fit_peer(model, X, y, weights).predict(X))


@KINDS
def test_a_pruned_tree_costs_least_of_all_on_the_path(kind):
    X, y, weights = make_rows(kind, 1)
    path = kind(min_samples_leaf=5).cost_complexity_pruning_path(X, y, weights).ccp_alphas

    def cost(tree, alpha):
        leaves = tree.is_leaf
        risk = (tree.weighted_n_node_samples * tree.impurity)[leaves].sum() / tree.weighted_n_node_samples[0]
        return risk + alpha * leaves.sum()

    trees = [kind(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y, weights).tree_ for alpha in path]
    for alpha, own in zip(path, trees, strict=True):
        assert cost(own, alpha) <= min(cost(tree, alpha) for tree in trees) + 1e-9


@KINDS
def test_a_large_cost_leaves_the_root_and_none_leaves_the_tree(kind):
    X, y, weights = make_rows(kind)
    assert kind(ccp_alpha=1e6).fit(X, y, weights).tree_.node_count == 1
    full = kind(min_samples_leaf=5).fit(X, y, weights)
    kept = kind(min_samples_leaf=5, ccp_alpha=1e-12).fit(X, y, weights)
    np.testing.assert_array_equal(full.tree_.feature, kept.tree_.feature)


def test_sets_of_categories_survive_pruning():
    random = np.random.default_rng(0)
    codes = random.integers(0, 50, 400)
    truth = random.integers(0, 3, 50).astype(float)
    X, y = np.column_stack([codes, random.normal(size=400)]), truth[codes] + random.normal(size=400) / 10
    model = DecisionTreeRegressor(categorical_features=[0], ccp_alpha=0.01).fit(X, y)
    full = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    assert model.tree_.node_count < full.tree_.node_count
    assert np.abs(model.predict(X) - truth[codes]).max() < 0.2


def test_the_path_of_a_single_leaf_has_one_step():
    path = DecisionTreeRegressor().cost_complexity_pruning_path([[1.0], [1.0]], [0.0, 2.0])
    assert path.ccp_alphas.tolist() == [0.0]
    assert path.impurities.tolist() == [1.0]
