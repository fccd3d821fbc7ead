"""Native distances and their collectors against every pair measured by itself."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels
from tests.reference.distances import METRICS, distances

testing = kernels.testing
DTYPES = [np.float64, np.float32]
# Rows and targets around the edges of groups and tiles.
SHAPES = [(1, 1, 1), (3, 2, 5), (40, 7, 3), (33, 13, 17), (70, 25, 4)]


def _rows(n, d, dtype, seed=0):
    """Whole numbers, so that all sums are exact and many distances are equal."""
    return np.random.RandomState(seed).randint(-3, 4, size=(n, d)).astype(dtype)


def _many(dtype):
    """More targets than one block of them, and more rows than one group."""
    return _rows(300, 6, dtype), _rows(9000, 6, dtype, seed=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("metric", METRICS)
def test_all_distances_are_those_of_the_pairs(metric, shape, dtype):
    n, k, d = shape
    X, Y, out = _rows(n, d, dtype), _rows(k, d, dtype, seed=1), np.full((n, k), np.nan, dtype=dtype)
    testing.distances(metric, 3.0, X, Y, out, 1)
    np.testing.assert_allclose(out, distances(metric, X, Y), rtol=1e-5 if metric == "minkowski" else 0)
    again = np.empty_like(out)
    testing.distances(metric, 3.0, np.asfortranarray(X), Y, again, 2)
    np.testing.assert_array_equal(again, out)


def _squares(X, Y):
    return ((X[:, None, :].astype(np.float64) - Y) ** 2).sum(axis=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_nearest_is_the_first_of_the_least_whatever_the_blocks(dtype, n_threads):
    X, Y = _many(dtype)
    found, (best, second) = np.empty(len(X), dtype=np.int64), np.empty((2, len(X)), dtype=dtype)
    testing.nearest(X, Y, found, best, second, n_threads)
    squares = _squares(X, Y)
    np.testing.assert_array_equal(found, squares.argmin(axis=1))
    np.testing.assert_array_equal(np.column_stack([best, second]), np.sort(squares, axis=1)[:, :2])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [0, 1, 5])
def test_the_nearest_few_come_in_order_and_ties_by_index(dtype, k):
    X, Y = _many(dtype)
    values, found = np.empty((len(X), k), dtype=dtype), np.empty((len(X), k), dtype=np.int64)
    testing.nearest_some(X, Y, False, values, found, 2)
    squares = _squares(X, Y)
    expected = np.argsort(squares, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(squares, expected, axis=1))


def test_a_filter_leaves_out_pairs_and_places_without_a_target_say_so():
    X = _rows(3, 2, np.float64)
    values, found = np.empty((3, 4)), np.empty((3, 4), dtype=np.int64)
    testing.nearest_some(X, X, True, values, found, 1)
    squares = _squares(X, X)
    for i in range(3):
        others = [j for j in np.argsort(squares[i], kind="stable") if j != i]
        np.testing.assert_array_equal(found[i], [*others, -1, -1])
        np.testing.assert_array_equal(values[i], [*squares[i, others], np.inf, np.inf])


@pytest.mark.parametrize("dtype", DTYPES)
def test_targets_within_a_radius_are_found_and_counted(dtype):
    X, Y = _rows(70, 4, dtype), _rows(31, 4, dtype, seed=1)
    inside = _squares(X, Y) <= 9
    hits = testing.within_radius(X, Y, 9.0, 2)
    assert sorted((row, target) for row, target, _ in hits) == list(zip(*np.nonzero(inside), strict=True))
    assert all(value == _squares(X[[row]], Y[[target]])[0, 0] for row, target, value in hits)
    counts = np.empty(len(X), dtype=np.int64)
    testing.count_within(X, Y, 9.0, counts, 2)
    np.testing.assert_array_equal(counts, inside.sum(axis=1))


def test_shapes_that_do_not_fit_are_refused():
    X, Y, counts = np.zeros((3, 2)), np.zeros((4, 3)), np.empty(3, dtype=np.int64)
    with pytest.raises(ValueError, match="the same features"):
        testing.count_within(X, Y, 1.0, counts, 1)
    with pytest.raises(ValueError, match="one line per row"):
        testing.distances("manhattan", 1.0, X, X, np.empty((3, 2)), 1)
    with pytest.raises(ValueError, match="no such metric"):
        testing.distances("cosine", 1.0, X, X, np.empty((3, 3)), 1)
    with pytest.raises(ValueError, match="one result for each row"):
        testing.count_within(X, X, 1.0, counts[:2], 1)
