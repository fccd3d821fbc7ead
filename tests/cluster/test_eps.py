"""The radius of DBSCAN from the curve of k-distances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from mercer.cluster import DBSCAN, estimate_eps


@pytest.fixture
def X():
    random = np.random.RandomState(0)
    return np.concatenate([random.normal(size=(90, 2)), random.uniform(-20, 20, size=(10, 2))])


def test_the_curve_is_that_of_the_distances(X):
    expected = np.sort(np.sort(cdist(X, X), axis=1)[:, 3])[::-1]
    for rows, options in ((X, {}), (cdist(X, X), {"metric": "precomputed"}), (sp.csr_array(X), {})):
        np.testing.assert_allclose(estimate_eps(rows, 4, **options).distances, expected, atol=1e-12)


def test_slope_is_the_rule_of_the_notes():
    X = np.cumsum([0.0, 1.0, 2.0, 4.0, 7.0, 13.0])[:, None]  # nearest at 1, 1, 2, 4, 7, 13: from 13 to 1 in five steps of 2.4
    curve = estimate_eps(X, 2, method="slope")
    np.testing.assert_array_equal(curve.distances, [13, 7, 4, 2, 1, 1])
    assert (curve.eps, curve.place) == (4.0, 2)  # steps of 6, 3, 2, 1, 0: 2 is the closest, and 4 comes before it


def test_knee_is_the_point_farthest_below_the_chord():
    X = np.cumsum([0.0, 1.0, 1.1, 1.2, 1.3, 9.0])[:, None]
    assert estimate_eps(X, 2, method="knee").eps == pytest.approx(1.3)


def test_noise_is_the_share_that_is_not_core(X):
    for share in (0.0, 0.1, 0.25):
        curve = estimate_eps(X, 5, method="noise", noise=share)
        model = DBSCAN(float(curve), min_samples=5).fit(X)
        assert len(X) - len(model.core_sample_indices_) == curve.place == round(share * len(X))
        assert curve.noise == share


def test_equal_rows_have_a_flat_curve():
    for method in ("slope", "knee", "noise"):
        assert estimate_eps(np.ones((9, 2)), 3, method=method).eps == 0


def test_what_cannot_be_is_refused(X):
    for options, words in (
        ({"method": "elbow"}, "method='elbow' is not valid"),
        ({"min_samples": 101}, "more than X has rows"),
        ({"noise": 1.0}, "noise=1.0 is not valid"),
    ):
        with pytest.raises(ValueError, match=words):
            estimate_eps(X, **options)
