"""Elementary functions on vectors, and softmax of rows, against long double."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels

testing = kernels.testing
DTYPES = [np.float64, np.float32]
LIMITS = {np.float64: (-708.39, 709.78), np.float32: (-87.29, 88.72)}  # of the exponents whose exponentials are normal numbers


def _of(function, x):
    values = np.empty_like(x)
    getattr(testing, function)(x, values)
    return values


def _units(values, exact):
    """The largest error in units in the last place."""
    rounded = exact.astype(values.dtype)
    return np.max(np.abs(values.astype(np.longdouble) - exact) / np.spacing(np.abs(rounded)).astype(np.longdouble))


def _points(function, dtype):
    random = np.random.RandomState(0)
    low, high = LIMITS[dtype]
    tiny = np.finfo(dtype).tiny
    magnitudes = 10.0 ** random.uniform(-30, 30, 20_000)
    if function == "exp":
        points = np.concatenate([random.uniform(low, high, 20_000), random.uniform(-1, 1, 20_000), [low, high, 0.0, -0.0]])
    elif function == "tanh":
        points = np.concatenate([magnitudes, -magnitudes, random.uniform(-12, 12, 20_000), [1e-30, -1e-30]])
    elif function == "log":
        points = np.concatenate([magnitudes, random.uniform(0.5, 2, 20_000), [tiny, 1.0, np.finfo(dtype).max]])
    else:
        points = np.concatenate([magnitudes, random.uniform(0, 3, 20_000), [0.0, np.finfo(dtype).max]])
    return points.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ["exp", "log", "log1p", "tanh"])
def test_elementary_functions_are_right_to_a_few_units(function, dtype):
    x = _points(function, dtype)
    assert _units(_of(function, x), getattr(np, function)(x.astype(np.longdouble))) < (3 if function == "tanh" else 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_cosine_is_right_to_the_last_place_of_one(dtype):
    random = np.random.RandomState(0)
    quarters = np.arange(-400, 401) * (np.pi / 4)  # where sine and cosine, and their signs, change places
    near = [random.uniform(-scale, scale, 20_000) for scale in (1.0, 10.0, 1e3, 8e3, 1e6)]
    x = np.concatenate([quarters, *near, [1e9, -3e7, 0.0, -0.0]]).astype(dtype)
    exact = np.cos(x.astype(np.longdouble))
    assert np.max(np.abs(_of("cos", x).astype(np.longdouble) - exact)) < 2 * np.finfo(dtype).eps
    assert np.isnan(_of("cos", np.array([np.nan, np.inf, -np.inf], dtype=dtype))).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elementary_functions_at_the_ends(dtype):
    inf, nan = np.inf, np.nan
    low, high = LIMITS[dtype]

    def values(function, *x):
        return _of(function, np.array(x, dtype=dtype))

    np.testing.assert_array_equal(values("exp", -inf, low - 1, high + 0.1, inf, nan), np.array([0, 0, inf, inf, nan], dtype))
    np.testing.assert_array_equal(values("log", 0.0, -1.0, inf, nan), np.array([-inf, nan, inf, nan], dtype))
    np.testing.assert_array_equal(values("log1p", 0.0, inf, nan), np.array([0, inf, nan], dtype))
    np.testing.assert_array_equal(
        values("tanh", -inf, -50.0, -0.0, 0.0, 50.0, inf, nan), np.array([-1, -1, 0, 0, 1, 1, nan], dtype)
    )
    assert np.signbit(values("tanh", -0.0)[0])


def _softmax(x, n_threads=1, has_shares=True):
    sums = np.empty(x.shape[0], dtype=x.dtype)
    shares = np.empty(x.shape, dtype=x.dtype) if has_shares else None
    kernels.softmax_rows(x, sums, shares, n_threads)
    return sums, shares


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 2), (63, 5), (64, 1), (65, 7), (1000, 40)])
def test_softmax_of_rows(shape, order, dtype):
    x = np.asarray(20 * np.random.RandomState(1).randn(*shape), dtype=dtype, order=order)
    exact = np.exp(x.astype(np.longdouble) - x.max(axis=1, keepdims=True, initial=-np.inf).astype(np.longdouble))
    totals = exact.sum(axis=1, keepdims=True)
    sums, shares = _softmax(x)
    tolerance = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(shares, exact / totals, rtol=4 * tolerance, atol=2 * np.finfo(dtype).tiny)
    np.testing.assert_allclose(
        sums, (np.log(totals[:, 0]) + x.max(axis=1, initial=-np.inf)).astype(float), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_array_equal(_softmax(x, has_shares=False)[0], sums)
    for n_threads in (2, 5):
        again = _softmax(x, n_threads)
        np.testing.assert_array_equal(again[0], sums)
        np.testing.assert_array_equal(again[1], shares)


def test_softmax_of_infinite_scores():
    inf = np.inf
    sums, shares = _softmax(np.array([[0.0, -inf], [-inf, -inf], [inf, 0.0], [1e308, -1e308]]))
    np.testing.assert_array_equal(sums, [0, -inf, inf, 1e308])
    np.testing.assert_array_equal(shares[[0, 3]], [[1, 0], [1, 0]])
    assert np.isnan(shares[1]).all()


def test_softmax_may_write_over_its_input():
    x = np.random.RandomState(2).randn(100, 6)
    _, expected = _softmax(x)
    kernels.softmax_rows(x, np.empty(100), x, 2)
    np.testing.assert_array_equal(x, expected)
