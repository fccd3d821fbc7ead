from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus as peer_plusplus

from mercer.cluster import kmeans_plusplus
from tests.cluster.test_kmeans import blobs


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), [(60, 2, 20), (400, 3, 30), (3000, 40, 12), (9000, 5, 60)])
def test_chooses_the_rows_that_scikit_learn_chooses(n, d, k, is_weighted, is_sparse):
    X = blobs(n, d, k)
    X = sp.csr_matrix(X) if is_sparse else X
    weights = np.random.RandomState(1).rand(n) if is_weighted else None
    for seed in range(3):
        centres, indices = kmeans_plusplus(X, k, sample_weight=weights, random_state=seed)
        _, expected = peer_plusplus(X, k, sample_weight=weights, random_state=seed)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(centres, X[indices].toarray() if is_sparse else X[indices])


def test_never_chooses_a_row_twice_while_others_are_left():
    X = np.repeat(np.arange(6.0)[:, None], 20, axis=0)
    for seed in range(20):
        centres, _ = kmeans_plusplus(X, 6, random_state=seed)
        assert sorted(centres[:, 0]) == [0, 1, 2, 3, 4, 5]


def test_never_chooses_a_row_of_zero_weight():
    X = blobs(300, 3, 5)
    weights = (np.arange(300) % 2).astype(float)
    for seed in range(10):
        _, indices = kmeans_plusplus(X, 10, sample_weight=weights, random_state=seed)
        assert (indices % 2 == 1).all()


def test_first_row_is_drawn_evenly():
    X = np.arange(10.0)[:, None]
    first = [kmeans_plusplus(X, 1, random_state=seed)[1][0] for seed in range(2000)]
    counts = np.bincount(first, minlength=10)
    assert counts.min() > 140
    assert counts.max() < 260


def test_number_of_trials_is_taken_from_the_argument():
    X = blobs(500, 4, 9)
    for trials in (1, 5):
        _, ours = kmeans_plusplus(X, 9, random_state=0, n_local_trials=trials)
        _, theirs = peer_plusplus(X, 9, random_state=0, n_local_trials=trials)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 11}, "n_samples=10 should be >= n_clusters=11"),
        ({"n_clusters": 2, "n_local_trials": 0}, "n_local_trials=0"),
        ({"n_clusters": 2, "x_squared_norms": np.ones(3)}, "x_squared_norms"),
        ({"n_clusters": 2, "random_state": -1}, "random_state=-1"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kmeans_plusplus(np.eye(10), **arguments)


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        kmeans_plusplus(np.full((5, 2), np.nan), 2)
