"""The kernels of least squares against NumPy, and on arrays that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels


def make_data(n, d, t, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    return (
        random.normal(size=(n, d)).astype(dtype) + dtype(5),
        random.normal(size=(n, t)).astype(dtype),
        random.random(n).astype(dtype),
    )


def gram_of(X, y, weights, is_centred, n_threads=1):
    q = X.shape[1] + y.shape[1]
    gram, means = np.full((q, q), np.nan), np.full(q, np.nan)
    return kernels.centred_gram(X, y, weights, is_centred, gram, means, n_threads), gram, means


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_centred", [True, False])
@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize(
    ("n", "d", "t"), [(1, 1, 1), (5, 3, 1), (100, 7, 2), (777, 60, 1), (3000, 12, 3), (50, 130, 4), (9, 0, 1)]
)
def test_the_gram_matrix_is_that_of_the_columns(dtype, is_centred, is_weighted, n, d, t):
    X, y, weights = make_data(n, d, t, dtype)
    Z = np.hstack([X, y]).astype(np.float64)
    w = weights.astype(np.float64) if is_weighted else np.ones(n)
    mean = np.average(Z, axis=0, weights=w) if is_centred else np.zeros(d + t)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        weight, gram, means = gram_of(layout(X), layout(y), weights if is_weighted else None, is_centred)
        assert weight == pytest.approx(w.sum(), rel=1e-12)
        np.testing.assert_allclose(means, mean, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gram, ((Z - mean) * w[:, None]).T @ (Z - mean), rtol=1e-10, atol=1e-11 * n)
        assert np.array_equal(gram, gram.T)


def test_the_gram_matrix_keeps_its_digits_far_from_zero():
    random = np.random.default_rng(0)
    small = random.integers(-50, 50, size=(2000, 3)).astype(float)
    _, gram, _ = gram_of(small + 2.0**40, small[:, :1], None, True)
    centred = np.hstack([small, small[:, :1]]) - np.hstack([small, small[:, :1]]).mean(axis=0)
    np.testing.assert_allclose(gram, centred.T @ centred, rtol=1e-12, atol=1e-6)


def test_a_few_heavy_rows_far_from_the_others_lose_no_digits():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(1000, 3)) + 1e6, random.normal(size=(1000, 1))
    weights = np.full(1000, 1e-12)
    X[[1, 500, 777]] -= 1e6
    weights[[1, 500, 777]] = 1
    Z = np.hstack([X, y])
    for heavy in (weights, np.where(weights == 1, 1.0, 0.0)):
        centred = (Z - np.average(Z, axis=0, weights=heavy)) * np.sqrt(heavy)[:, None]
        np.testing.assert_allclose(gram_of(X, y, heavy, True)[1], centred.T @ centred, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_have_the_same_bits_for_any_number_of_threads(dtype):
    X, y, weights = make_data(20_011, 9, 2, dtype)
    expected = gram_of(X, y, weights, True, 1)
    coef = np.random.default_rng(0).normal(size=(2, 9))
    results = []
    for n_threads in (1, 2, 7):
        _, gram, means = gram_of(X, y, weights, True, n_threads)
        assert np.array_equal(gram, expected[1])
        gradient, squares = np.empty((2, 9)), np.empty(2)
        kernels.residual_gradient(X, y, weights, means, coef, gradient, squares, n_threads)
        results.append((gradient, squares))
    for gradient, squares in results[1:]:
        assert np.array_equal(gradient, results[0][0])
        assert np.array_equal(squares, results[0][1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "t"), [(1, 1, 1), (5, 3, 1), (100, 7, 2), (777, 60, 1), (3000, 12, 3)])
def test_the_gradient_is_that_of_the_residuals(dtype, n, d, t):
    X, y, weights = make_data(n, d, t, dtype)
    means = np.random.default_rng(1).normal(size=d + t)
    coef = np.random.default_rng(2).normal(size=(t, d))
    A, b, w = X - means[:d], y - means[d:], weights.astype(np.float64)[:, None]
    r = b - A @ coef.T
    gradient, squares = np.full((t, d), np.nan), np.full(t, np.nan)
    kernels.residual_gradient(np.asfortranarray(X), y, weights, means, coef, gradient, squares, 2)
    np.testing.assert_allclose(gradient, (A.T @ (w * r)).T, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(squares, (w * r * r).sum(axis=0), rtol=1e-12)


def test_a_scaled_system_is_solved_and_its_condition_estimated():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 6)) * 10.0 ** np.arange(-3, 3)
    gram, moments = X.T @ X, random.normal(size=(2, 6)) * 10.0 ** np.arange(-3, 3)
    factor, scales, coef = np.empty((6, 6)), np.empty(6), np.empty((2, 6))
    rcond = kernels.solve_scaled(gram, moments, factor, scales, coef, 1)
    scaled = gram * scales[:, None] * scales
    np.testing.assert_allclose(np.diag(scaled), 1, rtol=1e-14)
    np.testing.assert_allclose(factor @ factor.T, scaled, atol=1e-14)
    np.testing.assert_allclose((coef @ gram) / moments, 1, rtol=1e-10)
    assert rcond == pytest.approx(1 / np.linalg.cond(scaled, 1), rel=0.5)


@pytest.mark.parametrize(
    "gram", [np.zeros((2, 2)), np.ones((2, 2)), np.array([[1.0, 2], [2, 1]]), np.full((2, 2), np.nan), np.diag([1.0, np.inf])]
)
def test_a_matrix_that_is_not_positive_definite_has_no_condition(gram):
    coef = np.full((1, 2), 7.0)
    rcond = kernels.solve_scaled(gram, np.ones((1, 2)), np.empty((2, 2)), np.empty(2), coef, 1)
    assert rcond < 1e-15
    if rcond == 0:
        assert (coef == 7).all()


X, Y, W = make_data(10, 3, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        (X, Y[:9], None, True, np.empty((5, 5)), np.empty(5)),
        (X, Y, W[:9], True, np.empty((5, 5)), np.empty(5)),
        (X, Y, None, True, np.empty((4, 5)), np.empty(5)),
        (X, Y, None, True, np.empty((5, 4)), np.empty(5)),
        (X, Y, None, True, np.empty((5, 5)), np.empty(4)),
        (X, Y, None, True, np.empty((5, 5), order="F"), np.empty(5)),
        (X, Y, None, True, np.empty((5, 5), dtype=np.float32), np.empty(5)),
        (X.astype(np.float32), Y, None, True, np.empty((5, 5)), np.empty(5)),
        (X.astype(int), Y, None, True, np.empty((5, 5)), np.empty(5)),
        (X[0], Y, None, True, np.empty((5, 5)), np.empty(5)),
        (X, Y, W[::-1], True, np.empty((5, 5)), np.empty(5)),
    ],
)
def test_a_gram_matrix_of_arrays_that_do_not_fit_is_refused(arguments):
    with pytest.raises((ValueError, TypeError)):
        kernels.centred_gram(*arguments, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        (X, Y[:9], None, np.zeros(5), np.zeros((2, 3)), np.empty((2, 3)), np.empty(2)),
        (X, Y, None, np.zeros(4), np.zeros((2, 3)), np.empty((2, 3)), np.empty(2)),
        (X, Y, None, np.zeros(5), np.zeros((3, 2)), np.empty((2, 3)), np.empty(2)),
        (X, Y, None, np.zeros(5), np.zeros((2, 3)), np.empty((1, 3)), np.empty(2)),
        (X, Y, None, np.zeros(5), np.zeros((2, 3)), np.empty((2, 3)), np.empty(1)),
        (X, Y, W[:3], np.zeros(5), np.zeros((2, 3)), np.empty((2, 3)), np.empty(2)),
    ],
)
def test_a_gradient_of_arrays_that_do_not_fit_is_refused(arguments):
    with pytest.raises((ValueError, TypeError)):
        kernels.residual_gradient(*arguments, 1)


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 2), (1, 3), (3, 3), 3, (1, 3)),
        ((3, 3), (1, 2), (3, 3), 3, (1, 2)),
        ((3, 3), (1, 3), (2, 3), 3, (1, 3)),
        ((3, 3), (1, 3), (3, 3), 2, (1, 3)),
        ((3, 3), (2, 3), (3, 3), 3, (1, 3)),
    ],
)
def test_a_system_of_arrays_that_do_not_fit_is_refused(shapes):
    with pytest.raises((ValueError, TypeError)):
        kernels.solve_scaled(*(np.ones(shape) for shape in shapes), 1)


def test_no_rows_give_a_gram_matrix_of_zeros():
    weight, gram, _ = gram_of(np.empty((0, 3)), np.empty((0, 1)), None, True)
    assert weight == 0
    assert not gram.any()
