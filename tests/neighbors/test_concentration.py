"""How much contrast distances have left."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.neighbors import _concentration, distance_concentration


def test_contrast_and_variation_are_those_of_all_distances(monkeypatch):
    X = np.random.RandomState(0).rand(60, 5)
    d = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[~np.eye(60, dtype=bool)].reshape(60, 59)
    monkeypatch.setattr(_concentration, "MOST_DISTANCES", 500)
    found = distance_concentration(X, n_queries=100)
    np.testing.assert_allclose(found.relative_contrast, np.median(d.max(axis=1) / d.min(axis=1) - 1))
    np.testing.assert_allclose(found.coefficient_of_variation, d.std() / d.mean())
    np.testing.assert_allclose(found.intrinsic_dimension, d.mean() ** 2 / (2 * d.var()))
    assert found.n_queries == 60


def test_contrast_falls_with_the_dimension_and_the_words_say_so():
    random = np.random.RandomState(0)
    low, high = (distance_concentration(random.rand(300, d), random_state=0) for d in (2, 1000))
    assert low.relative_contrast > 10 > 0.5 > high.relative_contrast
    assert "neighbours stand out" in repr(low)
    assert "little contrast" in repr(high)


def test_equal_rows_have_endless_contrast_and_none_where_all_are():
    assert distance_concentration([[0.0], [0.0], [1.0], [1.0]]).relative_contrast == np.inf
    assert distance_concentration(np.ones((5, 2))).relative_contrast == 0


@pytest.mark.parametrize("X", [[[1.0]], [[np.nan], [1.0]]])
def test_wrong_input_is_refused(X):
    with pytest.raises(ValueError):
        distance_concentration(X)
    with pytest.raises(ValueError, match="n_queries=0"):
        distance_concentration([[0.0], [1.0]], n_queries=0)
