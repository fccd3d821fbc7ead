"""Totally random trees as a transformation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from mercer.ensemble import RandomTreesEmbedding
from mercer.tree import ExtraTreeRegressor

X, Y = make_circles(300, factor=0.5, noise=0.05, random_state=0)


def test_each_row_has_one_leaf_in_each_tree():
    embedding = RandomTreesEmbedding(20, max_depth=3, random_state=0)
    codes = embedding.fit_transform(X)
    assert sp.issparse(codes)
    np.testing.assert_array_equal(codes.sum(axis=1), 20)
    assert (
        codes.shape[1] == sum(tree.get_n_leaves() for tree in embedding.estimators_) == len(embedding.get_feature_names_out())
    )
    leaves = embedding.apply(X)
    together = (leaves[:, None] == leaves[None]).sum(axis=2)
    np.testing.assert_array_equal((codes @ codes.T).toarray(), together)


def test_an_array_is_given_on_request_and_holds_the_same():
    sparse = RandomTreesEmbedding(5, random_state=0).fit(X).transform(X)
    dense = RandomTreesEmbedding(5, sparse_output=False, random_state=0).fit(X).transform(X)
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_the_names_are_scikit_learns():
    names = RandomTreesEmbedding(2, max_depth=1, random_state=0).fit(X).get_feature_names_out()
    assert names.tolist() == [f"randomtreesembedding_{tree}_{leaf}" for tree in (0, 1) for leaf in (1, 2)]
    with pytest.raises(ValueError, match="input_features"):
        RandomTreesEmbedding(2).fit(X).get_feature_names_out(["one"])


def test_a_linear_model_on_the_leaves_tells_circles_apart_as_well_as_with_the_peer():
    mine, theirs = (
        cross_val_score(make_pipeline(kind(n_estimators=30, random_state=0), LogisticRegression()), X, Y, cv=3).mean()
        for kind in (RandomTreesEmbedding, sklearn.ensemble.RandomTreesEmbedding)
    )
    assert mine > max(theirs - 0.03, 0.95)


def test_the_trees_look_at_one_feature_a_node_and_grow_on():
    embedding = RandomTreesEmbedding(3, warm_start=True, random_state=0).fit(X)
    assert all(type(tree) is ExtraTreeRegressor and tree.max_features_ == 1 for tree in embedding.estimators_)
    embedding.set_params(n_estimators=6).fit(X)
    np.testing.assert_array_equal(embedding.apply(X), RandomTreesEmbedding(6, random_state=0).fit(X).apply(X))
    assert embedding.transform(X).sum() == 6 * len(X)
