"""Isolation forests: path lengths worked by hand, scikit-learn's scores, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs
from sklearn.ensemble import IsolationForest as Peer
from sklearn.metrics import roc_auc_score

from mercer._native import kernels
from mercer.ensemble import IsolationForest
from mercer.tree import ExtraTreeRegressor


def mixture(n=1000, d=5, seed=0):
    random = np.random.RandomState(seed)
    X = np.r_[random.standard_normal((n, d)), random.uniform(-6, 6, size=(n // 20, d))]
    return X, np.r_[np.zeros(n), np.ones(n // 20)]


# ---- worked


@pytest.mark.parametrize(("n", "length"), [(0, 0.0), (1, 0.0), (2, 1.0), (3, 1.2073923), (256, 10.2447707)])
def test_the_average_path_length_is_that_of_the_paper(n, length):
    """c(n) = 2 H(n - 1) - 2 (n - 1) / n with H(i) = ln(i) + 0.5772156649 (Liu et al., eq. 1); 256 rows: 10.24."""
    np.testing.assert_allclose(kernels.average_path_length(n), length, atol=1e-7)


def test_two_rows_are_set_apart_by_one_split():
    forest = IsolationForest(random_state=0).fit([[0.0], [1.0]])
    np.testing.assert_allclose(forest.score_samples([[0.0], [1.0]]), -0.5)  # h = 1 = c(2)
    assert all(tree.get_depth() == 1 for tree in forest.estimators_)


def test_a_row_far_away_is_set_apart_by_the_first_split():
    X = np.r_[np.linspace(0, 1, 7), 1e9][:, None]
    forest = IsolationForest(random_state=0).fit(X)
    expected = -(2.0 ** (-1 / kernels.average_path_length(8)))
    np.testing.assert_allclose(forest.score_samples(X[-1:]), expected, rtol=1e-12)


def test_equal_rows_share_a_leaf_of_their_average_length():
    forest = IsolationForest(random_state=0).fit(np.ones((50, 3)))
    np.testing.assert_allclose(forest.score_samples(np.ones((1, 3))), -0.5)
    np.testing.assert_allclose(forest.estimators_[0].predict(np.ones((1, 3))), kernels.average_path_length(50))


def test_one_row_says_nothing():
    np.testing.assert_array_equal(IsolationForest(random_state=0).fit([[3.0]]).score_samples([[3.0], [4.0]]), [-0.5, -0.5])


# ---- what the trees are


def test_the_score_is_that_of_the_formula():
    X, _ = mixture()
    forest = IsolationForest(n_estimators=20, random_state=0).fit(X)
    lengths = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.score_samples(X), -(2 ** (-lengths / kernels.average_path_length(256))), rtol=1e-12)
    for tree in forest.estimators_:
        nodes = tree.tree_
        c = np.array([kernels.average_path_length(n) for n in nodes.n_node_samples])
        np.testing.assert_allclose(nodes.value[nodes.is_leaf, 0, 0], (nodes.depths + c)[nodes.is_leaf])
        assert nodes.n_node_samples[0] == 256
        assert nodes.max_depth <= 8


@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_trees_hold_the_rows_of_their_samples(bootstrap):
    X, _ = mixture()
    forest = IsolationForest(n_estimators=10, max_samples=100, max_features=3, bootstrap=bootstrap, random_state=0).fit(X)
    assert forest.max_samples_ == 100
    for tree, rows, features in zip(forest.estimators_, forest.estimators_samples_, forest.estimators_features_, strict=True):
        assert len(rows) == 100
        assert (len(np.unique(rows)) == 100) != bootstrap
        assert len(np.unique(features)) == 3
        counts = np.bincount(tree.apply(X[np.unique(rows)]), minlength=tree.tree_.node_count)
        np.testing.assert_array_equal(counts[tree.tree_.is_leaf], tree.tree_.n_node_samples[tree.tree_.is_leaf])
        assert set(tree.tree_.feature) - {-2} <= set(features)


def test_leaves_of_several_rows_are_deep_or_hold_equal_rows():
    X = np.repeat(np.random.RandomState(0).standard_normal((40, 2)), 3, axis=0)
    for tree in IsolationForest(n_estimators=10, random_state=0).fit(X).estimators_:
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            assert tree.tree_.depths[leaf] == 7 or len(np.unique(X[leaves == leaf], axis=0)) == 1


# ---- what is drawn


@pytest.mark.parametrize("bootstrap", [False, True])
def test_rows_are_drawn_in_proportion_to_their_weights(bootstrap):
    X, weights = np.arange(6.0)[:, None], np.array([0.0, 1.0, 1.0, 2.0, 4.0, 8.0])
    forest = IsolationForest(n_estimators=4000, max_samples=1, bootstrap=bootstrap, random_state=0)
    counts = np.bincount(np.concatenate(forest.fit(X, sample_weight=weights).estimators_samples_), minlength=6)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:], 4000 * weights[1:] / 16).pvalue > 1e-3


def test_pairs_of_rows_are_drawn_one_after_another():
    weights = np.array([1.0, 2.0, 3.0])
    forest = IsolationForest(n_estimators=6000, max_samples=2, random_state=0)
    samples = forest.fit(np.arange(3.0)[:, None], sample_weight=weights).estimators_samples_
    counts = np.unique([rows.sum() for rows in samples], return_counts=True)[1]
    p = weights / 6
    pair = {(i, j): p[i] * p[j] / (1 - p[i]) + p[j] * p[i] / (1 - p[j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    assert stats.chisquare(counts, 6000 * np.array(list(pair.values()))).pvalue > 1e-3


def test_every_row_is_drawn_as_often():
    forest = IsolationForest(n_estimators=2000, max_samples=5, random_state=0).fit(np.arange(20.0)[:, None])
    counts = np.bincount(np.concatenate(forest.estimators_samples_), minlength=20)
    assert abs(counts - 500).max() < 5 * np.sqrt(500)


# ---- scikit-learn


def real_sets():
    for load, rare in ((load_breast_cancer, 0), (load_wine, 2), (load_digits, 0)):
        X, y = load(return_X_y=True)
        keep = np.flatnonzero(y != rare) if load is not load_breast_cancer else np.flatnonzero(y == 1)
        few = np.flatnonzero(y == rare)[:20]
        yield np.r_[X[keep], X[few]], np.r_[np.zeros(len(keep)), np.ones(len(few))]
    yield mixture()
    X, _ = make_blobs(800, centers=3, n_features=8, random_state=0)
    yield np.r_[X, np.random.RandomState(0).uniform(-12, 12, size=(40, 8))], np.r_[np.zeros(800), np.ones(40)]


@pytest.mark.parametrize("case", range(5))
def test_outliers_are_ranked_as_well_as_by_scikit_learn(case):
    X, is_outlier = list(real_sets())[case]
    half = np.random.RandomState(0).permutation(len(X)) % 2 == 0
    scores = {
        kind: np.mean(
            [
                roc_auc_score(is_outlier[~half], -kind(random_state=seed).fit(X[half]).score_samples(X[~half]))
                for seed in range(3)
            ]
        )
        for kind in (IsolationForest, Peer)
    }
    assert abs(scores[IsolationForest] - scores[Peer]) < 0.04


def test_scores_are_distributed_as_those_of_scikit_learn():
    X, _ = mixture()
    X = X.astype(np.float32).astype(np.float64)
    ours = IsolationForest(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    theirs = Peer(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    np.testing.assert_allclose(ours, theirs, atol=0.03)  # two forests of one seed each differ by 0.02
    assert abs((ours - theirs).mean()) < 0.004


def test_missing_values_are_scored_as_by_scikit_learn():
    X, _ = mixture()
    X[np.random.RandomState(0).rand(*X.shape) < 0.1] = np.nan
    ours = IsolationForest(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    theirs = Peer(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    np.testing.assert_allclose(ours, theirs, atol=0.03)


@pytest.mark.parametrize("params", [{"max_samples": 0.3}, {"max_features": 2}, {"bootstrap": True}, {"max_samples": 50}])
def test_parameters_mean_what_they_mean_in_scikit_learn(params):
    X, _ = mixture(300)
    X = X.astype(np.float32).astype(np.float64)
    ours = IsolationForest(n_estimators=1000, random_state=0, **params).fit(X)
    theirs = Peer(n_estimators=1000, random_state=0, **params).fit(X)
    assert ours.max_samples_ == theirs.max_samples_
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=0.03)


# ---- predictions


def test_contamination_is_the_share_of_outliers_among_the_training_rows():
    X, _ = mixture()
    forest = IsolationForest(contamination=0.1, random_state=0).fit(X)
    assert abs((forest.predict(X) == -1).mean() - 0.1) < 0.005
    np.testing.assert_array_equal(forest.predict(X) == -1, forest.decision_function(X) < 0)
    np.testing.assert_allclose(forest.decision_function(X), forest.score_samples(X) - forest.offset_)
    assert IsolationForest(random_state=0).fit(X).offset_ == -0.5


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_sparse_rows_are_dense_rows(contamination):
    random = np.random.RandomState(0)
    X = random.standard_normal((500, 6)) * (random.rand(500, 6) < 0.3)
    dense = IsolationForest(n_estimators=30, contamination=contamination, random_state=0).fit(X)
    for kind in (sp.csr_matrix, sp.csc_array):
        sparse = IsolationForest(n_estimators=30, contamination=contamination, random_state=0).fit(kind(X))
        np.testing.assert_array_equal(sparse.score_samples(kind(X)), dense.score_samples(X))
        assert sparse.offset_ == dense.offset_


def test_the_same_bits_for_any_number_of_threads_and_any_order_of_memory():
    X, _ = mixture(3000)
    scores = [
        IsolationForest(random_state=0, n_jobs=n).fit(A).score_samples(A) for n in (1, 2, 7) for A in (X, np.asfortranarray(X))
    ]
    for other in scores[1:]:
        np.testing.assert_array_equal(scores[0], other)


def test_a_warm_start_adds_trees_and_ends_where_a_cold_one_does():
    X, _ = mixture()
    warm = IsolationForest(n_estimators=10, random_state=0, warm_start=True).fit(X)
    warm.set_params(n_estimators=30).fit(X)
    cold = IsolationForest(n_estimators=30, random_state=0).fit(X)
    np.testing.assert_array_equal(warm.score_samples(X), cold.score_samples(X))
    for ours, theirs in zip(warm.estimators_samples_, cold.estimators_samples_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(ValueError, match="n_estimators=5"):
        warm.set_params(n_estimators=5).fit(X)


def test_a_row_of_weight_0_is_absent():
    X, _ = mixture()
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    forest = IsolationForest(max_samples=1.0, n_estimators=10, random_state=0).fit(X, sample_weight=weights)
    assert forest.max_samples_ == weights.sum()
    assert all((weights[rows] > 0).all() for rows in forest.estimators_samples_)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"max_features": 9}, "max_features=9"),
        ({"contamination": 0.7}, "contamination"),
        ({"max_samples": 0}, "max_samples"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, match):
    with pytest.raises(ValueError, match=match):
        IsolationForest(**params).fit(np.zeros((5, 2)))


def test_more_samples_than_rows_are_all_rows():
    with pytest.warns(UserWarning, match="max_samples"):
        assert IsolationForest(max_samples=100, random_state=0).fit(np.arange(8.0)[:, None]).max_samples_ == 8


def test_the_trees_are_extra_trees_that_know_how_deep_they_may_grow():
    forest = IsolationForest(n_estimators=3, random_state=0).fit(np.random.default_rng(0).normal(size=(100, 2)))
    assert [(type(tree), tree.max_depth) for tree in forest.estimators_] == 3 * [(ExtraTreeRegressor, 7)]
