"""Scores of single columns: against textbooks, SciPy and scikit-learn, dense and sparse, and where nothing is defined."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
import sklearn.feature_selection as peer
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_classification

from mercer.feature_selection import (
    chi2,
    f_classif,
    f_oneway,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
    r_regression,
)
from tests.reference import selection as textbook


@st.composite
def tables(draw):
    """Rows with classes and targets: of any offset, some columns of few values."""
    random = np.random.RandomState(draw(st.integers(0, 2**31)))
    n, d, k = draw(st.integers(8, 60)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    X = random.randn(n, d) * 10.0 ** random.randint(-3, 4, size=d) + draw(st.sampled_from([0.0, 1.0, 1000.0]))
    labels = np.concatenate([np.arange(k), random.randint(k, size=n - k)])
    X[:, 0] += labels
    return X, labels, X @ random.randn(d) + random.randn(n)


@settings(max_examples=30, deadline=None)
@given(tables())
def test_the_analysis_of_variance_is_scipys(table):
    X, labels, _ = table
    expected = scipy.stats.f_oneway(*(X[labels == k] for k in np.unique(labels)))
    f, p = f_classif(X, labels.astype(str))
    np.testing.assert_allclose(f, expected.statistic, rtol=1e-7)
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-6, atol=1e-300)
    np.testing.assert_allclose(f_oneway(*(X[labels == k] for k in np.unique(labels)))[0], f, rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(tables(), st.booleans())
def test_correlations_and_their_tests_are_the_textbooks(table, center):
    X, _, y = table
    A, b = (X - X.mean(axis=0), y - y.mean()) if center else (X, y)  # the peer's sums about zero lose digits
    expected = A.T @ b / np.sqrt((A**2).sum(axis=0) * (b @ b))
    np.testing.assert_allclose(r_regression(X, y, center=center), expected, atol=1e-9)
    f, p = f_regression(X, y, center=center)
    n_free = len(y) - 2 if center else len(y) - 1
    np.testing.assert_allclose(f, expected**2 / (1 - expected**2) * n_free, rtol=1e-6)
    np.testing.assert_allclose(p, scipy.stats.f.sf(f, 1, n_free), rtol=1e-6, atol=1e-300)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(r_regression(centred, b, center=center), peer.r_regression(centred, b, center=center), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_sparse_rows_score_as_the_same_dense_rows(kind, dtype):
    random = np.random.RandomState(0)
    X = (random.rand(120, 8) * (random.rand(120, 8) < 0.3)).astype(dtype)
    labels, y = random.randint(3, size=120), random.randn(120)
    for score, target in ((f_classif, labels), (chi2, labels), (f_regression, y)):
        for dense, sparse in zip(score(X, target), score(kind(X), target), strict=True):
            np.testing.assert_allclose(sparse, dense, rtol=1e-5 if dtype == np.float32 else 1e-10)
    np.testing.assert_allclose(r_regression(kind(X), y, center=False), r_regression(X, y, center=False), rtol=1e-5)


def test_columns_far_from_zero_keep_their_digits():
    random = np.random.RandomState(0)
    X, labels = random.randn(200, 3), random.randint(2, size=200)
    near, far = f_classif(X, labels)[0], f_classif(X + 1e9, labels)[0]
    np.testing.assert_allclose(far, near, rtol=1e-4)
    np.testing.assert_allclose(r_regression(X + 1e9, labels), r_regression(X, labels), atol=1e-5)


def test_a_constant_column_has_no_effect():
    X = np.column_stack([np.full(20, 0.1), np.arange(20.0)])
    labels = np.arange(20) % 2
    with pytest.warns(UserWarning, match=r"Features \[0\] are constant"):
        f, p = f_classif(X, labels)
    assert (f[0], p[0]) == (0.0, 1.0)
    assert f_regression(X, labels)[0][0] == 0.0
    assert np.isnan(r_regression(X, labels, force_finite=False)[0])


def test_a_perfect_correlation_is_the_largest_number_or_infinity():
    y = np.arange(10.0)
    X = np.column_stack([3 - 0.1 * y, y**2])
    f, p = f_regression(X, y)
    assert (f[0], p[0]) == (np.finfo(np.float64).max, 0.0)
    assert f_regression(X, y, force_finite=False)[0][0] == np.inf
    assert r_regression(X, y)[0] == -1.0


def test_counts_against_classes_are_tested_as_by_scipy():
    random = np.random.RandomState(0)
    X, labels = random.poisson(2.0, size=(200, 5)), random.randint(3, size=200)
    statistic, p = chi2(X, labels)
    shares = np.bincount(labels) / 200
    for j in range(5):
        observed = np.bincount(labels, weights=X[:, j])
        expected = scipy.stats.chisquare(observed, shares * X[:, j].sum())
        assert statistic[j] == pytest.approx(expected.statistic)
        assert p[j] == pytest.approx(expected.pvalue)


def test_what_is_no_count_is_refused():
    with pytest.raises(ValueError, match=r"must be non-negative; the least value is -1"):
        chi2([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match="1 class only"):
        f_classif([[1.0], [2.0]], ["a", "a"])


# ---- mutual information


@settings(max_examples=20, deadline=None)
@given(tables(), st.integers(1, 4))
def test_mutual_information_is_the_textbooks(table, k):
    X, labels, y = table
    y = y - y.mean()
    X = X - X.mean(axis=0)  # the noise grows with the size of the values
    of_classes = mutual_info_classif(X, labels, n_neighbors=k, random_state=0)
    of_numbers = mutual_info_regression(X, y, n_neighbors=k, random_state=0)
    y = y / y.std()
    for j, x in enumerate((X / X.std(axis=0)).T):  # the noise is too small to change who is near whom
        assert of_classes[j] == pytest.approx(textbook.mutual_information_with_classes(x, labels, k), abs=1e-8)
        assert of_numbers[j] == pytest.approx(textbook.mutual_information_of_numbers(x, y, k), abs=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("discrete", [False, [0, 2], np.array([True, False, True, False, False])])
def test_mutual_information_is_the_peers_to_the_last_digits(discrete, dtype):
    random = np.random.RandomState(0)
    X = random.randn(400, 5).astype(dtype)
    X[:, [0, 2]] = random.randint(4, size=(400, 2))
    X[:, 3] = np.round(X[:, 3], 1)  # equal values, which the noise keeps apart
    y = X[:, 0] + X[:, 1] + random.randn(400)
    labels = np.where(y > 0, "a", "b")
    labels[3] = "alone"
    options = {"discrete_features": discrete, "random_state": 3}
    ours, theirs = mutual_info_classif(X, labels, **options), peer.mutual_info_classif(X, labels, **options)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    ours, theirs = mutual_info_regression(X, y, **options), peer.mutual_info_regression(X, y, **options)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_mutual_information_of_sparse_counts_is_that_of_dense_ones():
    random = np.random.RandomState(0)
    X = random.poisson(0.4, size=(300, 6)).astype(float)
    labels = (X[:, 0] + random.randint(2, size=300) > 1).astype(int)
    expected = peer.mutual_info_classif(X, labels, discrete_features=True)
    explicit = sp.csr_matrix(X)
    explicit.data[:3] = 0  # zeros that are stored
    np.testing.assert_allclose(mutual_info_classif(sp.csc_matrix(X), labels), expected, atol=1e-12)
    np.testing.assert_allclose(
        mutual_info_classif(explicit, labels),
        mutual_info_classif(explicit.toarray(), labels, discrete_features=True),
        atol=1e-12,
    )
    y = random.randn(300)
    np.testing.assert_allclose(
        mutual_info_regression(sp.csr_matrix(X), y, random_state=0),
        peer.mutual_info_regression(sp.csr_matrix(X), y, random_state=0),
        atol=1e-12,
    )


def test_mutual_information_leaves_X_alone_and_takes_any_number_of_jobs():
    X, y = make_classification(200, random_state=0)
    before = X.copy()
    one = mutual_info_classif(X, y, copy=False, random_state=0)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(mutual_info_classif(X, y, random_state=0, n_jobs=2), one)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discrete_features": [True, False]}, "as a mask it must have 3 values"),
        ({"discrete_features": [1, 7]}, "numbers of columns below 3"),
        ({"discrete_features": "manual"}, "'auto'"),
        ({"n_neighbors": 0}, "an integer >= 1"),
    ],
)
def test_wrong_arguments_of_mutual_information_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        mutual_info_classif(np.random.RandomState(0).randn(20, 3), np.arange(20) % 2, **options)


def test_sparse_columns_are_discrete():
    with pytest.raises(ValueError, match=r"Sparse matrix `X` can't have continuous features"):
        mutual_info_regression(sp.eye(10, format="csr"), np.arange(10.0), discrete_features=[0])
