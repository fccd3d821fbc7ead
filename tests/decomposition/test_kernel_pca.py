"""Kernel PCA: components of the features, the peer, the way back."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as Peer
from sklearn.exceptions import NotFittedError

from mercer.decomposition import KernelPCA
from mercer.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid, Spectrum


def _rows(n=80, d=5):
    return np.random.RandomState(0).randn(n, d)


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_components_are_those_of_scikit_learn(kernel, solver):
    X, Y = _rows(), _rows()[:9] + 0.3
    params = {"kernel": kernel, "eigen_solver": solver, "random_state": 0, "fit_inverse_transform": True}
    model, peer = KernelPCA(3, **params).fit(X), Peer(3, **params).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(Y), peer.transform(Y), atol=1e-8)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(Y)), peer.inverse_transform(peer.transform(Y)), atol=1e-8
    )
    np.testing.assert_allclose(KernelPCA(3, **params).fit_transform(X), model.transform(X), atol=1e-8)
    assert model.certificate_.residual <= 1e-6 or solver == "randomized"


def test_components_are_the_principal_ones_of_the_features():
    X = _rows()
    kernel = Polynomial(2, 1.0, 1.0)
    features = kernel.feature_map(X)
    features -= features.mean(axis=0)
    _, sizes, axes = np.linalg.svd(features, full_matrices=False)
    model = KernelPCA(4, kernel=kernel).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, sizes[:4] ** 2)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(features @ axes[:4].T), atol=1e-8)


def test_all_components_but_those_of_no_length_are_kept():
    X = _rows(30, 3)
    assert KernelPCA().fit(X).eigenvalues_.shape == (3,)
    assert KernelPCA(10).fit(X).eigenvalues_.shape == (10,)
    assert KernelPCA(10, remove_zero_eig=True).fit(X).eigenvalues_.shape == (3,)
    np.testing.assert_array_equal(KernelPCA(10).fit(X).transform(X)[:, 3:], 0)


def test_the_way_back_comes_close():
    X, _ = make_circles(200, factor=0.3, noise=0.02, random_state=0)
    model = KernelPCA(20, kernel="rbf", gamma=10.0, fit_inverse_transform=True, alpha=1e-4).fit(X)
    assert np.abs(model.inverse_transform(model.transform(X)) - X).max() < 0.1
    with pytest.raises(NotFittedError, match="fit_inverse_transform parameter was not set to True"):
        KernelPCA().fit(X).inverse_transform(X)
    with pytest.raises(ValueError, match="it must have 20 columns, one for each component"):
        model.inverse_transform(X)
    with pytest.raises(ValueError, match="Cannot fit_inverse_transform with a precomputed kernel"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(X @ X.T)
    with pytest.raises(NotImplementedError, match="not implemented for sparse"):
        KernelPCA(fit_inverse_transform=True).fit(sp.csr_matrix(X))


def test_kernels_come_in_every_form():
    X = _rows()
    expected = KernelPCA(2, kernel=RBF(0.2)).fit_transform(X)
    K = RBF(0.2)(X)
    for model, rows in (
        (KernelPCA(2, kernel="rbf"), X),
        (KernelPCA(2, kernel="rbf"), sp.csr_matrix(X)),
        (KernelPCA(2, kernel="precomputed"), K),
        (KernelPCA(2, kernel=Precomputed()), K),
        (KernelPCA(2, kernel=lambda x, y, g: np.exp(-g * ((x - y) ** 2).sum()), kernel_params={"g": 0.2}), X),
    ):
        model.fit(rows)
        np.testing.assert_allclose(model.transform(rows), expected, atol=1e-8)
    np.testing.assert_array_equal(K, RBF(0.2)(X))  # centred in a copy
    words = ["banana", "ananas", "car", "cart", "bandana"]
    assert KernelPCA(2, kernel=Spectrum(2).normalized()).fit(words).transform(["cars"]).shape == (1, 2)
    assert KernelPCA(2, kernel=RBF("scale") + Linear()).fit(X).kernel_.k1.gamma == pytest.approx(1 / (5 * X.var()))


def test_what_is_no_mercer_kernel_is_said():
    X = 3 * _rows()
    with pytest.raises(
        ValueError, match=r"significant negative eigenvalues .* the most negative eigenvalue of the centred kernel"
    ):
        KernelPCA(kernel=Sigmoid(gamma=1.0, coef0=-3.0)).fit(X)
    with pytest.raises(ValueError, match="eigen_solver='arpack' finds fewer components"):
        KernelPCA(80, eigen_solver="arpack").fit(X)
