"""Brute force by products: who is passed over by a rough rank is never wanted, and answers have the bits of the plain scan."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.neighbors._measures import find_measure
from mercer.neighbors._search import FlatIndex, ProductIndex, Search


def _pair(X):
    """The same rows searched by products and one by one."""
    measure = find_measure("euclidean", p=2, metric_params=None, X=X)
    return Search(measure, ProductIndex(X)), Search(measure, FlatIndex(X))


def _assert_same(mine, true):
    for one, other in zip(mine, true, strict=True):
        np.testing.assert_array_equal(one, other)


KINDS = {
    "normal": lambda random, n, d: random.normal(size=(n, d)),
    "grid": lambda random, n, d: random.randint(0, 3, size=(n, d)).astype(float),  # ties
    "copies": lambda random, n, d: np.repeat(random.normal(size=(n // 40 + 1, d)), 40, axis=0)[:n],
    "near copies": lambda random, n, d: random.normal(size=(1, d)) + 1e-9 * random.normal(size=(n, d)),
    "two far clusters": lambda random, n, d: 1e-4 * random.normal(size=(n, d)) + 100 * random.randint(2, size=(n, 1)),
    "outlier": lambda random, n, d: random.normal(size=(n, d)) * np.where(np.arange(n) == n // 2, 1e9, 1)[:, None],
    "heavy tails": lambda random, n, d: random.standard_cauchy(size=(n, d)) ** 3,
    "constant": lambda random, n, d: np.full((n, d), 3.7),
}


@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**20),
    kind=st.sampled_from(sorted(KINDS)),
    n=st.integers(1, 400),
    d=st.integers(1, 40),
    scale=st.sampled_from([1e-170, 1e-110, 1e-30, 1.0, 1e8, 1e25, 1e120, 1e160]),
    offset=st.sampled_from([0.0, 1.0, 1e8]),
    single=st.booleans(),
    k=st.integers(1, 60),
    n_threads=st.sampled_from([1, 3]),
)
def test_products_have_the_bits_of_the_scan(seed, kind, n, d, scale, offset, single, k, n_threads):
    random = np.random.RandomState(seed)
    X = (KINDS[kind](random, n, d) + offset) * scale
    queries = np.concatenate([X[:7], X[:3] * (1 + 1e-7), scale * random.normal(size=(5, d))])
    if single:
        with np.errstate(over="ignore"):
            X, queries = X.astype(np.float32), queries.astype(np.float32)
        if not (np.isfinite(X).all() and np.isfinite(queries).all()):
            return
    fast, plain = _pair(X)
    k = min(k, n)
    _assert_same(fast.nearest(queries, k, n_threads=n_threads), plain.nearest(queries, k))
    if k < n:
        _assert_same(
            fast.nearest(None, k, leave_out_self=True, n_threads=n_threads), plain.nearest(None, k, leave_out_self=True)
        )
    radius = float(np.median(plain.nearest(None, min(5, n))[0]))
    _assert_same(fast.within(queries, radius, sort=True, n_threads=n_threads), plain.within(queries, radius, sort=True))
    np.testing.assert_array_equal(fast.count_within(None, radius), plain.count_within(None, radius))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_and_queries_of_both_orders(dtype):
    random = np.random.RandomState(0)
    X, queries = random.normal(size=(3000, 24)).astype(dtype), random.normal(size=(500, 24))
    fast, plain = _pair(np.asfortranarray(X))
    for asked in (queries, queries.astype(np.float32), np.asfortranarray(queries), queries[::-2]):
        for k in (1, 10, 200):
            _assert_same(fast.nearest(asked, k, n_threads=2), plain.nearest(asked, k))


def test_brute_force_goes_by_products_where_there_are_features():
    X = np.random.RandomState(0).normal(size=(50, 20))
    assert isinstance(Search.of(X, algorithm="brute").index, ProductIndex)
    assert isinstance(Search.of(X, algorithm="brute", metric="manhattan").index, FlatIndex)
    assert isinstance(Search.of(X[:, :2], algorithm="brute").index, FlatIndex)
    search = Search.of(X, algorithm="brute", metric="cosine")
    assert isinstance(search.index, ProductIndex)
    _assert_same(search.nearest(None, 5), Search.of(X, algorithm="kd_tree", metric="cosine").nearest(None, 5))


def test_no_queries_have_no_neighbours():
    fast, _ = _pair(np.zeros((5, 9)))
    distances, rows = fast.nearest(np.zeros((0, 9)), 2)
    assert distances.shape == rows.shape == (0, 2)
    assert fast.within(np.zeros((0, 9)), 1.0)[0].tolist() == [0]


def test_searches_by_products_are_pickled():
    fast, plain = _pair(np.random.RandomState(0).normal(size=(90, 11)))
    _assert_same(pickle.loads(pickle.dumps(fast)).nearest(None, 3), plain.nearest(None, 3))
