"""Descent methods: each against the formula it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.optim import BFGS, LBFGS, Broyden, ConjugateGradient, Newton, Quadratic, minimize
from mercer.optim._functions import Point
from tests.optim.cases import Smooth, logistic, many_minima, random_quadratic, rosenbrock, worked
from tests.reference.descent import bfgs_inverse, linear_conjugate_gradients, newton_path, quasi_newton_path, rank_one


def run(case, **options):
    return minimize(case.fun, case.start, case.jac, case.hess, **options)


def test_the_worked_example_has_its_minimum_at_zero_with_the_given_hessian():
    f = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
    case = worked()
    for x in np.random.RandomState(0).randn(20, 2):
        assert f(x) == pytest.approx(case.fun(x))
        np.testing.assert_allclose(f.jac(x), case.jac(x))
    assert np.linalg.eigvalsh(f.hess(None)).min() > 0
    np.testing.assert_allclose(run(case, method="newton").x, [0, 0], atol=1e-12)


# ---- conjugate gradients


@given(st.integers(0, 10_000), st.integers(1, 8), st.sampled_from(["pr+", "fr"]))
@settings(max_examples=30, deadline=None)
def test_conjugate_gradients_end_in_d_steps_on_a_quadratic(seed, d, beta):
    f = random_quadratic(seed, d, condition=20.0)
    result = minimize(f, np.ones(d), method=ConjugateGradient(beta=beta), step="optimal", tol=1e-6)
    assert result.success
    assert result.nit <= d


@pytest.mark.parametrize("beta", ["pr+", "fr"])
def test_conjugate_gradients_are_the_linear_method_on_a_quadratic(beta):
    f = random_quadratic(d=5)
    trace = minimize(f, np.ones(5), method=ConjugateGradient(beta=beta), step="optimal", max_iter=4, tol=1e-9).trace
    np.testing.assert_allclose(trace.x, linear_conjugate_gradients(f.A, f.b, np.ones(5), 4), rtol=1e-8)


@pytest.mark.parametrize(
    "method", [ConjugateGradient(), ConjugateGradient(beta="fr"), ConjugateGradient(beta="fr", restart=None)]
)
def test_the_directions_follow_their_formula(method):
    trace = run(rosenbrock(), method=method, max_iter=12).trace
    moves, g = np.diff(trace.x, axis=0) / trace.step[1:, None], trace.jac
    np.testing.assert_allclose(moves[0], -g[0])
    for k in range(1, len(moves)):
        if trace.note[k + 1]:
            continue
        if method.beta == "pr+":
            beta = max(0.0, g[k] @ (g[k] - g[k - 1]) / (g[k - 1] @ g[k - 1]))
        else:
            beta = g[k] @ g[k] / (g[k - 1] @ g[k - 1])
            if method.restart and abs(g[k] @ g[k - 1]) >= method.restart * g[k] @ g[k]:
                beta = 0.0
        np.testing.assert_allclose(moves[k], -g[k] + beta * moves[k - 1], rtol=1e-6, atol=1e-6 * np.abs(g[k]).max())


@pytest.mark.parametrize(("overlap", "expected"), [(0.19, 0.25), (0.21, 0.0), (-0.21, 0.0)])
def test_fletcher_reeves_restarts_where_gradients_are_far_from_orthogonal(overlap, expected):
    new = np.array([1.0, 0.0])
    old = np.array([overlap, np.sqrt(4 - overlap**2)])  # of length 2, so that beta is 1/4
    points = [Point(np.zeros(2), 0.0, jac, float(np.linalg.norm(jac))) for jac in (old, new)]
    direction, _ = ConjugateGradient(beta="fr").update(None, *points, np.array([0.0, 1.0]))
    np.testing.assert_allclose(direction, [-1.0, expected])


# ---- Newton


def test_newton_ends_in_one_step_on_a_quadratic():
    f = random_quadratic()
    result = minimize(f, np.ones(6), method="newton")
    assert result.nit == 1
    np.testing.assert_allclose(result.x, np.linalg.solve(f.A, f.b))


def test_newton_with_unit_steps_is_the_formula():
    case = logistic()
    trace = run(case, method="newton", step=1.0, tol=1e-10).trace
    np.testing.assert_allclose(trace.x, newton_path(case.jac, case.hess, case.start, len(trace) - 1), atol=1e-10)


def test_newton_falls_back_where_the_hessian_is_indefinite_and_says_so():
    case = many_minima()
    start = np.array([0.4, -0.45])  # where cos(2 pi x) < 0
    assert np.linalg.eigvalsh(case.hess(start)).max() < 0
    result = minimize(case.fun, start, case.jac, case.hess, method="newton")
    assert result.success
    assert "Hessian indefinite: 2 of 2 eigenvalues replaced" in result.trace.note[1]
    assert (np.diff(result.trace.fun) < 0).all()
    assert np.linalg.eigvalsh(case.hess(result.x)).min() > 0


def test_newton_steps_by_the_largest_eigenvalue_where_it_knows_no_curvature():
    case = Smooth(
        lambda x: 2 * x[0] ** 2 + 8 * x[1], lambda x: np.array([4 * x[0], 8.0]), lambda x: np.diag([4.0, 0.0]), [1.0, 0.0]
    )
    np.testing.assert_allclose(run(case, method="newton", step=1.0, max_iter=1).x, [0.0, -2.0])


def test_newton_falls_back_where_the_hessian_is_singular_and_says_so():
    # (x1 + x2 - 1)^2 has a line of minima.
    result = minimize(Quadratic([[2.0, 2.0], [2.0, 2.0]], [2.0, 2.0], 1.0), [3.0, -1.0], method="newton")
    assert result.success
    assert result.nit == 1
    assert "Hessian singular: 1 of 2" in result.trace.note[1]
    np.testing.assert_allclose(result.x, [2.5, -1.5])  # the nearest point of the line


@pytest.mark.parametrize(
    ("hess", "note"), [(np.zeros((2, 2)), "Hessian zero"), (np.full((2, 2), np.nan), "Hessian not finite")]
)
def test_newton_becomes_steepest_descent_where_the_hessian_says_nothing(hess, note):
    result = minimize(lambda x: x @ x, [1.0, 2.0], lambda x: 2 * x, lambda x: hess, method="newton")
    assert result.success
    assert note in result.trace.note[1]


# ---- quasi-Newton


@pytest.mark.parametrize(
    ("method", "update"), [(Broyden(), rank_one), (BFGS(scale=False), bfgs_inverse)], ids=["rank-one", "bfgs"]
)
def test_the_corrections_of_the_inverse_are_the_formulas(method, update):
    f = random_quadratic(d=4)
    result = minimize(f, np.ones(4), method=method, step="optimal", max_iter=3, tol=1e-12)
    path, inverse = quasi_newton_path(f.A, f.b, np.ones(4), update, 3)
    np.testing.assert_allclose(result.trace.x, path, rtol=1e-8)
    np.testing.assert_allclose(result.hess_inv, inverse, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", ["bfgs", "broyden", BFGS(scale=False)], ids=str)
def test_the_inverse_hessian_is_learnt_on_a_quadratic(method):
    f = random_quadratic(d=5)
    result = minimize(f, np.ones(5), method=method, step="optimal", tol=1e-9)
    assert result.nit <= 6
    np.testing.assert_allclose(result.hess_inv, np.linalg.inv(f.A), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["bfgs", "broyden", "lbfgs"])
def test_the_quasi_newton_condition_holds_for_the_last_step(method):
    result = run(logistic(), method=method)
    delta, gamma = result.trace.x[-1] - result.trace.x[-2], result.trace.jac[-1] - result.trace.jac[-2]
    np.testing.assert_allclose(result.hess_inv @ gamma, delta, rtol=1e-6, atol=1e-12)


def test_bfgs_keeps_its_matrix_symmetric_and_positive_definite():
    result = run(rosenbrock(6), method="bfgs")
    np.testing.assert_allclose(result.hess_inv, result.hess_inv.T, rtol=1e-8, atol=1e-10)
    assert np.linalg.eigvalsh(result.hess_inv).min() > 0


def test_lbfgs_with_enough_memory_is_bfgs():
    case = rosenbrock()
    limited, full = run(case, method=LBFGS(m=500), max_iter=8).trace.x, run(case, method="bfgs", max_iter=8).trace.x
    # BFGS scales its first matrix by the first pair, L-BFGS by the last; the first two steps are the same.
    np.testing.assert_allclose(limited[:3], full[:3], rtol=1e-8)
    assert run(case, method=LBFGS(m=2)).success


def test_lbfgs_forgets_all_but_m_pairs():
    result = run(rosenbrock(10), method=LBFGS(m=3))
    assert result.success
    assert result.hess_inv.sk.shape == (3, 10)


def test_an_update_without_curvature_is_left_out_and_noted():
    # Along the start's slope the function is concave: Armijo accepts a step there, and BFGS must not learn from it.
    case = Smooth(lambda x: np.sum(-np.exp(-(x**2) / 2)), lambda x: x * np.exp(-(x**2) / 2), None, [3.0])
    result = run(case, method="bfgs", step="armijo")
    assert result.success, result.message
    assert any("update left out" in note for note in result.trace.note)


def test_a_direction_that_does_not_descend_is_replaced_and_noted():
    result = run(rosenbrock(), method="broyden")
    assert result.success
    assert any("restarted from the gradient: not a direction of descent" in note for note in result.trace.note)
    assert (np.diff(result.trace.fun) < 1e-12).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConjugateGradient(beta="pr"), "ConjugateGradient: beta='pr' is not valid; it must be 'pr\\+' or 'fr'"),
        (lambda: ConjugateGradient(restart=0), "restart=0"),
        (lambda: LBFGS(m=0), "LBFGS: m=0 is not valid; it must be an integer >= 1"),
        (lambda: BFGS(scale=1), "scale=1"),
    ],
)
def test_bad_settings_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_methods_are_values():
    assert ConjugateGradient(beta="fr") == ConjugateGradient(beta="fr") != ConjugateGradient()
    assert repr(Newton()) == "Newton()"
    first, again = (run(rosenbrock(), method=method) for method in [BFGS()] * 2)
    np.testing.assert_array_equal(first.trace.x, again.trace.x)
