from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.neighbors import NearestNeighbors

from mercer.over_sampling import SMOTE, SMOTENC, BorderlineSMOTE
from mercer.over_sampling._categories import value_differences
from tests.reference.smote import is_in_a_box, is_on_a_segment, value_difference


def make_rows(seed=0, counts=(40, 12), n_columns=3):
    random = np.random.RandomState(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    order = random.permutation(len(y))
    return (random.randn(len(y), n_columns) + y[:, None])[order], y[order]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    counts=st.lists(st.integers(7, 30), min_size=2, max_size=4),
    n_columns=st.integers(1, 4),
    k=st.integers(1, 6),
)
def test_new_rows_lie_between_neighbours_of_their_class_and_counts_are_as_asked(seed, counts, n_columns, k):
    X, y = make_rows(seed, counts, n_columns)
    X_new, y_new = SMOTE(k_neighbors=k, random_state=seed).fit_resample(X, y)
    assert np.array_equal(X_new[: len(X)], X)
    assert np.array_equal(y_new[: len(y)], y)
    assert np.bincount(y_new).tolist() == [max(counts)] * len(counts)
    for point, label in zip(X_new[len(X) :], y_new[len(y) :], strict=True):
        assert is_on_a_segment(point, X[y == label], k)


def test_gaps_by_attribute_fill_the_box_between_neighbours():
    X, y = make_rows()
    X_new, _ = SMOTE(k_neighbors=2, gap="attribute", random_state=0).fit_resample(X, y)
    rare = X[y == 1]
    assert all(is_in_a_box(point, rare, 2) for point in X_new[len(X) :])
    assert not any(is_on_a_segment(point, rare, 2) for point in X_new[len(X) :])


