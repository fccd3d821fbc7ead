"""Single trees with random splits."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_iris, make_friedman1
from sklearn.model_selection import cross_val_score

from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor


@pytest.mark.parametrize("tree", [ExtraTreeClassifier, ExtraTreeRegressor])
def test_the_defaults_are_scikit_learns(tree):
    theirs = inspect.signature(getattr(sklearn.tree, tree.__name__)).parameters
    mine = inspect.signature(tree).parameters
    assert {name: mine[name].default for name in theirs} == {name: parameter.default for name, parameter in theirs.items()}


def test_a_tree_grown_to_purity_fits_what_it_has_seen():
    X, y = load_iris(return_X_y=True)
    keep = np.unique(X, axis=0, return_index=True)[1]
    assert ExtraTreeClassifier(random_state=0).fit(X[keep], y[keep]).score(X[keep], y[keep]) == 1
    X, y = make_friedman1(200, random_state=0)
    np.testing.assert_allclose(ExtraTreeRegressor(random_state=0).fit(X, y).predict(X), y)


def test_held_out_scores_are_those_of_scikit_learn():
    X, y = make_friedman1(600, noise=0.5, random_state=0)
    mine, theirs = (
        np.mean([cross_val_score(kind(min_samples_leaf=5, random_state=seed), X, y, cv=3).mean() for seed in range(8)])
        for kind in (ExtraTreeRegressor, sklearn.tree.ExtraTreeRegressor)
    )
    assert abs(mine - theirs) < 0.05


def test_the_random_state_decides_and_the_best_splitter_is_that_of_decision_trees():
    X, y = load_iris(return_X_y=True)
    one, same, other = (ExtraTreeClassifier(random_state=seed).fit(X, y).tree_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.threshold, same.threshold)
    assert not np.array_equal(one.threshold, other.threshold)
    exact = ExtraTreeRegressor(splitter="best").fit(X, y)
    np.testing.assert_array_equal(exact.tree_.threshold, DecisionTreeRegressor().fit(X, y).tree_.threshold)
    drawn = ExtraTreeClassifier(splitter="best", random_state=0).fit(X, y)
    expected = DecisionTreeClassifier(max_features="sqrt", random_state=0).fit(X, y)
    np.testing.assert_array_equal(drawn.tree_.threshold, expected.tree_.threshold)
