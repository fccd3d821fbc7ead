"""Distances that are given or computed by a function: the same answers as from rows that are measured."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import mercer.neighbors._given as given_module
from mercer._params import InvalidParameterError
from mercer.neighbors._search import Search
from tests.reference import neighbors as reference


def _rows(n, seed=0):
    """Whole numbers: many distances tie."""
    return np.random.RandomState(seed).randint(0, 4, size=(n, 3)).astype(np.float64)


def _taxi(a, b, factor=1.0):
    return factor * float(np.abs(a - b).sum())


def _searches(X, queries):
    """A search and its queries for each way to give the distances."""
    square = reference.distances("manhattan", X, X)
    lines = reference.distances("manhattan", queries, X)
    stored = np.ones_like(square)  # zeros are entries too

    def graph(values):
        full = sp.csr_array(stored[:1].repeat(len(values), axis=0))
        full.data[:] = values.ravel()
        return full

    yield "matrix", Search.of(square, metric="precomputed"), lines
    yield "columns", Search.of(np.asfortranarray(square), metric="precomputed"), np.asfortranarray(lines)
    yield "single", Search.of(square.astype(np.float32), metric="precomputed"), lines.astype(np.float32)
    yield "graph", Search.of(graph(square), metric="precomputed"), graph(lines)
    yield "function", Search.of(X, metric=_taxi), queries


def test_given_distances_answer_as_rows_do(monkeypatch):
    monkeypatch.setattr(given_module, "BLOCK_BYTES", 8 * 70 * 11)  # several blocks
    X, queries = _rows(70), _rows(30, seed=1)
    direct = Search.of(X, metric="manhattan", algorithm="brute")
    for name, search, asked in _searches(X, queries):
        assert search.algorithm == "brute", name
        for k in (1, 5, 70):
            for mine, true in zip(search.nearest(asked, k, n_threads=2), direct.nearest(queries, k), strict=True):
                np.testing.assert_array_equal(mine, true, err_msg=name)
        for leave_out in (False, True):
            for mine, true in zip(
                search.nearest(None, 6, leave_out_self=leave_out),
                direct.nearest(None, 6, leave_out_self=leave_out),
                strict=True,
            ):
                np.testing.assert_array_equal(mine, true, err_msg=name)
            for sort in (False, True):
                for mine, true in zip(
                    search.within(None, 2, leave_out_self=leave_out, sort=sort),
                    direct.within(None, 2, leave_out_self=leave_out, sort=sort),
                    strict=True,
                ):
                    np.testing.assert_array_equal(mine, true, err_msg=name)
        np.testing.assert_array_equal(search.count_within(asked, 2), direct.count_within(queries, 2), err_msg=name)


def test_a_graph_knows_the_distances_that_it_has_alone():
    graph = sp.csr_array(np.array([[0, 3.0, 1, 0], [3, 0, 2, 5], [1, 2, 0, 0], [0, 5, 0, 0]]))
    search = Search.of(graph, metric="precomputed")
    distances, rows = search.nearest(None, 1)
    np.testing.assert_array_equal(rows, [[2], [2], [0], [1]])
    np.testing.assert_array_equal(distances, [[1], [2], [1], [5]])
    starts, rows, _ = search.within(None, 2.5)
    np.testing.assert_array_equal(starts, [0, 1, 2, 4, 4])
    np.testing.assert_array_equal(rows, [2, 2, 0, 1])
    with pytest.raises(ValueError, match="2 neighbors per samples are required, but some samples have only 1 neighbors"):
        search.nearest(None, 2)


def test_functions_get_their_parameters():
    X = _rows(20)
    search = Search.of(X, metric=_taxi, metric_params={"factor": 2.0})
    truth = Search.of(X, metric="manhattan").nearest(None, 3)
    np.testing.assert_array_equal(search.nearest(None, 3)[0], 2 * truth[0])


@pytest.mark.parametrize("metric", ["precomputed", _taxi])
def test_trees_cannot_search_what_they_cannot_bound(metric):
    with pytest.raises(InvalidParameterError, match="kd_tree"):
        Search.of(np.zeros((5, 5)), metric=metric, algorithm="kd_tree")


def test_given_distances_are_pickled():
    search = Search.of(reference.distances("euclidean", _rows(9), _rows(9)), metric="precomputed")
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.nearest(None, 3)[1], search.nearest(None, 3)[1])


def test_lines_of_another_length_are_refused():
    search = Search.of(np.zeros((5, 5)), metric="precomputed")
    with pytest.raises(ValueError, match="4 features"):
        search.nearest(np.zeros((2, 4)), 1)


def test_functions_get_sparse_rows_as_they_are():
    X = sp.csr_array(_rows(12))
    kinds = set()

    def product(query, row):
        kinds.add((sp.issparse(query), sp.issparse(row)))
        return float(abs(np.sum((query.toarray() if sp.issparse(query) else query) - row.toarray())))

    found = Search.of(X, metric=product).nearest(X, 3)[0]
    np.testing.assert_array_equal(found, Search.of(X, metric=product).nearest(X.toarray(), 3)[0])
    assert kinds == {(True, True), (False, True)}
