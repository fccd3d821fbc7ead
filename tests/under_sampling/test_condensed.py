from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mercer.under_sampling import CondensedNearestNeighbour


@pytest.mark.parametrize("seed", range(5))
def test_the_condensed_set_classifies_all_rows_as_their_nearest_neighbour_does(seed):
    random = np.random.RandomState(seed)
    X, y = random.randn(150, 2), np.repeat([1, 0], [30, 120])
    X[y == 1] += 0.7
    sampler = CondensedNearestNeighbour(until_stable=True, random_state=seed)
    X_kept, y_kept = sampler.fit_resample(X, y)
    assert len(y_kept) < len(y)
    assert (KNeighborsClassifier(1).fit(X_kept, y_kept).predict(X) == y).all()
    assert set(np.flatnonzero(y == 1)) <= set(sampler.sample_indices_)


def test_a_number_of_neighbours_and_a_classifier_keep_the_same_rows():
    random = np.random.RandomState(0)
    X, y = random.randn(90, 3), np.repeat([0, 1, 2], [50, 25, 15])
    by_number = CondensedNearestNeighbour(n_neighbors=3, random_state=0)
    by_classifier = CondensedNearestNeighbour(n_neighbors=KNeighborsClassifier(3), random_state=0)
    by_number.fit_resample(X, y)
    by_classifier.fit_resample(X, y)
    np.testing.assert_array_equal(by_number.sample_indices_, by_classifier.sample_indices_)
