"""Softmax losses, kernels and solvers against naive formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer._solvers.lbfgs import Preconditioner, SoftmaxLbfgs
from mercer._solvers.linear_loss import make_linear_rows
from mercer._solvers.newton import Newton
from mercer._solvers.softmax import SoftmaxLoss
from mercer._solvers.sparse_dual import Labels, violations
from mercer._trace import iterate
from tests.reference import logistic as reference


def _naive(X, codes, weights, coef, *, has_reference):
    """Value, gradient and curvature for (K, d + 1) coefficients, one row at a time."""
    n_outputs = len(coef)
    value, gradient, curvature = 0.0, np.zeros(coef.shape), np.zeros((n_outputs, n_outputs))
    for x, code, weight in zip(X, codes, weights, strict=True):
        line = np.append(x, 1.0)
        raw = coef @ line
        p = reference.probabilities(np.append(raw, 0.0)[None] if has_reference else raw[None])[0]
        value -= weight * np.log(p[code])
        slopes = weight * (p - np.eye(len(p))[code])[:n_outputs]
        gradient += np.outer(slopes, line)
        q = p[:n_outputs]
        curvature += weight * (np.diag(q) - np.outer(q, q))
    return value, gradient, curvature


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 300),
    d=st.integers(1, 20),
    n_outputs=st.integers(1, 9),
    has_reference=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
    order=st.sampled_from("CF"),
)
def test_the_fused_pass_is_the_sum_over_rows(seed, n, d, n_outputs, has_reference, dtype, order):
    random = np.random.RandomState(seed)
    X = np.asarray(random.randn(n, d).astype(dtype), order=order)
    codes = random.randint(n_outputs + has_reference, size=n).astype(np.int32)
    weights, shift, coef = random.rand(n), random.randn(d), random.randn(n_outputs, d + 1)
    weights[:: max(2, n // 3)] = 0
    expected = _naive(X - shift, codes, weights, coef, has_reference=has_reference)
    gradient, curvature = np.empty(coef.shape), np.empty((n_outputs, n_outputs))
    value = kernels.softmax_loss(X, shift, codes, weights, has_reference, coef, gradient, curvature, 2)
    scale = max(1.0, np.abs(expected[1]).max())
    np.testing.assert_allclose(value, expected[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-10 * scale)
    np.testing.assert_allclose(curvature, expected[2], atol=1e-10 * n)
    raw = np.ascontiguousarray((X - shift) @ coef[:, :-1].T + coef[:, -1])
    slopes = np.empty_like(raw)
    value = kernels.softmax_of_values(codes, weights, has_reference, raw, slopes, curvature, 2)
    np.testing.assert_allclose(value, expected[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(slopes.sum(axis=0), expected[1][:, -1], atol=1e-10 * scale)
    np.testing.assert_allclose(curvature, expected[2], atol=1e-10 * n)


def test_nearly_certain_rows_lose_no_digits():
    raw = np.array([[40.0, 0.0], [700.0, -700.0]])
    slopes, curvature = np.empty((2, 2)), np.empty((2, 2))
    codes = np.zeros(2, dtype=np.int32)
    value = kernels.softmax_of_values(codes, None, False, raw, slopes, curvature, 1)
    np.testing.assert_allclose(value, np.log1p(np.exp(-40.0)), rtol=1e-14)
    np.testing.assert_allclose(slopes[0], [-np.exp(-40.0), np.exp(-40.0)], rtol=1e-14)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_the_number_of_threads_changes_no_bit(n_threads):
    random = np.random.RandomState(0)
    X, codes = random.randn(30_000, 7), random.randint(4, size=30_000).astype(np.int32)
    results = []
    for count in (1, n_threads):
        gradient, curvature = np.empty((4, 8)), np.empty((4, 4))
        coef = np.random.RandomState(1).randn(4, 8)
        value = kernels.softmax_loss(X, np.zeros(7), codes, None, False, coef, gradient, curvature, count)
        results.append((value, gradient.tobytes(), curvature.tobytes()))
    assert results[0] == results[1]


def _problem(n_outputs=3, *, has_reference=False, l2=0.5, is_sparse=False, has_intercept=True):
    random = np.random.RandomState(0)
    X = random.randn(80, 4) + 1
    codes = random.randint(n_outputs + has_reference, size=80).astype(np.int32)
    rows = make_linear_rows(sp.csr_matrix(X) if is_sparse else X, is_shifted=has_intercept, n_threads=1)
    weights = random.rand(80)
    return SoftmaxLoss(rows, codes, weights, n_outputs, l2, has_reference=has_reference, has_intercept=has_intercept)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("n_outputs", "has_reference"), [(1, True), (2, True), (3, False)])
def test_gradient_and_hessian_are_those_of_finite_differences(n_outputs, has_reference, is_sparse):
    problem = _problem(n_outputs, has_reference=has_reference, is_sparse=is_sparse)
    point = np.random.RandomState(1).randn(np.prod(problem.shape))
    at = problem.evaluate(point, with_hessian=True)
    step = 1e-6
    slopes, lines = [], []
    for j in range(len(point)):
        move = step * np.eye(len(point))[j]
        high, low = problem.evaluate(point + move), problem.evaluate(point - move)
        slopes.append((high.value - low.value) / (2 * step))
        lines.append((high.gradient - low.gradient) / (2 * step))
    np.testing.assert_allclose(at.gradient, slopes, rtol=1e-5, atol=1e-6)
    hessian = at.hessian.copy()
    if not has_reference:  # made regular along all intercepts together
        blocks = hessian.reshape(*problem.shape, *problem.shape)
        blocks[:, -1, :, -1] -= np.trace(at.curvature) / n_outputs**2
    np.testing.assert_allclose(hessian, np.array(lines), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("n_outputs", "has_reference"), [(1, True), (2, True), (3, False)])
def test_lbfgs_and_newton_meet(n_outputs, has_reference, is_sparse, has_intercept):
    problem = _problem(n_outputs, has_reference=has_reference, is_sparse=is_sparse, has_intercept=has_intercept)
    newton = Newton(problem, problem.start(), tol=1e-10)
    preconditioner = Preconditioner(problem.rows, problem.weights, has_intercept=has_intercept)
    lbfgs = SoftmaxLbfgs(problem, problem.start(), tol=1e-10, preconditioner=preconditioner)
    for solver in (newton, lbfgs):
        iterate(solver, max_iter=200, watch=lambda record: False)
        assert solver.residual <= 1e-10
    np.testing.assert_allclose(newton.at.value, lbfgs.at.value, rtol=1e-9)
    for mine, other in zip(problem.to_user(newton.point), problem.to_user(lbfgs.point), strict=True):
        difference = mine - other
        if not has_reference:  # all intercepts may move together
            difference = difference - difference.mean(axis=0)
        np.testing.assert_allclose(difference, 0, atol=1e-4)


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_preconditioner_is_exact_where_all_rows_are_curved_alike(is_sparse, has_intercept):
    problem = _problem(2, has_reference=True, is_sparse=is_sparse, has_intercept=has_intercept)
    at = problem.evaluate(np.zeros(np.prod(problem.shape)), with_hessian=True)  # every class is as likely in every row
    preconditioner = Preconditioner(problem.rows, problem.weights, has_intercept=has_intercept)
    step = preconditioner.solve(at.gradient.reshape(problem.shape), at.curvature, problem.l2)
    of_coef = slice(None) if has_intercept else slice(None, -1)
    free = np.arange(np.prod(problem.shape)).reshape(problem.shape)[:, of_coef].ravel()
    expected = np.linalg.solve(at.hessian[np.ix_(free, free)], at.gradient[free])
    np.testing.assert_allclose(step[:, of_coef].ravel(), expected, rtol=1e-8)


def test_another_penalty_needs_no_pass_over_X():
    problem = _problem()
    point = np.random.RandomState(1).randn(np.prod(problem.shape))
    other = _problem(l2=3.0)
    moved = other.moved(point, problem.evaluate(point, with_hessian=True), problem.l2)
    fresh = other.evaluate(point, with_hessian=True)
    np.testing.assert_allclose(moved.value, fresh.value)
    np.testing.assert_allclose(moved.gradient, fresh.gradient)
    np.testing.assert_allclose(moved.hessian, fresh.hessian)


def test_the_dual_of_any_feasible_slopes_is_below_the_primal():
    random = np.random.RandomState(0)
    X, codes = random.randn(50, 3), random.randint(3, size=50).astype(np.int32)
    labels = Labels(codes, None, has_reference=False, n_threads=1)
    for scale in (0.1, 1.0, 5.0):
        coef = scale * random.randn(3, 3)
        raw = X @ coef.T
        raw += labels.optimal_intercept(raw)
        value, slopes, _ = labels.loss(raw)
        np.testing.assert_allclose(slopes.sum(axis=0), 0, atol=1e-10)
        for l1, l2 in ((1.0, 0.0), (0.5, 0.7), (10.0, 0.0)):
            primal = value + l1 * np.abs(coef).sum() + l2 / 2 * (coef**2).sum()
            assert labels.dual(slopes, slopes.T @ X, l1, l2) <= primal


def test_coordinate_descent_on_a_hessian_meets_the_optimality_conditions():
    random = np.random.RandomState(0)
    A = random.randn(30, 8)
    hessian, gradient, l1 = A.T @ A, 10 * random.randn(8), np.full(8, 3.0)
    start = random.randn(8)
    w = start.copy()
    kernels.descend_on_hessian(hessian, gradient, l1, w, 1e-12, 10_000)
    slopes = gradient + hessian @ (w - start)
    assert np.where(w == 0, np.maximum(np.abs(slopes) - l1, 0), np.abs(slopes + l1 * np.sign(w))).max() < 1e-10


def test_extrapolation_spares_a_descent_on_a_hessian_of_like_columns_most_sweeps():
    random = np.random.RandomState(1)
    A = random.randn(60, 1) + 0.1 * random.randn(60, 20)
    hessian, gradient, l1 = A.T @ A, A.T @ random.randn(60), np.full(20, 1.0)
    w = np.zeros(20)
    assert kernels.descend_on_hessian(hessian, gradient, l1, w, 1e-9, 10_000) < 200  # 1547 without
    assert violations(w, gradient + hessian @ w, l1).max() < 1e-7


def test_coordinates_without_curvature_become_zero_where_their_penalty_outweighs_their_slope():
    hessian, gradient, l1 = np.zeros((4, 4)), np.array([0.5, 2.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    w = np.array([3.0, -2.0, 4.0, 5.0])
    kernels.descend_on_hessian(hessian, gradient, l1, w, 1e-9, 10)
    np.testing.assert_array_equal(w, [0.0, -2.0, 4.0, 5.0])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_coordinate_descent_on_columns_minimises_the_model(n_outputs, is_sparse):
    random = np.random.RandomState(0)
    n, d, l1, l2, damping = 60, 5, 2.0, 0.5, 0.01
    X = random.randn(n, d) * (random.rand(n, d) < 0.7)
    X_csc = sp.csc_matrix(X)
    columns = kernels.SparseColumns(X_csc.data, X_csc.indices, X_csc.indptr, n) if is_sparse else kernels.DenseColumns(X)
    p = np.ascontiguousarray(reference.probabilities(random.randn(n, n_outputs + 1))[:, :n_outputs].T)
    weights = random.rand(n)
    gradient, of_intercept = 3 * random.randn(n_outputs, d), random.randn(n_outputs)
    start = random.randn(n_outputs, d)
    outputs, places = (index.astype(np.int32).ravel() for index in np.indices((n_outputs, d)))
    w, moves, change = start.ravel().copy(), np.zeros(n_outputs), np.zeros((n_outputs, n))
    kernels.descend_on_columns(
        columns, weights, p, p * weights, change, places, outputs, gradient.ravel().copy(), w, of_intercept, moves, l1, l2,
        damping, 1e-12, 100_000,
    )  # fmt: skip
    w = w.reshape(n_outputs, d)
    np.testing.assert_allclose(change, (w - start) @ X.T + moves[:, None], atol=1e-10)
    pull = weights * p * (change - (p * change).sum(axis=0))
    slopes = gradient + pull @ X + l2 * w + damping * (weights @ X**2) / 4 * (w - start)
    assert np.where(w == 0, np.maximum(np.abs(slopes) - l1, 0), np.abs(slopes + l1 * np.sign(w))).max() < 1e-8
    np.testing.assert_allclose(of_intercept + pull.sum(axis=1), 0, atol=1e-8)
