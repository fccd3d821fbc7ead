"""Intervals in closed form are those of the books."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from mercer._assessment.intervals import delong, wilson
from tests.assessment.data import binary_rows


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (7, 20), (990, 1000), (1, 1), (1, 3), (37, 114)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_wilson_is_that_of_statsmodels(k, n, level):
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    np.testing.assert_allclose(wilson(k, n, level), expected, atol=1e-12)


def test_a_share_of_nothing_has_no_interval():
    assert np.isnan(wilson(0, 0, 0.95)).all()


@pytest.mark.parametrize("n", [1, 3, 7, 49, 10**6])
def test_wilson_reaches_the_ends_exactly(n):
    assert wilson(0, n, 0.95)[0] == 0.0
    assert wilson(n, n, 0.95)[1] == 1.0


def test_delong_variance_is_that_of_the_pairs():
    rows = binary_rows(50, digits=1)
    positives, negatives = rows.score[rows.true == 1], rows.score[rows.true == 0]
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)  # all pairs
    area = wins.mean()
    variance = wins.mean(axis=1).var(ddof=1) / len(positives) + wins.mean(axis=0).var(ddof=1) / len(negatives)
    half = 1.959963984540054 * np.sqrt(variance) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    expected = [1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit))]
    np.testing.assert_allclose(delong(rows.true == 1, rows.score, 0.95), expected)


def test_a_perfect_order_of_few_rows_proves_little():
    true = np.array([0, 0, 0, 1, 1]) == 1
    low, high = delong(true, np.arange(5.0), 0.95)
    assert high == 1.0
    assert low == pytest.approx(0.025**0.5)
    low, high = delong(true, -np.arange(5.0), 0.95)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025**0.5)
    assert np.isnan(delong(np.ones(3, dtype=bool), np.arange(3.0), 0.95)).all()
