"""QuantileRegressor against a linear program, statsmodels and its own optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from statsmodels.regression.quantile_regression import QuantReg

from mercer.linear_model import QuantileRegressor
from tests.reference.linear_svm import quantile_objective, quantile_regression


def _data(n=150, d=4, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(n, d) + 0.5
    return X, X @ random.randn(d) + random.standard_t(3, size=n) + 1


def _objective(model, X, y, weights=None):
    return quantile_objective(X, y, model.coef_, model.intercept_, quantile=model.quantile, alpha=model.alpha, weights=weights)


def _degenerate():
    random = np.random.RandomState(0)
    X = random.randn(50, 4)
    return {
        "wide": (random.randn(10, 30), random.randn(10)),
        "square": (random.randn(31, 30), random.randn(31)),
        "constant column": (np.column_stack([X, np.full(50, 2.0)]), random.randn(50)),
        "equal columns": (np.repeat(X, 2, axis=1), random.randn(50)),
        "whole numbers": (random.randint(0, 3, size=(50, 3)).astype(float), random.randint(0, 5, size=50).astype(float)),
        "no residuals": (X, X @ np.arange(4.0) + 1),
        "bad scales": (X[:, :3] * [1e-6, 1, 1e6] + [0, 0, 1e8], random.randn(50)),
        "one row": (X[:1], np.array([3.0])),
        "nothing in X": (np.zeros((20, 2)), random.randn(20)),
        "outliers": (X, 100 * random.standard_cauchy(50)),
        "far from zero": (X, 1e6 + random.randn(50)),
        "constant y": (X, np.full(50, 3.0)),
    }


@pytest.mark.parametrize("case", _degenerate())
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.77])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_objective_is_that_of_the_linear_program_even_where_it_is_degenerate(case, quantile, alpha, fit_intercept):
    X, y = _degenerate()[case]
    model = QuantileRegressor(quantile=quantile, alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    expected = quantile_regression(X, y, quantile, alpha, fit_intercept=fit_intercept)
    assert model.certificate_.converged
    assert _objective(model, X, y) == pytest.approx(expected, rel=1e-8, abs=1e-13 * (1 + np.abs(y).max()))


@pytest.mark.parametrize("quantile", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1])
def test_coefficients_are_scikit_learns(quantile, alpha):
    X, y = _data(151)
    weights = np.random.RandomState(1).uniform(0.1, 2, size=len(y))
    model = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weights)
    peer = sklearn.linear_model.QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-7)
    assert model.certificate_.primal == pytest.approx(_objective(model, X, y, weights), rel=1e-12)


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.8])
def test_without_a_penalty_it_agrees_with_statsmodels(quantile):
    X, y = _data(201)
    model = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
    peer = QuantReg(y, np.column_stack([np.ones(len(y)), X])).fit(q=quantile, p_tol=1e-10, max_iter=5000)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), peer.params, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 80),
    d=st.integers(1, 10),
    quantile=st.floats(0.02, 0.98),
    alpha=st.sampled_from([0.0, 1e-3, 0.1, 10.0]),
    has_intercept=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_the_gap_is_never_negative_and_within_tol(seed, n, d, quantile, alpha, has_intercept, dtype):
    X, y = (part.astype(dtype) for part in _data(n, d, seed))
    model = QuantileRegressor(quantile=quantile, alpha=alpha, fit_intercept=has_intercept).fit(X, y)
    certificate = model.certificate_
    assert certificate.gap >= 0
    assert certificate.converged
    exact = quantile_regression(X.astype(float), y.astype(float), quantile, alpha, fit_intercept=has_intercept)
    assert certificate.primal == pytest.approx(exact, rel=1e-7, abs=1e-11)
    assert certificate.dual <= exact * (1 + 1e-9) + 1e-11


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_share_of_rows_below_is_the_quantile(quantile):
    X, y = _data(1001, 5)
    residuals = y - QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y).predict(X)
    on = np.abs(residuals) < 1e-9
    assert on.sum() == 6  # a vertex: as many rows are met as there are coefficients
    assert (residuals < -1e-9).sum() <= quantile * 1001 <= (residuals < 1e-9).sum()


def test_it_moves_with_the_target():
    X, y = _data(201)
    plain = QuantileRegressor(quantile=0.3, alpha=0.0).fit(X, y)
    moved = QuantileRegressor(quantile=0.3, alpha=0.0).fit(X, 10 * y + X @ np.arange(4.0) - 5)
    np.testing.assert_allclose(moved.coef_, 10 * plain.coef_ + np.arange(4.0), atol=1e-7)
    np.testing.assert_allclose(moved.intercept_, 10 * plain.intercept_ - 5, atol=1e-7)
    mirrored = QuantileRegressor(quantile=0.7, alpha=0.0).fit(X, -y)
    np.testing.assert_allclose(mirrored.coef_, -plain.coef_, atol=1e-7)


def test_a_strong_penalty_leaves_the_quantile_of_y():
    X, y = _data(101)
    model = QuantileRegressor(quantile=0.2345, alpha=10.0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.intercept_ == pytest.approx(np.quantile(y, 0.2345, method="inverted_cdf"), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_a_weight_is_a_number_of_repetitions(alpha):
    X, y = _data(90)
    weights = np.random.RandomState(0).randint(0, 4, size=len(y))
    weighted = QuantileRegressor(quantile=0.4321, alpha=alpha).fit(X, y, weights)
    repeated = QuantileRegressor(quantile=0.4321, alpha=alpha).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-8)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_sparse_rows_give_what_dense_rows_give(make, alpha):
    X, y = _data(200, 10)
    X[X < 1] = 0
    dense = QuantileRegressor(quantile=0.4321, alpha=alpha).fit(X, y)
    sparse = QuantileRegressor(quantile=0.4321, alpha=alpha).fit(make(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)


@pytest.mark.parametrize("solver", ["highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"])
def test_every_name_of_a_solver_gives_the_solution(solver):
    X, y = _data(101)
    model = QuantileRegressor(quantile=0.3, alpha=0.01, solver=solver).fit(X, y)
    assert _objective(model, X, y) == pytest.approx(quantile_regression(X, y, 0.3, 0.01), rel=1e-10)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"quantile": 0.0}, r"quantile=0.0 is not valid; it must be a finite number > 0"),
        ({"quantile": 1.0}, r"quantile=1.0 is not valid; it must be a finite number > 0 and < 1"),
        ({"alpha": -1.0}, r"alpha=-1.0 is not valid"),
        ({"solver": "simplex"}, r"solver='simplex' is not valid"),
        ({"solver_options": {"maxiter": 5}}, r"solver_options={'maxiter': 5} is not valid; it must be None.*max_iter"),
    ],
)
def test_what_cannot_be_is_refused(params, message):
    X, y = _data()
    with pytest.raises(ValueError, match=message):
        QuantileRegressor(**params).fit(X, y)


def test_max_iter_gives_one_warning_with_the_gap_and_a_remedy():
    X, y = _data()
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .* max_iter=2 .*Raise max_iter") as caught:
        model = QuantileRegressor(max_iter=2, alpha=0.0).fit(X, y)
    assert len(caught) == 1
    assert model.n_iter_ == 2
