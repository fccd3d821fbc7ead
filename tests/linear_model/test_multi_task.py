"""Multi-task lasso and elastic net: features are chosen for all targets, and the group prox is optimal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import (
    MultiTaskElasticNet as PeerElasticNet,
    MultiTaskElasticNetCV as PeerElasticNetCV,
    MultiTaskLassoCV as PeerLassoCV,
)

from mercer.linear_model import ElasticNet, MultiTaskElasticNet, MultiTaskElasticNetCV, MultiTaskLasso, MultiTaskLassoCV
from tests.reference.sparse_penalties import centred, elastic_net_objective, elastic_net_violation


def make_data(seed=0, n=60, d=8, n_targets=3, dtype=np.float64):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + random.normal(size=d)
    W = np.where(np.arange(d)[:, None] % 3 == 0, random.normal(size=(d, n_targets)), 0)
    return X.astype(dtype), (X @ W + 0.3 * random.normal(size=(n, n_targets)) + 1).astype(dtype)


@pytest.mark.parametrize(("n", "d"), [(60, 8), (30, 100), (300, 250)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_it_finds_what_scikit_learn_finds(n, d, l1_ratio, weighted, as_sparse):
    X, Y = make_data(1, n, d)
    weights = {"sample_weight": np.linspace(0.1, 2, n)} if weighted else {}
    given_X = sp.csr_matrix(X) if as_sparse else X
    model = MultiTaskElasticNet(0.05, l1_ratio=l1_ratio, tol=1e-10).fit(given_X, Y, **weights)
    peer = PeerElasticNet(0.05, l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000).fit(X, Y, **weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.integers(1, 30),
    st.integers(1, 50),
    st.integers(1, 4),
    st.sampled_from([0.9, 0.1]),
    st.sampled_from([1.0, 0.5, 0.0]),
    st.sampled_from([np.float64, np.float32]),
)
def test_every_fit_is_optimal_and_uses_a_feature_for_all_targets_or_none(seed, n, d, n_targets, share, l1_ratio, dtype):
    X, Y = make_data(seed, n, d, n_targets, dtype)
    A, b, *_ = centred(X, Y)
    scale = np.linalg.norm(A.T @ b, axis=1).max()
    alpha, total = share * max(scale, 1e-3), (b**2).sum()
    model = MultiTaskElasticNet(alpha, l1_ratio=l1_ratio, tol=1e-8, max_iter=20_000).fit(X, Y)
    certificate, W = model.certificate_, model.coef_.T.astype(np.float64)
    assert certificate.converged
    assert 0 <= certificate.gap <= certificate.tol
    assert (W.any(axis=1) == W.all(axis=1)).all()
    rounding = 1e-5 if dtype == np.float32 else 1e-9
    objective = elastic_net_objective(A, b, W, alpha, l1_ratio)
    np.testing.assert_allclose(certificate.primal, objective, atol=rounding * (total + objective))
    slack = np.sqrt(2 * (certificate.gap + rounding * total) * ((A**2).sum(axis=0).max() + alpha))
    assert elastic_net_violation(A, b, W, alpha, l1_ratio) <= slack + rounding * scale


def test_one_target_alone_is_the_elastic_net():
    X, Y = make_data(2, 60, 8, 1)
    model = MultiTaskElasticNet(0.05, tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], ElasticNet(0.05, tol=1e-12).fit(X, Y[:, 0]).coef_, atol=1e-9)
    assert model.coef_.shape == (1, 8)
    assert model.intercept_.shape == (1,)


@pytest.mark.parametrize("selection", ["cyclic", "random"])
def test_the_lasso_is_the_elastic_net_without_its_l2_penalty(selection):
    X, Y = make_data(3, 60, 8)
    options = {"tol": 1e-10, "selection": selection, "random_state": 0}
    lasso, net = MultiTaskLasso(0.1, **options).fit(X, Y), MultiTaskElasticNet(0.1, l1_ratio=1.0, **options).fit(X, Y)
    np.testing.assert_array_equal(lasso.coef_, net.coef_)
    np.testing.assert_allclose(lasso.eps_, 1e-10 * ((Y - Y.mean(axis=0)) ** 2).sum())
    assert lasso.sparse_coef_.shape == (3, 8)
    warm = MultiTaskLasso(0.1, warm_start=True, **options).fit(X, Y)
    assert warm.fit(X, Y).n_iter_ <= 2


@pytest.mark.parametrize(("n", "d"), [(90, 6), (40, 120)])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_scikit_learns(n, d, weighted):
    X, Y = make_data(4, n, d)
    weights = {"sample_weight": np.linspace(0.1, 2, n)} if weighted else {}
    options = {"alphas": 10, "eps": 0.02, "cv": 3}
    pairs = [
        (MultiTaskLassoCV(**options, tol=1e-11), PeerLassoCV(**options, tol=1e-12, max_iter=100_000)),
        (
            MultiTaskElasticNetCV(l1_ratio=[0.3, 0.9], **options, tol=1e-11),
            PeerElasticNetCV(l1_ratio=[0.3, 0.9], **options, tol=1e-12, max_iter=100_000),
        ),
    ]
    for model, peer in pairs:
        model.fit(X, Y, **weights)
        peer.fit(X, Y, **weights)
        np.testing.assert_allclose(model.mse_path_, peer.mse_path_, rtol=1e-5)
        np.testing.assert_allclose(model.alphas_, peer.alphas_, rtol=1e-9)
        np.testing.assert_allclose(model.alpha_, peer.alpha_, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


@pytest.mark.parametrize("estimator", [MultiTaskLasso, MultiTaskElasticNet, MultiTaskLassoCV, MultiTaskElasticNetCV])
def test_a_vector_of_targets_is_sent_to_the_single_task_class(estimator):
    X, Y = make_data(5)
    with pytest.raises(ValueError, match=f"For mono-task outputs, use {estimator.__name__.removeprefix('MultiTask')}"):
        estimator().fit(X, Y[:, 0])
