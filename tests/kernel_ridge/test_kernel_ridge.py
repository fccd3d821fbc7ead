"""Kernel ridge regression: the linear system, the peer, weights, left-out rows, singular matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as Peer

from mercer._trace import Status
from mercer.kernel_ridge import KernelRidge
from mercer.kernels import RBF, Linear, Precomputed
from mercer.linear_model import Ridge


def _data(n=60, d=4, n_targets=1):
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    y = np.column_stack([np.sin(X[:, 0]) + k * X[:, 1] for k in range(n_targets)]) + 0.1 * random.randn(n, n_targets)
    return X, y[:, 0] if n_targets == 1 else y


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("n_targets", "alpha"), [(1, 0.5), (2, 0.5), (2, [0.5, 3.0])])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "cosine"])
def test_predictions_are_those_of_scikit_learn_and_solve_the_system(kernel, n_targets, alpha, is_weighted):
    X, y = _data(n_targets=n_targets)
    weights = np.random.RandomState(1).rand(60) if is_weighted else None
    model = KernelRidge(alpha, kernel=kernel).fit(X, y, sample_weight=weights)
    peer = Peer(alpha=alpha, kernel=kernel).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X[:7] + 0.1), peer.predict(X[:7] + 0.1), rtol=1e-6, atol=1e-8)
    a = model.dual_coef_.reshape(60, -1)
    penalty = np.outer(1 / (np.ones(60) if weights is None else weights), np.broadcast_to(alpha, n_targets))
    np.testing.assert_allclose(model.kernel_(X) @ a + penalty * a, y.reshape(60, -1), atol=1e-8)
    assert model.certificate_.converged
    assert model.certificate_.residual < 1e-12


def test_the_objective_of_the_certificate_is_the_least():
    X, y = _data()
    model = KernelRidge(0.3, kernel=RBF(0.2)).fit(X, y)
    K = RBF(0.2)(X)

    def objective(a):
        return ((y - K @ a) ** 2).sum() + 0.3 * a @ K @ a

    assert model.certificate_.primal == pytest.approx(objective(model.dual_coef_))
    for seed in range(5):
        assert objective(model.dual_coef_ + 1e-3 * np.random.RandomState(seed).randn(60)) > model.certificate_.primal


def test_a_linear_kernel_is_ridge_regression_without_an_intercept():
    X, y = _data()
    ridge = Ridge(0.7, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(KernelRidge(0.7).fit(X, y).predict(X), ridge.predict(X))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_left_out_predictions_are_those_of_fits_without_the_row(is_weighted):
    X, y = _data(n=15, n_targets=2)
    weights = np.random.RandomState(1).rand(15) if is_weighted else None
    if is_weighted:
        weights[3] = 0
    params = {"alpha": [0.2, 1.0], "kernel": RBF(0.2) + Linear()}
    model = KernelRidge(**params).fit(X, y, sample_weight=weights)
    left_out = model.leave_one_out()
    for i in range(15):
        others = np.arange(15) != i
        refitted = KernelRidge(**params).fit(X[others], y[others], sample_weight=None if weights is None else weights[others])
        np.testing.assert_allclose(left_out[i], refitted.predict(X[[i]])[0], atol=1e-9)
    with pytest.raises(ValueError, match="leave_one_out needs alpha > 0"):
        KernelRidge(0.0, kernel=RBF(1.0)).fit(X, y).leave_one_out()


def test_singular_systems_have_a_least_squares_solution_and_a_warning():
    X = np.repeat(np.arange(5.0), 2)[:, None]
    y = np.arange(10.0)
    with pytest.warns(ConvergenceWarning, match="is not positive definite; the least-squares solution") as caught:
        model = KernelRidge(0.0, kernel="rbf", gamma=1.0).fit(X, y)
    assert len(caught) == 1
    np.testing.assert_allclose(model.predict(X), np.repeat(y.reshape(5, 2).mean(axis=1), 2), atol=1e-6)
    assert model.certificate_.method == "least squares"
    assert model.certificate_.status is Status.CONVERGED


def test_kernels_come_in_every_form():
    X, y = _data()
    expected = KernelRidge(0.1, kernel=RBF(0.25)).fit(X, y).predict(X[:5])
    K = RBF(0.25)(X)
    sparse = sp.csr_matrix(X)
    for model, fitted, asked in (
        (KernelRidge(0.1, kernel="rbf"), X, X[:5]),
        (KernelRidge(0.1, kernel="rbf", gamma=0.25), sparse, sparse[:5]),
        (KernelRidge(0.1, kernel="precomputed"), K, K[:5]),
        (KernelRidge(0.1, kernel=Precomputed()), K, K[:5]),
        (
            KernelRidge(0.1, kernel=lambda x, y, g: np.exp(-g * ((x - y) ** 2).sum()), kernel_params={"g": 0.25}),
            *(X, X[:5]),
        ),
    ):
        np.testing.assert_allclose(model.fit(fitted, y).predict(asked), expected, rtol=1e-8)


def test_rows_of_the_fit_are_its_own():
    X, y = _data()
    model = KernelRidge(0.1, kernel="rbf").fit(X, y)
    before = model.predict([[0.0] * 4])
    X[:] = 0
    np.testing.assert_array_equal(model.predict([[0.0] * 4]), before)


def test_wrong_parameters_are_refused():
    X, y = _data(n_targets=2)
    with pytest.raises(
        ValueError, match=r"alpha=\[1, 2, 3\] is not valid; it must be one number, or one for each of 2 targets"
    ):
        KernelRidge([1, 2, 3]).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha\[1\]=-1.0 is not valid"):
        KernelRidge([1.0, -1.0]).fit(X, y)
    with pytest.raises(ValueError, match="kernel='gaussian' is not valid"):
        KernelRidge(kernel="gaussian").fit(X, y)
    with pytest.raises(ValueError, match=r"degree=0.5 is not valid"):
        KernelRidge(kernel="poly", degree=0.5).fit(X, y)
    with pytest.raises(ValueError, match="must be a square matrix"):
        KernelRidge(kernel="precomputed").fit(X, y)
