"""Rademacher complexities: all signs, drawn signs and closed forms agree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer._params import InvalidParameterError
from mercer.kernels import RBF, Linear, Sigmoid
from mercer.linear_model import Ridge
from mercer.theory import rademacher_complexity
from mercer.tree import DecisionTreeClassifier

SUPREMA = {
    "l2": lambda X, signs: np.linalg.norm(signs @ X),
    "l1": lambda X, signs: np.abs(signs @ X).max(),
}


def all_signs(m):
    return [np.array(signs) for signs in itertools.product((-1.0, 1.0), repeat=m)]


@settings(max_examples=12, deadline=None)
@given(m=st.integers(1, 9), d=st.integers(1, 5), seed=st.integers(0, 99), kind=st.sampled_from(["l2", "l1"]))
def test_with_few_rows_all_signs_are_gone_through(m, d, seed, kind):
    X = np.random.RandomState(seed).normal(size=(m, d))
    found = rademacher_complexity(kind, X, radius=2.0)
    expected = 2.0 * np.mean([SUPREMA[kind](X, signs) for signs in all_signs(m)]) / m
    assert found.is_exact
    assert found.standard_error == 0
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.value <= found.upper * (1 + 1e-12)


@settings(max_examples=10, deadline=None)
@given(m=st.integers(1, 8), n_models=st.integers(1, 6), seed=st.integers(0, 99))
def test_a_finite_class_is_what_its_values_say_and_massart_bounds_it(m, n_models, seed):
    values = np.sign(np.random.RandomState(seed).normal(size=(n_models, m)))
    found = rademacher_complexity(values)
    assert found.value == pytest.approx(np.mean([(values @ signs).max() for signs in all_signs(m)]) / m, abs=1e-12)
    assert found.value <= found.upper + 1e-12
    assert found.upper == pytest.approx(math.sqrt(2 * math.log(n_models) / m), abs=1e-12)


@pytest.mark.parametrize("m", [40, 70])
def test_drawn_signs_agree_with_the_closed_form_within_their_error(m):
    """For orthogonal rows of norm one the Euclidean ball has exactly 1 / sqrt(m); signs of one column have a known mean."""
    found = rademacher_complexity("l2", np.eye(m), n_draws=50, random_state=0)
    assert found.value == pytest.approx(1 / math.sqrt(m), rel=1e-12)
    assert found.upper == pytest.approx(found.value, rel=1e-12)
    one = rademacher_complexity("l1", np.ones((m, 1)), n_draws=20_000, random_state=0)
    expected = sum(math.comb(m, k) * abs(2 * k - m) for k in range(m + 1)) / 2**m / m
    assert abs(one.value - expected) < 5 * one.standard_error
    assert one.standard_error < 0.01 * expected * 2


def test_the_linear_kernel_is_the_euclidean_ball_to_the_draw():
    X = np.random.RandomState(0).normal(size=(60, 3))
    ball = rademacher_complexity("l2", X, n_draws=200, random_state=3)
    same = rademacher_complexity(Linear(), X, n_draws=200, random_state=3)
    assert same.value == pytest.approx(ball.value, rel=1e-10)
    assert same.upper == pytest.approx(ball.upper, rel=1e-10)


def test_khintchine_holds_between_the_closed_form_and_the_value():
    X = np.random.RandomState(1).normal(size=(50, 4))
    found = rademacher_complexity(RBF(gamma=0.3), X, n_draws=4000, random_state=0)
    assert found.upper == pytest.approx(1 / math.sqrt(50))
    assert found.upper / math.sqrt(2) - 5 * found.standard_error <= found.value <= found.upper


def test_the_number_of_threads_changes_no_bit():
    X = np.random.RandomState(1).normal(size=(500, 7))
    values = {rademacher_complexity("l2", X, n_draws=400, random_state=0, n_jobs=n_jobs).value for n_jobs in (1, 2, 4)}
    assert len(values) == 1


def test_a_tree_follows_all_signs_and_a_stump_as_many_as_thresholds_do():
    X = np.arange(8.0)[:, None]
    assert rademacher_complexity(DecisionTreeClassifier(), X, n_draws=20, random_state=0).value == 1.0
    # Thresholds in both directions, and the constants, on a line: every split of a sorted sequence, and its mirror image.
    lines = np.array([np.where(np.arange(8) < k, -1.0, 1.0) for k in range(9)])
    exact = rademacher_complexity(np.concatenate([lines, -lines])).value
    found = rademacher_complexity(BestStump(), X, n_draws=400, random_state=0)
    assert abs(found.value - exact) < 5 * found.standard_error
    assert 0 < found.standard_error < 0.02


class BestStump(DecisionTreeClassifier):
    """The threshold with the fewest errors: trees go by impurity, which is not the number of errors."""

    def __init__(self):
        super().__init__()

    def fit(self, X, y):
        lines = np.array([np.where(np.arange(8) < k, -1, 1) for k in range(9)])
        self.line_ = max([*lines, *-lines], key=lambda line: (line == y).sum())
        return self

    def predict(self, X):
        return self.line_[np.asarray(X[:, 0], dtype=int)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rademacher_complexity("l3", [[1.0]]), "model='l3' is not valid"),
        (lambda: rademacher_complexity("l2"), "needs rows"),
        (lambda: rademacher_complexity("l2", [[1.0]], radius=0), "radius"),
        (lambda: rademacher_complexity([[1.0]], [[1.0]]), "leave X out"),
        (lambda: rademacher_complexity(Ridge(), [[1.0]]), "classifiers"),
        (lambda: rademacher_complexity(Sigmoid(gamma=5.0, coef0=-3.0), [[1.0], [2.0], [0.1]]), "not positive semi-definite"),
    ],
)
def test_wrong_calls_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()
