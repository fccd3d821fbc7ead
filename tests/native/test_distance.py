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
    testing.distances(metric, X, Y, out, 1)
    np.testing.assert_allclose(out, distances(metric, X, Y), rtol=0)
    again = np.empty_like(out)
    testing.distances(metric, np.asfortranarray(X), Y, again, 2)
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


def test_shapes_that_do_not_fit_are_refused():
    X, Y, found, values = np.zeros((3, 2)), np.zeros((4, 3)), np.empty(3, dtype=np.int64), np.empty((2, 3))
    with pytest.raises(ValueError, match="the same features"):
        testing.nearest(X, Y, found, *values, 1)
    with pytest.raises(ValueError, match="one line per row"):
        testing.distances("manhattan", X, X, np.empty((3, 2)), 1)
    with pytest.raises(ValueError, match="no such metric"):
        testing.distances("cosine", X, X, np.empty((3, 3)), 1)
    with pytest.raises(ValueError, match="one result for each row"):
        testing.nearest(X, X, found[:2], *values, 1)
