"""`tree_` has what scikit-learn's has: the same names, shapes and numbers, for whatever rows a user has at hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.tree

from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

random = np.random.default_rng(0)
X = random.integers(0, 40, (80, 3)).astype(np.float32)
X[random.random(X.shape) < 0.3] = 0
CODES = random.integers(0, 3, 80)
TARGETS = {
    "two classes": CODES > 0,
    "three classes": CODES,
    "outputs with as many classes": np.column_stack([CODES, CODES[::-1]]),
    "outputs with fewer and more classes": np.column_stack([CODES > 1, CODES, CODES == 1]),
    "a number": random.normal(size=80),
    "two numbers": random.normal(size=(80, 2)),
}
ROWS = {
    "single precision": X,
    "double precision": X.astype(np.float64),
    "integers": X.astype(np.int64),
    "columns": np.asfortranarray(X),
    "every second row": X[::2],
    "a list": X.tolist(),
    "no rows": X[:0],
    **{kind.__name__: kind(X) for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array)},
}


@cache
def trees(target):
    """Both trees: grown on one feature, so that no two splits are equally good."""
    y = TARGETS[target]
    kind = "Regressor" if "number" in target else "Classifier"
    ours = DecisionTreeRegressor if kind == "Regressor" else DecisionTreeClassifier
    theirs = getattr(sklearn.tree, f"DecisionTree{kind}")
    train = np.column_stack([random_ramp(y), X[:, 1:]])
    return ours(max_depth=3).fit(train, y).tree_, theirs(max_depth=3, random_state=0).fit(train, y).tree_


def random_ramp(y):
    """A column that tells the targets apart better than the others do."""
    first = np.asarray(y, dtype=float).reshape(len(y), -1).sum(axis=1)
    return (10 * first + np.sin(np.arange(len(y)))).astype(np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_every_public_name_of_the_peers_tree_is_there_and_has_its_value(target):
    tree, peer = trees(target)
    for name in (name for name in dir(peer) if not name.startswith("_")):
        expected, found = getattr(peer, name), getattr(tree, name)
        if isinstance(expected, np.ndarray):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12, err_msg=name)
        elif not callable(expected) and name != "capacity":  # the peer has room for nodes that it does not have
            assert found == expected, name
    np.testing.assert_array_equal(tree.compute_node_depths(), peer.compute_node_depths())
    for normalize in (True, False):
        np.testing.assert_allclose(
            tree.compute_feature_importances(normalize), peer.compute_feature_importances(normalize), atol=1e-12
        )


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("target", TARGETS)
def test_predict_apply_and_decision_path_take_any_rows_and_have_the_peers_shapes(target, rows):
    tree, peer = trees(target)
    plain = X[::2] if rows == "every second row" else X[:0] if rows == "no rows" else X
    np.testing.assert_allclose(tree.predict(ROWS[rows]), peer.predict(plain))
    assert tree.predict(ROWS[rows]).shape == peer.predict(plain).shape
    np.testing.assert_array_equal(tree.apply(ROWS[rows]), peer.apply(plain))
    np.testing.assert_array_equal(tree.decision_path(ROWS[rows]).toarray(), peer.decision_path(plain).toarray())


def test_rows_that_are_no_matrix_or_have_other_features_are_refused():
    tree, _ = trees("a number")
    with pytest.raises(ValueError, match="X has 1 dimensions; it must have two"):
        tree.apply(X[0])
    with pytest.raises(ValueError, match="features"):
        tree.predict(X[:, :2])


@pytest.mark.parametrize("features", [[0], [1, 0], [2]])
def test_partial_dependence_is_the_peers(features):
    tree, peer = trees("a number")
    grid = np.ascontiguousarray(X[:20, features])
    found, expected = np.ones(20), np.ones(20)
    tree.compute_partial_dependence(grid, features, found)
    peer.compute_partial_dependence(grid, np.array(features), expected)
    np.testing.assert_allclose(found, expected)


def test_partial_dependence_knows_categories_and_missing_values():
    category = np.repeat([0.0, 1.0, 2.0, np.nan], 20)
    y = np.select([category == 1, np.isnan(category)], [5.0, 7.0], 1.0)
    tree = DecisionTreeRegressor(categorical_features=[0]).fit(np.column_stack([category, X[:, 0]]), y).tree_
    found = np.zeros(4)
    tree.compute_partial_dependence([[0.0], [1.0], [2.0], [np.nan]], [0], found)
    np.testing.assert_allclose(found, [1, 5, 1, 7])
