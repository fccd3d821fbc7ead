from __future__ import annotations

import numpy as np
import pytest

from mercer.cluster import KMeans, elbow


@pytest.fixture(scope="module")
def four_squares():
    random = np.random.RandomState(0)
    return np.concatenate([centre + random.randn(60, 2) for centre in ([0, 0], [12, 0], [0, 12], [12, 12])])


def test_suggests_the_number_of_separate_clusters(four_squares):
    curve = elbow(four_squares, range(1, 10))
    assert curve.suggested == 4
    assert (np.diff(curve.inertia) < 0).all()
    assert "4 clusters suggested" in repr(curve)


def test_fits_what_the_given_estimator_would(four_squares):
    curve = elbow(four_squares, [2, 5, 3], estimator=KMeans(init="random", n_init=2, random_state=7))
    assert list(curve.n_clusters) == [2, 3, 5]
    expected = KMeans(3, init="random", n_init=2, random_state=7).fit(four_squares).inertia_
    assert curve.inertia[1] == expected


def test_weights_are_passed_on(four_squares):
    weights = np.r_[np.ones(120), np.zeros(120)]
    assert elbow(four_squares, range(1, 7), sample_weight=weights).suggested == 2


def test_refuses_fewer_than_three_numbers(four_squares):
    with pytest.raises(ValueError, match="at least three"):
        elbow(four_squares, [2, 3, 3])
    with pytest.raises(ValueError, match="n_clusters=0"):
        elbow(four_squares, [0, 1, 2])
