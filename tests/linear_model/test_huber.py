"""Huber's regression: as good as scikit-learn's or better, certified, and unmoved by outliers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer.linear_model import HuberRegressor
from mercer.linear_model._robust import huber_newton
from mercer.linear_model._robust.huber_loss import HuberLoss, SparseHuberRows
from tests.reference.robust import huber_objective


def make_data(n=200, d=4, seed=0, share=0.1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + np.arange(d)
    y = X @ random.normal(size=d) + 5 + random.normal(size=n)
    y[random.random(n) < share] += 100
    return X, y


def objective(model, X, y, weights=None):
    return huber_objective(X, y, model.coef_, model.intercept_, model.scale_, model.epsilon, model.alpha, weights)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", [1.1, 1.35])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_matrix, sp.csc_array])
def test_it_equals_scikit_learn(epsilon, alpha, fit_intercept, weighted, make):
    X, y = make_data()
    weights = np.random.default_rng(1).uniform(0.1, 2, size=len(y)) if weighted else None
    params = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": fit_intercept}
    ours = HuberRegressor(**params).fit(make(X), y, weights)
    theirs = peer.HuberRegressor(**params, max_iter=1000).fit(X, y, weights)
    assert ours.certificate_.converged
    assert objective(ours, X, y, weights) <= objective(theirs, X, y, weights) * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-2)
    assert (ours.outliers_ == theirs.outliers_).mean() > 0.99
    np.testing.assert_array_equal(ours.outliers_, np.abs(y - X @ ours.coef_ - ours.intercept_) > ours.scale_ * epsilon)


@pytest.mark.parametrize("alpha", [0.0, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_matrix])
@pytest.mark.parametrize("d", [4, 150])
def test_steps_without_a_hessian_end_where_those_with_one_do(alpha, fit_intercept, weighted, make, d, monkeypatch):
    X, y = make_data(50, d)
    X -= np.arange(d) * 0.99
    weights = np.random.default_rng(1).uniform(0.1, 2, size=len(y)) if weighted else None
    params = {"alpha": alpha, "fit_intercept": fit_intercept}
    with_hessian = HuberRegressor(**params).fit(make(X), y, weights)
    monkeypatch.setattr(huber_newton, "MOST_HESSIAN_COLUMNS", 0)
    monkeypatch.setattr(huber_newton, "MOST_FORMED_COLUMNS", 0)
    monkeypatch.setattr(HuberLoss, "least_squares", None)
    without = HuberRegressor(**params).fit(make(X), y, weights)
    assert without.certificate_.converged
    spread = 1e-5 * np.abs(y).max()
    np.testing.assert_allclose(without.predict(X), with_hessian.predict(X), atol=spread)
    assert objective(without, X, y, weights) <= objective(with_hessian, X, y, weights) * (1 + 1e-3) + 1e-5
    if alpha > 0:
        assert without.certificate_.gap <= without.certificate_.tol * without.certificate_.primal


@pytest.mark.parametrize(("shape", "density"), [((40, 20_000), 0.005), ((3000, 1100), 0.02)])
def test_many_columns_need_no_hessian(shape, density, monkeypatch):
    random = np.random.default_rng(0)
    X = sp.random(*shape, density=density, format="csr", random_state=0, data_rvs=random.standard_normal)
    y = X @ random.normal(size=shape[1]) + random.normal(size=shape[0])
    y[:5] += 100
    monkeypatch.setattr(SparseHuberRows, "weighted_sums", None)
    model = HuberRegressor(alpha=0.1).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.gap <= 1e-4 * model.certificate_.primal
    np.testing.assert_allclose(objective(model, X, y), model.certificate_.primal, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1e-4])
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_matrix])
def test_nearly_dependent_columns_converge_with_a_hessian_that_many_columns_do_without(alpha, make, monkeypatch):
    random = np.random.default_rng(0)
    turned, _ = np.linalg.qr(random.normal(size=(60, 60)))
    X = (random.normal(size=(300, 60)) * np.geomspace(1, 1e-6, 60)) @ turned
    y = X @ random.normal(size=60) * 30 + random.standard_t(2, size=300)
    formed = HuberRegressor(alpha=alpha).fit(make(X), y)
    monkeypatch.setattr(huber_newton, "MOST_HESSIAN_COLUMNS", 0)
    model = HuberRegressor(alpha=alpha, max_iter=40).fit(make(X), y)  # conjugate steps alone take more, if they come to an end
    assert model.certificate_.converged
    np.testing.assert_allclose(model.certificate_.primal, formed.certificate_.primal, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(5, 80), d=st.integers(1, 5), seed=st.integers(0, 10_000), alpha=st.sampled_from([1e-3, 1.0]))
def test_the_gap_bounds_the_distance_to_the_minimum_at_every_step(n, d, seed, alpha):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(n, d)), random.standard_cauchy(size=n)
    model = HuberRegressor(alpha=alpha, epsilon=1.5, tol=1e-9).fit(X, y)
    best = model.certificate_.primal
    for record in model.history_:
        assert record["gap"] >= record["objective"] - best - 1e-9 * abs(best)
    if model.certificate_.converged:
        assert model.certificate_.gap <= model.certificate_.tol * best


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_gradient_and_the_hessian_are_those_of_the_objective(is_sparse):
    from mercer.linear_model._robust.huber_loss import HuberLoss, make_huber_rows

    X, y = make_data(50)
    weights = np.random.default_rng(1).uniform(0, 2, size=len(y))
    rows = make_huber_rows(sp.csr_array(X) if is_sparse else X, is_shifted=True, n_threads=1)
    problem = HuberLoss(rows, y, weights, epsilon=1.35, alpha=0.3, has_intercept=True)
    point = np.append(np.random.default_rng(2).normal(size=5), 4.0)
    at = problem.evaluate(point, with_hessian=True)
    plain = huber_objective(X - rows.shift, y, point[:-2], point[-2], point[-1], 1.35, 0.3, weights)
    np.testing.assert_allclose(at.value, plain, rtol=1e-12)
    step = 1e-5 * np.eye(6)
    values = [(problem.evaluate(point + e), problem.evaluate(point - e)) for e in step]
    np.testing.assert_allclose(at.gradient, [(a.value - b.value) / 2e-5 for a, b in values], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(at.hessian, [(a.gradient - b.gradient) / 2e-5 for a, b in values], rtol=1e-4, atol=1e-3)


def test_outliers_do_not_move_it():
    X, clean = make_data(500, share=0.0)
    y = clean.copy()
    y[:50] = 1e6
    np.testing.assert_allclose(HuberRegressor().fit(X, y).coef_, HuberRegressor().fit(X, clean).coef_, atol=0.3)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_units_of_y_do_not_matter(unit):
    X, y = make_data()
    one, other = HuberRegressor(alpha=0.0).fit(X, y), HuberRegressor(alpha=0.0).fit(X, y * unit)
    np.testing.assert_allclose(other.coef_, one.coef_ * unit, rtol=1e-6)
    np.testing.assert_allclose(other.scale_, one.scale_ * unit, rtol=1e-6)
    np.testing.assert_array_equal(other.outliers_, one.outliers_)


def test_a_perfect_fit_has_a_scale_of_nearly_zero():
    X, _ = make_data()
    slopes = np.array([1.0, 2, 3, 4])
    model = HuberRegressor().fit(X, X @ slopes + 1)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, slopes, atol=1e-6)
    assert model.scale_ < 1e-5


@pytest.mark.parametrize("y", [np.zeros(50), np.full(50, 7.0)])
def test_a_constant_target_is_met(y):
    X, _ = make_data(50)
    model = HuberRegressor().fit(X, y)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


@pytest.mark.parametrize("shape", [(5, 10), (15, 10), (1, 3)])
@pytest.mark.parametrize("alpha", [1e-4, 10.0])
def test_few_rows_do_no_harm(shape, alpha):
    random = np.random.default_rng(0)
    X, y = random.normal(size=shape), random.normal(size=shape[0])
    model = HuberRegressor(alpha=alpha).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.gap <= 1e-4 * model.certificate_.primal


def test_a_warm_start_goes_on_where_the_earlier_fit_ended():
    X, y = make_data()
    model = HuberRegressor(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    assert model.fit(X, y).n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.certificate_.converged
    with pytest.raises(ValueError, match="warm_start=True needs the features"):
        model.fit(X[:, :2], y)


def test_no_iterations_give_least_squares_and_a_warning():
    X, y = make_data()
    with pytest.warns(UserWarning, match="max_iter=0"):
        model = HuberRegressor(max_iter=0, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.LinearRegression().fit(X, y).coef_, rtol=1e-7)
    assert model.n_iter_ == 0


def test_absent_rows_and_the_kernels_blocks_leave_nothing_behind():
    X, y = make_data(1000, 3)
    weights = (np.random.default_rng(1).random(1000) < 0.5).astype(float)
    gradient, hessian = np.empty(5), np.empty((5, 5))
    arguments = (np.zeros(3), y, weights, 1.35, 2.0, np.ones(4))
    value = kernels.huber_loss(X, *arguments, gradient, hessian, 2)
    only = np.empty(5)
    kept = weights > 0
    assert kernels.huber_loss(X, *arguments, only, None, 1) == pytest.approx(value)
    np.testing.assert_allclose(only, gradient)
    again = np.empty((5, 5))
    kernels.huber_loss(X[kept], np.zeros(3), y[kept], None, 1.35, 2.0, np.ones(4), only, again, 1)
    np.testing.assert_allclose(again, hessian)


@pytest.mark.parametrize(
    ("params", "message"), [({"epsilon": 0.9}, "epsilon=0.9"), ({"alpha": -1}, "alpha=-1"), ({"tol": "a"}, "tol='a'")]
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        HuberRegressor(**params).fit(*make_data())
