"""Statistics of parts of the rows add up to those of all rows, however the rows are cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer._arrays import tidy
from mercer._matrix import SparseMatrix
from mercer._statistics import (
    ColumnMoments,
    ColumnRanges,
    GroupMoments,
    GroupScatters,
    GroupSums,
    Products,
    pooled_scatter,
)

N, D = 60, 4
KINDS = {"dense": np.asarray, "fortran": np.asfortranarray, "csr": lambda X: tidy(sp.csr_array(X))}


def _rows(offset=3.0):
    random = np.random.default_rng(0)
    X = (random.normal(size=(N, D)) + offset) * (random.uniform(size=(N, D)) < 0.7)
    return X, random.normal(size=(N, 2)), random.uniform(0.1, 2, size=N)


cuts = st.lists(st.integers(1, N - 1), min_size=1, max_size=4, unique=True).map(sorted)


def _parts(cut):
    return [slice(first, last) for first, last in zip([0, *cut], [*cut, N], strict=True)]


def _assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


def _merged(parts):
    first, *others = parts
    return first.merge(*others)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(cut=cuts)
def test_moments_ranges_and_group_sums_of_parts_merge(kind, cut):
    (X, _, weights), groups, make = _rows(), np.arange(N) % 3, KINDS[kind]
    weights[::7] = 0
    makers = (
        lambda rows: ColumnMoments.of(make(X[rows]), weights[rows], n_threads=1),
        lambda rows: ColumnRanges.of(make(X[rows]), n_threads=1),
        lambda rows: GroupSums.of(make(X[rows]), groups[rows], 3, weights[rows]),
    )
    for of in makers:
        _assert_equal(_merged([of(part) for part in _parts(cut)]), of(slice(None)))


def test_they_are_what_numpy_says():
    X, _, weights = _rows()
    groups = np.arange(N) % 3
    mean = np.average(X, axis=0, weights=weights)
    deviation = ((X - mean) ** 2 * weights[:, None]).sum(axis=0)
    for make in KINDS.values():
        _assert_equal(ColumnMoments.of(make(X), weights, n_threads=1), (np.full(D, weights.sum()), mean, deviation))
        _assert_equal(ColumnRanges.of(make(X), n_threads=1), (X.min(axis=0), X.max(axis=0)))
        expected = np.stack([(X * weights[:, None])[groups == group].sum(axis=0) for group in range(3)])
        totals = np.bincount(groups, weights)
        _assert_equal(GroupSums.of(make(X), groups, 3, weights), (expected, totals, np.bincount(groups)))
        _assert_equal(GroupSums.zeros(3, D).merge(GroupSums.of(make(X), groups, 3)), GroupSums.of(make(X), groups, 3))


def test_columns_without_values_in_a_part_keep_what_the_others_have():
    X = np.array([[np.nan, 1.0], [2.0, np.nan], [4.0, 5.0]])
    weight, mean, deviation = _merged([ColumnMoments.of(row[None], None, n_threads=1) for row in X])
    assert weight.tolist() == [2, 2]
    assert mean.tolist() == [3, 3]
    assert deviation.tolist() == [2, 8]
    low, high = _merged([ColumnRanges.of(row[None], n_threads=1) for row in X])
    assert low.tolist() == [2, 1]
    assert high.tolist() == [4, 5]


@pytest.mark.parametrize("is_centred", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
@settings(max_examples=20, deadline=None)
@given(cut=cuts)
def test_products_of_parts_merge_and_come_apart_again(is_centred, is_sparse, cut):
    X, y, weights = _rows()

    def of(rows):
        if not is_sparse:
            return Products.of(X[rows], y[rows], weights[rows], is_centred=is_centred, n_threads=1)
        part = np.column_stack([X, y])[rows]
        means = np.average(part, axis=0, weights=weights[rows]) if is_centred else np.zeros(D + 2)
        return Products.of_sparse(SparseMatrix(tidy(sp.csr_array(X[rows]))), y[rows], weights[rows], means)

    parts = [of(part) for part in _parts(cut)]
    whole, all_columns = of(slice(None)), np.column_stack([X, y])
    centred = all_columns - (np.average(all_columns, axis=0, weights=weights) if is_centred else 0.0)
    np.testing.assert_allclose(whole.gram, centred.T @ (centred * weights[:, None]), rtol=1e-10, atol=1e-9)
    _assert_equal(_merged(parts)[:3], whole[:3])
    left = whole.without(parts[0])
    np.testing.assert_allclose(left.gram, _merged(parts[1:]).gram, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(left.means, _merged(parts[1:]).means, rtol=1e-9, atol=1e-10)


@settings(max_examples=20, deadline=None)
@given(cut=cuts)
def test_moments_and_scatters_of_groups_merge(cut):
    (X, _, weights), groups = _rows(), np.arange(N) % 3
    weights[::7] = 0
    groups[: N // 2] %= 2  # the first parts lack a group
    makers = (
        lambda rows: GroupMoments.of(np.asfortranarray(X[rows]), groups[rows], 3, weights[rows], n_threads=1),
        lambda rows: GroupScatters.of(X[rows].astype(np.float64), groups[rows], 3, weights[rows], n_threads=1),
    )
    for of in makers:
        _assert_equal(_merged([of(part) for part in _parts(cut)]), of(slice(None)))
    moments = GroupMoments.of(X, groups, 3, weights, n_threads=1)
    _assert_equal(moments.total(), ColumnMoments.of(X, weights, n_threads=1))


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: X[:, ::-1][:, ::-1]])
def test_scatters_of_groups_are_what_numpy_says(offset, weighted, layout):
    random = np.random.default_rng(0)
    X, groups = random.normal(size=(5_000, 21)) + offset, random.integers(3, size=5_000)
    weights = random.integers(0, 3, size=5_000).astype(float) if weighted else None
    found = GroupScatters.of(layout(X), groups, 4, weights, n_threads=2)
    pooled = np.zeros((21, 21))
    for group in range(3):
        rows = np.repeat(X, weights.astype(int), axis=0) if weighted else X
        own = rows[np.repeat(groups, weights.astype(int)) == group] if weighted else rows[groups == group]
        expected = np.cov(own.T, ddof=0) * len(own)
        np.testing.assert_allclose(found.scatter[group], expected, atol=1e-6 * len(own))
        assert found.weight[group] == len(own)
        pooled += expected
    assert (found.scatter[3] == 0).all()
    np.testing.assert_allclose(pooled_scatter(layout(X), groups, found.mean, weights, n_threads=2), pooled, atol=1e-3)


def test_missing_values_are_left_out_of_moments_of_groups():
    X = np.array([[1.0, np.nan], [3.0, 5.0], [np.nan, np.nan]])
    moments = GroupMoments.of(X, np.array([0, 0, 1]), 2, None, n_threads=1)
    _assert_equal(moments, ([[2, 1], [0, 0]], [[2, 5], [0, 0]], [[2, 0], [0, 0]]))
