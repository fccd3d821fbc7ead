"""LinearSVR against scikit-learn and its own optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from mercer.linear_model import QuantileRegressor
from mercer.svm import LinearSVR
from tests.reference.linear_svm import epsilon_insensitive_loss, squared_epsilon_insensitive_loss, svm_objective

LOSSES = {"epsilon_insensitive": epsilon_insensitive_loss, "squared_epsilon_insensitive": squared_epsilon_insensitive_loss}
KINDS = [{"loss": loss, "dual": dual} for loss in LOSSES for dual in (False, True)]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def _data(n=120, d=4, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d) + 0.5
    return X, X @ random.randn(d) + random.standard_t(3, size=n) + 2


def _objective(model, X, y, weights=None):
    l2 = model.intercept_scaling**-2.0 if model.penalize_intercept else 0.0
    intercept = float(np.ravel(model.intercept_)[0])

    def loss(y, raw):
        return LOSSES[model.loss](y, raw, model.epsilon)

    return svm_objective(X, y, model.coef_, intercept, C=model.C, loss=loss, weights=weights, l2_of_intercept=l2)


@every_kind
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("options", [{}, {"intercept_scaling": 2.0}, {"fit_intercept": False}])
def test_with_a_penalty_on_the_intercept_the_coefficients_are_scikit_learns(kind, epsilon, options):
    X, y = _data()
    weights = np.random.RandomState(1).uniform(0.2, 2, size=len(y))
    shared = {"C": 0.05, "epsilon": epsilon, "loss": kind["loss"], "max_iter": 100_000, **options}
    model = LinearSVR(**shared, dual=kind["dual"], tol=1e-10, penalize_intercept=True).fit(X, y, weights)
    peer = sklearn.svm.LinearSVR(**shared, dual=True, tol=1e-10, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4, atol=1e-5)
    assert model.coef_.shape == peer.coef_.shape
    assert np.shape(model.intercept_) == np.shape(peer.intercept_)


@every_kind
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    d=st.integers(1, 8),
    log_c=st.floats(-3, 0),
    epsilon=st.sampled_from([0.0, 0.1, 1.0]),
    has_intercept=st.booleans(),
)
def test_the_gap_is_never_negative_and_within_tol_after_convergence(kind, seed, n, d, log_c, epsilon, has_intercept):
    X, y = _data(n, d, seed=seed)
    params = {"C": 10**log_c, "epsilon": epsilon, "fit_intercept": has_intercept}
    model = LinearSVR(**kind, **params, tol=1e-4, max_iter=50_000).fit(X, y)
    certificate = model.certificate_
    assert certificate.gap >= 0
    assert certificate.converged
    assert certificate.primal == pytest.approx(_objective(model, X, y), rel=1e-9, abs=1e-10)
    assert certificate.gap <= 1e-4 * certificate.primal * (1 + 1e-9) + 1e-8


@every_kind
def test_small_changes_of_the_solution_never_lower_the_objective(kind):
    X, y = _data()
    model = LinearSVR(**kind, C=0.2, epsilon=0.1, tol=1e-9, max_iter=100_000).fit(X, y)
    best, random = _objective(model, X, y), np.random.RandomState(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            other = LinearSVR(**model.get_params())
            other.coef_ = model.coef_ + size * random.randn(len(model.coef_))
            other.intercept_ = model.intercept_ + size * random.randn(1)
            assert _objective(other, X, y) >= best - 1e-8 * best


def test_a_large_C_gives_median_regression():
    X, y = _data(101)
    model = LinearSVR(C=1e6, tol=1e-12).fit(X, y)
    median = QuantileRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, median.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], median.intercept_, atol=1e-4)


def test_an_epsilon_beyond_all_residuals_leaves_a_constant():
    X, y = _data()
    for loss in LOSSES:
        model = LinearSVR(epsilon=100.0, loss=loss).fit(X, y)
        assert np.abs(model.coef_).max() < 1e-6
        assert np.abs(y - model.predict(X)).max() <= 100
        assert model.certificate_.converged


@every_kind
def test_sparse_rows_give_what_dense_rows_give(kind):
    X, y = _data(200, 10)
    X[X < 1] = 0
    params = {**kind, "tol": 1e-10, "max_iter": 100_000, "C": 0.05, "epsilon": 0.1}
    dense, sparse = LinearSVR(**params).fit(X, y), LinearSVR(**params).fit(sp.csc_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=2e-5)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=2e-5)


@every_kind
def test_a_weight_is_a_number_of_repetitions(kind):
    X, y = _data(80, 4)
    weights = np.random.RandomState(0).randint(0, 4, size=len(y))
    params = {**kind, "tol": 1e-10, "max_iter": 200_000, "C": 0.05, "epsilon": 0.1}
    weighted = LinearSVR(**params).fit(X, y, weights)
    repeated = LinearSVR(**params).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-5)


@every_kind
@pytest.mark.parametrize("y", [np.full(30, 3.0), np.zeros(30)], ids=["constant", "zero"])
def test_a_constant_target_is_met_exactly(kind, y):
    model = LinearSVR(**kind).fit(np.random.RandomState(0).randn(30, 3), y)
    np.testing.assert_allclose(model.predict(np.random.RandomState(1).randn(5, 3)), y[:5], atol=1e-3)
    assert model.certificate_.converged


def test_max_iter_gives_one_warning_with_the_gap_and_a_remedy():
    X, y = _data()
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .* max_iter=1 .*Raise max_iter") as caught:
        LinearSVR(max_iter=1).fit(X, y)
    assert len(caught) == 1


def test_a_scaling_of_the_intercept_asks_for_scikit_learns_objective():
    X, y = _data()
    shared = {"intercept_scaling": 0.5, "random_state": 0}
    asked, named = (LinearSVR(**shared, penalize_intercept=is_named).fit(X, y) for is_named in (False, True))
    np.testing.assert_array_equal(asked.coef_, named.coef_)
    np.testing.assert_array_equal(asked.intercept_, named.intercept_)
