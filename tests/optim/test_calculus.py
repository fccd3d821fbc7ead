"""Numerical derivatives and tests of convexity on functions whose answers are known; coordinate descent; a target."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._params import InvalidParameterError
from mercer.ensemble import AdaBoostClassifier
from mercer.optim import (
    CoordinateDescent,
    Quadratic,
    check_gradient,
    classify_critical_point,
    dual_norm,
    gradient,
    hessian,
    is_convex,
    jacobian,
    minimize,
    norm,
    strong_convexity,
)
from mercer.tree import DecisionTreeClassifier


def valley(x):
    return x[0] ** 2 + 4 * x[1] ** 2 - 2 * x[0] * x[1]


def many_minima(x):
    return 4 + np.sum(x**2 - 2 * np.cos(2 * np.pi * x))


def notes(x):
    return 3 * x[0] ** 2 + 2 * x[0] * x[1] * x[2] + 6 * x[2] + 5 * x[1] * x[2] + 9 * x[0] * x[2]


# ---- derivatives


def test_the_notes_gradient_is_45_21_29():
    found = gradient(notes, [1, 2, 3])
    np.testing.assert_allclose(found.value, [45, 21, 29], atol=1e-10)
    assert found.error.max() < 1e-8


def test_the_notes_hessian_and_its_eigenvalues():
    found = hessian(valley, [0.3, -2.0])
    np.testing.assert_allclose(found.value, [[2, -2], [-2, 8]], atol=1e-8)
    np.testing.assert_allclose(np.linalg.eigvalsh(found.value), 5 + np.sqrt(13) * np.array([-1, 1]), atol=1e-8)


SMOOTH = {
    "exp": (lambda x: np.exp(x).sum(), np.exp, lambda x: np.diag(np.exp(x))),
    "sine": (lambda x: np.sin(3 * x).sum(), lambda x: 3 * np.cos(3 * x), lambda x: np.diag(-9 * np.sin(3 * x))),
    "fraction": (lambda x: 1 / (1 + x @ x), lambda x: -2 * x / (1 + x @ x) ** 2, None),
}


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=15, deadline=None)
@given(x=st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_the_error_is_no_larger_than_its_estimate_says(name, x):
    fun, exact, curvature = SMOOTH[name]
    x = np.array(x)
    found = gradient(fun, x)
    scale = max(1.0, np.abs(exact(x)).max())
    off = np.abs(found.value - exact(x))
    assert (off <= 20 * found.error + 1e-12 * scale).all()
    assert off.max() < 1e-8 * scale
    if curvature is not None:
        second = hessian(fun, x)
        off = np.abs(second.value - curvature(x))
        assert (off <= 50 * second.error + 1e-9 * max(1.0, np.abs(curvature(x)).max())).all()
        np.testing.assert_array_equal(second.value, second.value.T)


def test_a_kink_has_an_error_that_says_so():
    assert gradient(lambda x: np.abs(x[0] - 1e-3), [0.0]).error[0] > 1e-4


def test_a_jacobian_has_a_line_for_each_value():
    found = jacobian(lambda x: np.array([x[0] * x[1], np.sin(x[2]), x[0]]), [2.0, 3.0, 0.5])
    np.testing.assert_allclose(found.value, [[3, 2, 0], [0, 0, np.cos(0.5)], [1, 0, 0]], atol=1e-10)
    assert found.error.shape == (3, 3)


def test_large_coordinates_are_measured_on_their_own_scale():
    found = gradient(lambda x: x[0] ** 2 / 2 + x[1] ** 2 / 2, [1e8, 1e-8])
    np.testing.assert_allclose(found.value, [1e8, 1e-8], rtol=1e-6, atol=1e-2)


def test_a_wrong_gradient_is_found_and_named():
    right = check_gradient(many_minima, lambda x: 2 * x + 4 * np.pi * np.sin(2 * np.pi * x), [0.3, -1.1])
    assert right
    wrong = check_gradient(many_minima, lambda x: 2 * x + 4 * np.pi * np.sin(2 * np.pi * x) + [0, 0.01], [0.3, -1.1])
    assert not wrong
    assert wrong.worst == 1
    assert not check_gradient(many_minima, lambda x: np.full(2, np.nan), [0.3, -1.1])


# ---- convexity


@pytest.mark.parametrize(
    ("fun", "expected"),
    [
        (valley, True),
        (many_minima, False),
        (lambda x: np.abs(x).sum(), True),
        (lambda x: x[0] ** 4 + x[1] ** 2, True),
        (lambda x: x[0] ** 3 + x[1] ** 2, False),
        (lambda x: np.sqrt(np.abs(x)).sum(), False),
        (lambda x: x[0] - 3 * x[1], True),
        (lambda x: -(x[0] ** 2) + 10 * x[1] ** 2, False),
    ],
)
def test_convex_functions_pass_and_others_have_a_counter_example(fun, expected):
    found = is_convex(fun, [-2, -2], [2, 2])
    assert bool(found) is expected
    assert ("no proof" in repr(found)) is expected
    if not expected and found.counterexample.test == "chord":
        x, y = found.counterexample.points
        t = np.linspace(0, 1, 400)
        above = [fun(s * x + (1 - s) * y) - s * fun(x) - (1 - s) * fun(y) for s in t]
        assert max(above) > 0


def narrow(x):
    """Concave in a narrow place alone, which chords of random ends nearly never show."""
    return float(x[0] ** 2)


@pytest.mark.parametrize(
    ("derivatives", "test"),
    [({"jac": lambda x: 2 * x + 5}, "tangent"), ({"hess": lambda x: np.array([[-1.0]])}, "hessian")],
)
def test_tangents_and_hessians_are_looked_at_as_well(derivatives, test):
    found = is_convex(narrow, [-1], [1], n_points=50, **derivatives)
    assert found.counterexample.test == test


def test_the_modulus_of_the_notes_function_is_5_minus_the_root_of_13():
    found = strong_convexity(Quadratic([[2.0, -2.0], [-2.0, 8.0]]), [-1, -1], [1, 1])
    assert found.modulus == pytest.approx(5 - np.sqrt(13))
    assert found.condition == pytest.approx((5 + np.sqrt(13)) / (5 - np.sqrt(13)))
    assert strong_convexity(many_minima, [-1, -1], [1, 1]).condition == np.inf


# ---- critical points


@pytest.mark.parametrize(
    ("fun", "x", "kind"),
    [
        (valley, [0, 0], "minimum"),
        (lambda x: -valley(x), [0, 0], "maximum"),
        (lambda x: x[0] ** 2 - x[1] ** 2, [0, 0], "saddle"),
        (lambda x: x[0] ** 3 / 2 - 1, [0], "saddle"),  # neither, though its Hessian is positive semi-definite
        (lambda x: x[0] ** 4, [0], "undecided"),
        (lambda x: x[0] ** 2 + x[1] ** 3, [0, 0], "saddle"),
        (lambda x: x[0] ** 2 - x[1] ** 4, [0, 0], "saddle"),
        (lambda x: x[0] ** 2, [0, 5], "undecided"),
        (many_minima, [0, 0], "minimum"),
    ],
)
def test_critical_points_are_what_they_are(fun, x, kind):
    assert classify_critical_point(fun, x).kind == kind


def test_the_many_minima_are_25_and_the_global_one_is_at_zero():
    found = set()
    for start in np.linspace(-2, 2, 33):
        result = minimize(many_minima, [start], lambda x: 2 * x + 4 * np.pi * np.sin(2 * np.pi * x), method="gd", step=0.01)
        if classify_critical_point(many_minima, result.x).kind == "minimum" and abs(result.x[0]) < 2:
            found.add(round(float(result.x[0]), 4) + 0.0)
    assert sorted(found) == [-1.9498, -0.9752, 0.0, 0.9752, 1.9498]


def test_a_point_with_a_slope_is_refused():
    with pytest.raises(InvalidParameterError, match="no critical point"):
        classify_critical_point(valley, [1, 0])


# ---- norms


@settings(max_examples=30, deadline=None)
@given(x=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), p=st.sampled_from([1.0, 1.5, 2.0, 7.0, float("inf")]))
def test_norms_are_numpys_and_hoelder_holds_with_equality_somewhere(x, p):
    x = np.array(x)
    assert norm(x, p) == pytest.approx(np.linalg.norm(x, p), rel=1e-12, abs=1e-300)
    q = 1.0 if p == np.inf else np.inf if p == 1 else p / (p - 1)
    assert dual_norm(x, p) == pytest.approx(np.linalg.norm(x, q), rel=1e-12, abs=1e-300)


def test_powers_stay_in_the_range_of_floats_and_below_one_is_no_norm():
    assert norm([1e200, 1e200], 3.0) == pytest.approx(1e200 * 2 ** (1 / 3))
    with pytest.raises(InvalidParameterError, match=r"p=0\.5"):
        norm([1.0], 0.5)


# ---- coordinate descent, and a target


@pytest.mark.parametrize("order", ["steepest", "cyclic"])
@pytest.mark.parametrize("step", ["optimal", "wolfe", "armijo", 0.05])
def test_coordinate_descent_reaches_the_minimum_one_coordinate_at_a_time(order, step):
    f = Quadratic([[2.0, -2.0, 0.0], [-2.0, 8.0, 1.0], [0.0, 1.0, 3.0]], [1.0, 2.0, 3.0])
    result = minimize(f, [5.0, -3.0, 1.0], method=CoordinateDescent(order=order), step=step, max_iter=5000)
    assert result.success, result.message
    np.testing.assert_allclose(result.x, np.linalg.solve(f.A, f.b), atol=1e-5)
    moved = (np.diff(result.trace.x, axis=0) != 0).sum(axis=1)
    assert (moved == 1).all()


def test_the_exact_step_along_a_coordinate_is_gauss_seidels():
    f = Quadratic([[2.0, -2.0], [-2.0, 8.0]])
    trace = minimize(f, [3.0, 2.0], method=CoordinateDescent("cyclic"), step="optimal").trace
    x = np.array([3.0, 2.0])
    for k in range(4):
        x[k % 2] -= (f.A @ x)[k % 2] / f.A[k % 2, k % 2]
        np.testing.assert_allclose(trace.x[k + 1], x, rtol=1e-12)


def test_adaboost_is_steepest_coordinate_descent_on_the_exponential_loss():
    """Every stump is a coordinate; the steepest is the one with the least weighted error, the exact step its weight."""
    random = np.random.RandomState(0)
    X = random.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=40) > 0, 1, -1)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=6).fit(X, y)
    cuts = [(j, t) for j in range(2) for t in np.sort(X[:, j])]
    H = np.array([np.where(X[:, j] > t, 1, -1) for j, t in cuts]).T
    H = np.unique(np.hstack([H, -H]), axis=1)

    def loss(w):
        return float(np.exp(-y * (H @ w)).mean())

    def slope(w):
        return -(H * (y * np.exp(-y * (H @ w)))[:, None]).mean(axis=0)

    result = minimize(loss, np.zeros(H.shape[1]), slope, method="coordinate", step="optimal", max_iter=4, tol=1e-12)
    steps = np.diff(result.trace.x, axis=0)
    weights = np.ones(len(y)) / len(y)
    for k in range(4):
        chosen = int(np.abs(steps[k]).argmax())
        votes = H[:, chosen] * np.sign(steps[k, chosen])
        error = weights[votes != y].sum()
        assert error == pytest.approx(min(weights[h != y].sum() for h in H.T))
        alpha = 0.5 * np.log((1 - error) / error)
        assert abs(steps[k, chosen]) == pytest.approx(alpha, rel=1e-5)
        weights *= np.exp(-alpha * y * votes)
        weights /= weights.sum()
    # The first learner is AdaBoost's, whose weights are twice as large (SAMME).
    first = np.where(model.estimators_[0].predict(X) == 1, 1, -1)
    assert (first != y).mean() >= min((h != y).mean() for h in H.T)


def test_a_run_ends_where_the_function_is_small_enough():
    full = minimize(valley, [3.0, 2.0], method="gd", step=0.1)
    early = minimize(valley, [3.0, 2.0], method="gd", step=0.1, target=0.5)
    assert early.success
    assert "target=0.5" in early.message
    assert early.fun <= 0.5 < early.trace.fun[-2]
    assert early.nit < full.nit
    with pytest.raises(InvalidParameterError, match="target"):
        minimize(valley, [3.0, 2.0], target="low")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient(lambda x: x, [1.0, 2.0]), "must give a number"),
        (lambda: gradient(valley, [1.0, 2.0], spacing=0), "spacing"),
        (lambda: is_convex(valley, [0, 0], [0, 1]), "below high"),
        (lambda: check_gradient(valley, lambda x: [1.0], [1.0, 2.0]), "shape"),
        (lambda: CoordinateDescent("random"), "order='random'"),
    ],
)
def test_wrong_calls_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()
