"""Kernel regression equals the textbook's, at queries and with each row left out; windows without rows have an answer."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernel_regression import KernelRegression, _windows as windows
from mercer.linear_model import LocallyWeightedRegression
from tests.reference import kernel_regression as reference

KERNELS = ("gaussian", "box", "epanechnikov", "tricube")


def _data(n=120, d=2, seed=0):
    random = np.random.RandomState(seed)
    X = random.rand(n, d)
    y = np.column_stack([np.sin(5 * X[:, 0]), X.sum(axis=1) ** 2]) + 0.1 * random.randn(n, 2)
    return X, y, random.rand(n) + 0.1, random.rand(40, d) * 1.2 - 0.1


@pytest.fixture(params=["lists", "every row"])
def way(request, monkeypatch):
    """Both ways to find the rows in a window, and lists in several parts."""
    monkeypatch.setattr(windows, "WORTH_A_SEARCH", 2.0 if request.param == "lists" else -1.0)
    monkeypatch.setattr(windows, "PAIRS_AT_A_TIME", 1)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_predictions_equal_the_textbook(kernel, degree, way):
    X, y, weights, queries = _data()
    for bandwidth in (0.35, 1.5):
        ours = KernelRegression(bandwidth, kernel=kernel, degree=degree).fit(X, y, weights).predict(queries)
        options = {"kernel": kernel, "bandwidth": bandwidth, "degree": degree, "weights": weights}
        expected = [reference.predict(X, y, query, **options) for query in queries]
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_left_out_errors_equal_the_textbook(kernel, degree, way):
    X, y, weights, _ = _data(80)
    bandwidths = np.array([0.5, 2.0, 0.35])
    model = KernelRegression(kernel=kernel, degree=degree, bandwidths=bandwidths).fit(X, y, weights)
    expected = [
        reference.left_out_error(X, y, kernel=kernel, bandwidth=bandwidth, degree=degree, weights=weights)
        for bandwidth in bandwidths
    ]
    np.testing.assert_allclose(model.left_out_errors_, expected, rtol=1e-9)
    assert model.bandwidth_ == bandwidths[np.argmin(expected)]
    np.testing.assert_array_equal(model.bandwidths_, bandwidths)


def test_squares_of_weights_are_as_good_as_exponentials():
    X, y, _, _ = _data(60, 3)
    chain = 2.0 * np.exp2(-np.arange(14) / 4)  # every second one has half the square
    model = KernelRegression(bandwidths=chain).fit(X, y[:, 0])
    expected = [reference.left_out_error(X, y[:, :1], kernel="gaussian", bandwidth=h, degree=0) for h in chain]
    np.testing.assert_allclose(model.left_out_errors_, expected, rtol=1e-9)


def test_the_chosen_bandwidth_is_among_sensible_ones():
    X, y, _, _ = _data(400)
    model = KernelRegression().fit(X, y[:, 0])
    assert model.bandwidths_[0] < model.bandwidth_ < model.bandwidths_[-1]
    assert model.left_out_errors_.min() < 0.2 * np.var(y[:, 0])


def test_the_gaussian_is_locally_weighted_regression():
    X, y, weights, queries = _data()
    for degree in (0, 1):
        ours = KernelRegression(0.3, degree=degree).fit(X, y, weights).predict(queries)
        other = LocallyWeightedRegression(0.3 * np.sqrt(2), degree=degree).fit(X, y, weights).predict(queries)
        np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize("kernel", KERNELS[1:])
def test_an_empty_window_has_the_nearest_value_or_nan(kernel):
    X, y, _, _ = _data()
    far = np.array([[10.0, 10.0], [0.5, 0.5]])
    nearest = y[np.linalg.norm(X - far[0], axis=1).argmin()]
    values = KernelRegression(0.4, kernel=kernel).fit(X, y).predict(far)
    np.testing.assert_array_equal(values[0], nearest)
    unknown = KernelRegression(0.4, kernel=kernel, empty="nan").fit(X, y).predict(far)
    assert np.isnan(unknown[0]).all()
    np.testing.assert_array_equal(unknown[1], values[1])


def test_the_edge_of_a_box_counts():
    model = KernelRegression(8.0, kernel="box").fit([[0.0], [8.0], [17.0]], [1.0, 3.0, 100.0])
    np.testing.assert_array_equal(model.predict([[0.0], [8.5]]), [2.0, 3.0])


def test_an_underflow_of_all_weights_leaves_the_nearest_row():
    X, y, _, _ = _data()
    far = np.array([[1e4, -1e4]])
    nearest = np.linalg.norm(X - far[0], axis=1).argmin()
    np.testing.assert_array_equal(KernelRegression(1e-3).fit(X, y).predict(far)[0], y[nearest])
    errors = KernelRegression(bandwidths=[1e-9]).fit(X, y[:, 0]).left_out_errors_
    assert np.isfinite(errors).all()


def test_repetitions_are_left_out_together():
    X, y, _, _ = _data(50)
    twice = KernelRegression().fit(np.vstack([X, X]), np.vstack([y, y]))
    weighted = KernelRegression().fit(X, y, np.full(50, 2.0))
    assert twice.bandwidth_ == weighted.bandwidth_ == KernelRegression().fit(X, y).bandwidth_


def test_one_row_chooses_no_bandwidth():
    with pytest.raises(ValueError, match="two different rows"):
        KernelRegression().fit([[1.0], [1.0]], [2.0, 2.0])
    assert KernelRegression(1.0).fit([[1.0]], [2.0]).predict([[5.0]]) == 2.0


@pytest.mark.parametrize("bandwidths", [[], [1.0, -1.0], [np.nan]])
def test_bandwidths_are_positive_numbers(bandwidths):
    with pytest.raises(ValueError, match="bandwidths="):
        KernelRegression(bandwidths=bandwidths).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_no_bit(n_jobs):
    X, y, weights, queries = _data(700, 3)
    expected = KernelRegression(kernel="tricube", degree=1).fit(X, y, weights)
    found = KernelRegression(kernel="tricube", degree=1, n_jobs=n_jobs).fit(X, y, weights)
    np.testing.assert_array_equal(found.left_out_errors_, expected.left_out_errors_)
    np.testing.assert_array_equal(found.predict(queries[:, [0, 1, 0]]), expected.predict(queries[:, [0, 1, 0]]))


def test_float32_is_kept():
    X, y, _, queries = _data()
    model = KernelRegression(0.3, kernel="epanechnikov").fit(X.astype(np.float32), y.astype(np.float32))
    values = model.predict(queries.astype(np.float32))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, KernelRegression(0.3, kernel="epanechnikov").fit(X, y).predict(queries), atol=1e-4)
