"""Starts from the solution of a smaller cost: rising together, duals stay feasible and the objective falls."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.svm import SVC, SVCCV
from mercer.svm._dual import classification, one_class


def _problem(seed, n=12):
    random = np.random.RandomState(seed)
    A = random.randn(n, n)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return A @ A.T / n, signs, random


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), ratio=st.sampled_from([1.0, 1.5, 10.0, 1e6]))
def test_a_stretched_start_is_feasible_and_no_worse(seed, ratio):
    K, signs, random = _problem(seed)
    rows = np.arange(len(signs), dtype=np.int32)
    shares = random.choice([0.0, 0.3, 1.0], size=len(signs) // 2).repeat(2)  # of the cost, in pairs whose signs cancel
    duals = signs * shares
    dual = classification(rows, signs, np.full(len(signs), ratio))
    stretched, values = dual.stretched(duals, K @ duals)
    assert np.all((stretched >= dual.low) & (stretched <= dual.up))
    assert abs(stretched.sum()) < 1e-9 * max(1.0, np.abs(stretched).sum())
    np.testing.assert_allclose(values, K @ stretched, rtol=1e-9, atol=1e-9 * ratio)
    before, after = dual.objective(duals, K @ duals), dual.objective(stretched, K @ stretched)
    assert after <= before + 1e-9 * max(1.0, abs(before))


def test_duals_at_the_smaller_cost_are_at_the_larger_one_where_the_objective_falls_all_the_way():
    random = np.random.RandomState(0)
    signs, K = np.array([1.0, -1.0, 1.0, -1.0]), 1e-6 * np.eye(4)
    for smaller, larger, weight in random.uniform(0.1, 1, size=(100, 3)) * [1, 10, 1] + [0, 1, 0]:
        weights = np.array([1.0, 1.0, weight, weight])
        duals = smaller * weights * signs
        dual = classification(np.arange(4, dtype=np.int32), signs, larger * weights)
        stretched, _ = dual.stretched(duals, K @ duals)
        np.testing.assert_array_equal(stretched, larger * weights * signs)  # a number beside the bound would count as free


def test_sums_that_are_not_zero_stay():
    dual = one_class(np.ones(6), 0.5)
    stretched, _ = dual.stretched(dual.start, np.ones(6))
    np.testing.assert_array_equal(stretched, dual.start)


@pytest.mark.parametrize("shrinking", [True, False])
def test_costs_in_a_row_end_where_each_alone_does(shrinking):
    random = np.random.RandomState(0)
    X = random.randn(300, 6)
    y = (X[:, 0] * X[:, 1] + 0.5 * random.randn(300) > 0).astype(int)
    costs = [0.01, 0.1, 1.0, 100.0]
    chosen = SVCCV(C=costs, gamma=[0.1], cv=3, tol=1e-6, shrinking=shrinking).fit(X, y)
    alone = [np.mean([SVC(C=C, gamma=0.1, tol=1e-6).fit(X[a], y[a]).score(X[b], y[b]) for a, b in _folds(X, y)]) for C in costs]
    np.testing.assert_allclose(chosen.cv_scores_[0], alone, atol=1.01 / 300)


def _folds(X, y):
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(3).split(X, y)
