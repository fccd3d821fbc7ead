"""The wrappers of SciPy's BLAS and LAPACK against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels

testing = kernels.testing
DTYPES = [np.float64, np.float32]
SIZES = [1, 2, 5, 17, 64]


def _matrix(*shape, dtype, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def _assert_close(result, expected):
    tolerance = 200 * np.finfo(result.dtype).eps
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4), (17, 5, 9), (64, 33, 1), (1, 40, 7), (3, 0, 2), (0, 3, 2), (3, 2, 0)])
def test_gemm_is_the_matrix_product(shape, dtype):
    m, k, n = shape
    a, b, c = _matrix(m, k, dtype=dtype), _matrix(k, n, dtype=dtype, seed=1), _matrix(m, n, dtype=dtype, seed=2)
    expected = 0.5 * (a @ b) - 2 * c
    testing.gemm(0.5, a, b, -2.0, c)
    _assert_close(c, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_rows", [0, 1, 3, 50])
@pytest.mark.parametrize("n_columns", SIZES)
def test_syrk_is_the_lower_triangle_of_the_gram_matrix(n_rows, n_columns, dtype):
    a, c = _matrix(n_rows, n_columns, dtype=dtype), _matrix(n_columns, n_columns, dtype=dtype, seed=1)
    before = c.copy()
    testing.syrk(0.5, a, 3.0, c)
    _assert_close(np.tril(c), np.tril(0.5 * (a.T @ a) + 3 * before))
    np.testing.assert_array_equal(np.triu(c, 1), np.triu(before, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (40, 7), (7, 40), (0, 3), (3, 0)])
def test_gemv_is_the_matrix_times_a_vector(shape, dtype):
    a, x, y = _matrix(*shape, dtype=dtype), _matrix(shape[1], dtype=dtype, seed=1), _matrix(shape[0], dtype=dtype, seed=2)
    expected = 0.5 * (a @ x) - 2 * y
    testing.gemv(0.5, a, x, -2.0, y)
    _assert_close(y, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_syev_gives_ascending_eigenvalues_and_eigenvectors_in_rows(size, dtype):
    symmetric = _matrix(size, size, dtype=dtype)
    symmetric = (symmetric + symmetric.T) / 2
    vectors, values = symmetric.copy(), np.empty(size, dtype=dtype)
    testing.syev(vectors, values)
    _assert_close(values, np.linalg.eigvalsh(symmetric))
    _assert_close(vectors @ vectors.T, np.eye(size))
    _assert_close(vectors.T @ np.diag(values) @ vectors, symmetric)


def test_syev_reads_the_lower_triangle():
    lower = np.array([[2.0, 99.0], [1.0, 2.0]])
    values = np.empty(2)
    testing.syev(lower, values)
    np.testing.assert_allclose(values, [1.0, 3.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_shapes_that_do_not_fit_are_refused(dtype):
    def zeros(*shape):
        return np.zeros(shape, dtype=dtype)

    calls = [
        lambda: testing.gemm(1.0, zeros(2, 3), zeros(4, 2), 0.0, zeros(2, 2)),
        lambda: testing.gemm(1.0, zeros(2, 3), zeros(3, 2), 0.0, zeros(3, 2)),
        lambda: testing.gemm(1.0, zeros(2, 3), zeros(3, 2), 0.0, zeros(2, 3)),
        lambda: testing.syrk(1.0, zeros(4, 3), 0.0, zeros(4, 4)),
        lambda: testing.syrk(1.0, zeros(4, 3), 0.0, zeros(3, 4)),
        lambda: testing.gemv(1.0, zeros(4, 3), zeros(4), 0.0, zeros(4)),
        lambda: testing.gemv(1.0, zeros(4, 3), zeros(3), 0.0, zeros(3)),
        lambda: testing.syev(zeros(3, 2), zeros(3)),
        lambda: testing.syev(zeros(3, 3), zeros(2)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="the shapes do not fit"):
            call()


def test_types_are_never_mixed_or_converted():
    double, single = np.zeros((2, 2)), np.zeros((2, 2), dtype=np.float32)
    with pytest.raises(TypeError):
        testing.gemm(1.0, double, single, 0.0, double)
    with pytest.raises(TypeError):
        testing.gemm(1.0, double, double, 0.0, single)
    with pytest.raises(TypeError):
        testing.gemm(1.0, double.astype(np.int64), double, 0.0, double)
    with pytest.raises(TypeError):
        testing.gemm(1.0, np.zeros((4, 4)).T[::2, ::2], double, 0.0, double)
