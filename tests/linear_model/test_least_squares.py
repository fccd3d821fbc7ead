"""The choice of method, the accuracy of each, and the honesty of the certificate."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hilbert
from sklearn.exceptions import ConvergenceWarning

from mercer._matrix import SparseMatrix
from mercer._native import kernels
from mercer.linear_model import LinearRegression
from mercer.linear_model._least_squares import solvers as module
from tests.reference.least_squares import least_squares

N = 300


def _families():
    random = np.random.default_rng(0)
    Z = random.normal(size=(N, 5))
    for degree in (3, 5, 7, 9, 12):
        yield f"powers up to {degree}", np.vander(np.linspace(0, 1, N), degree + 1)[:, :-1]
    for order in (4, 6, 8, 10):
        yield f"Hilbert {order}", np.tile(hilbert(order), (30, 1))
    for distance in (1e-2, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 1e-12, 0):
        yield f"copies {distance:g} apart", np.c_[Z, Z[:, 0] + distance * random.normal(size=N)]
    units = 10.0 ** np.array([-8, -4, 0, 4, 8])
    yield "units from 1e-8 to 1e8", Z * units
    yield "such units and a copy", np.c_[Z * units, Z[:, 2]]
    yield "small constant", np.c_[Z, np.full(N, 0.1)]
    yield "large constant", np.c_[Z, np.full(N, 1e8 / 3)]
    yield "zeros", np.c_[Z, np.zeros(N)]
    yield "far from zero", Z + 1e8
    yield "powers far from zero", np.vander(np.linspace(1000, 1001, N), 3)[:, :-1]
    yield "dummies and a population", np.c_[np.eye(4)[random.integers(0, 4, N)], 1e8 * random.random(N)]
    yield "tiny", Z * 1e-160


FAMILIES = dict(_families())


@pytest.mark.parametrize("noise", [0, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", FAMILIES)
def test_residuals_are_as_small_as_those_of_the_singular_values(name, fit_intercept, noise):
    X = FAMILIES[name]
    random = np.random.default_rng(1)
    y = X @ (random.normal(size=X.shape[1]) / np.maximum(np.abs(X).max(axis=0), 1e-300)) + noise * random.normal(size=len(X))
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    norms = [
        np.linalg.norm(least_squares(X, y, fit_intercept=fit_intercept, cutoff=1e-6, scale_columns=scaled).residuals)
        for scaled in (False, True)
    ]
    ours = np.linalg.norm(y - model.predict(X))
    is_full = model.rank_ == X.shape[1]  # else what tol drops makes a difference, between the two ways to measure it
    rounding = 1e-13 * np.linalg.norm(y) + 1e-14 * np.abs(X).max()
    assert ours <= (min if is_full else max)(norms) * (1 + 1e-9) + rounding
    assert model.certificate_.converged
    assert 2 * model.certificate_.primal == pytest.approx(ours**2, rel=1e-6, abs=1e-13 * (y @ y) + 1e-14 * np.abs(X).max())


@pytest.mark.parametrize(
    "name", ["powers up to 5", "powers up to 7", "copies 0.0001 apart", "copies 1e-05 apart", "powers far from zero"]
)
def test_refined_coefficients_are_as_good_as_orthogonal_ones(name):
    X = FAMILIES[name]
    units = X.std(axis=0)
    w = np.arange(1, X.shape[1] + 1) / units
    y = X @ w
    model = LinearRegression().fit(X, y)
    assert "refinement" in model.certificate_.method
    error = np.abs((model.coef_ - w) * units).max()
    orthogonal = np.abs((least_squares(X, y, cutoff=0, scale_columns=True).coef[0] - w) * units).max()
    assert error <= 20 * orthogonal + 1e-14


def test_the_condition_number_chooses_the_method():
    random = np.random.default_rng(0)
    Z = random.normal(size=(N, 4))
    methods = []
    for distance in (1, 1e-3, 1e-8):
        X = np.c_[Z, Z[:, 0] + distance * random.normal(size=N)]
        methods.append(LinearRegression().fit(X, Z.sum(axis=1)).certificate_.method)
    assert methods == [
        "normal equations, Cholesky",
        "normal equations, Cholesky with refinement",
        "singular value decomposition",
    ]


def test_tol_is_the_share_below_which_a_direction_counts_as_none():
    random = np.random.default_rng(0)
    Z = random.normal(size=(N, 2))
    X = np.c_[Z, Z[:, 0] + 1e-3 * random.normal(size=N)]
    y = random.normal(size=N)
    assert LinearRegression(tol=1e-6).fit(X, y).rank_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert LinearRegression(tol=1e-2).fit(X, y).rank_ == 2
    close = np.c_[Z, Z[:, 0] + 1e-9 * random.normal(size=N)]
    assert LinearRegression(tol=1e-6).fit(close, y).rank_ == 2
    assert LinearRegression(tol=0).fit(close, Z.sum(axis=1)).rank_ == 3


def test_the_units_of_a_column_do_not_matter():
    X, y = FAMILIES["dummies and a population"], np.random.default_rng(0).normal(size=N)
    y += X[:, :4] @ [1, 2, 3, 4]
    expected = LinearRegression().fit(X / [1, 1, 1, 1, 1e8], y).predict(X / [1, 1, 1, 1, 1e8])
    np.testing.assert_allclose(LinearRegression().fit(X, y).predict(X), expected, rtol=1e-9)


def test_the_objective_is_exact_where_the_products_would_cancel():
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 3))
    noise = 1e-9 * random.normal(size=1000)
    model = LinearRegression().fit(X, X @ [1e3, 2e3, 3e3] + noise)
    exact = least_squares(X, X @ [1e3, 2e3, 3e3] + noise).residuals
    assert 2 * model.certificate_.primal == pytest.approx((exact**2).sum(), rel=1e-4)
    assert model.certificate_.primal > 0


def test_the_certificate_measures_the_gradient_of_the_coefficients_it_certifies():
    random = np.random.default_rng(0)
    X, weights = random.normal(size=(200, 3)), random.random(200)
    y = X @ [1.0, 2, 3] + random.normal(size=200)
    rows = module.DenseRows(None, X, y, weights, is_centred=True, n_threads=1)
    solution = module.least_squares(rows, 1e-6)
    wrong = solution.coef + np.array([0.1, 0, 0])
    gradient, squares = rows.residuals(solution.means, wrong)
    A, b = rows.matrices(solution.means, solution.weight)
    residual = b[:, 0] - A @ wrong[0]
    np.testing.assert_allclose(gradient[0], A.T @ residual, rtol=1e-10)
    assert squares[0] == pytest.approx(residual @ residual)
    norms = np.linalg.norm(A, axis=0)
    measured = module.relative_gradient(gradient, norms, np.linalg.norm(b, axis=0))
    assert measured == pytest.approx((np.abs(A.T @ residual) / norms).max() / np.linalg.norm(b))
    assert measured > 1e-3


def test_a_fit_that_misses_its_tolerance_says_so_and_warns_once(monkeypatch):
    random = np.random.default_rng(0)
    X = sp.random_array((400, 600), density=0.05, rng=0).tocsr()
    y = random.normal(size=400)
    original = module.lsqr
    monkeypatch.setattr(module, "lsqr", lambda *args, **kwargs: original(*args, **{**kwargs, "iter_lim": 1}))
    with pytest.warns(ConvergenceWarning, match="relative gradient is") as caught:
        model = LinearRegression().fit(X, y)
    assert len(caught) == 1
    assert not model.certificate_.converged
    assert model.certificate_.residual > model.certificate_.tol
    assert "short of its tolerance" in repr(model.certificate_)


def test_refinement_that_does_not_shrink_is_given_up(monkeypatch):
    X = FAMILIES["powers up to 7"]
    y = X.sum(axis=1)
    monkeypatch.setattr(module._System, "solve", lambda self, gradient: self.coef / 2)
    assert LinearRegression().fit(X, y).certificate_.method.startswith("singular value")


def test_violations_of_the_non_negative_conditions_are_measured():
    gradient, coef = np.array([[1.0, -1.0, 2.0, -2.0]]), np.array([[0.0, 0.0, 1.0, 1.0]])
    assert module._violation(gradient, coef).tolist() == [[1, 0, 2, -2]]


# ---- products of sparse rows


@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 30), (3000, 7), (2000, 120)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_products_of_sparse_rows_are_those_of_dense_ones_with_any_number_of_threads(n, d, is_weighted):
    random = np.random.default_rng(n + d)
    X = sp.random_array((n, d), density=0.3, format="csr", rng=random)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    weights = random.uniform(0, 2, size=n) if is_weighted else None
    dense = X.toarray()
    found = SparseMatrix(X, n_threads=1).products(weights)
    np.testing.assert_allclose(found, (dense * (1 if weights is None else weights[:, None])).T @ dense, rtol=1e-12, atol=1e-14)
    assert found.tobytes() == SparseMatrix(X, n_threads=4).products(weights).tobytes()
    assert found.tobytes() == found.T.tobytes()


def test_values_of_sparse_rows_have_the_same_bits_for_any_number_of_threads():
    random = np.random.default_rng(0)
    X, vector = sp.random_array((20_000, 50), density=0.3, rng=random, format="csr"), random.normal(size=50)
    one, four = (SparseMatrix(X, n_threads=n_threads).row_values(vector, 2.0) for n_threads in (1, 4))
    assert one.tobytes() == four.tobytes()
    np.testing.assert_allclose(one, X @ vector + 2, rtol=1e-12, atol=1e-12)


def test_products_of_sparse_rows_take_entries_in_any_order_and_refuse_wrong_ones():
    values, columns, starts = np.array([1.0, 2, 3]), np.array([2, 0, 1], dtype=np.int32), np.array([0, 2, 3], dtype=np.int32)
    products, rows = np.empty((3, 3)), kernels.CsrRows64(values, columns, starts, 3)
    kernels.weighted_products(rows, None, products, 1)
    np.testing.assert_array_equal(products, [[4, 0, 2], [0, 9, 0], [2, 0, 1]])
    for weights, result in ((np.ones(3), products), (None, np.empty((2, 3))), (None, np.empty((2, 2)))):
        with pytest.raises(ValueError, match=r"per row|per column"):
            kernels.weighted_products(rows, weights, result, 1)


@pytest.mark.parametrize("shape", [(50, 7), (7, 50), (3, 1), (5, 3)])
def test_products_with_single_vectors_equal_dense_ones(shape):
    random = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.4, rng=random, format="csr")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    matrix, dense = SparseMatrix(X), X.toarray()
    by_column, by_row = random.normal(size=shape[1]), random.normal(size=shape[0])
    np.testing.assert_allclose(matrix.row_values(by_column, 0.5), dense @ by_column + 0.5, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(matrix.column_sums(by_row), dense.T @ by_row, rtol=1e-12, atol=1e-13)
    for found, expected in zip(matrix.moment_sums(by_row), (dense.T @ by_row, (dense**2).T @ by_row), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
