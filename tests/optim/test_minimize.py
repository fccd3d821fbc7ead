"""The driver: convergence of every method, what the result and the trace say, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings, strategies as st

from mercer.optim import ConjugateGradient, Iteration, Quadratic, Trace, minimize
from tests.optim.cases import METHODS, SEARCHES, Smooth, logistic, many_minima, random_quadratic, rosenbrock, worked
from tests.reference.descent import gradient_path


def run(case, **options):
    return minimize(case.fun, case.start, case.jac, case.hess, **options)


# ---- convergence


@pytest.mark.parametrize("step", SEARCHES)
@pytest.mark.parametrize("method", [*METHODS, ConjugateGradient(beta="fr")], ids=str)
@pytest.mark.parametrize("make", [worked, logistic, many_minima])
def test_every_method_converges_with_every_search(make, method, step):
    case = make()
    result = run(case, method=method, step=step)
    assert result.success, result.message
    assert result.status == 0
    assert np.linalg.norm(case.jac(result.x)) <= 1e-6
    if case.minimum is not None:
        np.testing.assert_allclose(result.x, case.minimum, atol=1e-6)


@pytest.mark.parametrize("step", SEARCHES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_method_solves_a_convex_quadratic(seed, method, step):
    f = random_quadratic(seed)
    result = minimize(f, np.ones(6), method=method, step=step)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, np.linalg.solve(f.A, f.b), atol=2e-6)


@pytest.mark.parametrize("method", ["newton", "bfgs", "lbfgs", "cg", "broyden", ConjugateGradient(beta="fr")], ids=str)
@pytest.mark.parametrize("d", [2, 10])
def test_the_methods_beyond_steepest_descent_walk_rosenbrocks_valley(method, d):
    case = rosenbrock(d)
    result = run(case, method=method, step="wolfe")
    assert result.success, result.message
    assert np.linalg.norm(result.jac) <= 1e-6


@pytest.mark.parametrize("method", ["gd", "newton", "bfgs"])
def test_a_constant_step_that_is_short_enough_converges(method):
    result = run(worked(), method=method, step=0.2)
    assert result.success
    assert (result.trace.step[1:] == 0.2).all()


@given(st.integers(0, 10_000), st.integers(1, 8), st.floats(1, 1e4), st.sampled_from(["newton", "bfgs", "lbfgs", "broyden"]))
@settings(max_examples=40, deadline=None)
def test_newton_like_methods_solve_any_convex_quadratic(seed, d, condition, method):
    f = random_quadratic(seed, d, condition)
    result = minimize(f, np.random.RandomState(seed).randn(d) * 10, method=method)
    assert result.success, result.message
    assert np.linalg.norm(f.A @ result.x - f.b) <= 1e-6


def test_the_worked_quadratic_has_the_eigenvalues_of_the_notes():
    f = worked()
    np.testing.assert_allclose(np.linalg.eigvalsh(f.hess(np.zeros(2))), [5 - 13**0.5, 5 + 13**0.5])
    assert minimize(f.fun, [3.0, 2.0], jac=f.jac, method="newton", hess=f.hess).nit == 1


def test_the_worked_function_of_many_minima_has_25_in_two_dimensions():
    f = many_minima()
    starts = [0.0, 0.9, -0.9, 1.9, -1.9]
    found = {tuple(np.round(minimize(f.fun, [a, b], jac=f.jac, hess=f.hess, method="newton").x, 4) + 0.0)
             for a in starts for b in starts}  # fmt: skip
    minima = [0.0, 0.9752, -0.9752, 1.9498, -1.9498]
    assert found == {(a, b) for a in minima for b in minima}
    assert min(f.fun(np.array(x)) for x in found) == f.fun(np.zeros(2)) == 0


def test_a_local_minimum_is_found_where_the_start_leads_to_it():
    case = many_minima()
    near, far = minimize(case.fun, [0.2, -0.2], case.jac), minimize(case.fun, [2.0, 0.9], case.jac)
    assert near.success
    assert far.success
    assert near.fun == pytest.approx(0)  # 4 + 2 * (0 - 2)
    assert far.fun > 0.9
    assert np.linalg.eigvalsh(case.hess(far.x)).min() > 0


@pytest.mark.parametrize(("mine", "theirs"), [("bfgs", "BFGS"), ("cg", "CG"), ("lbfgs", "L-BFGS-B"), ("newton", "Newton-CG")])
@pytest.mark.parametrize("make", [logistic, rosenbrock])
def test_agrees_with_scipy(make, mine, theirs):
    case = make()
    peer = scipy.optimize.minimize(case.fun, case.start, jac=case.jac, method=theirs, tol=1e-10)
    result = run(case, method=mine, tol=1e-8)
    assert result.success
    np.testing.assert_allclose(result.x, peer.x, atol=1e-4)
    assert result.fun <= peer.fun + 1e-12


def test_the_last_digits_of_a_large_value_are_no_obstacle():
    case = logistic()
    result = minimize(lambda w: case.fun(w) + 1e6, case.start, case.jac, tol=1e-8)
    assert result.success, result.message


# ---- where the derivatives come from


def test_differences_stand_in_for_the_gradient_and_are_counted():
    case = logistic()
    calls = []

    def fun(x):
        calls.append(x)
        return case.fun(x)

    result = minimize(fun, case.start)
    assert result.success
    assert result.nfev == len(calls)
    assert result.nfev >= 2 * len(case.start) * result.njev
    np.testing.assert_allclose(result.x, run(case).x, atol=1e-5)


def test_fun_may_give_value_and_gradient_at_once():
    case, calls = rosenbrock(), []

    def both(x):
        calls.append(x)
        return case.fun(x), case.jac(x)

    result = minimize(both, case.start, True)
    apart = run(case)
    assert result.nfev == result.njev == len(calls)
    np.testing.assert_array_equal(result.trace.x, apart.trace.x)


def test_every_call_is_counted():
    case, n = rosenbrock(), {"fun": 0, "jac": 0, "hess": 0}

    def counted(name):
        def function(x):
            n[name] += 1
            return getattr(case, name)(x)

        return function

    result = minimize(counted("fun"), case.start, counted("jac"), counted("hess"), method="newton", step="armijo")
    assert (result.nfev, result.njev, result.nhev) == (n["fun"], n["jac"], n["hess"])
    assert result.trace.nfev[-1] == n["fun"]
    assert result.nhev == result.nit


def test_functions_that_work_in_place_do_no_harm():
    case, buffer = worked(), np.empty(2)

    def fun(x):
        value = case.fun(x)
        x += 100
        return value

    def jac(x):
        buffer[:] = case.jac(x)
        x[:] = np.nan
        return buffer

    result = minimize(fun, case.start, jac)
    np.testing.assert_array_equal(result.trace.x, run(case).trace.x)
    np.testing.assert_array_equal(result.trace.jac, run(case).trace.jac)


def test_an_object_brings_its_own_derivatives():
    f = random_quadratic()
    assert minimize(f, np.zeros(6), method="newton").nit == 1
    given = minimize(f.__call__, np.zeros(6), f.jac, f.hess, method="bfgs")
    np.testing.assert_array_equal(minimize(f, np.zeros(6)).x, given.x)


# ---- the result


def test_the_trace_is_the_whole_path_and_its_records_are_its_columns():
    case = worked()
    result = run(case, method="gd", step=0.1, max_iter=30, tol=1e-12)
    trace = result.trace
    assert isinstance(trace, Trace)
    assert isinstance(result, scipy.optimize.OptimizeResult)
    assert len(trace) == result.nit + 1 == 31
    np.testing.assert_allclose(trace.x, gradient_path(case.jac, case.start, [0.1] * 30), rtol=1e-13)
    np.testing.assert_array_equal(trace.jac, [case.jac(x) for x in trace.x])
    np.testing.assert_array_equal(trace.fun, [case.fun(x) for x in trace.x])
    np.testing.assert_allclose(trace.grad_norm, np.linalg.norm(trace.jac, axis=1))
    assert np.isnan(trace.step[0])
    for k, record in enumerate(trace):
        assert isinstance(record, Iteration)
        assert (record.k, record.fun, record.nfev) == (k, trace.fun[k], trace.nfev[k])
    assert trace[-1].fun == result.fun
    assert [record.k for record in trace[2:4]] == [2, 3]
    np.testing.assert_array_equal(trace.x[-1], result.x)
    assert "30" in repr(trace)
    assert "..." in repr(trace)


def test_the_path_need_not_be_kept():
    case = rosenbrock()
    result, full = run(case, keep_path=False), run(case)
    np.testing.assert_array_equal(result.trace.fun, full.trace.fun)
    assert result.trace[0].x is None
    with pytest.raises(AttributeError, match="keep_path=True"):
        _ = result.trace.x


def test_a_start_at_the_minimum_takes_no_step():
    result = minimize(worked().fun, [0, 0], worked().jac)
    assert (result.success, result.nit, len(result.trace)) == (True, 0, 1)
    assert result.x.dtype == np.float64


@pytest.mark.parametrize("way", ["true", "numpy", "raise"])
def test_a_callback_sees_every_record_and_can_stop(way):
    seen = []

    def callback(record):
        seen.append(record)
        if record.k == 3:
            if way == "raise":
                raise StopIteration
            return np.True_ if way == "numpy" else True
        return "no"

    result = run(rosenbrock(), callback=callback)
    assert (result.status, result.success, result.nit) == (99, False, 3)
    assert seen == list(result.trace)


# ---- failures are values


def test_too_long_a_step_is_reported_as_divergence():
    result = run(worked(), method="gd", step=1.0)
    assert (result.success, result.status) == (False, 3)
    assert "Diverged: the gradient norm grew from 10.2" in result.message
    assert "shorter step" in result.message
    assert np.isfinite(result.x).all()


def test_the_bound_on_growth_is_for_what_will_not_come_back():
    # Steps of 1/k start beyond 2/L, so that the path first leaps away; it returns in the end.
    result = run(worked(), method="gd", step="decreasing", max_iter=20_000, tol=1e-5)
    assert result.trace.fun.max() > result.trace.fun[0]
    assert result.success


def test_max_iter_is_reported_with_the_figure_reached():
    result = run(worked(), method="gd", step=0.01, max_iter=5)
    assert (result.success, result.status, result.nit) == (False, 1, 5)
    assert f"gradient norm at {np.linalg.norm(result.jac):.3g} > tol=1e-06" in result.message


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_function_that_is_not_finite_at_the_start_is_reported(bad):
    result = minimize(lambda x: bad, [1.0], lambda x: x)
    assert (result.success, result.status, result.nit) == (False, 3, 0)
    assert "at x0" in result.message
    result = minimize(lambda x: 1.0, [1.0], lambda x: x * bad)
    assert (result.success, result.status) == (False, 3)
    assert "gradient is not finite" in result.message


def test_nan_on_the_way_is_reported_with_a_fixed_step_and_avoided_by_a_search():
    case = Smooth(lambda x: x[0] - np.log(x[0]), lambda x: 1 - 1 / x, None, [5.0])
    result = run(case, method="gd", step=8.0)
    assert (result.success, result.status) == (False, 3)
    assert "the function is nan after a step of 8" in result.message
    np.testing.assert_array_equal(result.x, [5.0])
    for step in SEARCHES:
        result = run(case, method="gd", step=step)
        assert result.success
        np.testing.assert_allclose(result.x, [1.0], atol=1e-5)


def test_pythons_own_overflow_counts_as_infinity():
    import math

    result = minimize(lambda x: math.exp(x[0]), [800.0], lambda x: [math.exp(x[0])])
    assert (result.success, result.status) == (False, 3)
    result = minimize(lambda x: math.exp(x[0] ** 2), [3.0], lambda x: [2 * x[0] * math.exp(x[0] ** 2)])
    assert result.success


@pytest.mark.parametrize("step", SEARCHES)
@pytest.mark.parametrize("method", ["gd", "cg", "bfgs", "lbfgs"])
@pytest.mark.parametrize("kind", ["linear", "concave"])
def test_a_function_without_a_minimum_is_reported(kind, method, step):
    case = {
        "linear": Smooth(lambda x: x.sum(), lambda x: np.ones(2), None, [1, 1]),
        "concave": Smooth(lambda x: -x @ x, lambda x: -2 * x, None, [1, 1]),
    }[kind]
    result = run(case, method=method, step=step)
    assert (result.success, result.status) == (False, 3)
    assert "bounded below" in result.message


@pytest.mark.parametrize(
    ("method", "step"), [("gd", "armijo"), ("cg", "wolfe"), ("bfgs", "optimal"), ("lbfgs", "wolfe"), ("broyden", "armijo")]
)
def test_a_gradient_of_the_wrong_sign_is_named_as_the_culprit(method, step):
    result = minimize(lambda x: x @ x, [1.0, 1.0], lambda x: -2 * x, method=method, step=step)
    assert (result.success, result.status) == (False, 2)
    assert "jac does not look like the gradient of fun" in result.message
    assert result.nit < 150


def test_the_end_of_the_arithmetic_is_reported():
    result = run(logistic(), method="bfgs", tol=1e-300)
    assert (result.success, result.status) == (False, 2)
    assert "only a larger tol can be reached" in result.message
    assert result.trace.grad_norm[-1] < 1e-12
    tiny = run(worked(), method="gd", step=1e-20)
    assert tiny.status == 2
    assert "no longer changes x" in tiny.message
    assert "longer step" in tiny.message


def test_nothing_is_warned_about(recwarn):
    run(worked(), method="gd", step=1.0)
    minimize(lambda x: np.exp(x[0] ** 2), [2.0], lambda x: 2 * x * np.exp(x**2), method="gd", step=1.0)
    assert not recwarn.list


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "simplex"}, r"method='simplex' is not valid; it must be 'gd' or 'cg'"),
        ({"method": 3}, "method=3 is not valid"),
        ({"step": "exact"}, r"step='exact' is not valid; it must be 'constant' or"),
        ({"step": -1.0}, r"step=-1.0 is not valid; it must be a finite number > 0"),
        ({"step": True}, "step=True is not valid"),
        ({"step": np.nan}, "step=nan is not valid"),
        ({"tol": 0}, r"tol=0 is not valid; it must be a finite number > 0"),
        ({"tol": "small"}, "tol='small' is not valid"),
        ({"max_iter": 0}, "max_iter=0 is not valid"),
        ({"callback": 3}, "callback=3 is not valid"),
        ({"keep_path": 1}, "keep_path=1 is not valid"),
        ({"jac": 5}, "jac=5 is not valid"),
        ({"hess": "2-point"}, "hess='2-point' is not valid"),
        ({"method": "newton"}, "method='newton' needs hess"),
        ({"fun": None}, "fun=None is not valid"),
        ({"x0": [[1.0]]}, r"x0 of shape \(1, 1\)"),
        ({"x0": 1.0}, r"x0 of shape \(\)"),
        ({"x0": []}, r"x0 of shape \(0,\)"),
        ({"x0": ["a"]}, "x0 of shape"),
        ({"x0": [1j]}, "complex"),
        ({"x0": [1.0, np.nan]}, "NaN or infinity"),
    ],
)
def test_bad_parameters_are_refused_by_name(options, message):
    arguments = {"fun": lambda x: x @ x, "x0": [1.0, 2.0], "jac": lambda x: 2 * x} | options
    with pytest.raises(ValueError, match=message):
        minimize(**arguments)


@pytest.mark.parametrize(
    ("fun", "jac", "hess", "message"),
    [
        (lambda x: x, lambda x: x, None, r"fun returned an object of shape \(2,\)"),
        (lambda x: None, lambda x: x, None, "must return a real number"),
        (lambda x: 1j, lambda x: x, None, "must return a real number"),
        (lambda x: x @ x, lambda x: x[:1], None, r"jac has shape \(1,\); it must be of shape \(2,\)"),
        (lambda x: x @ x, lambda x: x[None], None, "jac has shape"),
        (lambda x: x @ x, True, None, "fun must return a pair"),
        (lambda x: (x @ x, 1.0), True, None, "the gradient that fun returned has shape"),
        (lambda x: x @ x, lambda x: 2 * x, lambda x: np.eye(3), r"hess returned an array of shape \(3, 3\)"),
    ],
)
def test_functions_that_return_the_wrong_thing_are_refused(fun, jac, hess, message):
    with pytest.raises(ValueError, match=message):
        minimize(fun, [1.0, 2.0], jac, hess, method="newton" if hess else "bfgs")


def test_errors_of_the_users_functions_come_through():
    def fun(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        minimize(fun, [1.0])


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        (np.ones((2, 3)), None, "square"),
        (np.eye(2), np.ones(3), r"b of shape \(3,\)"),
        ([[1, 2], [0, 1]], None, "not symmetric"),
        ([[np.nan]], None, "finite"),
    ],
)
def test_a_quadratic_is_checked(A, b, message):
    with pytest.raises(ValueError, match=message):
        Quadratic(A, b)
