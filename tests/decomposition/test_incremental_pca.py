from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import IncrementalPCA as PeerIncrementalPCA

from mercer.decomposition import PCA, IncrementalPCA, _incremental_pca
from tests.decomposition.test_pca import table

NAMES = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "noise_variance_")


@pytest.fixture
def few_columns_are_many(monkeypatch):
    """Components stand for the rows seen, whatever the number of columns."""
    monkeypatch.setattr(_incremental_pca, "_MOST_COLUMNS", 0)


def assert_same(model, expected, names=NAMES, rtol=1e-8):
    for name in names:
        value = getattr(expected, name)
        np.testing.assert_allclose(getattr(model, name), value, rtol=rtol, atol=rtol * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 4, 10])
@pytest.mark.parametrize("batch_size", [None, 13, 100])
def test_parts_give_the_components_of_all_rows(batch_size, k, dtype):
    X = table(150, 10, offset=7.0, dtype=dtype)
    model = IncrementalPCA(k, batch_size=batch_size).fit(X)
    assert_same(model, PCA(k).fit(X), rtol=1e-3 if dtype == np.float32 else 1e-9)
    assert model.components_.dtype == dtype
    assert model.certificate_.converged
    assert model.n_samples_seen_ == 150


def test_parts_far_from_the_origin_and_from_one_another_lose_no_digits():
    X = table(200, 6, offset=1e8)
    X[100:] += 50.0
    model = IncrementalPCA(3)
    for first in range(0, 200, 40):
        model.partial_fit(X[first : first + 40])
    assert_same(model, PCA(3, svd_solver="full").fit(X), ("components_", "singular_values_", "explained_variance_"), rtol=1e-7)
    np.testing.assert_allclose(model.var_, X.var(axis=0), rtol=1e-9)


@pytest.mark.usefixtures("few_columns_are_many")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 4])
def test_components_that_stand_for_rows_are_those_of_the_peer(k, dtype):
    X = table(150, 12, offset=2.0, dtype=dtype)
    model = IncrementalPCA(k, batch_size=30).fit(X)
    peer = PeerIncrementalPCA(k, batch_size=30).fit(X)
    assert_same(model, peer, (*NAMES[:-1], "var_"), rtol=1e-3 if dtype == np.float32 else 1e-8)
    assert model.certificate_.converged
    # What is left out is the rest of the variance of all rows; the peer looks at what the last part has left.
    total = X.astype(np.float64).var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(model.explained_variance_.sum() + (12 - k) * model.noise_variance_, total, rtol=1e-5)


@pytest.mark.parametrize("is_exact", [True, False])
def test_fit_and_partial_fit_come_to_the_same(is_exact, monkeypatch):
    if not is_exact:
        monkeypatch.setattr(_incremental_pca, "_MOST_COLUMNS", 0)
    X = table(120, 8)
    whole, parts = IncrementalPCA(3, batch_size=40).fit(X), IncrementalPCA(3)
    for first in (0, 40, 80):
        parts.partial_fit(X[first : first + 40])
    assert_same(parts, whole, rtol=1e-12)
    again = parts.fit(X[:40])  # forgets
    assert again.n_samples_seen_ == 40
    assert_same(again, IncrementalPCA(3).fit(X[:40]), rtol=1e-12)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_sparse_rows_are_taken_in_batches(make):
    X = sp.random_array((90, 8), density=0.3, format="csr", rng=np.random.default_rng(0))
    model = IncrementalPCA(3, batch_size=20).fit(make(X))
    dense = IncrementalPCA(3, batch_size=20).fit(X.toarray())
    assert_same(model, dense)
    np.testing.assert_allclose(model.transform(make(X)), dense.transform(X.toarray()), atol=1e-12)
    with pytest.raises(TypeError, match="sparse"):
        model.partial_fit(make(X))


def test_single_rows_may_come_one_by_one():
    X = table(40, 3)
    model = IncrementalPCA(1)
    for row in X:
        model.partial_fit(row[None, :])
    assert_same(model, PCA(1).fit(X))


def test_one_row_has_no_variance():
    model = IncrementalPCA().partial_fit(table(1, 3))
    np.testing.assert_array_equal(model.explained_variance_, [0.0])


def test_whitened_scores_have_unit_variance():
    X = table(200, 6)
    scores = IncrementalPCA(3, whiten=True, batch_size=50).fit(X).transform(X)
    np.testing.assert_allclose(np.cov(scores, rowvar=False), np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    ("k", "shape", "message"),
    [(9, (20, 5), "n_features=5"), (5, (3, 8), "number of samples 3"), (0, (20, 5), "n_components=0")],
)
def test_more_components_than_there_can_be_are_refused(k, shape, message):
    model = IncrementalPCA(k)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(table(*shape))
    assert not hasattr(model, "components_")


def test_the_number_of_components_stays():
    model = IncrementalPCA(3).partial_fit(table(20, 5))
    with pytest.raises(ValueError, match="from 3 to 4"):
        model.set_params(n_components=4).partial_fit(table(20, 5))
    assert model.n_samples_seen_ == 20


@pytest.mark.parametrize("is_exact", [True, False])
def test_sums_that_overflow_are_an_error(is_exact, monkeypatch):
    if not is_exact:
        monkeypatch.setattr(_incremental_pca, "_MOST_COLUMNS", 0)
    with pytest.raises(ValueError, match="overflow"):
        IncrementalPCA(2).fit(table(30, 4) * 1e200)
