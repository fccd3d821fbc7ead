"""The Bayes error from densities and from rows, and the excess risk over it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm
from sklearn.dummy import DummyClassifier

from mercer.linear_model import LinearRegression
from mercer.neighbors import KNeighborsClassifier
from mercer.theory import ClassificationLaw, RegressionLaw, bayes_error, bracket_bayes_error, excess_risk


def rising(x):
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)


def flat(x):
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)


def test_the_notes_example_has_a_common_area_of_a_quarter_and_an_error_of_an_eighth():
    found = bayes_error([rising, flat], bounds=(0, 1.75))
    assert found.common_area == pytest.approx(0.25, abs=1e-7)
    assert found.error == pytest.approx(0.125, abs=1e-7)


@settings(max_examples=6, deadline=None)
@given(distance=st.floats(0.1, 4.0), prior=st.floats(0.05, 0.95))
def test_two_normal_classes_have_the_error_of_the_formula(distance, prior):
    found = bayes_error([norm(0, 1), norm(distance, 1)], [prior, 1 - prior])
    cut = distance / 2 + np.log(prior / (1 - prior)) / distance
    expected = prior * norm.sf(cut) + (1 - prior) * norm.cdf(cut - distance)
    assert found.error == pytest.approx(expected, abs=1e-5)  # a kink where curves cross
    assert found.common_area == pytest.approx(2 * norm.cdf(-distance / 2), abs=2e-5)


def test_three_classes_have_no_common_area():
    found = bayes_error([norm(0, 1)] * 3)
    assert found.error == pytest.approx(2 / 3, abs=1e-6)
    assert found.common_area is None


@pytest.mark.parametrize(("shares", "error"), [([0.8, 0.2], 0.2), ([0.7, 0.2, 0.1], 0.3), ([0.25] * 4, 0.75)])
def test_the_bracket_of_one_neighbour_holds_the_bayes_error(shares, error):
    """Labels that do not depend on x: one neighbour errs with 1 - sum p^2, whatever the rows."""
    random = np.random.RandomState(0)
    X, y = random.uniform(size=(4000, 2)), random.choice(len(shares), p=shares, size=4000)
    found = bracket_bayes_error(X, y)
    assert found.upper == pytest.approx(1 - np.square(shares).sum(), abs=0.03)
    low, high = found.interval
    assert low <= error + 0.02
    assert error <= high + 0.01
    assert all(found.intervals[k][0] <= found.errors[k] <= found.intervals[k][1] for k in found.errors)
    assert found.lower <= error + 0.02 <= found.upper + 0.04


def test_cover_and_hart_are_sharp_for_two_classes():
    random = np.random.RandomState(0)
    X, y = random.uniform(size=(4000, 1)), random.binomial(1, 0.2, size=4000)
    found = bracket_bayes_error(X, y, n_neighbors=[1, 99])
    assert found.lower == pytest.approx(0.2, abs=0.03)  # (1 - sqrt(1 - 2 * 0.32)) / 2
    assert found.errors[99] == pytest.approx(0.2, abs=0.02)
    assert found.floors[99] <= 0.2


def test_errors_are_those_of_leaving_each_row_out():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(40, 2)), random.choice(["a", "b"], size=40)
    found = bracket_bayes_error(X, y, n_neighbors=[3, 99])
    wrong = sum(
        KNeighborsClassifier(3).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] != y[i] for i in range(40)
    )
    assert found.errors[3] == wrong / 40
    assert 99 not in found.errors


def test_lines_on_a_parabola_have_the_approximation_error_of_the_formula():
    law = RegressionLaw(lambda random, n: random.uniform(-1, 1, size=(n, 1)), lambda X: X[:, 0] ** 2, noise=0.5)
    found = excess_risk(LinearRegression(), law, 30, n_rounds=200, random_state=0)
    assert found.approximation == pytest.approx(1 / 5 - 1 / 9, abs=0.01)
    assert found.bayes == 0.25
    assert found.risk == pytest.approx(found.bayes + found.estimation + found.approximation)
    assert found.estimation > 3 * found.standard_error


def test_the_excess_of_a_constant_classifier_is_all_approximation():
    law = ClassificationLaw(lambda random, n: random.uniform(size=(n, 1)), lambda X: 0.1 + 0.5 * (X[:, 0] > 0.5))
    found = excess_risk(DummyClassifier(), law, 1000, n_rounds=5, n_large=1000, random_state=0)
    assert found.bayes == pytest.approx(0.25, abs=0.01)
    assert found.approximation == pytest.approx(0.1, abs=0.01)
    assert abs(found.estimation) < 1e-12
