from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.decomposition import PCA as PeerPCA
from threadpoolctl import threadpool_limits

from mercer._trace import Status
from mercer.decomposition import PCA
from mercer.decomposition._dimension import likeliest_dimension, log_evidence
from tests.reference import components as naive

EXACT = ["auto", "full", "covariance_eigh"]
SOLVERS = [*EXACT, "arpack", "randomized"]
SHAPES = [(60, 1), (200, 5), (400, 30), (31, 30), (30, 30), (20, 45), (7, 300), (2, 3)]


def table(n, d, *, seed=0, offset=0.0, dtype=np.float64):
    """Correlated columns of different scales."""
    random = np.random.RandomState(seed)
    return (random.randn(n, d) @ random.randn(d, d) * np.linspace(1, 3, d) + offset).astype(dtype)


def layouts(X):
    wide = np.zeros((X.shape[0], 2 * X.shape[1]), dtype=X.dtype)
    wide[:, ::2] = X
    return {"F": np.asfortranarray(X), "strided": wide[:, ::2], "reversed": X[::-1].copy()[::-1]}


def assert_is(model, expected, k, rtol=1e-9):
    scale = expected.singular[0]
    np.testing.assert_allclose(model.mean_, expected.mean, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(model.singular_values_, expected.singular[:k], rtol=rtol, atol=1e-7 * scale)
    np.testing.assert_allclose(model.explained_variance_, expected.variances[:k], rtol=rtol, atol=1e-12 * expected.variances[0])
    n_certain = min(k, int((expected.singular > 1e-6 * scale).sum()))  # where nothing varies, any direction does
    np.testing.assert_allclose(model.components_[:n_certain], expected.components[:n_certain], atol=1e-6)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_all_components_are_those_of_the_singular_value_decomposition(n, d, solver):
    X = table(n, d, offset=3.0)
    expected = naive.principal_components(X)
    model = PCA(svd_solver=solver).fit(X)
    assert_is(model, expected, min(n, d))
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert model.noise_variance_ == 0
    assert model.certificate_.converged


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "d"), [(300, 12), (40, 120), (50, 50)])
def test_the_first_components_by_every_solver(n, d, solver):
    X = table(n, d)
    expected = naive.principal_components(X)
    model = PCA(4, svd_solver=solver, iterated_power=80, random_state=0).fit(X)
    assert_is(model, expected, 4)
    np.testing.assert_allclose(model.noise_variance_, expected.variances[4:].mean())
    np.testing.assert_allclose(model.explained_variance_ratio_, expected.variances[:4] / expected.variances.sum())
    np.testing.assert_allclose(model.fit_transform(X), naive.centred(X) @ expected.components[:4].T, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "d"), [(500, 8), (20, 60)])
def test_rows_far_from_the_origin_lose_no_digits(n, d, solver):
    X = table(n, d, offset=1e8)
    expected = naive.principal_components(X)
    model = PCA(5, svd_solver=solver, iterated_power=80, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, expected.singular[:5], rtol=1e-9)
    np.testing.assert_allclose(model.components_, expected.components[:5], atol=1e-7)
    np.testing.assert_allclose(model.transform(X).std(axis=0), np.sqrt(expected.variances[:5] * (n - 1) / n), rtol=1e-9)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize(("n", "d", "rank"), [(200, 10, 3), (40, 15, 3), (12, 40, 4), (50, 6, 0)])