@pytest.mark.parametrize(("amount", "made"), [(50, 6), (100, 12), (200, 24), (250, 30)])
def test_an_amount_in_per_cent_makes_as_many_of_each_row(amount, made):
    X, y = make_rows()
    rare = np.flatnonzero(y == 1)
    X[rare] = 1000.0 * np.arange(12)[:, None]  # with one neighbour each, a new row tells what it was made of
    sampler = SMOTE(amount=amount, k_neighbors=1, random_state=0)
    X_new, y_new = sampler.fit_resample(X, y)
    assert sampler.sampling_strategy_ == {1: made}
    assert (y_new[len(y) :] == 1).all()
    starts = np.repeat(np.arange(12), amount // 100)
    whole = X_new[len(X) : len(X) + len(starts), 0]
    assert (np.abs(whole - 1000.0 * starts) <= 1000).all()
    rest = X_new[len(X) + len(starts) :, 0]
    assert len(rest) == made - len(starts)


def test_an_amount_and_a_number_contradict_each_other():
    with pytest.raises(ValueError, match=r"amount=100 and sampling_strategy=0\.5 both say"):
        SMOTE(amount=100, sampling_strategy=0.5).fit_resample(*make_rows())


def test_worked_figures_of_one_row_between_two():
    # x = 0 and x' = 10 with a gap of .25 is 2.5: what the first draws of this seed are.
    X, y = np.array([[0.0], [10.0], [50.0], [51.0], [52.0]]), np.array([1, 1, 0, 0, 0])
    draws = np.random.RandomState(3)
    row, gap = draws.randint(0, 2, size=1)[0], draws.uniform(size=1)[0]
    expected = 10 * gap if row == 0 else 10 - 10 * gap
    X_new, _ = SMOTE(k_neighbors=1, random_state=3).fit_resample(X, y)
    assert X_new[5, 0] == pytest.approx(expected, abs=1e-12)


def test_too_few_rows_are_an_error_that_says_what_would_do_and_auto_does():
    X, y = make_rows(counts=(20, 4))
    with pytest.raises(
        ValueError, match=r"SMOTE: class 1 has 4 rows, and k_neighbors=5 needs 6 at least.*k_neighbors=3 or less"
    ):
        SMOTE().fit_resample(X, y)
    sampler = SMOTE(k_neighbors="auto", random_state=0)
    X_new, y_new = sampler.fit_resample(X, y)
    assert np.bincount(y_new).tolist() == [20, 20]
    assert all(is_on_a_segment(point, X[y == 1], 3) for point in X_new[24:])


def test_auto_repeats_a_lone_row():
    X, y = make_rows(counts=(9, 1))
    X_new, y_new = SMOTE(k_neighbors="auto").fit_resample(X, y)
    assert (X_new[10:] == X[y == 1]).all()
    assert np.bincount(y_new).tolist() == [9, 9]


def test_missing_values_are_missing_where_the_row_lacks_them():
    X, y = make_rows(counts=(60, 20))
    random = np.random.RandomState(1)
    X[random.rand(*X.shape) < 0.2] = np.nan
    X_new, _ = SMOTE(random_state=0).fit_resample(X, y)
    assert np.array_equal(X_new[: len(X)], X, equal_nan=True)
    patterns = {tuple(np.isnan(row)) for row in X[y == 1]}
    assert {tuple(np.isnan(row)) for row in X_new[len(X) :]} <= patterns
    low, high = np.nanmin(X[y == 1], axis=0), np.nanmax(X[y == 1], axis=0)
    new = X_new[len(X) :]
    assert (((low <= new) & (new <= high)) | np.isnan(new)).all()
    with pytest.raises(ValueError, match="contains NaN"):
        SMOTE().fit_resample(sp.csr_matrix(X), y)


def test_sparse_rows_give_the_dense_answer():
    X, y = make_rows()
    X[np.abs(X) < 0.5] = 0
    dense, _ = SMOTE(random_state=0).fit_resample(X, y)
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        sparse, _ = SMOTE(random_state=0).fit_resample(kind(X), y)
        assert type(sparse) is kind
        np.testing.assert_allclose(sparse.toarray(), dense, atol=1e-12)


def test_any_search_for_neighbours_may_be_given():
    X, y = make_rows()
    given_search = SMOTE(k_neighbors=NearestNeighbors(n_neighbors=6, algorithm="kd_tree"), random_state=0)
    expected = SMOTE(random_state=0).fit_resample(X, y)[0]
    np.testing.assert_array_equal(given_search.fit_resample(X, y)[0], expected)
    assert given_search.nn_k_ is not given_search.k_neighbors


def test_borderline_without_rows_in_danger_adds_none():
    X, y = make_rows(counts=(30, 15))
    sampler = BorderlineSMOTE().fit(X + 100 * y[:, None], y)
    X_new, _ = sampler.fit_resample(X + 100 * y[:, None], y)
    assert len(X_new) == 45
    assert sampler.in_danger_indices == {}


def test_categories_come_from_neighbours_and_numbers_lie_between():
    random = np.random.RandomState(0)
    X = np.empty((40, 3), dtype=object)
    X[:, 0], X[:, 1], X[:, 2] = random.randn(40), random.choice(["red", "blue"], 40), random.randint(3, size=40)
    y = np.repeat([0, 1], [30, 10])
    X[30:, 1] = "green"
    X_new, _ = SMOTENC([1, 2], random_state=0).fit_resample(X, y)
    new = X_new[40:]
    assert set(new[:, 1]) == {"green"}
    assert set(new[:, 2]) <= set(X[30:, 2])
    assert X[30:, 0].min() <= new[:, 0].min() <= new[:, 0].max() <= X[30:, 0].max()


def test_differences_of_categories_are_the_value_difference_metric():
    random = np.random.RandomState(0)
    X, y = random.choice(list("abc"), (60, 2)), random.randint(3, size=60)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in X.T])
    tables = [value_differences(column, 3, y) for column in codes]
    for i, j in ((0, 1), (5, 9), (20, 41)):
        found = sum(table[column[i], column[j]] for table, column in zip(tables, codes, strict=True))
        assert found == pytest.approx(value_difference(X[i], X[j], X, y), abs=1e-12)
