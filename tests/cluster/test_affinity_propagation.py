from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import AffinityPropagation as PeerAffinityPropagation
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer._native import kernels
from mercer.cluster import AffinityPropagation, affinity_propagation
from tests.reference import clusters as naive


@pytest.fixture(scope="module")
def X():
    return make_blobs(120, 3, centers=4, cluster_std=0.8, random_state=0)[0]


@pytest.mark.parametrize("n", [2, 3, 17])
@pytest.mark.parametrize("damping", [0.5, 0.8])
def test_messages_are_those_of_the_paper(n, damping):
    S = np.random.RandomState(n).randn(n, n)
    A, R, support = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    a, r = A.copy(), R.copy()
    for _ in range(6):
        kernels.exchange_messages(S, A, R, support, damping, 2)
        np.testing.assert_allclose(A, a, atol=1e-12)  # availabilities are written a round late
        r = naive.responsibilities(S, a, r, damping)
        np.testing.assert_allclose(R, r, atol=1e-12)
        a = naive.availabilities(a, r, damping)
        own = damping * A.diagonal() + (1 - damping) * (support - R.diagonal())
        np.testing.assert_allclose(own, a.diagonal(), atol=1e-12)


@pytest.mark.parametrize("params", [{}, {"damping": 0.8}, {"preference": -50.0}, {"preference": np.linspace(-80, -20, 120)}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_exemplars_are_those_of_the_peer(X, params, form):
    model, peer = (kind(random_state=3, **params).fit(form(X)) for kind in (AffinityPropagation, PeerAffinityPropagation))
    np.testing.assert_array_equal(model.cluster_centers_indices_, peer.cluster_centers_indices_)
    np.testing.assert_array_equal(model.labels_, peer.labels_)
    assert model.n_iter_ == peer.n_iter_
    np.testing.assert_array_equal(model.predict(form(X)), peer.predict(form(X)))


def test_a_converged_fit_has_settled_rows_and_a_smaller_objective_than_other_exemplars(X):
    model = AffinityPropagation(random_state=0, damping=0.8).fit(X)
    assert model.certificate_.converged
    assert all(record["n_changed"] == 0 for record in model.history_[-14:])
    S, k = model.affinity_matrix_, len(model.cluster_centers_indices_)
    random = np.random.RandomState(0)
    for _ in range(20):
        others = random.choice(len(S), k, replace=False)
        total = S[:, others].max(axis=1)
        total[others] = S[others, others]
        assert -total.sum() >= model.certificate_.primal - 1e-6


def test_equal_similarities_give_one_cluster_or_all():
    S = np.ones((4, 4))
    with pytest.warns(UserWarning, match="mutually equal"):
        _, labels = affinity_propagation(S, preference=0)
    np.testing.assert_array_equal(labels, 0)
    with pytest.warns(UserWarning, match="mutually equal"):
        _, labels, n_iter = affinity_propagation(S, preference=2, return_n_iter=True)
    np.testing.assert_array_equal(labels, np.arange(4))
    assert n_iter == 0


def test_without_convergence_it_says_so(X):
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model = AffinityPropagation(max_iter=2, random_state=0).fit(X)
    assert not model.certificate_.converged
    if len(model.cluster_centers_indices_) == 0:
        np.testing.assert_array_equal(model.labels_, -1)
        with pytest.warns(ConvergenceWarning, match="does not have any cluster centers"):
            np.testing.assert_array_equal(model.predict(X[:3]), -1)


def test_given_similarities_are_left_alone_and_cannot_predict(X):
    S = -((X[:, None] - X[None]) ** 2).sum(axis=2)
    before = S.copy()
    model = AffinityPropagation(affinity="precomputed", random_state=0, damping=0.8).fit(S)
    np.testing.assert_array_equal(S, before)
    with pytest.raises(ValueError, match="not supported when affinity='precomputed'"):
        model.predict(S)
    with pytest.raises(ValueError, match="must be a square array"):
        AffinityPropagation(affinity="precomputed").fit(X)
    with pytest.raises(ValueError, match="preference of shape"):
        AffinityPropagation(preference=[1.0, 2.0]).fit(X)


def test_exemplars_that_a_user_sets_may_be_sparse():
    X = np.random.RandomState(0).randn(30, 3)
    model = AffinityPropagation(random_state=0).fit(X)
    expected = model.predict(X)
    model.cluster_centers_ = sp.csr_matrix(model.cluster_centers_)
    np.testing.assert_array_equal(model.predict(X), expected)
