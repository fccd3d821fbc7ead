"""Locally weighted regression: it equals the textbook's, has the right limits, and far queries do no harm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.linear_model import LinearRegression, LocallyWeightedRegression
from tests.reference import locally_weighted as reference


def make_data(n=200, d=3, n_targets=None, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = np.sin(X @ random.normal(size=(d, n_targets or 1))) + 0.1 * random.normal(size=(n, n_targets or 1))
    return X, y if n_targets else y[:, 0], random.normal(size=(20, d))


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("d", [1, 3, 9])
@pytest.mark.parametrize("tau", [1.5, 5.0, 1e3])
def test_predictions_equal_the_textbook(degree, n_targets, d, tau):
    X, y, queries = make_data(300, d, n_targets)
    ours = LocallyWeightedRegression(tau, degree=degree).fit(X, y).predict(queries)
    np.testing.assert_allclose(ours, reference.predict(X, y, queries, tau, degree), rtol=1e-8, atol=1e-10)
    assert ours.shape == (20,) if n_targets is None else (20, n_targets)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(30, 120), d=st.integers(1, 4), tau=st.floats(1.0, 10.0), seed=st.integers(0, 1000), degree=st.integers(0, 1)
)
def test_any_shape_equals_the_textbook(n, d, tau, seed, degree):
    X, y, queries = make_data(n, d, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=n).astype(float)
    ours = LocallyWeightedRegression(tau, degree=degree).fit(X, y, weights).predict(queries)
    np.testing.assert_allclose(ours, reference.predict(X, y, queries, tau, degree, weights), rtol=1e-6, atol=1e-8)


def test_a_wide_bandwidth_gives_the_global_fit():
    X, y, queries = make_data()
    linear = LocallyWeightedRegression(1e7).fit(X, y).predict(queries)
    np.testing.assert_allclose(linear, LinearRegression().fit(X, y).predict(queries), rtol=1e-9)
    constant = LocallyWeightedRegression(1e7, degree=0).fit(X, y).predict(queries)
    np.testing.assert_allclose(constant, y.mean(), rtol=1e-9)


@pytest.mark.parametrize("degree", [0, 1])
def test_a_narrow_bandwidth_gives_the_value_of_the_nearest_row(degree):
    X, y, queries = make_data()
    nearest = np.argmin(((X[None] - queries[:, None]) ** 2).sum(axis=2), axis=1)
    np.testing.assert_array_equal(LocallyWeightedRegression(1e-3, degree=degree).fit(X, y).predict(queries), y[nearest])
    np.testing.assert_array_equal(LocallyWeightedRegression(1e-9, degree=degree).fit(X, y).predict(X), y)


@pytest.mark.parametrize("far", [1e3, 1e100, 1e200, -1e300])
@pytest.mark.parametrize("degree", [0, 1])
def test_far_queries_have_finite_predictions(far, degree):
    X, y, queries = make_data()
    values = LocallyWeightedRegression(0.5, degree=degree).fit(X, y).predict(queries + far)
    assert np.isfinite(values).all()
    if degree == 0:
        assert (values >= y.min()).all()
        assert (values <= y.max()).all()


def test_data_far_from_zero_lose_no_digits():
    X, y, queries = make_data()
    near = LocallyWeightedRegression(2.0).fit(X, y).predict(queries)
    far = LocallyWeightedRegression(2.0).fit(X + 2.0**20, y + 2.0**20).predict(queries + 2.0**20)
    np.testing.assert_allclose(far - 2.0**20, near, atol=1e-8)


def test_a_linear_target_is_met_everywhere():
    X, _, queries = make_data()
    slopes = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(LocallyWeightedRegression(0.8).fit(X, X @ slopes + 5).predict(queries), queries @ slopes + 5)


@pytest.mark.parametrize(
    "change", [lambda X: X[:, [0, 0, 1]], lambda X: np.column_stack([X, np.ones(len(X))]), lambda X: X[:3]]
)
def test_singular_designs_give_the_fit_of_least_slope(change):
    X, y, _ = make_data()
    X = change(X)
    y = y[: len(X)]
    ours = LocallyWeightedRegression(1e4).fit(X, y).predict(X)
    centred = X - X.mean(axis=0)
    slopes = np.linalg.lstsq(centred, y - y.mean(), rcond=1e-10)[0]
    np.testing.assert_allclose(ours, y.mean() + centred @ slopes, atol=1e-6)


def test_rows_of_weight_zero_are_absent():
    X, y, queries = make_data()
    weights = np.ones(len(X))
    weights[::3] = 0
    ours = LocallyWeightedRegression().fit(X, y, weights).predict(queries)
    np.testing.assert_array_equal(ours, LocallyWeightedRegression().fit(X[weights > 0], y[weights > 0]).predict(queries))


def test_the_model_keeps_a_copy_of_its_data():
    X, y, queries = make_data()
    model = LocallyWeightedRegression().fit(X, y)
    before = model.predict(queries)
    X[:], y[:] = 0, 0
    np.testing.assert_array_equal(model.predict(queries), before)


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_the_number_of_threads_changes_no_bit_of_a_prediction(n_jobs):
    X, y, _ = make_data(3000)
    expected = LocallyWeightedRegression().fit(X, y).predict(X)
    np.testing.assert_array_equal(LocallyWeightedRegression(n_jobs=n_jobs).fit(X, y).predict(X), expected)


def test_float32_is_kept_with_sums_in_double():
    X, y, queries = make_data()
    model = LocallyWeightedRegression(1.5).fit(X.astype(np.float32), y.astype(np.float32))
    single = model.predict(queries.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, LocallyWeightedRegression(1.5).fit(X, y).predict(queries), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("params", "message"), [({"tau": 0}, "tau=0"), ({"degree": 2}, "degree=2"), ({"tau": np.inf}, "tau=inf")]
)
def test_wrong_parameters_are_refused(params, message):
    X, y, _ = make_data()
    with pytest.raises(ValueError, match=message):
        LocallyWeightedRegression(**params).fit(X, y)
