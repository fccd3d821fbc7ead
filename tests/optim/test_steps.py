"""Step rules: each does what its condition says, read off the trace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.optim import ArmijoStep, ConstantStep, DecreasingStep, OptimalStep, Quadratic, WolfeStep, minimize
from tests.optim.cases import logistic, many_minima, random_quadratic, rosenbrock, worked
from tests.reference.descent import exact_step, gradient_path

CASES = [worked, logistic, many_minima, rosenbrock]


def run(case, **options):
    return minimize(case.fun, case.start, case.jac, case.hess, **options)


def slopes(trace):
    """<grad f(x_k), x_{k+1} - x_k> and <grad f(x_{k+1}), x_{k+1} - x_k>."""
    moves = np.diff(trace.x, axis=0)
    return np.sum(trace.jac[:-1] * moves, axis=1), np.sum(trace.jac[1:] * moves, axis=1)


@pytest.mark.parametrize(("step", "length"), [(0.15, 0.15), (ConstantStep(0.05), 0.05), ("constant", 1.0)])
def test_constant_steps_are_constant(step, length):
    trace = run(worked(), method="gd", step=step, max_iter=12).trace
    np.testing.assert_array_equal(trace.step[1:], length)
    np.testing.assert_allclose(trace.x, gradient_path(worked().jac, [3, 2], [length] * 12), rtol=1e-12)


@pytest.mark.parametrize(("first", "power"), [(1.0, 1.0), (0.3, 0.5)])
def test_decreasing_steps_fall_like_one_over_k(first, power):
    trace = run(worked(), method="gd", step=DecreasingStep(first, power), max_iter=12).trace
    expected = first / np.arange(1, 13) ** power
    np.testing.assert_allclose(trace.step[1:], expected)
    np.testing.assert_allclose(trace.x, gradient_path(worked().jac, [3, 2], expected), rtol=1e-12)


# ---- the optimal step


@pytest.mark.parametrize("make", CASES)
def test_successive_gradients_are_orthogonal_with_the_optimal_step(make):
    trace = run(make(), method="gd", step="optimal", max_iter=25).trace
    cosines = np.sum(trace.jac[:-1] * trace.jac[1:], axis=1) / (trace.grad_norm[:-1] * trace.grad_norm[1:])
    is_clear = (trace.grad_norm[1:] > 1e-6 * trace.grad_norm[:-1]) & np.array([not note for note in trace.note[1:]])
    assert is_clear.any()
    assert np.abs(cosines[is_clear]).max() < 1e-5


@given(st.integers(0, 10_000), st.integers(2, 7), st.floats(1.5, 1e3))
@settings(max_examples=30, deadline=None)
def test_the_optimal_step_on_a_quadratic_is_the_closed_form(seed, d, condition):
    f = random_quadratic(seed, d, condition)
    trace = minimize(f, np.random.RandomState(seed).randn(d), method="gd", step="optimal", max_iter=5).trace
    for x, g, step in zip(trace.x[:-1], trace.jac[:-1], trace.step[1:], strict=True):
        np.testing.assert_allclose(g, f.A @ x - f.b, rtol=1e-9, atol=1e-12)
        assert step == pytest.approx((g @ g) / (g @ f.A @ g))
        assert step == pytest.approx(exact_step(f.A, g, -g))
        assert step == pytest.approx(f.exact_step(x, -g))


@pytest.mark.parametrize("method", ["gd", "cg", "newton", "bfgs"])
def test_the_search_finds_the_closed_form_where_it_is_not_told(method):
    f = random_quadratic()
    told = minimize(f, np.ones(6), method=method, step="optimal", max_iter=4, tol=1e-3)
    searched = minimize(lambda x: f(x), np.ones(6), f.jac, f.hess, method=method, step="optimal", max_iter=4, tol=1e-3)
    np.testing.assert_allclose(searched.trace.x, told.trace.x, rtol=1e-5, atol=1e-7)
    assert searched.nfev >= told.nfev


def test_the_optimal_step_is_a_minimum_along_the_line():
    case = logistic()
    trace = run(case, method="bfgs", step=OptimalStep(tol=1e-6)).trace
    for k in range(len(trace) - 2):
        x, move = trace.x[k], trace.x[k + 1] - trace.x[k]
        best = min(case.fun(x + t * move) for t in np.linspace(0, 2, 41))
        assert trace.fun[k + 1] <= best + 1e-12


# ---- Armijo and Wolfe


@pytest.mark.parametrize("c", [1e-4, 0.3])
@pytest.mark.parametrize("method", ["gd", "newton", "bfgs", "lbfgs"])
@pytest.mark.parametrize("make", CASES)
def test_accepted_steps_keep_armijos_condition(make, method, c):
    trace = run(make(), method=method, step=ArmijoStep(c=c), max_iter=200).trace
    before, _ = slopes(trace)
    assert (trace.fun[1:] <= trace.fun[:-1] + c * before + 1e-10 * np.abs(trace.fun[:-1])).all()
    assert (before < 0).all()


@pytest.mark.parametrize("shrink", [0.5, 0.8])
def test_armijo_takes_the_first_trial_that_will_do(shrink):
    case, c = logistic(), 0.1
    trace = run(case, method="gd", step=ArmijoStep(c=c, shrink=shrink, first=50.0)).trace
    for k in range(min(8, len(trace) - 1)):
        x, g, t = trace.x[k], trace.jac[k], 50.0
        while case.fun(x - t * g) > case.fun(x) - c * t * (g @ g):
            t *= shrink
        assert trace.step[k + 1] == pytest.approx(t)


@pytest.mark.parametrize("step", ["wolfe", WolfeStep(c1=0.1, c2=0.2), WolfeStep(c1=1e-3, c2=0.9)], ids=str)
@pytest.mark.parametrize("method", ["gd", "cg", "newton", "broyden", "bfgs", "lbfgs"])
@pytest.mark.parametrize("make", CASES)
def test_accepted_steps_keep_wolfes_conditions(make, method, step):
    trace = run(make(), method=method, step=step, max_iter=200).trace
    c1, c2 = (step.c1, step.c2) if isinstance(step, WolfeStep) else (1e-4, 0.1 if method in ("gd", "cg") else 0.9)
    before, after = slopes(trace)
    is_found = np.array(["slope could not" not in note for note in trace.note[1:]])
    assert is_found.mean() > 0.9
    assert (trace.fun[1:] <= trace.fun[:-1] + c1 * before + 1e-10 * np.abs(trace.fun[:-1])).all()
    assert (np.abs(after) <= c2 * np.abs(before) * (1 + 1e-6) + 1e-12)[is_found].all()


@pytest.mark.parametrize("step", ["armijo", "wolfe", "optimal"])
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_searches_bridge_any_scale(step, scale):
    f = Quadratic(np.diag([1.0, 3.0]) * scale)
    result = minimize(f.__call__, [1.0, 1.0], f.jac, method="gd", step=step, tol=1e-6 * scale)
    assert result.success, result.message


@pytest.mark.parametrize("step", ["armijo", "wolfe", "optimal"])
def test_a_search_stays_inside_the_domain(step):
    # -log x1 - log x2 - log(1 - x1 - x2): NaN outside a triangle.
    def fun(x):
        return -np.log(x).sum() - np.log(1 - x.sum())

    def jac(x):
        return -1 / x + 1 / (1 - x.sum())

    result = minimize(fun, [0.01, 0.9], jac, method="bfgs", step=step)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, [1 / 3, 1 / 3], atol=1e-6)
    assert np.isfinite(result.trace.fun).all()


@pytest.mark.parametrize("step", ["wolfe", "optimal"])
def test_a_search_turns_back_where_the_gradient_is_not_a_number(step):
    # Newton's first step, with this Hessian, would lead from 3 to -0.5, where the value is lower and the gradient unknown.
    def jac(x):
        return 2 * (x - 1) if x[0] > 0 else x * np.nan

    result = minimize(lambda x: (x[0] - 1) ** 2, [3.0], jac, lambda x: [[4 / 3.5]], method="newton", step=step)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, [1.0], atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantStep(0), "ConstantStep: length=0 is not valid; it must be a finite number > 0"),
        (lambda: DecreasingStep(first=-1), "first=-1"),
        (lambda: DecreasingStep(power=-1), "power=-1"),
        (lambda: OptimalStep(tol=0), "tol=0"),
        (lambda: ArmijoStep(c=1), "c=1 is not valid; it must be a finite number > 0 and < 1"),
        (lambda: ArmijoStep(shrink=1.0), "shrink=1.0"),
        (lambda: ArmijoStep(first=0), "first=0"),
        (lambda: ArmijoStep(max_trials=0), "max_trials=0"),
        (lambda: WolfeStep(c1=0), "c1=0"),
        (lambda: WolfeStep(c2=1.5), "c2=1.5"),
        (lambda: WolfeStep(c1=0.5, c2=0.1), "c2=0.1 is not valid; it must be greater than c1=0.5"),
    ],
)
def test_bad_settings_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
