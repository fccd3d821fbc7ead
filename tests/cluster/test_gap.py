from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster import KMeans, gap_statistic


@pytest.fixture(scope="module")
def three():
    random = np.random.RandomState(0)
    return np.concatenate([centre + random.randn(40, 2) for centre in ([0, 0], [12, 0], [0, 12])])


@pytest.mark.parametrize("reference", ["components", "box"])
def test_suggests_the_number_of_separate_clusters(three, reference):
    curve = gap_statistic(three, range(1, 7), n_references=8, reference=reference)
    assert curve.suggested == 3
    assert "3 clusters suggested" in repr(curve)
    expected = np.log([KMeans(k, n_init=3, random_state=0).fit(three).inertia_ for k in range(1, 7)])
    np.testing.assert_allclose(curve.log_inertia, expected)
    np.testing.assert_allclose(curve.gap, curve.reference - curve.log_inertia)


def test_says_that_there_are_no_clusters():
    X = np.random.RandomState(1).uniform(size=(150, 2))
    assert gap_statistic(X, range(1, 5), n_references=10).suggested == 1


def test_the_standard_error_is_that_of_the_references(three):
    one = gap_statistic(three, [1, 2], n_references=1)
    np.testing.assert_allclose(one.standard_error, 0, atol=1e-12)
    again = gap_statistic(three, [1, 2], n_references=5, random_state=3)
    same = gap_statistic(three, [2, 1], n_references=5, random_state=3)
    np.testing.assert_array_equal(again.gap, same.gap)


def test_weights_of_zero_leave_rows_out(three):
    weights = np.r_[np.ones(80), np.zeros(40)]
    assert gap_statistic(three, range(1, 5), n_references=5, sample_weight=weights).suggested == 2


def test_as_many_clusters_as_rows_differ_have_a_gap_without_end():
    X = np.repeat([[0.0, 0], [1, 5], [7, 2]], 5, axis=0)
    curve = gap_statistic(X, [1, 2, 3], n_references=4)
    assert curve.gap[2] == np.inf
    assert curve.suggested == 3


def test_wrong_arguments_are_refused(three):
    with pytest.raises(ValueError, match="all rows of X are equal"):
        gap_statistic(np.ones((5, 2)), [1, 2])
    with pytest.raises(ValueError, match="at least two"):
        gap_statistic(three, [2])
    with pytest.raises(TypeError, match="several numbers"):
        gap_statistic(three, 3)
