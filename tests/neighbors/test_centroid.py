"""The nearest centroid."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn import neighbors as peer

from mercer.neighbors import NearestCentroid


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    metric=st.sampled_from(["euclidean", "manhattan"]),
    threshold=st.sampled_from([None, 0.3, 2.0]),
    priors=st.sampled_from(["uniform", "empirical", (0.5, 0.2, 0.3)]),
    is_sparse=st.booleans(),
)
def test_everything_agrees_with_scikit_learn(seed, metric, threshold, priors, is_sparse):
    random = np.random.RandomState(seed)
    X, y, new = random.randn(40, 4), np.arange(40) % 3, random.randn(11, 4)
    X += y[:, None]
    options = {"metric": metric, "shrink_threshold": threshold, "priors": priors}
    mine = NearestCentroid(**options).fit(sp.csr_matrix(X) if is_sparse else X, y)
    theirs = peer.NearestCentroid(**options).fit(X, y)
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-9, atol=1e-10, err_msg=name)
    queries = sp.csr_matrix(new) if is_sparse else new
    assert (mine.predict(queries) == theirs.predict(new)).all()
    if metric == "euclidean":
        np.testing.assert_allclose(mine.decision_function(queries), theirs.decision_function(new), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(mine.predict_proba(queries), theirs.predict_proba(new), rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(mine.predict_log_proba(queries), theirs.predict_log_proba(new), rtol=1e-7, atol=1e-9)


def test_two_classes_have_one_decision():
    model = NearestCentroid().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    decision = model.decision_function([[0.0], [5.0]])
    assert decision.shape == (2,)
    assert decision[0] < 0 < decision[1]
    assert not hasattr(NearestCentroid("manhattan"), "predict_proba")


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        ([0, 0, 0], {}, "number of classes"),
        ([0, 1, 1], {"priors": [0.5]}, "one for each class"),
        ([0, 1, 1], {"priors": [1.5, -0.5]}, "non-negative"),
        ([0, 1, 1], {"metric": "cosine"}, "metric='cosine'"),
    ],
)
def test_wrong_input_is_refused(y, options, words):
    with pytest.raises(ValueError, match=words):
        NearestCentroid(**options).fit([[0.0], [1.0], [2.0]], y)


def test_what_does_not_vary_is_told():
    with pytest.warns(UserWarning, match="zero standard deviation"):
        model = NearestCentroid().fit([[1.0], [1.0], [1.0]], [0, 1, 1])
    assert model.predict_proba([[1.0], [9.0]]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    with pytest.warns(UserWarning, match="zero standard deviation"):
        model = NearestCentroid(shrink_threshold=0.5).fit([[1.0, 0], [1.0, 1], [1.0, 5], [1.0, 7]], [0, 0, 1, 1])
    assert np.isfinite(model.centroids_).all()
    with pytest.warns(UserWarning, match="sum to 1"):
        NearestCentroid(priors=[1, 1]).fit([[0.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1])
