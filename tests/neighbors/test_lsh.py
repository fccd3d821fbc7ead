"""Hashed neighbours: exact distances, and a recall that is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.neighbors import LSH
from mercer.neighbors._search import Search


def _clusters(n=3000, d=10, seed=0):
    random = np.random.RandomState(seed)
    return random.normal(size=(30, d))[random.randint(30, size=n)] + 0.3 * random.normal(size=(n, d))


def _recall(model, X, k):
    """The share of the true neighbours of all rows that are found."""
    exact, _ = Search.of(X, algorithm="brute", metric=model.metric).nearest(None, k, leave_out_self=True)
    return float((model.kneighbors(n_neighbors=k)[0] <= exact[:, -1:]).mean())


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_recall_that_is_reported_is_that_of_all_rows(metric):
    X = _clusters()
    recalls = []
    for n_tables, n_probes in [(1, 1), (4, 2), (8, 8)]:
        model = LSH(7, n_tables=n_tables, n_probes=n_probes, metric=metric, random_state=0, n_recall=400).fit(X)
        recalls.append(_recall(model, X, 7))
        assert model.recall_ == pytest.approx(recalls[-1], abs=0.06)
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.7
    assert recalls[-1] > 0.9


def test_distances_of_what_is_found_are_exact():
    X = _clusters().astype(np.float32)
    model = LSH(5, random_state=0).fit(X)
    queries = _clusters(50, seed=1)
    distances, rows = model.kneighbors(queries)
    np.testing.assert_allclose(distances, np.linalg.norm(queries[:, None] - X[rows].astype(float), axis=2), rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()
    np.testing.assert_array_equal(model.kneighbors(queries, return_distance=False), rows)


def test_all_buckets_of_a_table_hold_all_rows():
    X = _clusters(300)
    model = LSH(9, n_tables=1, n_bits=4, n_probes=16, random_state=0).fit(X)
    np.testing.assert_array_equal(model.kneighbors(X), Search.of(X, algorithm="brute").nearest(X, 9))
    assert model.recall_ == 1


def test_too_few_candidates_are_all_rows_and_duplicates_are_found():
    X = np.repeat(_clusters(20), 3, axis=0)
    model = LSH(59, n_bits=10, n_tables=1, n_probes=1, random_state=0).fit(X)
    assert model.recall_ == 1
    np.testing.assert_array_equal(np.sort(model.kneighbors()[1], axis=1)[0], np.arange(1, 60))
    assert LSH(2, random_state=0).fit(X).recall_ == 1


def test_one_row_has_no_neighbour_and_more_than_there_are_is_refused():
    model = LSH(1).fit([[1.0, 2.0]])
    assert (model.recall_, model.kneighbors([[1.0, 2.0]])[1].tolist()) == (1.0, [[0]])
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        model.kneighbors([[1.0, 2.0]], n_neighbors=2)
    with pytest.raises(ValueError, match="metric='manhattan' is not valid"):
        LSH(metric="manhattan").fit([[1.0, 2.0]])


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_none_of_the_rows_it_is_compared_with_is_missed(dtype, shift):
    X = (_clusters(2000, d=17) + shift).astype(dtype)
    queries = (_clusters(40, d=17, seed=1) + shift).astype(dtype)
    model = LSH(6, n_tables=2, n_bits=3, n_probes=8, random_state=0).fit(X)
    assert model.share_ == 1
    exact = Search.of(X, algorithm="brute").nearest(queries, 6)
    for found, true in zip(model.kneighbors(queries), exact, strict=True):
        np.testing.assert_array_equal(found, true)


def test_probes_are_as_many_as_the_recall_needs():
    X = _clusters(4000)
    few, many = (LSH(5, target_recall=target, n_tables=2, random_state=0).fit(X) for target in (0.3, 0.95))
    assert few.n_probes_ < many.n_probes_
    assert few.share_ < many.share_ <= 0.5
    assert (few.recall_ > 0.2, many.recall_ > 0.9) == (True, True)
    assert _recall(many, X, 5) == pytest.approx(many.recall_, abs=0.06)


def test_rows_beyond_single_precision_are_measured_exactly():
    X = _clusters(300) * 1e150
    model = LSH(4, n_tables=1, n_bits=2, n_probes=4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.kneighbors(X[:9])[1], Search.of(X, algorithm="brute").nearest(X[:9], 4)[1])
