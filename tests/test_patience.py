"""Early stopping ends after as many iterations as scikit-learn's estimators, whose rules are written out here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mercer._patience import Patience, RecentPatience, WindowPatience

VALUES = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=30)
COUNTS, TOLS = st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0, 2.0])


def _end(patience, values):
    """After how many values it is over; None if it never is."""
    return next((number for number, value in enumerate(values, start=1) if patience.see(value)), None)


@given(VALUES, COUNTS, TOLS)
def test_the_best_so_far_is_the_mark_of_stochastic_descent(values, n_iter_no_change, tol):
    best, n_bad, expected = math.inf, 0, None
    for number, value in enumerate(values, start=1):
        n_bad = n_bad + 1 if value > best - tol else 0
        best = min(best, value)
        if n_bad >= n_iter_no_change:
            expected = number
            break
    assert _end(Patience(n_iter_no_change, tol), values) == expected


@given(VALUES, COUNTS, TOLS)
def test_the_value_before_the_last_ones_is_the_mark_of_histogram_boosting(values, n_iter_no_change, tol):
    scores = [-value for value in values]
    expected = None
    for number in range(n_iter_no_change + 1, len(scores) + 1):
        seen = scores[:number]
        reference = seen[-n_iter_no_change - 1] + tol
        if not any(score > reference for score in seen[-n_iter_no_change:]):
            expected = number
            break
    patience = WindowPatience(n_iter_no_change, tol)
    assert _end(patience, values) == expected
    assert patience.is_over == (expected is not None) == (patience.gain <= tol)


@given(VALUES, COUNTS, TOLS)
def test_any_of_the_last_ones_is_the_mark_of_gradient_boosting(values, n_iter_no_change, tol):
    recent, expected = np.full(n_iter_no_change, np.inf), None
    for number, value in enumerate(values):
        if not np.any(value + tol < recent):
            expected = number + 1
            break
        recent[number % len(recent)] = value
    patience = RecentPatience(n_iter_no_change, tol)
    assert _end(patience, values) == expected
    assert expected is None or patience.gain <= tol


def test_no_tolerance_is_endless_patience_and_a_renewed_one_waits_as_long_again():
    assert _end(Patience(1, None), [1.0] * 50) is None
    patience = Patience(2, 0.0)
    assert _end(patience, [1.0, 2.0, 2.0]) == 3
    patience.renew()
    assert not patience.is_over
    assert _end(patience, [2.0, 2.0]) == 2
    assert patience.gain == 0.0


@pytest.mark.parametrize("patience", [WindowPatience(2, 0.1), RecentPatience(2, 0.1)])
def test_a_value_that_is_not_a_number_improves_nothing(patience):
    assert _end(patience, [3.0, 2.0, math.nan, math.nan, math.nan, math.nan]) is not None or math.isnan(patience.gain)
