"""Sparse rows: the bits of the dense rows, whatever is stored."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer._params import InvalidParameterError
from mercer.neighbors._search import Search

METRICS = [("euclidean", 2), ("manhattan", 2), ("chebyshev", 2), ("minkowski", 3)]


def _sparse(n, d, *, seed=0, density=0.2, dtype=np.float64):
    return sp.random_array((n, d), density=density, format="csr", rng=seed, dtype=np.float64).astype(dtype)


def _assert_same(mine, true):
    for one, other in zip(mine, true, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("metric", "p"), METRICS)
def test_sparse_rows_answer_as_dense_rows_do(metric, p, dtype):
    X, queries = _sparse(150, 30, dtype=dtype), _sparse(45, 30, seed=1, dtype=dtype)
    sparse = Search.of(X, metric=metric, p=p)
    dense = Search.of(X.toarray(), metric=metric, p=p, algorithm="brute")
    assert sparse.algorithm == "brute"
    assert sparse.shape == (150, 30)
    for asked in (queries, queries.toarray()):
        _assert_same(sparse.nearest(asked, 7, n_threads=2), dense.nearest(queries.toarray(), 7))
        _assert_same(dense.nearest(asked, 7, n_threads=2), dense.nearest(queries.toarray(), 7))
    radius = float(np.median(dense.nearest(None, 9)[0]))
    for sort in (False, True):
        true = dense.within(None, radius, leave_out_self=True, sort=sort)
        _assert_same(sparse.within(None, radius, leave_out_self=True, sort=sort), true)
    _assert_same(dense.within(queries, radius), dense.within(queries.toarray(), radius))
    np.testing.assert_array_equal(sparse.count_within(queries, radius), dense.count_within(queries.toarray(), radius))
    np.testing.assert_array_equal(dense.count_within(queries, radius), dense.count_within(queries.toarray(), radius))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**20),
    metric=st.sampled_from(["euclidean", "manhattan"]),
    scale=st.sampled_from([1e-170, 1e-30, 1.0, 1e8, 1e150, 1e200]),
    far=st.sampled_from([0.0, 1e8]),
    k=st.integers(1, 20),
)
def test_rough_ranks_pass_nobody_over(seed, metric, scale, far, k):
    X = _sparse(60, 8, seed=seed, density=0.4)
    X.data = (np.round(X.data, 1) + far) * scale  # ties, and near ties far from zero
    X = sp.csr_array(sp.vstack([X, X[:20]]))
    dense = Search.of(X.toarray(), metric=metric, algorithm="brute")
    _assert_same(Search.of(X, metric=metric).nearest(None, k), dense.nearest(None, k))


def test_indices_in_any_order_and_entries_twice_are_taken():
    X = sp.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 3))
    _assert_same(Search.of(X).nearest(None, 2), Search.of(X.toarray(), algorithm="brute").nearest(None, 2))


def test_sparse_rows_have_no_tree():
    with pytest.raises(InvalidParameterError, match="sparse"):
        Search.of(_sparse(9, 3), algorithm="kd_tree")


def test_sparse_searches_are_pickled():
    search = Search.of(_sparse(40, 5))
    _assert_same(pickle.loads(pickle.dumps(search)).nearest(None, 3), search.nearest(None, 3))


def test_rows_are_held_once():
    n_entries = _sparse(2000, 50).nnz
    tracemalloc.start()
    try:
        search = Search.of(_sparse(2000, 50, dtype=np.float32))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert search.shape == (2000, 50)
    assert held < 1.2 * n_entries * (8 + 4)  # a value in double precision and a column for each entry
