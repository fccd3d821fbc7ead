"""X as solvers see it: dense or sparse, in any memory order, the answers are those of NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer._arrays import tidy
from mercer._matrix import Columns, DenseMatrix, SparseMatrix, native_rows
from mercer._native import kernels

N, D = 40, 7


def _dense(dtype=np.float64):
    random = np.random.default_rng(0)
    return (random.normal(size=(N, D)) * (random.uniform(size=(N, D)) < 0.5)).astype(dtype)


LAYOUTS = {
    "C": lambda X: X,
    "F": np.asfortranarray,
    "sliced": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
}


def _matrices(dtype):
    X = _dense(dtype)
    for layout in LAYOUTS.values():
        for is_shifted in (False, True):
            yield DenseMatrix(layout(X), is_shifted=is_shifted, n_threads=2)
    for kind in (sp.csr_array, sp.csc_array):
        yield SparseMatrix(tidy(kind(X)), n_threads=2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_and_sparse_matrices_have_the_products_of_numpy(dtype):
    random, X = np.random.default_rng(1), _dense(dtype).astype(np.float64)
    coef, slopes, curvatures = random.normal(size=(3, D + 1)), random.normal(size=N), random.uniform(size=N)
    for matrix in _matrices(dtype):
        rows = np.column_stack([X - matrix.shift, np.ones(N)])
        products = rows.T @ (rows * curvatures[:, None])
        np.testing.assert_allclose(matrix.values(coef[0]), rows @ coef[0], atol=1e-12)
        np.testing.assert_allclose(matrix.output_values(coef), rows @ coef.T, atol=1e-12)
        np.testing.assert_allclose(matrix.slope_sums(slopes), rows.T @ slopes, atol=1e-12)
        for found, expected in zip(matrix.weighted_sums(slopes, curvatures), (rows.T @ slopes, products), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)
        mean = np.average(rows[:, :-1], axis=0, weights=curvatures)
        deviation = ((rows[:, :-1] - mean) ** 2 * curvatures[:, None]).sum(axis=0)
        for found, expected in zip(matrix.column_moments(curvatures), (mean, deviation), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-7)
        np.testing.assert_allclose(matrix.pick([3, 1]), rows[[3, 1]], atol=1e-12)
        if isinstance(matrix, SparseMatrix):
            vectors = random.normal(size=(N, 3))
            np.testing.assert_allclose(matrix.output_sums(vectors), vectors.T @ rows, atol=1e-12)
            np.testing.assert_allclose(matrix.curvature_diagonal(curvatures), np.diag(products), atol=1e-12)
            np.testing.assert_allclose(matrix.curvature_product(curvatures, coef[0]), products @ coef[0], atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_columns_have_the_products_of_numpy(kind):
    random, X = np.random.default_rng(2), _dense()
    coef, intercept, slopes = random.normal(size=(2, D)), random.normal(size=2), random.normal(size=(N, 2))
    columns = Columns(tidy(kind(X)), n_threads=2)
    np.testing.assert_allclose(columns.values(coef, intercept), X @ coef.T + intercept, atol=1e-12)
    np.testing.assert_allclose(columns.products(slopes), slopes.T @ X, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_native_rows_of_any_memory_order_are_the_same_rows(dtype):
    X, centres = _dense(dtype), np.random.default_rng(3).normal(size=(3, D)).astype(dtype)
    expected = np.linalg.norm(X[:, None].astype(np.float64) - centres, axis=2)
    shift = X.mean(axis=0)
    kinds = [(layout(X), shift, centres - shift) for layout in LAYOUTS.values()]
    kinds += [(layout(X), None, centres) for layout in LAYOUTS.values()] + [(tidy(sp.csr_array(X)), None, centres)]
    for rows, moved, targets in kinds:
        distances = np.empty((N, 3), dtype=dtype)
        kernels.centre_distances(native_rows(rows, moved), np.ascontiguousarray(targets), distances, 1)
        np.testing.assert_allclose(distances, expected, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)


def test_stochastic_descent_wants_rows_in_one_piece():
    """Its vectors read a row as it lies: other layouts are refused by name, not misread."""
    X, y = np.asfortranarray(_dense()), np.zeros(N)
    coef, state, sides = np.zeros((1, D)), np.zeros((1, 13)), np.zeros((0, D))
    rule = kernels.StochasticRule("logistic", 0.0, 0, 0.01, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -np.inf, np.inf, 1.0, 0.0)
    arguments = (y, None, None, np.ones((1, 2)), rule, coef, np.zeros(1), state, sides, 1)
    for rows in (native_rows(X), native_rows(_dense(), np.ones(D))):
        with pytest.raises(ValueError, match="contiguous"):
            kernels.stochastic_bound(rows, *arguments)
