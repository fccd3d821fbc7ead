"""Imputation by the nearest rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import impute as peer

from mercer.impute import KNNImputer, _knn
from tests.reference import votes as reference


def with_holes(seed, n, d, share=0.3):
    random = np.random.RandomState(seed)
    X = random.randn(n, d)
    X[random.rand(n, d) < share] = np.nan
    return X


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 30),
    d=st.integers(1, 5),
    k=st.integers(1, 6),
    weights=st.sampled_from(["uniform", "distance"]),
)
def test_values_are_those_of_the_textbook(seed, n, d, k, weights):
    rows, new = with_holes(seed, n, d), with_holes(seed + 1, 6, d)
    has_values = ~np.isnan(rows).all(axis=0)
    filled = KNNImputer(n_neighbors=k, weights=weights, keep_empty_features=True).fit(rows).transform(new)
    expected = reference.impute(np.where(has_values, new, 0.0), np.where(has_values, rows, 0.0), k, weights)
    if not has_values.all():  # empty columns are kept, as zeros, but are no part of the distances
        expected = reference.impute(new[:, has_values], rows[:, has_values], k, weights) if has_values.any() else new[:, :0]
        assert not filled[:, ~has_values].any()
    np.testing.assert_allclose(filled[:, has_values], expected[:, : has_values.sum()] if not has_values.all() else expected)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("n", [50, 700])  # fewer rows than a block, and several blocks
def test_values_agree_with_scikit_learn(weights, n):
    X, new = with_holes(0, n, 6), with_holes(1, 90, 6)
    options = {"weights": weights, "n_neighbors": 4, "add_indicator": True}
    mine, theirs = KNNImputer(**options).fit(X), peer.KNNImputer(**options).fit(X)
    np.testing.assert_allclose(mine.transform(new), theirs.transform(new), rtol=1e-6, atol=1e-9)
    assert mine.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_cells_in_parts_and_threads_give_the_same(monkeypatch):
    X = with_holes(0, 400, 5)
    whole = KNNImputer(n_jobs=1).fit_transform(X)
    monkeypatch.setattr(_knn, "MOST_ENTRIES", 64)
    assert (KNNImputer(n_jobs=2).fit_transform(X) == whole).all()


def test_a_function_may_measure_rows():
    X = with_holes(0, 40, 3)

    def distance(a, b, *, missing_values=np.nan):
        return reference.nan_distance(a, b)

    np.testing.assert_allclose(KNNImputer(metric=distance).fit_transform(X), KNNImputer().fit_transform(X))


@pytest.mark.parametrize("marker", [-1, 0])
def test_numbers_may_stand_for_missing_values(marker):
    X = with_holes(0, 30, 3)
    marked = np.where(np.isnan(X), marker, X)
    np.testing.assert_allclose(KNNImputer(missing_values=marker).fit_transform(marked), KNNImputer().fit_transform(X))
    with pytest.raises(ValueError, match="NaN"):
        KNNImputer(missing_values=marker).fit(X)


def test_empty_columns_are_left_out_or_zero():
    X = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, np.nan]])
    assert KNNImputer().fit_transform(X).tolist() == [[1, 3], [2, 3]]
    assert KNNImputer(keep_empty_features=True).fit_transform(X).tolist() == [[1, 0, 3], [2, 0, 3]]


def test_frames_keep_their_names():
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1.0, 2.0, np.nan]})
    out = KNNImputer(n_neighbors=1).set_output(transform="pandas").fit_transform(X)
    assert out.columns.tolist() == ["a", "b"]
    assert not out.isna().any(axis=None)


def test_X_is_written_to_only_if_asked():
    X = with_holes(0, 20, 3)
    before = X.copy()
    KNNImputer().fit_transform(X)
    np.testing.assert_array_equal(X, before)
    out = KNNImputer(copy=False).fit_transform(X)
    assert out is X
    assert not np.isnan(X).any()


def test_single_precision_is_kept():
    X = with_holes(0, 200, 4)
    out = KNNImputer().fit_transform(X.astype(np.float32))
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, KNNImputer().fit_transform(X), atol=1e-4)
