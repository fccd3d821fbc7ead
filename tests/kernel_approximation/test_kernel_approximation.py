"""Approximate feature maps: the draws of scikit-learn, errors that are measured, landmarks that help."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.kernel_approximation as peer

import mercer.kernel_approximation as own
from mercer._native import kernels
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Spectrum

X = np.abs(np.random.RandomState(0).randn(90, 7))
X[X < 0.2] = 0
CASES = {
    "RBFSampler": {"gamma": 0.3, "n_components": 50, "random_state": 3},
    "Nystroem": {"gamma": 0.3, "n_components": 30, "random_state": 3},
    "PolynomialCountSketch": {"degree": 3, "coef0": 0.5, "gamma": 0.7, "n_components": 41, "random_state": 3},
    "SkewedChi2Sampler": {"skewedness": 0.3, "n_components": 50, "random_state": 3},
    "AdditiveChi2Sampler": {"sample_steps": 3},
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_features_are_those_of_scikit_learn_from_the_same_seed(name, dtype):
    rows = X.astype(dtype)
    model, other = (getattr(module, name)(**CASES[name]).fit(rows) for module in (own, peer))
    found, expected = model.transform(rows), other.transform(rows)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, atol=1e-10 if dtype == np.float64 else 2e-3)
    np.testing.assert_array_equal(model.get_feature_names_out(), other.get_feature_names_out())
    if name != "SkewedChi2Sampler":
        sparse = model.transform(sp.csr_matrix(rows))
        sparse = sparse.toarray() if sp.issparse(sparse) else sparse
        np.testing.assert_allclose(sparse, found, atol=1e-10 if dtype == np.float64 else 2e-3)


def _exact(name):
    if name in ("RBFSampler", "Nystroem"):
        return RBF(0.3)(X)
    if name == "PolynomialCountSketch":
        return Polynomial(3, 0.7, 0.5)(X)
    left, right = X[:, None], X[None]
    if name == "AdditiveChi2Sampler":
        total = left + right
        return np.divide(2 * left * right, total, out=np.zeros_like(total), where=total > 0).sum(axis=2)
    return np.prod(2 * np.sqrt(left + 0.3) * np.sqrt(right + 0.3) / (left + right + 0.6), axis=2)


@pytest.mark.parametrize("name", CASES)
def test_the_error_is_the_relative_norm_of_what_is_missing(name):
    model = getattr(own, name)(**CASES[name]).fit(X)
    Z, K = model.transform(X), _exact(name)
    assert model.approximation_error_ == pytest.approx(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    if "n_components" in CASES[name] and name != "Nystroem":
        more = getattr(own, name)(**{**CASES[name], "n_components": 5000}).fit(X)
        assert more.approximation_error_ < 0.4 * model.approximation_error_


@pytest.mark.parametrize("landmarks", ["random", "kmeans", "leverage"])
def test_as_many_landmarks_as_rows_give_the_kernel(landmarks):
    model = own.Nystroem(gamma=0.3, n_components=90, landmarks=landmarks, random_state=0).fit(X)
    assert model.approximation_error_ < 1e-5
    assert hasattr(model, "component_indices_") == (landmarks != "kmeans")


def test_leverage_finds_the_rows_that_others_do_not_stand_for():
    random = np.random.RandomState(0)
    crowd, lonely = 0.01 * random.randn(500, 2), 10 * np.arange(1, 11)[:, None] * np.array([[1.0, -1.0]])
    rows = np.vstack([crowd, lonely])
    errors = {
        landmarks: np.mean(
            [
                own.Nystroem(gamma=1.0, n_components=30, landmarks=landmarks, random_state=seed).fit(rows).approximation_error_
                for seed in range(5)
            ]
        )
        for landmarks in ("random", "leverage")
    }
    assert errors["leverage"] < 0.5 * errors["random"]


def test_nystroem_takes_kernels_functions_matrices_and_sequences():
    kernel = RBF(0.3) + 0.1 * Linear()
    params = {"n_components": 25, "random_state": 1}
    expected = own.Nystroem(kernel, **params).fit_transform(X)
    K = kernel(X)
    given = own.Nystroem("precomputed", **params).fit(K)
    np.testing.assert_allclose(given.transform(K), expected, atol=1e-8)
    assert given.approximation_error_ == pytest.approx(own.Nystroem(kernel, **params).fit(X).approximation_error_, rel=1e-6)
    by_rows = own.Nystroem(lambda x, y: float(kernel([x], [y])[0, 0]), **params).fit(X)
    np.testing.assert_allclose(by_rows.transform(X[:4]), expected[:4], atol=1e-8)
    words = ["banana", "ananas", "car", "cart"]
    Z = own.Nystroem(Spectrum(2), n_components=4, random_state=0).fit_transform(words)
    np.testing.assert_allclose(Z @ Z.T, Spectrum(2)(words), atol=1e-5)


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"gamma=1.0 cannot be given with kernel="):
        own.Nystroem(RBF(1.0), gamma=1.0).fit(X)
    with pytest.raises(ValueError, match="landmarks='grid' is not valid"):
        own.Nystroem(landmarks="grid").fit(X)
    with pytest.raises(ValueError, match="landmarks='kmeans' needs dense rows"):
        own.Nystroem(landmarks="kmeans").fit(sp.csr_matrix(X))
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        own.Nystroem(n_components=200).fit(X)
    with pytest.raises(ValueError, match="you need to provide sample_interval"):
        own.AdditiveChi2Sampler(sample_steps=4).fit(X)
    with pytest.raises(ValueError, match=r"coef0=-1.0 is not valid"):
        own.PolynomialCountSketch(coef0=-1.0).fit(X)
    with pytest.raises(ValueError, match=r"the least is -1, and skewedness is 0.5"):
        own.SkewedChi2Sampler(skewedness=0.5).fit(X).transform(X - 1)
    assert own.SkewedChi2Sampler(skewedness=0.5).fit(X - 1).approximation_error_ is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_waves_have_the_same_bits_for_any_number_of_threads(dtype):
    random = np.random.RandomState(0)
    rows, weights, offsets = random.randn(700, 30), random.randn(30, 53), random.rand(53)
    rows, weights, offsets = (part.astype(dtype) for part in (rows, weights, offsets))
    found = []
    for n_threads in (1, 3):
        out = np.empty((700, 53), dtype=dtype)
        kernels.fourier_features(rows, weights, offsets, 0.5, out, n_threads)
        found.append(out)
    np.testing.assert_array_equal(found[0], found[1])
    exact = 0.5 * np.cos(rows.astype(float) @ weights.astype(float) + offsets)
    np.testing.assert_allclose(found[0], exact, atol=1e-13 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("kernel", [RBF(0.1), RBF(0.01), Linear(), Polynomial(2), Laplacian(0.1)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_with_the_kernel_are_those_of_its_values_and_have_the_same_bits_for_any_number_of_threads(kernel, dtype):
    random = np.random.RandomState(0)
    X, rows, right = (random.randn(*shape).astype(dtype) for shape in ((130, 20), (300, 20), (130, 70)))
    exact = kernel.on(X).against(rows).astype(np.float64) @ right.astype(np.float64)
    products = [kernel.on(X, n_threads).times(rows, right) for n_threads in (1, 2, 5)]
    np.testing.assert_allclose(products[0], exact, atol=3e3 * np.finfo(dtype).eps * np.abs(exact).max())
    for other in products[1:]:
        np.testing.assert_array_equal(other, products[0])
    np.testing.assert_array_equal(kernel.on(X).times(rows[95:97], right), products[0][95:97])


@pytest.mark.parametrize("place", [41, -1, 1 << 40, np.nan])
def test_a_sketch_writes_to_no_place_that_is_not_there(place):
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = own.PolynomialCountSketch(n_components=41, random_state=0).fit(X)
    model.indexHash_ = model.indexHash_.astype(np.float64 if np.isnan(place) else np.int64)
    model.indexHash_[0, 0] = place
    with pytest.raises(ValueError, match="indexHash_ must hold whole numbers from 0 to n_components - 1 = 40"):
        model.transform(X)
