from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import Birch as PeerBirch, KMeans as PeerKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer import load, save
from mercer._native import kernels
from mercer.cluster import Birch


@pytest.fixture(scope="module")
def X():
    return make_blobs(700, 3, centers=8, random_state=4)[0]


@pytest.mark.parametrize("branching_factor", [2, 5, 50])
@pytest.mark.parametrize("threshold", [0.05, 0.4, 1.5])
def test_small_clusters_are_those_of_the_peer(X, threshold, branching_factor):
    params = {"threshold": threshold, "branching_factor": branching_factor, "n_clusters": None}
    model, peer = Birch(**params).fit(X), PeerBirch(**params).fit(X)
    assert len(model.subcluster_centers_) == len(peer.subcluster_centers_)
    # Which half of a node comes first is a matter of the peer's rounding.
    np.testing.assert_allclose(model.subcluster_centers_[model.labels_], peer.subcluster_centers_[peer.labels_], atol=1e-8)
    np.testing.assert_allclose(np.sort(model.transform(X[:9])), np.sort(peer.transform(X[:9])), atol=1e-6)


def test_entries_sum_up_all_rows(X):
    model = Birch(threshold=0.6, branching_factor=7, n_clusters=None).fit(X)
    weights, radii = model.subcluster_weights_, model.subcluster_radii_
    assert weights.sum() == len(X)
    assert (radii <= 0.6 * (1 + 1e-9)).all()
    np.testing.assert_allclose(weights @ model.subcluster_centers_ / len(X), X.mean(axis=0))
    within = weights @ radii**2 + weights @ ((model.subcluster_centers_ - X.mean(axis=0)) ** 2).sum(axis=1)
    assert within == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())  # the parts of the total deviation


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_rows_far_from_zero_have_the_same_tree(X, offset):
    near, far = (Birch(threshold=0.5, n_clusters=None).fit(np.round(X, 3) + shift) for shift in (0.0, offset))
    assert len(far.subcluster_centers_) == len(near.subcluster_centers_)
    np.testing.assert_allclose(far.subcluster_radii_, near.subcluster_radii_, atol=1e-5)


@pytest.mark.parametrize("form", [sp.csr_matrix, lambda X: X.astype(np.float32), np.asfortranarray])
def test_other_forms_of_the_rows_give_the_same_clusters(X, form):
    X = np.round(X, 2)
    model, other = Birch(n_clusters=8).fit(X), Birch(n_clusters=8).fit(form(X))
    assert len(model.subcluster_centers_) == pytest.approx(len(other.subcluster_centers_), abs=3)
    assert other.subcluster_centers_.dtype == form(X).dtype


def test_parts_give_the_tree_of_the_whole(X, tmp_path):
    whole = Birch(n_clusters=4).fit(X)
    model = Birch(n_clusters=4).partial_fit(X[:300])
    save(model, tmp_path / "birch.mercer")
    for each in (model, load(tmp_path / "birch.mercer"), pickle.loads(pickle.dumps(model))):
        each.partial_fit(X[300:])
        np.testing.assert_array_equal(each.subcluster_centers_, whole.subcluster_centers_)
        np.testing.assert_array_equal(each.predict(X), whole.labels_)
        each.set_params(n_clusters=2).partial_fit()
        assert set(each.predict(X)) == {0, 1}


def test_a_clusterer_may_be_given(X):
    clusterer = PeerKMeans(5, random_state=0, n_init=1)
    model = Birch(n_clusters=clusterer).fit(X)
    np.testing.assert_array_equal(model.subcluster_labels_, clusterer.fit_predict(model.subcluster_centers_))
    with pytest.warns(ConvergenceWarning, match="less than"):
        few = Birch(threshold=1e3, n_clusters=5).fit(X)
    np.testing.assert_array_equal(few.labels_, 0)


def test_equal_rows_and_one_row_are_one_small_cluster():
    for X in (np.full((30, 2), 0.1), np.array([[3.0, 4.0]])):
        model = Birch(n_clusters=None).fit(X)
        assert len(model.subcluster_centers_) == 1
        assert model.subcluster_radii_[0] == pytest.approx(0, abs=1e-12)


def test_trees_from_arrays_are_checked(X):
    state = list(Birch(branching_factor=3).fit(X).tree_._tree.state())
    kernels.CfTree(3, 0.5, 3, *state)
    starts, children, weights, _, means, leaves = state
    loop = children.copy()
    loop[0] = 0
    wrong = [
        (0, starts[1:]),
        (1, loop),
        (1, children[:-1]),
        (2, weights[:-1]),
        (4, means[:-1]),
        (5, leaves[:-1]),
        (5, np.zeros_like(leaves)),
    ]
    for place, value in wrong:
        with pytest.raises(ValueError, match="tree of features"):
            kernels.CfTree(3, 0.5, 3, *[value if i == place else part for i, part in enumerate(state)])
