"""Every kernel agrees with its formula, whoever computes it: the call, lines of its matrix, the diagonal, the feature map."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics.pairwise as peer
from threadpoolctl import threadpool_limits

from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    Constant,
    Cosine,
    Function,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
)
from tests.reference import kernels as naive

NUMERIC = {
    "linear": (Linear(), naive.linear, peer.linear_kernel),
    "polynomial": (
        Polynomial(degree=3, gamma=0.2, coef0=0.5),
        naive.polynomial(3, 0.2, 0.5),
        lambda X, Y: peer.polynomial_kernel(X, Y, degree=3, gamma=0.2, coef0=0.5),
    ),
    "root": (
        Polynomial(degree=1.5, gamma=0.2, coef0=50.0),
        naive.polynomial(1.5, 0.2, 50.0),
        lambda X, Y: peer.polynomial_kernel(X, Y, degree=1.5, gamma=0.2, coef0=50.0),
    ),
    "rbf": (RBF(gamma=0.1), naive.rbf(0.1), lambda X, Y: peer.rbf_kernel(X, Y, gamma=0.1)),
    "sharp rbf": (RBF(gamma=30.0), naive.rbf(30.0), lambda X, Y: peer.rbf_kernel(X, Y, gamma=30.0)),
    "laplacian": (Laplacian(gamma=0.1), naive.laplacian(0.1), lambda X, Y: peer.laplacian_kernel(X, Y, gamma=0.1)),
    "sigmoid": (Sigmoid(gamma=0.1, coef0=-0.2), naive.sigmoid(0.1, -0.2), lambda X, Y: peer.sigmoid_kernel(X, Y, 0.1, -0.2)),
    "cosine": (Cosine(), naive.cosine, peer.cosine_similarity),
    "chi2": (ChiSquared(gamma=0.3), naive.chi_squared(0.3), lambda X, Y: peer.chi2_kernel(X, Y, gamma=0.3)),
}
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}


def _rows(name, dtype, n, d, seed=0):
    X = np.random.RandomState(seed).randn(n, d).astype(dtype)
    return np.abs(X) if name == "chi2" else X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 7, 12, 13, 30])
@pytest.mark.parametrize("name", NUMERIC)
def test_calls_and_lines_agree_with_the_formula_and_with_scikit_learn(name, d, dtype):
    kernel, formula, by_peer = NUMERIC[name]
    X, Y = _rows(name, dtype, 23, d), _rows(name, dtype, 5, d, seed=1)
    exact = naive.matrix(formula, X)
    scale = max(1.0, np.abs(exact).max())
    matrix, lines = kernel.on(X), np.array([22, 0, 3, 3])
    found = matrix.rows(lines)
    assert found.dtype == dtype
    assert matrix.n_rows == 23
    np.testing.assert_allclose(found, exact[lines], atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(matrix.against(Y), naive.matrix(formula, Y, X), atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(kernel(X), exact, atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(kernel(Y, X), by_peer(Y.astype(float), X.astype(float)), atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(matrix.diagonal(), np.diagonal(exact), atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(exact), atol=TOLERANCE[dtype] * scale)
    np.testing.assert_allclose(matrix.take([4, 9]).rows([1]), exact[[9]][:, [4, 9]], atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [name for name in NUMERIC if name != "chi2"])
def test_sparse_rows_have_the_values_of_dense_ones(name, dtype):
    kernel, formula, _ = NUMERIC[name]
    S = sp.random(70, 40, density=0.15, format="csr", random_state=0, dtype=dtype)
    exact = naive.matrix(formula, S.toarray())
    matrix = kernel.on(S)
    scale = TOLERANCE[dtype] * max(1.0, np.abs(exact).max())
    np.testing.assert_allclose(matrix.rows(np.arange(70)), exact, atol=scale)
    np.testing.assert_allclose(matrix.against(S[:9]), exact[:9], atol=scale)
    np.testing.assert_allclose(matrix.against(S[:9].toarray()), exact[:9], atol=scale)
    np.testing.assert_allclose(kernel.on(S.toarray()).against(S[:9]), exact[:9], atol=scale)
    np.testing.assert_allclose(matrix.take([69, 2]).rows([0]), exact[[69]][:, [69, 2]], atol=scale)
    np.testing.assert_allclose(matrix.diagonal(), np.diagonal(exact), atol=scale)


@pytest.mark.parametrize("d", [5, 40, 600])  # by differences, in one block of the product, in several
@pytest.mark.parametrize("name", NUMERIC)
def test_a_line_has_the_same_bits_with_any_others_and_for_any_number_of_threads(name, d):
    kernel = NUMERIC[name][0]
    X = _rows(name, np.float64, 700, d)
    numbers = np.random.RandomState(1).permutation(700)[:300]
    with threadpool_limits(1, user_api="mercer"):
        serial = kernel.on(X)
        lines = serial.rows(numbers)
        one_by_one = np.vstack([serial.rows([i]) for i in numbers[:5]])
        given = serial.against(X[numbers])
    np.testing.assert_array_equal(lines[:5], one_by_one)
    np.testing.assert_array_equal(lines, given)
    np.testing.assert_array_equal(lines[:, numbers], lines[:, numbers].T)  # k(x, y) = k(y, x)
    with threadpool_limits(4, user_api="mercer"):
        np.testing.assert_array_equal(kernel.on(X).rows(numbers), lines)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_near_rows_far_from_zero_keep_their_digits(dtype):
    random = np.random.RandomState(0)
    centres = random.randn(4, 30) * 100
    X = (centres[random.randint(4, size=60)] + 0.05 * random.randn(60, 30)).astype(dtype)
    for gamma in (1e-3, 1.0, 20.0):
        exact = naive.matrix(naive.rbf(gamma), X)
        np.testing.assert_allclose(RBF(gamma).on(X).rows(np.arange(60)), exact, atol=1e-11 if dtype == np.float64 else 2e-4)


def test_bad_rows_and_numbers_are_refused():
    matrix = RBF(1.0).on(np.zeros((4, 2)))
    for wrong in ([4], [-1], [[0]], [0.5]):
        with pytest.raises(ValueError, match="indices"):
            matrix.rows(wrong)
    with pytest.raises(ValueError, match=r"out has shape \(1, 3\)"):
        matrix.rows([0], out=np.empty((1, 3)))
    with pytest.raises(ValueError, match="Y has 3 features; the rows of the matrix have 2"):
        matrix.against(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        RBF(1.0).on(np.zeros(3))
    with pytest.raises(ValueError, match="the least is -1"):
        ChiSquared().on([[-1.0]])
    with pytest.raises(TypeError, match="sparse"):
        ChiSquared().on(sp.csr_array(np.ones((2, 2))))
    assert matrix.rows([]).shape == (0, 4)
    out = np.empty((2, 4))
    assert matrix.rows([0, 1], out=out) is out


def test_precomputed_matrices_are_looked_up():
    K = np.arange(16.0).reshape(4, 4)
    matrix = Precomputed().on(K)
    np.testing.assert_array_equal(matrix.rows([2, 0]), K[[2, 0]])
    np.testing.assert_array_equal(matrix.diagonal(), np.diagonal(K))
    taken = matrix.take([3, 1])
    np.testing.assert_array_equal(taken.rows([0]), K[[3]][:, [3, 1]])
    np.testing.assert_array_equal(taken.take([1]).rows([0]), [[K[1, 1]]])
    np.testing.assert_array_equal(taken.against(K[:1]), K[:1][:, [3, 1]])
    with pytest.raises(ValueError, match=r"must be a square matrix. Input is a 4x3 matrix"):
        Precomputed().on(K[:, :3])
    with pytest.raises(ValueError, match="a column for each of the 4 rows"):
        matrix.against(K[:, :3])


def test_functions_of_matrices_and_of_rows_are_kernels():
    X = np.random.RandomState(0).randn(6, 3)
    for kernel in (
        Function(lambda A, B: A @ B.T),
        Function(np.dot, by="rows"),
        Function(lambda x, y, c: c * (x @ y), by="rows", params={"c": 1.0}),
    ):
        np.testing.assert_allclose(kernel(X), X @ X.T)
        np.testing.assert_allclose(kernel.on(X).rows([4, 0]), (X @ X.T)[[4, 0]])
        np.testing.assert_allclose(kernel.diagonal(X), (X**2).sum(axis=1))
        np.testing.assert_allclose(kernel.on(X).take([1, 2]).against(X[:1]), X[:1] @ X[1:3].T)
    with pytest.raises(ValueError, match=r"gave values of shape \(\) for 6 and 6 rows"):
        Function(lambda A, B: 1.0)(X)


def test_gamma_may_be_said_in_terms_of_the_rows():
    X = np.random.RandomState(0).randn(20, 4) * 3
    assert as_kernel("rbf", X, gamma="scale").gamma == pytest.approx(1 / (4 * X.var()))
    assert as_kernel("rbf", X, gamma="auto").gamma == as_kernel("rbf", X).gamma == 0.25
    assert as_kernel("rbf", np.ones((3, 2)), gamma="scale").gamma == 1.0
    assert as_kernel("rbf", sp.csr_array(X), gamma="scale").gamma == pytest.approx(1 / (4 * X.var()))
    assert as_kernel("chi2", X).gamma == 1.0
    nested = (RBF("scale") + Linear() * RBF("auto").on_features([0])).resolved(X)
    assert nested.get_params()["k1__gamma"] == pytest.approx(1 / (4 * X.var()))
    assert nested.get_params()["k2__k2__kernel__gamma"] == 1.0
    np.testing.assert_array_equal(RBF("scale").on(X).rows([1]), as_kernel("rbf", X, gamma="scale").on(X).rows([1]))
    with pytest.raises(ValueError, match="gamma='scale' depends on the rows, and here there are two sets"):
        RBF("scale")(X, X[:2])


def test_kernels_have_the_names_of_scikit_learn():
    for name in (*peer.kernel_metrics(), "precomputed"):
        kernel = as_kernel(name)
        if name != "precomputed":
            X = np.random.RandomState(0).rand(5, 3)
            np.testing.assert_allclose(kernel(X), peer.pairwise_kernels(X, metric=name), rtol=1e-10)
    np.testing.assert_allclose(AdditiveChiSquared().on(X).rows([0]), peer.additive_chi2_kernel(X)[:1])
    kernel = Linear()
    assert as_kernel(kernel) is kernel
    with pytest.raises(ValueError, match="kernel='gaussian' is not valid; it must be a Kernel, a callable or one of"):
        as_kernel("gaussian")


def test_the_degree_two_map_of_two_features_has_six_dimensions():
    kernel = Polynomial(degree=2, gamma=1.0, coef0=2.0)
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    c, (x1, x2) = 2.0, x[0]
    wanted = [c, x1**2, x2**2, np.sqrt(2 * c) * x1, np.sqrt(2 * c) * x2, np.sqrt(2) * x1 * x2]
    np.testing.assert_allclose(np.sort(kernel.feature_map(x)[0]), np.sort(wanted))
    assert kernel(x, z)[0, 0] == 9.0
    assert kernel.feature_map(x)[0] @ kernel.feature_map(z)[0] == pytest.approx(9.0)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Cosine(),
        Constant(3.0),
        Polynomial(2, 0.5, 0.0),
        Polynomial(4, 0.5, 1.5),
        2 * Linear() + 1,
        (Linear() + 0.5) ** 3,
        Linear() * Polynomial(2, 1.0, 1.0),
        Polynomial(2, 1.0, 1.0).on_features([0, 2]),
        (Linear() + 1).normalized(),
    ],
    ids=repr,
)
def test_inner_products_of_features_are_the_kernel(kernel):
    X = np.random.RandomState(0).randn(9, 3)
    features = kernel.feature_map(X)
    np.testing.assert_allclose(features @ features.T, kernel(X), atol=1e-12 * np.abs(kernel(X)).max())


def test_kernels_without_a_map_say_so():
    for kernel in (RBF(), Laplacian(), Sigmoid(), ChiSquared()):
        with pytest.raises(NotImplementedError, match="kernel_approximation"):
            kernel.feature_map([[1.0]])
    with pytest.raises(NotImplementedError, match="degree must be whole"):
        Polynomial(degree=2.5).feature_map([[1.0]])
