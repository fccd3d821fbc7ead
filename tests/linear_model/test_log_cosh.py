"""Log-cosh regression: it reaches the minimum at any scale and its gap bounds the distance from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from mercer._solvers.linear_loss import SparseLinearRows
from mercer._trace import Status
from mercer.linear_model import LogCoshRegressor
from mercer.linear_model._robust import log_cosh
from tests.reference.robust import log_cosh_objective


def make_data(n=200, d=4, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + [0, 3, -2, 10][:d]
    return X, X @ random.normal(size=d) + 5 + noise * random.standard_t(2, size=n)


def objective(model, X, y, weights=None):
    return log_cosh_objective(X, y, model.coef_, model.intercept_, model.scale, model.alpha, weights)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_other_point_is_better(scale, alpha, fit_intercept):
    X, y = make_data()
    weights = np.random.default_rng(1).uniform(0.1, 2, size=len(y))
    model = LogCoshRegressor(alpha, scale=scale, fit_intercept=fit_intercept, tol=1e-8).fit(X, y, weights)
    assert model.certificate_.converged
    best = objective(model, X, y, weights)
    np.testing.assert_allclose(best, model.certificate_.primal, rtol=1e-9)
    reference = minimize(
        lambda p: log_cosh_objective(X, y, p[:-1], p[-1] * fit_intercept, scale, alpha, weights),
        np.append(model.coef_, model.intercept_) * 0.99,
        method="Nelder-Mead",
        options={"maxiter": 4000},
    )
    assert best <= reference.fun * (1 + 1e-9)
    if alpha > 0:
        assert 0 <= model.certificate_.gap <= 1e-7 * max(best, 1)


@pytest.mark.parametrize("seed", range(4))
def test_tiny_scales_converge(seed):
    X, y = make_data(300, seed=seed, noise=100.0)
    assert LogCoshRegressor(scale=1e-3).fit(X, y).certificate_.converged


def test_a_large_scale_gives_ridge_regression():
    X, y = make_data()
    model = LogCoshRegressor(0.1, scale=1e5, tol=1e-12).fit(X, y)
    ridge = Ridge(alpha=0.1 * len(y)).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-5)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix])
def test_sparse_rows_give_what_dense_rows_give(make):
    X, y = make_data()
    X[np.abs(X) < 1] = 0
    dense, sparse = (LogCoshRegressor(tol=1e-10).fit(rows, y) for rows in (X, make(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-7)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_matrix])
def test_steps_without_a_hessian_end_where_those_with_one_do(scale, alpha, fit_intercept, make, monkeypatch):
    X, y = make_data()
    weights = np.random.default_rng(1).uniform(0.1, 2, size=len(y))
    params = {"alpha": alpha, "scale": scale, "fit_intercept": fit_intercept, "tol": 1e-8}
    with_hessian = LogCoshRegressor(**params).fit(make(X), y, weights)
    monkeypatch.setattr(log_cosh, "MOST_HESSIAN_COLUMNS", 0)
    monkeypatch.setattr(log_cosh, "MOST_FORMED_COLUMNS", 0)
    monkeypatch.setattr(log_cosh, "newton_direction", None)
    without = LogCoshRegressor(**params).fit(make(X), y, weights)
    assert without.certificate_.converged
    np.testing.assert_allclose(without.certificate_.primal, with_hessian.certificate_.primal, rtol=1e-7)
    np.testing.assert_allclose(without.predict(X), with_hessian.predict(X), atol=1e-3 * scale)
    if alpha > 0:
        assert 0 <= without.certificate_.gap <= 1e-8 * without.certificate_.primal


@pytest.mark.parametrize("shape", [(40, 20_000), (3000, 1100)])
def test_many_columns_need_no_hessian(shape, monkeypatch):
    random = np.random.default_rng(0)
    X = sp.random(*shape, density=0.01, format="csr", random_state=0, data_rvs=random.standard_normal)
    y = X @ random.normal(size=shape[1]) + random.standard_t(2, size=shape[0])
    monkeypatch.setattr(SparseLinearRows, "weighted_sums", None)
    model = LogCoshRegressor().fit(X, y)
    assert model.certificate_.converged
    np.testing.assert_allclose(objective(model, X.toarray(), y), model.certificate_.primal, rtol=1e-9)


def test_nearly_dependent_columns_converge_with_a_hessian_that_many_columns_do_without(monkeypatch):
    random = np.random.default_rng(0)
    turned, _ = np.linalg.qr(random.normal(size=(60, 60)))
    X = (random.normal(size=(300, 60)) * np.geomspace(1, 1e-6, 60)) @ turned
    y = X @ random.normal(size=60) * 30 + random.standard_t(2, size=300)
    monkeypatch.setattr(log_cosh, "MOST_HESSIAN_COLUMNS", 0)
    assert LogCoshRegressor(1e-12, max_iter=40).fit(X, y).certificate_.converged


def test_a_warm_start_goes_on_where_the_earlier_fit_ended():
    X, y = make_data(noise=50.0)
    model = LogCoshRegressor(scale=0.1, warm_start=True).fit(X, y)
    n_cold = model.n_iter_
    assert model.fit(X, y).n_iter_ <= 2 < n_cold
    with pytest.raises(ValueError, match="warm_start=True needs the features"):
        model.fit(X[:, :2], y)


def test_a_fit_cut_short_speaks_of_the_users_scale():
    X, y = make_data(noise=50.0)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = LogCoshRegressor(scale=0.1, max_iter=2).fit(X, y)
    assert model.certificate_.status is Status.MAX_ITER
    np.testing.assert_allclose(model.certificate_.primal, objective(model, X, y), rtol=1e-9)


@pytest.mark.parametrize(
    ("params", "message"), [({"scale": 0}, "scale=0"), ({"alpha": -1}, "alpha=-1"), ({"max_iter": 0}, "max_iter=0")]
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        LogCoshRegressor(**params).fit(*make_data())
