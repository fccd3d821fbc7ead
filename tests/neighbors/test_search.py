"""The search engine against every pair measured by itself, whatever searches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._native import kernels
from mercer.neighbors._search import KdIndex, Search
from tests.reference import neighbors as reference

ALGORITHMS = ["brute", "kd_tree", "ball_tree"]
METRICS = ["euclidean", "manhattan", "chebyshev"]
DTYPES = [np.float64, np.float32]


def _grid(n, d, dtype=np.float64, *, seed=0, side=4):
    """Whole numbers: all sums are exact, many rows are equal and many distances tie."""
    return np.random.RandomState(seed).randint(0, side, size=(n, d)).astype(dtype)


def _compare(found, wanted, exact=True):
    """Distances and rows; the rows of distances that differ by rounding alone may come in either order."""
    (distances, rows), (true_distances, true_rows) = found, wanted
    if exact:
        np.testing.assert_array_equal(rows, true_rows)
        np.testing.assert_array_equal(distances, true_distances)
    else:
        np.testing.assert_allclose(distances, true_distances, rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 2), (33, 1), (100, 3), (700, 5), (300, 20)])
def test_neighbours_are_the_nearest_and_ties_go_to_the_first_row(algorithm, metric, dtype, shape):
    X, queries = _grid(*shape, dtype), _grid(23, shape[1], dtype, seed=1, side=6)
    search = Search.of(X, algorithm=algorithm, metric=metric)
    truth = reference.distances(metric, queries, X)
    for k in sorted({1, min(5, len(X)), min(60, len(X)), len(X)}):
        _compare(search.nearest(queries, k), reference.nearest(truth, k))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_ask_for_their_own_neighbours_and_leave_themselves_out(algorithm):
    X = _grid(400, 3)
    search = Search.of(X, algorithm=algorithm)
    truth = reference.distances("euclidean", X, X)
    _compare(search.nearest(None, 4), reference.nearest(truth, 4))
    _compare(search.nearest(None, 4, leave_out_self=True), reference.nearest(truth, 4, leave_out_self=True))


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_within_a_radius_is_all_of_it(algorithm, metric, sort):
    X, queries, radius = _grid(500, 3), _grid(70, 3, seed=1, side=6), 1.0
    search = Search.of(X, algorithm=algorithm, metric=metric)
    truth = reference.within(reference.distances(metric, queries, X), radius, sort=sort)
    starts, rows, distances = search.within(queries, radius, sort=sort)
    assert starts[0] == 0
    assert starts[-1] == len(rows) == len(distances)
    for place, (true_rows, true_distances) in enumerate(truth):
        mine = slice(starts[place], starts[place + 1])
        np.testing.assert_array_equal(rows[mine], true_rows)
        np.testing.assert_array_equal(distances[mine], true_distances)
    np.testing.assert_array_equal(search.count_within(queries, radius), np.diff(starts))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_distance_that_was_answered_is_within_itself(algorithm):
    X = np.random.RandomState(0).uniform(size=(300, 3))
    search = Search.of(X, algorithm=algorithm)
    distances, _ = search.nearest(X[:50], 7)
    for query, radius in zip(X[:50], distances[:, -1], strict=True):
        assert search.count_within(query[None], radius)[0] == 7


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**20),
    n=st.integers(1, 200),
    d=st.integers(1, 12),
    scale=st.sampled_from([1e-150, 1e-30, 1e-3, 1.0, 1e8, 1e30, 1e150, 1e200]),
    offset=st.sampled_from([0.0, 1.0, 1e8]),
    n_copies=st.integers(1, 5),
)
def test_all_algorithms_agree_to_the_bit(seed, n, d, scale, offset, n_copies):
    random = np.random.RandomState(seed)
    X = np.tile((random.normal(size=(n, d)) + offset) * scale, (n_copies, 1))
    queries = np.concatenate([X[:5], random.normal(size=(5, d)) * scale])
    k = int(random.randint(1, len(X) + 1))
    answers = [Search.of(X, algorithm=algorithm).nearest(queries, k, n_threads=t) for algorithm in ALGORITHMS for t in (1, 2)]
    for answer in answers[1:]:
        _compare(answer, answers[0])
    assert all(len(set(line)) == k and min(line) >= 0 for line in answers[0][1])
    with np.errstate(over="ignore"):
        truth = reference.distances("euclidean", queries, X)
    np.testing.assert_allclose(answers[0][0], np.sort(truth, axis=1)[:, :k], rtol=1e-13)


def test_queries_keep_their_own_precision():
    X = _grid(300, 2, np.float32)
    queries = X[:20].astype(np.float64) + 1e-12  # beyond the precision of the rows
    for algorithm in ALGORITHMS:
        distances, _ = Search.of(X, algorithm=algorithm).nearest(queries, 1)
        np.testing.assert_allclose(distances, np.sqrt(2) * 1e-12, rtol=1e-3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_searches_are_pickled(algorithm):
    X = _grid(300, 3)
    search = Search.of(X, algorithm=algorithm, metric="minkowski", p=3, metric_params={"w": [1, 2, 0.5]})
    again = pickle.loads(pickle.dumps(search))
    assert again.algorithm == algorithm
    _compare(again.nearest(X[:9], 5), search.nearest(X[:9], 5))


def test_trees_of_wrong_arrays_are_refused():
    index = KdIndex.build(_grid(100, 3))
    leaf_points, rows, points, boxes, d = index.__reduce__()[1]
    twice = rows.copy()
    twice[0] = twice[1]
    outside = rows.copy()
    outside[3] = 100
    for wrong in [twice, outside, -rows, rows[:-8].copy(), rows[:0]]:
        with pytest.raises(ValueError, match=r"row|size|point"):
            KdIndex(leaf_points, wrong, points, boxes, d)
    for wrong_points, wrong_boxes in [(points[:-1], boxes), (points, boxes[:-1]), (points[:0], boxes[:0])]:
        with pytest.raises(ValueError, match="size"):
            KdIndex(leaf_points, rows, wrong_points, wrong_boxes, d)
    for wrong_d in [0, 4, 2**61, 2**63]:
        with pytest.raises(ValueError, match=r"features|size"):
            KdIndex(leaf_points, rows, points, boxes, wrong_d)


def test_kernels_refuse_results_and_queries_of_other_shapes():
    X = _grid(50, 3)
    tree, metric = kernels.KdTree64(X, 32, False, 1), kernels.SearchMetric("euclidean", 2.0, None)
    rows = np.empty((50, 2), dtype=np.int64)
    for distances, queries in [(np.empty((49, 2)), None), (np.empty((50, 3)), None), (np.empty((50, 2)), X[:, :2])]:
        with pytest.raises(ValueError):
            tree.nearest(metric, None, queries, False, distances, rows, 1)
    with pytest.raises(ValueError, match="weight"):
        tree.nearest(kernels.SearchMetric("minkowski", 3.0, np.ones(2)), None, None, False, np.empty((50, 2)), rows, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 8, 43])
def test_rows_that_are_stored_are_those_that_were_searched(n_rows, dtype):
    X = np.random.RandomState(0).rand(n_rows, 3).astype(dtype)
    search = Search.of(X, algorithm="brute", metric="manhattan", k=1)
    expected, before = X.copy(), search.nearest(X[:1], 1)
    X[:] = 7  # what becomes of the caller's array is not the index's business
    np.testing.assert_array_equal(search.index.X, expected, strict=True)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(np.stack(again.nearest(expected[:1], 1)), np.stack(before))
