"""Distances and kernels equal a direct computation, near cancellation too, whatever the layout and precision of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics.pairwise as peer

from mercer.metrics import pairwise
from mercer.metrics.pairwise import euclidean_distances, kl_divergence, manhattan_distances, rbf_kernel
from mercer.preprocessing import MinMaxScaler, StandardScaler
from tests.reference import pairwise as reference

POSITIVE = ("chi2_kernel", "additive_chi2_kernel", "kl_divergence")
OF_SPARSE = tuple(name for name in reference.FUNCTIONS if name not in POSITIVE)


def _rows(n, d, dtype=np.float64, seed=0, *, positive=False):
    rows = np.random.RandomState(seed).randn(n, d)
    return (np.abs(rows) if positive else rows).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 12, 13, 40])
@pytest.mark.parametrize("name", reference.FUNCTIONS)
def test_values_equal_a_direct_computation(name, d, dtype):
    if name == "kl_divergence" and d == 1:
        return
    X, Y = (_rows(n, d, dtype, n, positive=name in POSITIVE) for n in (37, 21))
    ours = getattr(pairwise, name)(X, Y)
    assert ours.dtype == dtype
    expected = reference.values(X, Y, reference.FUNCTIONS[name])
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        ours, expected, rtol=1e-12 if dtype == np.float64 else 2e-5, atol=scale * np.finfo(dtype).eps * d
    )


@pytest.mark.parametrize("name", [name for name in reference.FUNCTIONS if name != "kl_divergence"])
def test_one_matrix_is_compared_with_itself(name):
    X = _rows(70, 20, positive=name in POSITIVE)
    ours = getattr(pairwise, name)(X)
    np.testing.assert_allclose(ours, getattr(pairwise, name)(X, X.copy()), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(ours, ours.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", OF_SPARSE)
def test_sparse_rows_give_what_dense_ones_give(name, dtype):
    X, Y = _rows(40, 30, dtype), _rows(25, 30, dtype, 1)
    X[np.abs(X) < 1], Y[np.abs(Y) < 1] = 0, 0
    expected = getattr(pairwise, name)(X, Y)
    for left, right in ((sp.csr_array(X), sp.csr_matrix(Y)), (sp.coo_array(X), Y), (X, sp.csc_array(Y))):
        ours = getattr(pairwise, name)(left, right)
        assert ours.dtype == dtype
        np.testing.assert_allclose(
            ours, expected, rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-6 if dtype == np.float32 else 1e-14
        )


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], lambda X: X[::-1][::-1]])
def test_layout_does_not_matter(layout):
    X = _rows(30, 17)
    for name in ("euclidean_distances", "manhattan_distances", "rbf_kernel"):
        np.testing.assert_array_equal(getattr(pairwise, name)(layout(X)), getattr(pairwise, name)(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_near_duplicates_far_from_zero_keep_their_digits(d, dtype, is_sparse):
    base = (1000 * _rows(30, d) + 1e6).astype(dtype)
    twins = base + _rows(30, d, seed=1).astype(dtype) * dtype(1e-4 if dtype == np.float64 else 1)
    X = np.vstack([base, twins, base])
    expected = reference.values(X, X, reference.FUNCTIONS["euclidean_distances"])
    given = sp.csr_array(X) if is_sparse else X
    for ours in (euclidean_distances(given), euclidean_distances(given, given.copy())):
        np.testing.assert_allclose(ours, expected, rtol=1e-13 if dtype == np.float64 else 2e-6)
        np.testing.assert_array_equal(np.diag(ours), 0)
    assert (np.diag(ours[60:, :30]) == 0).all()


def test_a_large_gamma_multiplies_no_rounding():
    base = 1e5 + _rows(20, 30)
    X = np.vstack([base, base + 1e-4 * _rows(20, 30, seed=1)])
    squares = reference.values(X, X, reference.squared)
    np.testing.assert_allclose(rbf_kernel(X, gamma=1e6), np.exp(-1e6 * squares), rtol=1e-9, atol=1e-300)


def test_almost_parallel_rows_keep_their_angle():
    X = _rows(20, 5)
    Y = 3 * X + 1e-9 * _rows(20, 5, seed=1)
    ours = np.diag(pairwise.cosine_distances(X, Y))
    residual = Y - (Y * X).sum(1, keepdims=True) / (X * X).sum(1, keepdims=True) * X
    expected = (residual**2).sum(1) / (Y**2).sum(1) / 2
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


def test_the_worked_example():
    X = np.array([[0.3, 0.89, 232], [-0.1, 0.23, 652], [0.2, 0.7, 122], [0.3, -0.8, 232]])
    assert euclidean_distances(X, squared=True)[0, 1] == pytest.approx(176400.5956, abs=1e-10)
    assert manhattan_distances(X)[0, 1] == pytest.approx(421.06, abs=1e-10)
    standardised = np.array([[0.66, 0.84, -0.33], [-1.45, -0.03, 1.46], [0.13, 0.59, -0.80], [0.66, -1.40, -0.33]])
    np.testing.assert_allclose(StandardScaler(ddof=1).fit_transform(X), standardised, atol=0.005)
    scaled = np.array([[1, 1, 0.21], [0, 0.61, 1], [0.75, 0.89, 0], [1, 0, 0.21]])
    np.testing.assert_allclose(MinMaxScaler().fit_transform(X), scaled, atol=0.005)


def test_rows_of_zeros_have_no_direction():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(pairwise.cosine_distances(X), peer.cosine_distances(X), atol=1e-15)
    np.testing.assert_allclose(pairwise.cosine_distances(X, X.copy()), peer.cosine_distances(X, X.copy()), atol=1e-15)


@pytest.mark.parametrize("squared", [False, True])
def test_missing_values_are_left_out(squared):
    X, Y = _rows(30, 6), _rows(20, 6, seed=1)
    X[np.random.RandomState(0).rand(*X.shape) < 0.4] = np.nan
    X[0] = np.nan
    ours = pairwise.nan_euclidean_distances(X, Y, squared=squared)
    np.testing.assert_allclose(ours, peer.nan_euclidean_distances(X, Y, squared=squared), rtol=1e-9)
    marked = np.where(np.isnan(X), -7.0, X)
    np.testing.assert_array_equal(pairwise.nan_euclidean_distances(marked, Y, squared=squared, missing_values=-7), ours)
    assert not np.isnan(marked).any()


def test_divergences_of_distributions():
    assert kl_divergence([0.5, 0.5], [0.75, 0.25]) == pytest.approx(0.5 * np.log(4 / 3))
    assert kl_divergence([1, 2, 3], [2, 4, 6]) == 0
    assert kl_divergence([1, 0], [1, 1]) == pytest.approx(np.log(2))
    assert kl_divergence([1, 1], [1, 0]) == np.inf
    np.testing.assert_array_equal(np.diag(kl_divergence(_rows(6, 4, positive=True))), 0)
    for bad in ([[1.0, -1.0]], [[0.0, 0.0]], [[np.nan, 1.0]]):
        with pytest.raises(ValueError, match=r"P|NaN"):
            kl_divergence(bad, [[1.0, 1.0]])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev", "canberra", "haversine", "nan_euclidean"])
def test_chunks_are_the_rows_of_the_whole(metric):
    X = _rows(50, 2)
    whole = pairwise.pairwise_distances(X, metric=metric)
    np.testing.assert_allclose(whole, peer.pairwise_distances(X, metric=metric), atol=1e-12)
    chunks = list(pairwise.pairwise_distances_chunked(X, metric=metric, working_memory=0.002))
    assert len(chunks) > 5
    np.testing.assert_allclose(np.vstack(chunks), whole, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "l1", "chebyshev", "cosine", "canberra"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_nearest_row_is_that_of_the_matrix(metric, axis):
    X, Y = _rows(60, 4), np.vstack([_rows(30, 4, seed=1)] * 2)  # equally near ones: the first
    distances = peer.pairwise_distances(X, Y, metric=metric)
    rows, least = pairwise.pairwise_distances_argmin_min(X, Y, metric=metric, axis=axis)
    np.testing.assert_allclose(least, distances.min(axis=axis), rtol=1e-10)
    if axis == 1:
        np.testing.assert_array_equal(rows, distances[:, :30].argmin(axis=1))
    np.testing.assert_array_equal(pairwise.pairwise_distances_argmin(X, Y, metric=metric, axis=axis), rows)


@pytest.mark.parametrize("name", sorted(pairwise.kernel_metrics()))
def test_kernels_by_name(name):
    X = _rows(12, 5, positive=True)
    ours = pairwise.pairwise_kernels(X, metric=name, filter_params=True, gamma=0.3, degree=2, coef0=0.5, other=1)
    np.testing.assert_allclose(
        ours, peer.pairwise_kernels(X, metric=name, filter_params=True, gamma=0.3, degree=2, coef0=0.5, other=1), rtol=1e-12
    )


def test_the_names_are_those_of_the_peer():
    assert pairwise.distance_metrics().keys() - {"precomputed"} == peer.distance_metrics().keys() - {"precomputed"}
    assert pairwise.kernel_metrics().keys() == peer.kernel_metrics().keys()


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 2.5])
def test_polynomials_of_any_degree(degree):
    X = _rows(9, 4, positive=True)
    np.testing.assert_allclose(
        pairwise.polynomial_kernel(X, degree=degree), peer.polynomial_kernel(X, degree=degree), rtol=1e-12
    )


def test_threads_change_no_bit():
    X, Y = _rows(700, 30), _rows(500, 30, seed=1)
    for metric in ("euclidean", "manhattan"):
        one = pairwise.pairwise_distances(X, Y, metric=metric, n_jobs=1)
        np.testing.assert_array_equal(pairwise.pairwise_distances(X, Y, metric=metric, n_jobs=2), one)


def test_wrong_values_are_named():
    with pytest.raises(ValueError, match="negative"):
        pairwise.chi2_kernel([[1.0, -1.0]])
    with pytest.raises(ValueError, match="gamma="):
        rbf_kernel([[1.0]], gamma=-1)
    with pytest.raises(ValueError, match="X_norm_squared"):
        euclidean_distances([[1.0], [2.0]], X_norm_squared=np.ones(5))
    with pytest.raises(ValueError, match="NaN"):
        euclidean_distances([[np.nan]])
