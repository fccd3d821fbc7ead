"""Predictions from neighbours: the worked example, the oracle, scikit-learn's answers, and the degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neighbors
from hypothesis import given, settings, strategies as st

from mercer.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from tests.reference import votes as reference

RANDOM = np.random.RandomState(0)
X, Q = RANDOM.rand(150, 3), RANDOM.rand(40, 3)
LABELS, NUMBERS = RANDOM.choice(["a", "b", "c"], 150), RANDOM.rand(150)


def of_distances(d):
    return 1 / (1 + d**2) if d.dtype != object else np.array([1 / (1 + each**2) for each in d], dtype=object)


# Worked example of the specification: distances 3, 4, 1 with labels 1, 1, 0.
WORKED, WORKED_LABELS = [[3.0], [-4.0], [-1.0]], [1, 1, 0]


def test_the_worked_example():
    uniform = KNeighborsClassifier(3).fit(WORKED, WORKED_LABELS)
    inverse = KNeighborsClassifier(3, weights="distance").fit(WORKED, WORKED_LABELS)
    assert uniform.predict([[0.0]]).tolist() == [1]
    assert inverse.predict([[0.0]]).tolist() == [0]
    np.testing.assert_allclose(inverse.predict_proba([[0.0]]), [[12 / 19, 7 / 19]], rtol=1e-14)


@pytest.mark.parametrize("weights", ["uniform", "distance", None, of_distances])
@pytest.mark.parametrize("queries", [Q, None], ids=["queries", "rows"])
def test_classes_are_those_of_scikit_learn(weights, queries):
    for name, options in (("KNeighborsClassifier", {"n_neighbors": 6}), ("RadiusNeighborsClassifier", {"radius": 0.4})):
        own_class = {"KNeighborsClassifier": KNeighborsClassifier, "RadiusNeighborsClassifier": RadiusNeighborsClassifier}[name]
        own = own_class(weights=weights, **options).fit(X, LABELS)
        peer = getattr(sklearn.neighbors, name)(weights=weights, **options).fit(X, LABELS)
        assert (own.predict(queries) == peer.predict(queries)).all()
        np.testing.assert_allclose(own.predict_proba(queries), peer.predict_proba(queries), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("weights", ["uniform", "distance", of_distances])
@pytest.mark.parametrize(
    "targets", [NUMBERS, np.column_stack([NUMBERS, NUMBERS**2]), NUMBERS[:, None]], ids=["1", "2", "column"]
)
def test_means_are_those_of_scikit_learn(weights, targets):
    for own, peer in (
        (KNeighborsRegressor(6, weights=weights), sklearn.neighbors.KNeighborsRegressor(6, weights=weights)),
        (RadiusNeighborsRegressor(0.4, weights=weights), sklearn.neighbors.RadiusNeighborsRegressor(0.4, weights=weights)),
    ):
        mine, theirs = own.fit(X, targets).predict(Q), peer.fit(X, targets).predict(Q)
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 40),
    k=st.integers(1, 6),
    weights=st.sampled_from(["uniform", "distance", "gaussian", of_distances]),
    bandwidth=st.sampled_from([0.1, 1.0, 10.0]),
    ties=st.sampled_from(["first", "closest"]),
)
def test_predictions_are_those_of_the_oracle(seed, n, k, weights, bandwidth, ties):
    random, k = np.random.RandomState(seed), min(k, n)
    rows, queries = random.randint(0, 3, size=(n, 2)).astype(float), random.randint(0, 3, size=(5, 2)) + 0.25
    codes, targets = random.randint(0, 3, n), random.rand(n, 1)
    options = {"weights": weights, "bandwidth": bandwidth}
    classifier = KNeighborsClassifier(k, ties=ties, **options).fit(rows, codes)
    regressor = KNeighborsRegressor(k, **options).fit(rows, targets)
    labels, shares, means = classifier.predict(queries), classifier.predict_proba(queries), regressor.predict(queries)
    for query, label, share, mean in zip(queries, labels, shares, means, strict=True):
        d = reference.distances(query[None], rows)[0]
        found = reference.nearest(d, k)
        w = reference.weigh(d[found], weights, bandwidth)
        expected = reference.shares(w, codes[found], 3)
        winner = reference.winner(w, codes[found], d[found], ties)
        assert label == winner or (weights != "uniform" and np.isclose(expected[label], expected[winner], rtol=1e-9))
        np.testing.assert_allclose(share, expected[np.unique(codes)], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mean, reference.mean(w, targets[found]), rtol=1e-9)


def test_a_tie_goes_to_the_first_class_or_to_that_of_the_closest_point():
    rows, labels = [[1.0], [-2.0]], ["b", "a"]
    assert KNeighborsClassifier(2).fit(rows, labels).predict([[0.0]]).tolist() == ["a"]
    assert KNeighborsClassifier(2, ties="closest").fit(rows, labels).predict([[0.0]]).tolist() == ["b"]
    assert RadiusNeighborsClassifier(3.0).fit(rows, labels).predict([[0.0]]).tolist() == ["a"]
    assert RadiusNeighborsClassifier(3.0, ties="closest").fit(rows, labels).predict([[0.0]]).tolist() == ["b"]


def test_several_outputs_are_predicted_as_each_alone():
    both = np.column_stack([LABELS, RANDOM.choice(["x", "y"], len(X))])
    for make in (lambda: KNeighborsClassifier(4), lambda: RadiusNeighborsClassifier(0.5)):
        model = make().fit(X, both)
        alone = [make().fit(X, column) for column in both.T]
        assert (model.predict(Q) == np.column_stack([each.predict(Q) for each in alone])).all()
        for mine, each in zip(model.predict_proba(Q), alone, strict=True):
            assert (mine == each.predict_proba(Q)).all()


def test_sparse_targets_are_taken():
    targets = sp.csr_matrix(np.where(NUMBERS > 0.5, NUMBERS, 0)[:, None])
    dense = KNeighborsRegressor().fit(X, targets.toarray()).predict(Q)
    assert (KNeighborsRegressor().fit(X, targets).predict(Q) == dense).all()


def test_predictions_in_parts_are_those_of_all_at_once(monkeypatch):
    models = [
        KNeighborsClassifier(4, weights="distance").fit(X, LABELS),
        KNeighborsRegressor(4).fit(X, NUMBERS),
        RadiusNeighborsClassifier(0.5).fit(X, LABELS),
        RadiusNeighborsRegressor(0.5).fit(X, NUMBERS),
    ]
    queries = np.tile(Q, (20, 1))
    whole = [model.predict(queries) for model in models]
    monkeypatch.setattr("mercer.neighbors._questions.MOST_ENTRIES", 64)
    for model, expected in zip(models, whole, strict=True):
        assert (model.predict(queries) == expected).all()


def test_rows_without_neighbours_have_a_label_of_their_own_or_are_an_error():
    far = [[9.0, 9.0, 9.0], [0.5, 0.5, 0.5]]
    with pytest.raises(ValueError, match=r"No neighbors found for test samples \[0\] \(1 in all\).*larger radius"):
        RadiusNeighborsClassifier(0.5).fit(X, LABELS).predict(far)
    model = RadiusNeighborsClassifier(0.5, outlier_label="most_frequent").fit(X, LABELS)
    most = max(set(LABELS.tolist()), key=LABELS.tolist().count)
    assert model.predict(far)[0] == most
    assert model.predict_proba(far)[0, model.classes_.tolist().index(most)] == 1
    model = RadiusNeighborsClassifier(0.5, outlier_label="stranger").fit(X, LABELS)
    assert model.predict(far)[0] == "stranger"
    with pytest.warns(UserWarning, match="Outlier label stranger is not in training classes"):
        assert (model.predict_proba(far)[0] == 0).all()
    with pytest.raises(TypeError, match=r"The dtype of outlier_label 1\.5 is inconsistent with classes"):
        RadiusNeighborsClassifier(outlier_label=1.5).fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match="inconsistent with the output length: 1"):
        RadiusNeighborsClassifier(outlier_label=[0, 1]).fit(X, np.arange(150) % 3)


def test_a_mean_of_nobody_is_nan_with_one_warning():
    model = RadiusNeighborsRegressor(0.5).fit(X, NUMBERS)
    with pytest.warns(UserWarning, match="predicting NaN. They are 1 of 2; raise radius"):
        means = model.predict([[9.0, 9.0, 9.0], [0.5, 0.5, 0.5]])
    assert np.isnan(means).tolist() == [True, False]


def test_weights_of_zero_are_an_error():
    model = KNeighborsClassifier(weights=lambda d: d * 0).fit(X, LABELS)
    with pytest.raises(ValueError, match="zero weights"):
        model.predict(Q)


def test_far_gaussian_weights_do_not_vanish():
    model = KNeighborsRegressor(2, weights="gaussian", bandwidth=1e-3).fit([[0.0], [1.0]], [0.0, 1.0])
    assert model.predict([[1000.0]]).tolist() == [1.0]


@pytest.mark.parametrize("params", [{"bandwidth": 0.0}, {"ties": "last"}, {"weights": "strong"}])
def test_wrong_parameters_are_named(params):
    name = next(iter(params))
    with pytest.raises(ValueError, match=f"KNeighborsClassifier: {name}="):
        KNeighborsClassifier(**params).fit(X, LABELS)
    model = KNeighborsClassifier(weights="gaussian").fit(X, LABELS)
    with pytest.raises(ValueError, match=f"KNeighborsClassifier: {name}="):
        model.set_params(**params).predict(Q)
