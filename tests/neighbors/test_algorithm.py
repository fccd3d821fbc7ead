"""What `auto` chooses, and searches that end early."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.neighbors._algorithm import expected_leaves
from mercer.neighbors._search import Search


def _clusters(n, d, seed=0):
    random = np.random.RandomState(seed)
    return random.uniform(size=(20, d))[random.randint(20, size=n)] + 0.01 * random.normal(size=(n, d))


@pytest.mark.parametrize(
    ("X", "metric", "algorithm"),
    [
        (np.random.RandomState(0).uniform(size=(5000, 2)), "euclidean", "kd_tree"),
        (np.random.RandomState(0).uniform(size=(100, 2)), "euclidean", "brute"),
        (np.random.RandomState(0).uniform(size=(5000, 40)), "euclidean", "brute"),
        (_clusters(5000, 40), "euclidean", "kd_tree"),  # the data decide, not their shape
        (_clusters(5000, 10), "canberra", "ball_tree"),
        (np.random.RandomState(0).uniform(size=(2000, 3)), "yule", "brute"),
    ],
)
def test_auto_goes_by_the_data(X, metric, algorithm):
    assert Search.of(X, metric=metric).algorithm == algorithm


def test_the_leaves_that_are_expected_are_about_the_true_ones():
    X = np.random.RandomState(0).uniform(size=(40_000, 6))
    search = Search.of(X, algorithm="kd_tree", leaf_size=32)
    n_leaves, found = np.empty(200, dtype=np.int64), np.empty((200, 10), dtype=np.int64)
    search.index.points_tree.nearest_in_leaves(
        search.measure.kernel, None, X[:200], False, 10**6, n_leaves, np.empty((200, 10)), found, 1
    )
    assert expected_leaves(search.measure, X, 10, "kd_tree") == pytest.approx(n_leaves.mean(), rel=0.5)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_a_bounded_search_finds_near_rows_and_tells_how_many(algorithm):
    random = np.random.RandomState(0)
    X, queries = random.uniform(size=(3000, 6)), random.uniform(size=(400, 6))
    search = Search.of(X, algorithm=algorithm)
    true, true_rows = search.nearest(queries, 5)
    recalls = []
    for max_leaves in (1, 4, 16, 10**6):
        found, rows = search.nearest(queries, 5, max_leaves=max_leaves, n_threads=2)
        assert (rows >= 0).all()
        assert (found >= true).all()
        np.testing.assert_allclose(found[:, 0], np.linalg.norm(queries - X[rows[:, 0]], axis=1))
        recall = np.mean([len(set(one) & set(other)) for one, other in zip(rows, true_rows, strict=True)]) / 5
        assert search.recall(queries, 5, max_leaves=max_leaves, random_state=0) == pytest.approx(recall)
        recalls.append(recall)
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.9
    assert recalls[-1] == 1


def test_a_bounded_search_still_finds_k_rows():
    X = np.random.RandomState(0).uniform(size=(500, 3))
    distances, rows = Search.of(X, algorithm="kd_tree").nearest(X[:9], 100, max_leaves=1)
    assert np.isfinite(distances).all()
    assert (rows >= 0).all()


def test_brute_force_has_no_leaves():
    X = np.random.RandomState(0).uniform(size=(500, 8))
    search = Search.of(X, algorithm="brute")
    np.testing.assert_array_equal(search.nearest(X, 3, max_leaves=1)[1], search.nearest(X, 3)[1])
