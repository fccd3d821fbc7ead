from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.decomposition import TruncatedSVD as PeerTruncatedSVD
from threadpoolctl import threadpool_limits

from mercer._trace import Status
from mercer.decomposition import TruncatedSVD
from mercer.decomposition._operators import operator_of
from tests.reference import components as naive

ALGORITHMS = ["arpack", "randomized"]


def counts(n, d, *, density=0.1, seed=0, dtype=np.float64):
    return sp.random_array((n, d), density=density, format="csr", rng=np.random.default_rng(seed), dtype=dtype)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(150, 40), (40, 150)])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_first_singular_vectors(n, d, is_sparse, dtype, algorithm):
    X = counts(n, d, dtype=dtype)
    _, singular, vectors = np.linalg.svd(X.toarray().astype(np.float64), full_matrices=False)
    model = TruncatedSVD(3, algorithm=algorithm, n_iter=150, random_state=0).fit(X if is_sparse else X.toarray())
    tol = 1e-3 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(model.singular_values_, singular[:3], rtol=tol)
    np.testing.assert_allclose(model.components_, naive.fixed_signs(vectors[:3]), atol=tol)
    assert model.components_.dtype == dtype
    assert model.certificate_.converged
    scores = model.transform(X)
    np.testing.assert_allclose(scores, X @ model.components_.T, atol=tol)
    np.testing.assert_allclose(model.explained_variance_, scores.var(axis=0), rtol=tol)
    total = X.toarray().var(axis=0).sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, scores.var(axis=0) / total, rtol=tol)
    np.testing.assert_allclose(model.inverse_transform(scores), scores @ model.components_, atol=tol)


@pytest.mark.parametrize("normalizer", ["auto", "QR", "LU", "none"])
@pytest.mark.parametrize(("n", "d"), [(150, 40), (40, 150)])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, lambda X: X.toarray()])
def test_random_starts_are_those_of_the_peer(make, n, d, normalizer):
    X = make(counts(n, d))
    params = {"random_state": 5, "n_iter": 3, "power_iteration_normalizer": normalizer}
    model, peer = TruncatedSVD(4, **params), PeerTruncatedSVD(4, **params)
    np.testing.assert_allclose(model.fit_transform(X), peer.fit_transform(X), atol=1e-9)
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), atol=1e-9)


def test_columns_that_depend_on_one_another_are_normalised_all_the_same():
    X = np.outer(np.arange(1.0, 41), np.arange(1.0, 13))  # of rank one: the Gram matrix of the directions is singular
    model = TruncatedSVD(2, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, [np.linalg.norm(X), 0], atol=1e-9 * np.linalg.norm(X))


def test_the_certificate_is_honest():
    X = np.random.RandomState(0).randn(300, 80)
    certificate = TruncatedSVD(8, n_iter=1, random_state=0).fit(X).certificate_
    assert certificate.status is Status.INEXACT
    assert certificate.residual > 1e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_bits_do_not_depend_on_the_number_of_threads(is_sparse, dtype):
    X = counts(2000, 500, dtype=dtype)
    X = X if is_sparse else X.toarray()

    def fitted(n_threads):
        with threadpool_limits(n_threads):
            model = TruncatedSVD(7, random_state=0)
            return model.fit_transform(X), model.components_

    for one, many in zip(fitted(1), fitted(4), strict=True):
        np.testing.assert_array_equal(one, many)


@pytest.mark.sampled(3)
@given(data=st.data())
@settings(max_examples=30)
def test_an_operator_is_the_centred_matrix(data):
    n, d, width = data.draw(st.integers(1, 80)), data.draw(st.integers(1, 80)), data.draw(st.integers(1, 70))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    random = np.random.RandomState(data.draw(st.integers(0, 99)))
    X = random.randn(n, d).astype(dtype) * (random.rand(n, d) < 0.3)
    centre = data.draw(st.sampled_from([np.zeros(d), random.randn(d)])).astype(dtype)
    form = data.draw(st.sampled_from([np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]))
    operator, A = operator_of(form(X), centre), X.astype(np.float64) - centre
    right, left = random.randn(d, width).astype(dtype), random.randn(n, width).astype(dtype)
    tol = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(operator.times(right), A @ right, atol=tol * np.sqrt(d))
    np.testing.assert_allclose(operator.times(right[:, ::2]), A @ right[:, ::2], atol=tol * np.sqrt(d))
    np.testing.assert_allclose(operator.transposed_times(left), A.T @ left, atol=tol * np.sqrt(n))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 11}, "n_features"),
        ({"n_components": 10, "algorithm": "arpack"}, "less than"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_iter": -1}, "n_iter=-1"),
        ({"algorithm": "lanczos"}, "algorithm='lanczos'"),
    ],
)
def test_what_cannot_be_fitted_says_why_and_leaves_nothing(params, message):
    model = TruncatedSVD(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(counts(30, 10))
    assert not hasattr(model, "components_")


def test_scores_of_another_width_are_refused():
    model = TruncatedSVD(2, random_state=0).fit(counts(30, 10))
    with pytest.raises(ValueError, match="expecting 2"):
        model.inverse_transform(np.ones((3, 4)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_values_that_are_not_finite_are_found(algorithm):
    X = counts(30, 10)
    X.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        TruncatedSVD(2, algorithm=algorithm).fit(X)
