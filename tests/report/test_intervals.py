"""Confidence intervals of the report."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from mercer._report.counts import mean_recall
from mercer._report.intervals import bootstrap_confusion, bootstrap_rows, wilson


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (1, 3), (37, 114), (999, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_that_of_scipy(k, n, level):
    expected = binomtest(k, n).proportion_ci(level, method="wilson")
    np.testing.assert_allclose(wilson(k, n, level), (expected.low, expected.high), atol=1e-12)


def test_a_share_of_nothing_has_no_interval():
    assert wilson(0, 0) == (None, None)


def test_the_bootstrap_of_a_mean_is_about_that_of_the_normal_distribution():
    values = np.random.default_rng(0).normal(3, 2, size=2000)
    strata = np.zeros(len(values), dtype=np.intp)
    low, high = bootstrap_rows({"mean": lambda weight: values @ weight / weight.sum()}, strata, np.random.default_rng(1))[
        "mean"
    ]
    half = 1.96 * values.std() / np.sqrt(len(values))
    np.testing.assert_allclose([low, high], [values.mean() - half, values.mean() + half], atol=0.15 * half)


def test_resamples_keep_the_size_of_every_stratum():
    strata = np.repeat([0, 1, 2], [5, 50, 1])

    def check(weight):
        np.testing.assert_array_equal(np.bincount(strata, weight), [5, 50, 1])
        return 0.0

    bootstrap_rows({"check": check}, strata, np.random.default_rng(0))


def test_resampling_a_confusion_matrix_is_resampling_rows_within_classes():
    rng = np.random.default_rng(0)
    matrix = np.array([[40, 8, 2], [10, 60, 5], [1, 3, 16]])
    true = np.repeat([0, 1, 2], matrix.sum(axis=1))
    is_right = np.concatenate([np.repeat([k == code for k in range(3)], line) for code, line in enumerate(matrix)]).astype(
        float
    )

    def by_rows(weight):
        return np.mean([(weight * is_right)[true == code].sum() / (true == code).sum() for code in range(3)])

    fast = bootstrap_confusion({"recall": mean_recall}, matrix, rng)["recall"]
    slow = bootstrap_rows({"recall": by_rows}, true, rng)["recall"]
    np.testing.assert_allclose(fast, slow, atol=0.015)


def test_where_resampling_changes_nothing_there_is_no_interval():
    perfect = np.diag([10, 20])
    assert bootstrap_confusion({"recall": mean_recall}, perfect, np.random.default_rng(0)) == {"recall": (None, None)}
    strata = np.zeros(4, dtype=np.intp)
    found = bootstrap_rows({"same": lambda weight: 1.0, "none": lambda weight: np.nan}, strata, np.random.default_rng(0))
    assert found == {"same": (None, None), "none": (None, None)}
