"""Native products, Cholesky factors and triangular systems against sums written out."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels
from tests.reference.products import cholesky, gram, product

DTYPES = [np.float64, np.float32]
# Around the edges of panels, tiles and blocks of depth; more tiles than one in both directions; and slices of the depth.
SHAPES = [
    (1, 1, 1),
    (2, 3, 4),
    (17, 5, 9),
    (64, 33, 1),
    (1, 700, 7),
    (25, 256, 49),
    (9, 257, 300),
    (500, 40, 260),
    (3, 3000, 2),
]
EMPTY = [(3, 0, 2), (0, 3, 2), (3, 2, 0)]


def _matrix(*shape, dtype=np.float64, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def _assert_close(result, expected, depth):
    tolerance = 20 * np.sqrt(depth + 1) * np.finfo(result.dtype).eps
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def _layouts(x):
    """The same matrix in memory orders that packing treats differently."""
    spread = np.zeros((2 * x.shape[0], 3 * x.shape[1]), dtype=x.dtype)
    spread[::2, ::3] = x
    return {
        "C": np.ascontiguousarray(x),
        "F": np.asfortranarray(x),
        "strided": spread[::2, ::3],
        "reversed": x[::-1].copy()[::-1],
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES + EMPTY)
def test_multiply_is_the_matrix_product(shape, dtype):
    m, k, n = shape
    a, b, c = _matrix(m, k, dtype=dtype), _matrix(k, n, dtype=dtype, seed=1), _matrix(m, n, dtype=dtype, seed=2)
    expected = 0.5 * product(a, b) - 2 * c
    kernels.multiply(0.5, a, b, -2.0, c, 1)
    _assert_close(c, expected, k)


@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_strides_give_the_same_bits(order, dtype):
    a, b, c, again = _matrix(50, 300, dtype=dtype), _matrix(300, 70, dtype=dtype, seed=1), *np.empty((2, 50, 70), dtype=dtype)
    kernels.multiply(1.0, a, b, 0.0, c, 1)
    kernels.multiply(1.0, _layouts(a)[order], _layouts(b)[order], 0.0, again, 1)
    np.testing.assert_array_equal(again, c)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (40, 7), (300, 33), (257, 500), (5000, 30), (0, 3), (3, 0)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_gram_is_that_of_shifted_and_scaled_rows(shape, dtype, is_weighted):
    x = _matrix(*shape, dtype=dtype)
    shift = _matrix(shape[1], dtype=dtype, seed=1) if is_weighted else None
    factors = np.random.RandomState(2).rand(shape[0]).astype(dtype) if is_weighted else None
    before = np.ones((shape[1], shape[1]), dtype=dtype)
    c = before.copy()
    kernels.gram(0.5, x, shift, factors, 3.0, c, 1)
    _assert_close(c, 0.5 * gram(x, shift, factors) + 3 * before, 5 * shape[0])
    np.testing.assert_array_equal(c, c.T)


# One tile; several tiles with ends of panels; more lines than are packed at a time; slices of the depth, added up at the end.
@pytest.mark.parametrize("shape", [(9, 5, 7), (300, 40, 500), (500, 3, 260), (30, 600, 20), (3, 3000, 2), (4, 0, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_what_finishes_a_tile_sees_every_value_once_and_complete(shape, dtype, n_threads):
    m, k, n = shape
    a, b = _matrix(m, k, dtype=dtype), _matrix(k, n, dtype=dtype, seed=1)
    c, square = np.full((m, n), np.nan, dtype=dtype), np.full((m, m), np.nan, dtype=dtype)
    kernels.testing.multiply_finished(a, b, c, n_threads)
    kernels.testing.gram_finished(a.T, square, n_threads)
    place = np.add.outer(np.arange(m), np.arange(max(m, n)))
    _assert_close(c, product(a, b) + place[:, :n], k)
    _assert_close(square, gram(a.T) + place[:, :m], k)


def test_a_result_that_is_not_asked_for_is_not_read():
    a, c = _matrix(30, 30), np.full((30, 30), np.nan)
    kernels.multiply(1.0, a, a, 0.0, c, 1)
    _assert_close(c, product(a, a), 30)
    c[:] = np.nan
    kernels.gram(1.0, a, None, None, 0.0, c, 1)
    _assert_close(c, gram(a), 30)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(600, 400, 500), (30, 20_000, 20), (2000, 30, 300)])
def test_products_have_the_same_bits_for_any_number_of_threads(shape, dtype):
    m, k, n = shape
    a, b = _matrix(m, k, dtype=dtype), _matrix(k, n, dtype=dtype, seed=1)
    results = np.empty((3, m, n), dtype=dtype)
    squares = np.empty((3, m, m), dtype=dtype)
    for i, n_threads in enumerate((1, 2, 7)):
        kernels.multiply(1.0, a, b, 0.0, results[i], n_threads)
        kernels.gram(1.0, a.T, None, None, 0.0, squares[i], n_threads)
    for each in (results, squares):
        np.testing.assert_array_equal(each[1:], each[:1].repeat(2, axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [8, 16, 64, 110])
def test_a_column_has_the_same_bits_whatever_others_are_beside_it(n, dtype):
    """Alone it is multiplied by narrow vectors; among many, by the widest of the processor."""
    a, b = _matrix(61, 300, dtype=dtype), _matrix(300, n, dtype=dtype, seed=1)
    before = _matrix(61, n, dtype=dtype, seed=2)
    c = before.copy()
    kernels.multiply(0.3, a, b, -0.7, c, 1)
    for j in range(n):
        alone = before[:, [j]].copy()
        kernels.multiply(0.3, a, b[:, [j]], -0.7, alone, 1)
        np.testing.assert_array_equal(alone[:, 0], c[:, j])


def _definite(n, dtype):
    x = _matrix(2 * n, n, dtype=np.float64)
    return (gram(x) / n + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 100, 190])
def test_the_cholesky_factor_is_the_textbooks(n, dtype):
    a = _definite(n, dtype)
    lower = a.copy()
    assert kernels.factor_cholesky(lower, 1)
    _assert_close(np.tril(lower), cholesky(a), 20 * n)


@pytest.mark.parametrize("n", [1, 5, 40, 130])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_what_is_not_positive_definite_has_no_factor(n, bad):
    a = _definite(n, np.float64)
    a[n // 2, n // 2] = bad
    assert not kernels.factor_cholesky(a, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 31, 33, 100])
@pytest.mark.parametrize("n_sides", [0, 1, 4, 5, 70])
def test_triangular_systems_are_solved(n, n_sides, dtype):
    lower = np.tril(_matrix(n, n, dtype=dtype)) / n + np.eye(n, dtype=dtype)
    expected = _matrix(n_sides, n, dtype=dtype, seed=1)
    above = lower + np.triu(np.full((n, n), np.nan, dtype=dtype), 1)  # is not read
    rows = np.ascontiguousarray(product(expected, lower.T).astype(dtype))
    kernels.solve_lower(above, rows, 1)
    _assert_close(rows, expected, 100 * n)
    rows = np.ascontiguousarray(product(expected, lower).astype(dtype))
    kernels.solve_lower_transposed(above, rows, 1)
    _assert_close(rows, expected, 100 * n)


def test_factors_and_solutions_have_the_same_bits_for_any_number_of_threads():
    a, sides = _definite(600, np.float64), _matrix(300, 600)
    results = []
    for n_threads in (1, 2, 5):
        lower, rows = a.copy(), sides.copy()
        kernels.factor_cholesky(lower, n_threads)
        kernels.solve_lower(lower, rows, n_threads)
        kernels.solve_lower_transposed(lower, rows, n_threads)
        results.append((np.tril(lower), rows))
    for lower, rows in results[1:]:
        np.testing.assert_array_equal(lower, results[0][0])
        np.testing.assert_array_equal(rows, results[0][1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_that_do_not_fit_are_refused(dtype):
    def zeros(*shape):
        return np.zeros(shape, dtype=dtype)

    calls = [
        lambda: kernels.multiply(1.0, zeros(2, 3), zeros(4, 2), 0.0, zeros(2, 2), 1),
        lambda: kernels.multiply(1.0, zeros(2, 3), zeros(3, 2), 0.0, zeros(3, 2), 1),
        lambda: kernels.multiply(1.0, zeros(2, 3), zeros(3, 2), 0.0, zeros(2, 3), 1),
        lambda: kernels.gram(1.0, zeros(4, 3), None, None, 0.0, zeros(4, 4), 1),
        lambda: kernels.gram(1.0, zeros(4, 3), None, None, 0.0, zeros(3, 4), 1),
        lambda: kernels.factor_cholesky(zeros(3, 2), 1),
        lambda: kernels.solve_lower(zeros(3, 2), zeros(1, 3), 1),
        lambda: kernels.solve_lower_transposed(zeros(3, 3), zeros(3, 2), 1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="the shapes do not fit"):
            call()
    for shift, factors in ((zeros(2), None), (None, zeros(3))):
        with pytest.raises(ValueError, match="one value per"):
            kernels.gram(1.0, zeros(4, 3), shift, factors, 0.0, zeros(3, 3), 1)


def test_types_are_never_mixed_or_converted():
    double, single = np.zeros((2, 2)), np.zeros((2, 2), dtype=np.float32)
    for a, b, c in ((double, single, double), (double, double, single), (double.astype(np.int64), double, double)):
        with pytest.raises(TypeError):
            kernels.multiply(1.0, a, b, 0.0, c, 1)
