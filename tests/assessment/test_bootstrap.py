"""Resamples keep what they say they keep, and their intervals are those of the books."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._assessment import statistics
from mercer._assessment.bootstrap import Bootstrap
from mercer._assessment.confusion import balanced_accuracy, confusion_matrix
from mercer._assessment.intervals import percentiles


def test_bootstrap_keeps_strata_and_draws_groups_whole():
    strata = np.repeat([0, 1, 2], [5, 3, 12])
    bootstrap = Bootstrap(20, 30, np.random.RandomState(0), strata)
    for counts in bootstrap._blocks():
        assert counts.shape == (30, 20)
        for stratum, size in enumerate((5, 3, 12)):
            assert (counts[:, strata == stratum].sum(axis=1) == size).all()
    groups = np.arange(20) % 7
    for counts in Bootstrap(20, 30, np.random.RandomState(0), strata, groups)._blocks():
        for group in range(7):
            assert np.ptp(counts[:, groups == group], axis=1).max() == 0


def test_bootstrap_in_blocks_has_as_many_resamples(monkeypatch):
    monkeypatch.setattr("mercer._assessment.bootstrap._BLOCK", 64)
    sizes = [len(counts) for counts in Bootstrap(20, 10, np.random.RandomState(0))._blocks()]
    assert sizes == [3, 3, 3, 1]


def test_bootstrap_interval_of_a_mean_is_that_of_its_standard_error():
    values = np.random.RandomState(1).randn(400)
    bootstrap = Bootstrap(400, 4000, np.random.RandomState(0))
    low, high = bootstrap.intervals({"mean": statistics.mean_of(values)}, 0.95)["mean"]
    half = 1.96 * values.std() / np.sqrt(400)
    np.testing.assert_allclose([low, high], [values.mean() - half, values.mean() + half], atol=0.1 * half)


def rows_of(matrix):
    """The true and the predicted class of each row of a confusion matrix."""
    true, predicted = np.indices(matrix.shape).reshape(2, -1)
    return np.repeat(true, matrix.ravel()), np.repeat(predicted, matrix.ravel())


def test_resampling_a_confusion_matrix_is_resampling_rows_within_classes():
    matrix = np.array([[40, 8, 2], [10, 60, 5], [1, 3, 16]])
    true, predicted = rows_of(matrix)
    np.testing.assert_array_equal(confusion_matrix(true, predicted, 3), matrix)
    bootstrap = Bootstrap(len(true), 4000, np.random.RandomState(0), true)
    matrices = bootstrap.confusions(true, predicted, 3)
    assert matrices.shape == (4000, 3, 3)
    np.testing.assert_array_equal(matrices.sum(axis=2), np.tile(matrix.sum(axis=1), (4000, 1)))
    by_rows = np.concatenate(
        [[confusion_matrix_of(count, true, predicted) for count in counts] for counts in bootstrap._blocks()]
    )
    np.testing.assert_allclose(matrices.mean(axis=0), by_rows.mean(axis=0), atol=0.3)
    np.testing.assert_allclose(matrices.std(axis=0), by_rows.std(axis=0), rtol=0.06)
    fast, slow = (percentiles(balanced_accuracy(each), 0.95) for each in (matrices, by_rows))
    np.testing.assert_allclose(fast, slow, atol=0.01)


def confusion_matrix_of(count, true, predicted):
    return np.bincount(true * 3 + predicted, count, minlength=9).reshape(3, 3)


def test_confusion_matrices_of_groups_are_those_of_the_groups_drawn():
    true, predicted = rows_of(np.array([[7, 2], [3, 8]]))
    groups = np.random.RandomState(1).permutation(20) // 4
    matrices = Bootstrap(20, 50, np.random.RandomState(0), true, groups).confusions(true, predicted, 2)
    (counts,) = Bootstrap(20, 50, np.random.RandomState(0), true, groups)._blocks()
    expected = [
        confusion_matrix(true[rows], predicted[rows], 2) for rows in (np.repeat(np.arange(20), c.astype(int)) for c in counts)
    ]
    np.testing.assert_array_equal(matrices, expected)


def test_a_class_without_rows_draws_none():
    true, predicted = rows_of(np.array([[4, 0, 1], [0, 0, 0], [1, 1, 3]]))
    matrices = Bootstrap(10, 20, np.random.RandomState(0), true).confusions(true, predicted, 3)
    assert not matrices[:, 1].any()


@pytest.mark.parametrize(
    ("n_rows", "n_resamples", "expected"), [(10, 1000, 1000), (50, 1000, 400), (999, 1000, 200), (999, 30, 30)]
)
def test_many_rows_have_fewer_resamples_but_matrices_do_not(n_rows, n_resamples, expected):
    true = np.arange(n_rows) % 2
    bootstrap = Bootstrap(n_rows, n_resamples, np.random.RandomState(0), true, most_draws=20_000)
    assert sum(len(counts) for counts in bootstrap._blocks()) == expected
    assert len(bootstrap.confusions(true, true, 2)) == n_resamples


def test_an_interval_of_mostly_undefined_values_is_not_defined():
    values = np.arange(10.0)
    assert percentiles(np.r_[values, np.full(10, np.nan)], 1.0) == (0.0, 9.0)
    assert np.isnan(percentiles(np.r_[values, np.full(11, np.nan)], 0.95)).all()
    assert np.isnan(percentiles(np.array([np.inf, -np.inf]), 0.95)).all()
