"""Newton's method for smooth losses with an l2 penalty: it reaches the minimum and its gap bounds the distance from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer._native import kernels
from mercer._solvers.linear_loss import LinearLoss, make_linear_rows
from mercer._solvers.newton import Newton
from mercer._trace import Status, iterate

TARGETS = {
    "logistic": lambda raw, random: (random.random(len(raw)) < 1 / (1 + np.exp(-raw))).astype(float),
    "poisson": lambda raw, random: random.poisson(np.exp(raw)).astype(float),
    "gamma": lambda raw, random: random.gamma(2.0, np.exp(raw) / 2),
    "huber": lambda raw, random: raw + random.standard_t(2, size=len(raw)),
    "log_cosh": lambda raw, random: raw + random.standard_t(2, size=len(raw)),
    "squared_hinge": lambda raw, random: np.sign(raw + random.normal(size=len(raw))),
}


def _problem(name, l2=1.0, *, n=300, d=5, is_sparse=False, has_intercept=True, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + (0 if is_sparse else 3)
    X[random.random(size=X.shape) < 0.3] = 0
    y = TARGETS[name]((X - X.mean(axis=0)) @ random.normal(size=d) / np.sqrt(d), random)
    weights = random.exponential(size=n)
    rows = make_linear_rows(sp.csr_array(X) if is_sparse else X, is_shifted=has_intercept, n_threads=2)
    return LinearLoss(rows, y, weights, kernels.RowLoss(name, 1.0), l2, has_intercept=has_intercept)


def _solve(problem, tol=1e-10):
    solver = Newton(problem, problem.start(), tol=tol)
    status, history = iterate(solver, max_iter=100, watch=lambda record: False)
    return solver, status, history


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_it_reaches_the_minimum(name, is_sparse, has_intercept):
    problem = _problem(name, is_sparse=is_sparse, has_intercept=has_intercept)
    solver, status, history = _solve(problem)
    assert status is Status.CONVERGED
    assert len(history) < 30
    reference = minimize(
        lambda point: (at := problem.evaluate(point)) and (at.value, at.gradient),
        np.zeros_like(solver.point), jac=True, method="BFGS", options={"gtol": 1e-7},
    )  # fmt: skip
    assert solver.at.value <= reference.fun + 1e-12 * abs(reference.fun)
    np.testing.assert_allclose(solver.point, reference.x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("l2", [1e-3, 1.0, 100.0])
def test_the_gap_bounds_the_distance_to_the_minimum_at_every_step(name, l2):
    problem = _problem(name, l2)
    best = _solve(problem)[0].at.value
    for record in _solve(problem)[2]:
        assert record["gap"] >= record["objective"] - best - 1e-9 * abs(best)


def test_without_a_penalty_there_is_no_gap():
    solver, status, history = _solve(_problem("logistic", 0.0))
    assert status is Status.CONVERGED
    assert "gap" not in history[-1]
    assert solver.gradient_norm <= 1e-10


def test_dependent_columns_do_no_harm():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 3))
    X = np.column_stack([X, X[:, 0], np.ones(100)])
    y = (X[:, 1] + random.normal(size=100) > 0).astype(float)
    rows = make_linear_rows(X, is_shifted=True, n_threads=1)
    solver, status, _ = _solve(LinearLoss(rows, y, None, kernels.RowLoss("logistic", 0.0), 0.0, has_intercept=True))
    assert status is Status.CONVERGED
    assert solver.gradient_norm <= 1e-10


def test_the_users_coefficients_give_the_same_values():
    problem = _problem("logistic")
    solver = _solve(problem)[0]
    coef, intercept = problem.to_user(solver.point)
    np.testing.assert_allclose(problem.start(coef, intercept), solver.point, rtol=1e-12)
    zero_shift = np.zeros_like(coef)
    raw = np.empty(problem.rows.n_rows)
    kernels.linear_values(problem.rows._X, zero_shift, np.append(coef, intercept), raw, 1)
    np.testing.assert_allclose(raw, problem.rows.values(solver.point), rtol=1e-10, atol=1e-10)
