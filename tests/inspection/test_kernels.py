"""What the kernels refuse: no call from Python may read or write outside its arrays."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels
from mercer.ensemble import RandomForestRegressor
from tests.inspection.models import NUMBERS, X

TREES = RandomForestRegressor(3, random_state=0).fit(X, NUMBERS)._trees
GROUP = np.array([0, -1, 1, -1, -1], dtype=np.int32)
COLUMN = np.arange(5, dtype=np.int32)
ORDERS = np.tile(np.arange(len(X), dtype=np.uint32), (3, 1))


def _replaced(**changes):
    given = {
        "first": 0, "last": 3, "values": None, "weights": None, "x": X, "group": GROUP, "column": COLUMN, "donors": X,
        "orders": ORDERS, "n_groups": 2, "out": np.empty((6, len(X))), "n_threads": 1,
    }  # fmt: skip
    return kernels.replaced_sums(TREES.trees, *{**given, **changes}.values())


def _walked(**changes):
    given = {
        "first": 0, "last": 3, "values": None, "weights": None, "node_weights": TREES.weight,
        "column": np.array([0, 1, -1, -1, -1], dtype=np.int32), "points": np.zeros((2, 4)), "out": np.zeros((1, 4)),
        "n_threads": 1,
    }  # fmt: skip
    return kernels.weighted_walk(TREES.trees, *{**given, **changes}.values())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"last": 4}, "no such trees"),
        ({"x": X[:, :4]}, "as many columns"),
        ({"group": GROUP[:4]}, "a number for each feature"),
        ({"group": GROUP + 1}, "out of range"),
        ({"column": COLUMN + 1}, "out of range"),
        ({"column": np.full(5, -1, dtype=np.int32)}, "needs a column of donors"),
        ({"orders": np.ascontiguousarray(ORDERS[:, :9])}, "a place for each row"),
        ({"orders": ORDERS + 1}, "no such row"),
        ({"orders": None}, "a line for each group and alternative"),
        ({"n_groups": 0}, "there must be a group"),
        ({"n_groups": 2**62}, "out of range|a line for each group"),
        ({"out": np.empty((5, len(X)))}, "a line for each group"),
        ({"out": np.empty((6, len(X) + 1))}, "a place for each row and output"),
        ({"values": np.zeros((4, 1))}, "a line of values for each node"),
        ({"weights": np.ones(2)}, "wrong length"),
    ],
)
def test_changes_that_do_not_fit_are_refused(changes, words):
    _replaced()
    with pytest.raises(ValueError, match=words):
        _replaced(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"node_weights": np.ones(3)}, "a weight for each node"),
        ({"column": np.array([0, 2, -1, -1, -1], dtype=np.int32)}, "out of range"),
        ({"out": np.zeros((1, 5))}, "a place for each point"),
        ({"first": -1}, "no such trees"),
        ({"out": np.zeros((0, 4))}, "there must be an output"),
    ],
)
def test_points_that_do_not_fit_are_refused(changes, words):
    _walked()
    with pytest.raises(ValueError, match=words):
        _walked(**changes)


def test_nothing_depends_on_the_number_of_threads():
    rows = np.random.RandomState(1).randn(3000, 5)
    orders = np.stack([np.random.RandomState(s).permutation(3000) for s in range(3)]).astype(np.uint32)
    results, walks = [], []
    for n_threads in (1, 2, 7):
        out, sums = np.empty((6, 3000)), np.zeros((1, 4))
        _replaced(x=rows, donors=rows, orders=orders, out=out, n_threads=n_threads)
        _walked(out=sums, n_threads=n_threads)
        results.append(out)
        walks.append(sums)
    for other in (1, 2):
        np.testing.assert_array_equal(results[0], results[other])
        np.testing.assert_array_equal(walks[0], walks[other])
