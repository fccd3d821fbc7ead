"""The loss of linear values: every loss against its textbook formula, every sum against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, xlogy

from mercer._native import kernels

EPS = np.finfo(np.float64).eps


def _squared(y, raw):
    return (raw - y) ** 2 / 2, raw - y, np.ones_like(raw)


def _logistic(y, raw):
    value = (1 - y) * np.logaddexp(0, raw) + y * np.logaddexp(0, -raw)
    return value, (1 - y) * expit(raw) - y * expit(-raw), expit(raw) * expit(-raw)


def _poisson(y, raw):
    return np.exp(raw) - y * raw, np.exp(raw) - y, np.exp(raw)


def _gamma(y, raw):
    return raw + y * np.exp(-raw), 1 - y * np.exp(-raw), y * np.exp(-raw)


def _tweedie(y, raw):
    up, down = np.exp(0.5 * raw), y * np.exp(-0.5 * raw)
    return up / 0.5 + down / 0.5, up - down, 0.5 * up + 0.5 * down


def _huber(y, raw):
    r = raw - y
    inside = np.abs(r) <= 1.5
    return np.where(inside, r * r / 2, 1.5 * (np.abs(r) - 0.75)), np.clip(r, -1.5, 1.5), inside.astype(float)


def _log_cosh(y, raw):
    r = raw - y
    return np.logaddexp(r, -r) - np.log(2), np.tanh(r), 1 - np.tanh(r) ** 2


def _squared_hinge(y, raw):
    slack = np.maximum(1 - y * raw, 0)
    return slack**2, -2 * y * slack, 2.0 * (slack > 0)


def _squared_epsilon_insensitive(y, raw):
    excess = np.maximum(np.abs(raw - y) - 0.2, 0)
    return excess**2, 2 * np.sign(raw - y) * excess, 2.0 * (excess > 0)


# name: (parameter, formula, what y may be)
LOSSES = {
    "squared": (0.0, _squared, "real"),
    "logistic": (0.0, _logistic, "share"),
    "poisson": (0.0, _poisson, "positive"),
    "gamma": (0.0, _gamma, "positive"),
    "tweedie": (1.5, _tweedie, "positive"),
    "huber": (1.5, _huber, "real"),
    "log_cosh": (0.0, _log_cosh, "real"),
    "squared_hinge": (0.0, _squared_hinge, "sign"),
    "squared_epsilon_insensitive": (0.2, _squared_epsilon_insensitive, "real"),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def _targets(kind, n, random):
    values = {
        "real": random.normal(size=n) * 3,
        "share": random.integers(2, size=n).astype(float),
        "positive": random.gamma(2.0, size=n),
        "sign": random.choice([-1.0, 1.0], size=n),
    }
    return values[kind]


def _loss_of_values(name, y, raw, weights=None, n_threads=1):
    slopes, curvatures = np.empty_like(raw), np.empty_like(raw)
    loss = kernels.RowLoss(name, LOSSES[name][0])
    value = kernels.loss_of_values(loss, y, weights, raw, slopes, curvatures, n_threads)
    return value, slopes, curvatures


@every_loss
@pytest.mark.parametrize("n", [1, 7, 64, 10_001])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 30.0])
def test_values_and_derivatives_follow_the_formula(name, n, spread):
    random = np.random.default_rng(n)
    y, raw = _targets(LOSSES[name][2], n, random), random.normal(size=n) * spread
    value, slopes, curvatures = _loss_of_values(name, y, raw)
    expected = LOSSES[name][1](y, raw)
    np.testing.assert_allclose(value, expected[0].sum(), rtol=1e-12)
    np.testing.assert_allclose(slopes, expected[1], rtol=1e-13, atol=4 * EPS * (1 + np.abs(y).max()))
    np.testing.assert_allclose(curvatures, expected[2], rtol=1e-12, atol=4 * EPS)


@pytest.mark.parametrize("raw", [-1e3, -745.5, -40.0, -1e-300, 0.0, 1e-300, 40.0, 745.5, 1e3, 1e300])
def test_the_logistic_loss_is_exact_far_out(raw):
    value, slopes, curvatures = _loss_of_values("logistic", np.ones(1), np.full(1, raw))
    np.testing.assert_allclose(value, np.logaddexp(0, -raw), rtol=4 * EPS, atol=1e-307)
    np.testing.assert_allclose(slopes, -expit(-raw), rtol=4 * EPS, atol=1e-307)
    assert curvatures[0] >= 0


def test_the_exponential_reaches_from_zero_to_infinity():
    raw = np.array([-np.inf, -1e4, -708.0, -1.0, 0.0, 1.0, 700.0, 709.7, 710.0, np.inf, np.nan])
    _, _, curvatures = _loss_of_values("poisson", np.ones_like(raw), raw)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(curvatures, np.exp(raw), rtol=4 * EPS, atol=1e-307)


def test_the_exponential_is_right_to_two_units_in_the_last_place():
    raw = np.random.default_rng(0).uniform(-50, 50, size=100_000)
    _, _, curvatures = _loss_of_values("poisson", np.zeros_like(raw), raw)
    error = np.abs(curvatures - np.exp(raw.astype(np.longdouble))) / np.spacing(np.exp(raw))
    assert error.max() < 2


@every_loss
def test_a_row_of_weight_zero_is_absent_whatever_it_holds(name):
    random = np.random.default_rng(0)
    y, raw = _targets(LOSSES[name][2], 21, random), random.normal(size=21)
    weights = random.exponential(size=21)
    weights[::3] = 0
    broken = np.where(weights == 0, np.inf, raw)
    value, slopes, curvatures = _loss_of_values(name, y, broken, weights)
    expected = LOSSES[name][1](y, raw)
    np.testing.assert_allclose(value, weights @ expected[0], rtol=1e-12)
    np.testing.assert_allclose(slopes, weights * expected[1], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(curvatures, weights * expected[2], rtol=1e-12, atol=1e-14)


@every_loss
def test_the_bits_do_not_depend_on_the_number_of_threads(name):
    random = np.random.default_rng(0)
    y, raw = _targets(LOSSES[name][2], 50_000, random), random.normal(size=50_000)
    one, two = (_loss_of_values(name, y, raw, n_threads=n) for n in (1, 2))
    assert one[0] == two[0]
    assert (one[1] == two[1]).all()


def _rows(X):
    return np.column_stack([X, np.ones(len(X))])


@pytest.mark.parametrize("layout", ["C", "F", "strided", "float32"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (300, 8), (2_000, 17), (700, 60)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_sums_over_the_rows_are_those_of_the_formula(layout, shape, is_weighted):
    random = np.random.default_rng(1)
    X = random.normal(size=shape) + 2
    given = {"C": X, "F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2], "float32": X.astype(np.float32)}[
        layout
    ]
    X = given.astype(np.float64)
    n, d = shape
    shift, coef = X.mean(axis=0), random.normal(size=d + 1) / np.sqrt(d)
    y, weights = random.integers(2, size=n).astype(float), random.exponential(size=n) if is_weighted else None
    gradient, hessian, raw = np.empty(d + 1), np.empty((d + 1, d + 1)), np.empty(n)
    kernels.linear_values(given, shift, coef, raw, 2)
    Z = _rows(X - shift)
    np.testing.assert_allclose(raw, Z @ coef, rtol=1e-11, atol=1e-12)
    loss = kernels.RowLoss("logistic", 0.0)
    value, curvature = kernels.linear_loss(given, shift, y, weights, loss, coef, gradient, hessian, 2)
    w = np.ones(n) if weights is None else weights
    values, slopes, curvatures = _logistic(y, Z @ coef)
    np.testing.assert_allclose([value, curvature], [w @ values, w @ curvatures], rtol=1e-12)
    np.testing.assert_allclose(gradient, Z.T @ (w * slopes), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(hessian, (Z.T * (w * curvatures)) @ Z, rtol=1e-10, atol=1e-10)
    only_gradient = np.empty(d + 1)
    without_hessian = kernels.linear_loss(given, shift, y, weights, loss, coef, only_gradient, None, 2)
    assert without_hessian == pytest.approx((value, curvature), rel=1e-14)
    np.testing.assert_allclose(only_gradient, gradient, rtol=1e-10, atol=1e-10)
    kernels.weighted_sums(given, shift, w * slopes, w * curvatures, gradient, hessian, 2)
    np.testing.assert_allclose(gradient, only_gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(hessian, (Z.T * (w * curvatures)) @ Z, rtol=1e-10, atol=1e-10)


def test_a_loss_without_a_native_form_is_refused():
    with pytest.raises(ValueError, match="name of the loss"):
        kernels.RowLoss("zero_one", 0.0)


def test_half_the_poisson_deviance_differs_by_a_term_of_y_only():
    y, raw = np.array([0.0, 1, 5, 2]), np.array([0.3, -1, 2, 0.5])
    value, _, _ = _loss_of_values("poisson", y, raw)
    half_deviance = xlogy(y, y / np.exp(raw)) - y + np.exp(raw)
    assert value == pytest.approx(half_deviance.sum() - (xlogy(y, y) - y).sum())
