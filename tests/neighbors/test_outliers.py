"""Local outlier factors: the oracle's, scikit-learn's, and those of rows that are equal."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.neighbors
from hypothesis import given, settings, strategies as st

from mercer.neighbors import LocalOutlierFactor
from tests.reference import votes as reference

RANDOM = np.random.RandomState(0)
X = np.vstack([RANDOM.randn(200, 3), RANDOM.uniform(-8, 8, size=(10, 3))])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 40), k=st.integers(1, 6))
def test_factors_are_those_of_the_oracle(seed, n, k):
    rows, k = np.random.RandomState(seed).rand(n, 2), min(k, n - 1)
    found = LocalOutlierFactor(k).fit(rows).negative_outlier_factor_
    np.testing.assert_allclose(-found, reference.outlier_factors(rows, k), rtol=1e-9)


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_scores_are_those_of_scikit_learn(contamination):
    options = {"n_neighbors": 15, "contamination": contamination}
    own, peer = LocalOutlierFactor(**options), sklearn.neighbors.LocalOutlierFactor(**options)
    assert (own.fit_predict(X) == peer.fit_predict(X)).all()
    np.testing.assert_allclose(own.negative_outlier_factor_, peer.negative_outlier_factor_, rtol=1e-9)
    np.testing.assert_allclose(own.offset_, peer.offset_, rtol=1e-9)
    queries = RANDOM.uniform(-8, 8, size=(50, 3))
    own, peer = own.set_params(novelty=True).fit(X), peer.set_params(novelty=True).fit(X)
    for name in ("score_samples", "decision_function", "predict"):
        np.testing.assert_allclose(getattr(own, name)(queries), getattr(peer, name)(queries), rtol=1e-9, atol=1e-12)
    assert (own.predict() == np.where(own.negative_outlier_factor_ < own.offset_, -1, 1)).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(8, 60), k=st.integers(1, 4))
def test_equal_rows_are_one_place_that_counts_for_all_of_them(seed, n, k):
    rows = np.random.RandomState(seed).randint(0, 3, size=(n, 2)).astype(float)
    k = min(k, len(np.unique(rows, axis=0)) - 1)
    if k < 1:
        return
    found = LocalOutlierFactor(k, duplicates="distinct").fit(rows).negative_outlier_factor_
    np.testing.assert_allclose(-found, reference.distinct_outlier_factors(rows, k), rtol=1e-9)


def test_more_equal_rows_than_neighbours_leave_all_scores_moderate():
    crowd = np.vstack([np.zeros((30, 2)), RANDOM.randn(50, 2)])
    model = LocalOutlierFactor(5).fit(crowd)
    assert (model.negative_outlier_factor_ > -100).all()
    assert len(set(model.negative_outlier_factor_[:30].tolist())) == 1
    with pytest.warns(UserWarning, match="Duplicate values are leading to incorrect results"):
        model = LocalOutlierFactor(5, duplicates="rows").fit(crowd)
    peer = sklearn.neighbors.LocalOutlierFactor(n_neighbors=5)
    with pytest.warns(UserWarning, match="Duplicate values"):
        peer.fit(crowd)
    np.testing.assert_allclose(model.negative_outlier_factor_, peer.negative_outlier_factor_, rtol=1e-6)
    novelty = LocalOutlierFactor(5, novelty=True).fit(crowd)
    scores = novelty.score_samples([[0.0, 0.0], [50.0, 50.0]])
    assert np.isfinite(scores).all()
    assert scores[1] < -10 < scores[0]


def test_rows_that_are_all_equal_are_no_outliers():
    assert (LocalOutlierFactor(3).fit_predict(np.ones((10, 2))) == 1).all()


def test_fewer_rows_than_neighbours_are_all_taken():
    with pytest.warns(UserWarning, match=r"n_neighbors \(20\) is greater than the total number of samples \(5\)"):
        model = LocalOutlierFactor(20).fit(X[:5])
    assert model.n_neighbors_ == 4
    with pytest.raises(ValueError, match="a row alone has no neighbours"):
        LocalOutlierFactor().fit(X[:1])


def test_methods_are_there_where_they_make_sense():
    assert not hasattr(LocalOutlierFactor(), "predict")
    assert not hasattr(LocalOutlierFactor(), "score_samples")
    assert not hasattr(LocalOutlierFactor(novelty=True), "fit_predict")