def test_rows_in_a_subspace_have_that_many_components(n, d, rank, solver):
    random = np.random.RandomState(0)
    X = random.randn(n, rank) @ random.randn(rank, d) + random.randn(d)
    model, expected = PCA(svd_solver=solver).fit(X), naive.principal_components(X)
    k = min(n, d)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(k), atol=1e-10)
    largest = expected.singular[0] if rank else 1.0
    np.testing.assert_allclose(model.singular_values_[:rank], expected.singular[:rank], rtol=1e-10)
    # A Gram matrix knows squares alone: it tells zero from the root of the rounding of the largest, and no better.
    assert (model.singular_values_[rank:] <= (1e-6 if solver == "covariance_eigh" or n >= 10 * d else 1e-12) * largest).all()
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, X, atol=1e-9)
    whitened = PCA(svd_solver=solver, whiten=True).fit_transform(X)
    assert np.isfinite(whitened).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_largest_entry_of_each_component_is_positive(solver):
    components = PCA(5, svd_solver=solver, random_state=0).fit(table(80, 9)).components_
    assert (np.take_along_axis(components, np.abs(components).argmax(axis=1)[:, None], axis=1) > 0).all()


@pytest.mark.sampled(3)
@given(data=st.data())
@settings(max_examples=30)
def test_the_laws_of_principal_components(data):
    n, d = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 40))
    k = data.draw(st.integers(1, min(n, d)))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    scales = 10.0 ** data.draw(st.integers(-3, 0)) ** np.arange(d).clip(max=3)
    X = (
        np.random.RandomState(data.draw(st.integers(0, 99))).randn(n, d) * scales + data.draw(st.sampled_from([0, 50]))
    ).astype(dtype)
    solver = data.draw(st.sampled_from(EXACT))
    model = PCA(k, svd_solver=solver, whiten=data.draw(st.booleans())).fit(X)
    tol = 1e-3 if dtype == np.float32 else 1e-8
    variances = model.explained_variance_.astype(np.float64)
    assert model.components_.dtype == model.transform(X).dtype == dtype
    # Orthonormal directions, in the order of their variances, which with the noise make up the whole.
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(k), atol=tol)
    assert (np.diff(variances) <= tol * variances[0]).all()
    total = X.astype(np.float64).var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(variances.sum() + model.noise_variance_ * (min(n, d) - k), total, rtol=tol)
    # The eigen equation, and what is left of the rows: the least that k dimensions can leave (Eckart and Young).
    S = np.cov(X.astype(np.float64), rowvar=False).reshape(d, d)
    rest = model.components_ @ S - variances[:, None] * model.components_
    assert np.abs(rest).max() <= tol * variances[0]
    assert model.certificate_.residual <= model.certificate_.tol
    left = X - model.inverse_transform(model.transform(X))
    least = (naive.principal_components(X).singular[k:] ** 2).sum()
    np.testing.assert_allclose((left.astype(np.float64) ** 2).sum(), least, rtol=tol, atol=tol * total * n)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["F", "strided", "reversed"])
@pytest.mark.parametrize(("n", "d"), [(300, 20), (20, 90), (100, 130)])
def test_memory_order_does_not_change_the_result(layout, dtype, n, d):
    X = table(n, d, offset=2.0, dtype=dtype)
    expected, other = PCA(5).fit(X), layouts(X)[layout]
    before = other.copy()
    model = PCA(5, copy=False).fit(other)
    tol = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(model.components_, expected.components_, atol=tol)
    np.testing.assert_allclose(model.transform(other), expected.transform(X), rtol=tol, atol=tol * np.abs(X).max())
    np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("width", [1, 3, 9, 20, 33, 61])
@pytest.mark.parametrize("n", [1, 5, 64, 130])
def test_scores_are_products_with_the_centred_rows(n, width, dtype):
    X = table(300, 70, offset=100.0, dtype=dtype)
    model = PCA(width).fit(X)
    expected = (X[:n].astype(np.float64) - model.mean_) @ model.components_.T.astype(np.float64)
    tol = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(model.transform(X[:n]), expected, atol=tol * np.abs(expected).max())
    np.testing.assert_array_equal(model.transform(X[:n]), model.transform(X)[:n])


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_give_what_dense_ones_give(make, solver, dtype):
    X = sp.random_array((120, 25), density=0.2, format="csr", rng=np.random.default_rng(0), dtype=dtype)
    dense = PCA(4, svd_solver="full").fit(X.toarray())
    model = PCA(4, svd_solver=solver, random_state=0).fit(make(X))
    tol = 1e-4 if dtype == np.float32 else 1e-9
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(model, name), getattr(dense, name), atol=tol)
    np.testing.assert_allclose(model.transform(make(X)), dense.transform(X.toarray()), atol=tol)
    assert model.transform(make(X)).dtype == dtype
    np.testing.assert_allclose(
        model.score_samples(make(X)), dense.score_samples(X.toarray()), rtol=1e-3 if dtype == np.float32 else 1e-9
    )


