"""The kernels behind the maps: what plain NumPy gives, near ties, extreme scores, and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from mercer._native import kernels
from mercer._score_maps import fit_isotonic, fit_sigmoid
from mercer.calibration import CalibratedClassifierCV
from tests.reference import calibration as naive


def make_scores(n_rows, kind, dtype, seed=0):
    random = np.random.RandomState(seed)
    scores = {
        "distinct": random.randn(n_rows),
        "tied": np.round(random.randn(n_rows), 1),
        "near ties": np.round(random.rand(n_rows), 1) + random.randint(0, 9, n_rows) * 0.3 * np.finfo(dtype).resolution,
    }[kind].astype(dtype)
    is_positive = random.rand(n_rows) < expit(2 * scores.astype(float))
    return scores, is_positive, random.randint(0, 4, n_rows) + random.choice([0.0, 0.5], n_rows)


@pytest.mark.parametrize("n_rows", [1, 2, 40, 3000])
@pytest.mark.parametrize("kind", ["distinct", "tied", "near ties"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pooled_levels_are_those_of_plain_numpy_and_the_peer(n_rows, kind, dtype):
    scores, is_positive, weights = make_scores(n_rows, kind, dtype)
    weights[0] = 1.0
    found = fit_isotonic(scores, is_positive, weights)
    x, y, objective, violation = naive.isotonic(scores, is_positive, weights)
    np.testing.assert_array_equal(found.X_thresholds_, x)
    np.testing.assert_allclose(found.y_thresholds_, y, atol=1e-12)
    assert found.certificate_.converged
    assert found.certificate_.primal == pytest.approx(objective, abs=1e-9)
    assert found.certificate_.residual == pytest.approx(violation, abs=1e-12)
    twin = IsotonicRegression(out_of_bounds="clip").fit(scores, is_positive, sample_weight=weights)
    np.testing.assert_allclose(found.predict(scores), twin.predict(scores), atol=1e-12 if dtype is np.float64 else 1e-5)


def test_a_long_fall_is_one_pool():
    n_rows = 100_000
    found = fit_isotonic(np.arange(n_rows, dtype=float), np.arange(n_rows) < n_rows // 2, np.ones(n_rows))
    np.testing.assert_array_equal(found.X_thresholds_, [0, n_rows - 1])
    np.testing.assert_array_equal(found.y_thresholds_, [0.5, 0.5])


@given(
    corners=st.lists(st.floats(-10, 10), min_size=1, max_size=12, unique=True),
    scores=st.lists(st.floats(-20, 20), min_size=1, max_size=20),
    dtype=st.sampled_from([np.float64, np.float32]),
)
@settings(max_examples=100, deadline=None)
def test_values_between_corners_are_those_of_numpy(corners, scores, dtype):
    x = np.unique(np.round(corners, 9))  # where corners nearly coincide, the slopes that NumPy computes overflow
    y = np.linspace(0, 1, len(x)) ** 2
    scores = np.append(np.array(scores, dtype=dtype), x.astype(dtype))
    values = np.empty(len(scores))
    kernels.isotonic_values(scores, x, y, values, 1)
    np.testing.assert_allclose(values, np.interp(scores.astype(float), x, y), rtol=1e-12, atol=1e-12)


def test_corners_that_nearly_coincide_give_no_nan_and_no_infinity():
    values = np.empty(3)
    kernels.isotonic_values(np.array([-5e-324, 0.0, 2.2e-311]), np.array([-5e-324, 2.2e-311]), np.array([0.0, 1.0]), values, 1)
    np.testing.assert_allclose(values, [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_platts_sigmoid_is_that_of_plain_numpy(dtype, weighted):
    scores, is_positive, weights = make_scores(500, "distinct", dtype)
    weights = weights + 0.25 if weighted else np.ones(500)
    found = fit_sigmoid(scores, is_positive, weights)
    expected = naive.platt(scores.astype(float), is_positive, weights)
    np.testing.assert_allclose([found.a_, found.b_], expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 4096, 10_001])
@pytest.mark.parametrize("size", [1.0, 40.0, 2000.0])
def test_loss_and_slopes_of_the_sigmoid_are_those_of_plain_numpy(n_rows, size):
    random = np.random.RandomState(0)
    scores, targets, weights = size * random.randn(n_rows), random.rand(n_rows), random.rand(n_rows)
    value, *rest = kernels.sigmoid_loss(scores, targets, weights, 0.7, -0.3, 2)
    expected, gradient, hessian = naive.platt_loss(scores, targets, weights, 0.7, -0.3)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(rest, [*gradient, hessian[0, 0], hessian[0, 1], hessian[1, 1]], rtol=1e-10, atol=1e-10 * size**2)


def test_the_sigmoid_of_any_score_is_a_probability():
    scores = np.array([0.0, 1.0, -1.0, 50, -50, 800, -800, 1e300, -1e300, np.inf, -np.inf])
    for dtype in (np.float64, np.float32):
        with np.errstate(over="ignore"):
            given = scores.astype(dtype)
        values = np.empty(len(given))
        kernels.sigmoid_values(given, -1.0, 0.25, values, 1)
        np.testing.assert_allclose(values, expit(given.astype(float) - 0.25), rtol=1e-14, atol=1e-300)


def test_any_number_of_threads_gives_the_same_bits():
    random = np.random.RandomState(0)
    scores, targets, weights = random.randn(3, 50_000)
    weights = np.abs(weights)
    corners = np.sort(random.randn(2, 100), axis=1)
    losses = {kernels.sigmoid_loss(scores, targets, weights, 0.7, -0.3, n_threads) for n_threads in (1, 2, 5)}
    assert len(losses) == 1
    for kernel, arguments in ((kernels.sigmoid_values, (0.7, -0.3)), (kernels.isotonic_values, tuple(corners))):
        values = np.empty((2, len(scores)))
        for n_threads, line in enumerate(values, 1):
            kernel(scores, *arguments, line, n_threads)
        np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_maps_count_as_fitted_and_fit_makes_another(method):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    fitted = CalibratedClassifierCV(method=method, cv=2).fit(X, y).calibrated_classifiers_[0].calibrators[0]
    check_is_fitted(fitted)
    scores = np.stack([-X[:, 0], X[:, 0]], axis=1) if method == "temperature" else X[:, 0]
    weights = rng.integers(0, 3, size=60)
    weighted, repeated = (
        fitted.fit(scores, y, weights).predict(scores),
        fitted.fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights)).predict(scores),
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)
    assert not np.allclose(weighted, fitted.predict(scores))
