"""The rows that are enough to classify the others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer.neighbors._condensed import condense
from tests.reference import condensing as reference


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    n_classes=st.integers(1, 4),
    k=st.integers(1, 4),
    until_stable=st.booleans(),
    metric=st.sampled_from([("euclidean", 2), ("manhattan", 1), ("chebyshev", np.inf), ("minkowski", 3)]),
    is_sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rows_are_kept_as_the_textbook_keeps_them(seed, n, n_classes, k, until_stable, metric, is_sparse, dtype):
    random = np.random.RandomState(seed)
    X = random.randint(0, 4, size=(n, 3)).astype(dtype)  # many ties, and equal rows of different classes
    codes, start, order = random.randint(n_classes, size=n), random.randint(n, size=2), random.permutation(n)
    rows = sp.csr_matrix(X) if is_sparse else X
    options = {"start": start, "order": order, "until_stable": until_stable}
    kept = condense(rows, codes, **options, n_neighbors=k, metric=metric[0], p=metric[1])
    assert kept.tolist() == reference.condense(X, codes, **options, k=k, p=metric[1])


def test_rows_do_not_depend_on_the_number_of_threads():
    random = np.random.RandomState(0)
    X, codes = random.rand(3000, 4), random.randint(3, size=3000)
    kept = [condense(X, codes, start=[5], until_stable=True, n_threads=n_threads) for n_threads in (1, 2, 5)]
    assert (kept[0] == kept[1]).all()
    assert (kept[0] == kept[2]).all()
    assert 3 < len(kept[0]) < 3000


def test_the_kernel_refuses_rows_out_of_range_or_visited_twice():
    X, codes = np.zeros((3, 1)), np.zeros(3, dtype=np.int64)
    for start, order in (([3], [0]), ([0], [-1]), ([0], [1, 1])):
        with pytest.raises(ValueError):
            condense(X, codes, start=start, order=order)