def test_wide_sparse_rows_are_never_made_dense():
    X = sp.random_array((60, 1_000_000), density=2e-5, format="csr", rng=np.random.default_rng(0))
    model = PCA(2, random_state=0).fit(X)  # 480 MB if it were dense
    assert "Lanczos" in model.certificate_.method
    assert model.certificate_.converged


@pytest.mark.parametrize("solver", ["full", "randomized"])
def test_solvers_of_dense_rows_refuse_sparse_ones(solver):
    with pytest.raises(TypeError, match="svd_solver"):
        PCA(2, svd_solver=solver).fit(sp.eye_array(10, format="csr"))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (15, 40)])
def test_a_share_of_the_variance_is_exceeded_by_as_few_components_as_can(share, n, d):
    X = table(n, d)
    shares = naive.principal_components(X).variances
    shares = np.cumsum(shares / shares.sum())
    model = PCA(share).fit(X)
    assert model.n_components_ == 1 + int((shares <= share).sum())
    assert model.components_.shape == (model.n_components_, d)


def test_the_likeliest_dimension_is_minkas():
    random = np.random.RandomState(0)
    for _ in range(5):
        values, n = np.sort(random.gamma(1.0, size=9))[::-1] + 0.1, 80
        expected = [naive.minka_log_evidence(values.tolist(), k, n) for k in range(1, 9)]
        np.testing.assert_allclose([log_evidence(values, k, n) for k in range(1, 9)], expected)
        assert likeliest_dimension(values, n) == 1 + int(np.argmax(expected))
    X = random.randn(300, 3) @ random.randn(3, 8) * 3 + random.randn(300, 8)
    assert PCA("mle").fit(X).n_components_ == 3 == PeerPCA("mle", svd_solver="full").fit(X).n_components_


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_the_likelihood_is_that_of_the_gaussian_model(k, whiten):
    X = table(200, 6, offset=4.0)
    model, expected = PCA(k, whiten=whiten).fit(X), naive.principal_components(X)
    np.testing.assert_allclose(model.score_samples(X[:20]), naive.log_densities(X[:20], expected, k), rtol=1e-9)
    np.testing.assert_allclose(model.score(X), naive.log_densities(X, expected, k).mean(), rtol=1e-9)
    np.testing.assert_allclose(model.get_covariance() @ model.get_precision(), np.eye(6), atol=1e-8)


def test_all_components_have_the_likelihood_of_the_covariance():
    X = table(100, 4)
    model = PCA().fit(X)
    np.testing.assert_allclose(model.get_covariance(), np.cov(X, rowvar=False), rtol=1e-9)
    peer = PeerPCA(svd_solver="full").fit(X)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-9)


def test_a_singular_model_has_no_likelihood():
    model = PCA().fit(table(5, 20))
    with pytest.raises(ValueError, match="singular"):
        model.score(table(5, 20))
    with pytest.raises(ValueError, match="fewer components"):
        model.get_precision()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "d"), [(300, 7), (30, 50)])
def test_whitened_scores_are_uncorrelated_with_unit_variance(n, d, solver):
    X = table(n, d, offset=5.0)
    model = PCA(4, whiten=True, svd_solver=solver, iterated_power=80, random_state=0).fit(X)
    scores = model.transform(X)
    np.testing.assert_allclose(np.cov(scores, rowvar=False), np.eye(4), atol=1e-6)
    plain = PCA(4, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.inverse_transform(scores), plain.inverse_transform(plain.transform(X)), atol=1e-4)
    np.testing.assert_allclose(
        model.get_covariance(), plain.get_covariance(), rtol=1e-6, atol=1e-6 * plain.explained_variance_[0]
    )


