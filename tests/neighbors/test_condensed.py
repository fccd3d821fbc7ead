"""The rows that are enough to classify the others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from mercer._condensing import condense
from mercer.neighbors import CondensedNearestNeighbor, KNeighborsClassifier
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_the_condensed_set_classifies_the_training_set_as_the_nearest_neighbour_does(dtype, seed):
    random = np.random.RandomState(seed)
    X = random.randint(0, 6, size=(300, 3)).astype(dtype)  # equal rows, of different classes too
    y = np.where(X[:, 0] + random.randn(300) > 3, "high", "low")
    model = CondensedNearestNeighbor(random_state=seed).fit(X, y)
    assert len(model.sample_indices_) < 300
    assert (model.predict(X) == KNeighborsClassifier(1).fit(X, y).predict(X)).all()
    probabilities = model.predict_proba(X)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()
    once = CondensedNearestNeighbor(until_stable=False, random_state=seed).fit(X, y)
    assert once.sample_indices_[0] == model.sample_indices_[0]
    assert set(once.sample_indices_.tolist()) <= set(model.sample_indices_.tolist())
    start, codes = once.sample_indices_[:1], (y == "low").astype(int)
    expected = reference.condense(X, codes, start=start, order=np.arange(300), until_stable=False, k=1, p=2)
    assert once.sample_indices_.tolist() == expected


def test_one_class_is_one_row():
    model = CondensedNearestNeighbor(random_state=0).fit([[0.0], [1.0]], [7, 7])
    assert model.predict([[5.0]]).tolist() == [7]
    assert len(model.sample_indices_) == 1
    with pytest.raises(ValueError, match="X=None is not valid"):
        model.predict(None)
