"""The H-measure: equal to its published definition, and with the properties that its author claims."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from mercer.metrics import h_measure
from tests.metrics.cases import scored
from tests.reference import metrics as reference


@settings(max_examples=15, deadline=None)
@given(data=scored(both_classes=True), a=st.floats(0.8, 5), b=st.floats(0.8, 5))
def test_it_is_the_integral_over_costs_of_the_least_loss(data, a, b):
    y, score, weight = data
    y, score = y[:15], score[:15]
    weight = None if weight is None else np.maximum(weight[:15], 0.25)
    for prior in ((2.0, 2.0), (a, b)):
        expected = reference.h_measure(y == 1, score, weight, *prior)
        assert h_measure(y, score, sample_weight=weight, prior=prior) == pytest.approx(expected, abs=2e-7)


def test_the_prior_by_prevalence_is_that_of_2014():
    random = np.random.RandomState(0)
    y = (random.uniform(size=60) < 0.2).astype(int)
    score = random.normal(size=60) + y
    p1 = y.mean()
    expected = reference.h_measure(y == 1, score, None, 1 + p1, 2 - p1)
    assert h_measure(y, score, prior="prevalence") == pytest.approx(expected, abs=2e-7)
    assert h_measure(y, score, prior="prevalence") != pytest.approx(h_measure(y, score), abs=1e-4)


def test_perfect_scores_have_1_and_useless_ones_0():
    y = np.array([0, 0, 0, 1, 1])
    assert h_measure(y, [1, 2, 3, 4, 5]) == 1
    assert h_measure(y, [0, 0, 0, 0, 0]) == 0
    assert h_measure(y, [5, 4, 3, 2, 1]) == pytest.approx(0, abs=1e-15)  # the hull is the diagonal
    assert h_measure([0, 1, 0, 1], [0, 0, 1, 1]) == pytest.approx(0, abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(data=scored(both_classes=True))
def test_it_lies_between_0_and_1_and_depends_on_the_order_alone(data):
    y, score, _ = data
    value = h_measure(y, score)
    assert 0 <= value <= 1
    ranks = np.unique(score, return_inverse=True)[1].astype(float)
    assert h_measure(y, np.arctan(ranks)) == pytest.approx(value, abs=1e-12)
    # Classes and costs swapped together change nothing.
    assert h_measure(1 - y, -ranks, prior=(1.5, 3.0)) == pytest.approx(h_measure(y, ranks, prior=(3.0, 1.5)), abs=1e-12)


def test_a_weight_of_k_is_k_rows_and_one_of_zero_is_none():
    random = np.random.RandomState(0)
    y, score, weight = random.randint(2, size=80), random.randint(9, size=80) / 4, random.randint(3, size=80)
    repeated = h_measure(np.repeat(y, weight), np.repeat(score, weight))
    assert h_measure(y, score, sample_weight=weight) == pytest.approx(repeated, abs=1e-12)


def test_the_positive_class_is_the_greater_or_the_one_named():
    y, score = ["good", "bad", "good", "bad"], [0.9, 0.2, 0.4, 0.5]
    assert h_measure(y, score) == h_measure([1, 0, 1, 0], score) == h_measure(y, score, pos_label="good")
    assert h_measure(y, np.negative(score), pos_label="bad") == pytest.approx(h_measure(y, score))
    with pytest.raises(ValueError, match=r"pos_label='ugly' is not a valid label. It should be one of \['bad', 'good'\]"):
        h_measure(y, score, pos_label="ugly")


def test_what_it_cannot_measure_is_refused():
    with pytest.raises(ValueError, match="must hold two labels, not 3"):
        h_measure([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"prior=3 is not valid"):
        h_measure([0, 1], [0.1, 0.2], prior=3)
    with pytest.raises(ValueError, match=r"prior\[1\]=0 is not valid"):
        h_measure([0, 1], [0.1, 0.2], prior=(1, 0))
    with pytest.raises(ValueError, match=r"prior='flat' is not valid; it must be 'prevalence'"):
        h_measure([0, 1], [0.1, 0.2], prior="flat")
    with pytest.warns(UndefinedMetricWarning, match="H-measure is not defined"):
        assert np.isnan(h_measure([1, 1], [0.1, 0.2]))