@pytest.mark.parametrize("normalizer", ["auto", "QR", "LU", "none"])
@pytest.mark.parametrize(("n", "d"), [(200, 40), (40, 200)])
def test_random_starts_are_those_of_the_peer(n, d, normalizer):
    random = np.random.RandomState(1)
    X = random.randn(n, 6) @ random.randn(6, d) * 3 + random.randn(n, d)
    params = {"svd_solver": "randomized", "random_state": 3, "iterated_power": 3, "power_iteration_normalizer": normalizer}
    model, peer = PCA(4, **params).fit(X), PeerPCA(4, **params).fit(X)
    np.testing.assert_allclose(model.components_, peer.components_, atol=1e-9)


def test_the_certificate_of_random_starts_is_honest():
    X = np.random.RandomState(0).randn(200, 100)  # no spectrum to speak of: power iterations are slow
    certificate = PCA(10, svd_solver="randomized", iterated_power=1, random_state=0).fit(X).certificate_
    assert certificate.status is Status.INEXACT
    assert certificate.residual > 1e-4
    better = PCA(10, svd_solver="randomized", iterated_power=300, random_state=0).fit(X).certificate_
    assert better.converged
    assert better.residual < 1e-10


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "d"), [(3000, 40), (60, 3000)])
def test_bits_do_not_depend_on_the_number_of_threads(n, d, solver, dtype):
    X = table(n, min(d, 40), dtype=dtype) if n > d else np.random.RandomState(0).randn(n, d).astype(dtype)

    def fitted(n_threads):
        with threadpool_limits(n_threads):
            model = PCA(7, svd_solver=solver, random_state=0).fit(X)
            return model.components_, model.explained_variance_, model.transform(X)

    for one, many in zip(fitted(1), fitted(4), strict=True):
        np.testing.assert_array_equal(one, many)


def test_no_component_is_a_model_too():
    X = table(30, 4)
    model = PCA(0).fit(X)
    assert model.transform(X).shape == (30, 0)
    np.testing.assert_allclose(model.inverse_transform(np.empty((2, 0))), [X.mean(axis=0)] * 2)
    np.testing.assert_allclose(model.noise_variance_, X.var(axis=0, ddof=1).mean())


@pytest.mark.parametrize(
    ("params", "shape", "message"),
    [
        ({"n_components": 6}, (20, 5), "n_components=6 must be between 0 and"),
        ({"n_components": 5, "svd_solver": "arpack"}, (20, 5), "strictly less"),
        ({"n_components": 0, "svd_solver": "randomized"}, (20, 5), "between 1 and"),
        ({"n_components": "mle"}, (5, 20), "n_samples >= n_features"),
        ({"n_components": "mle", "svd_solver": "arpack"}, (20, 5), "cannot be a string"),
        ({"n_components": 1.5}, (20, 5), "n_components=1.5"),
        ({"svd_solver": "power"}, (20, 5), "svd_solver='power'"),
        ({}, (1, 5), "n_samples=1"),
    ],
)
def test_what_cannot_be_fitted_says_why_and_leaves_nothing(params, shape, message):
    model = PCA(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(table(*shape))
    assert not hasattr(model, "components_")
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_found(solver, bad):
    X = table(30, 4)
    model = PCA(2, svd_solver=solver).fit(X)
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PCA(2, svd_solver=solver).fit(X)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.transform(X)


@pytest.mark.parametrize("solver", SOLVERS)
def test_sums_that_overflow_are_an_error(solver):
    with pytest.raises(ValueError, match=r"[Oo]verflow|too large"):
        PCA(2, svd_solver=solver).fit(table(30, 4) * 1e200)
