"""RidgeClassifier and RidgeClassifierCV against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peers
from sklearn.datasets import load_iris, make_multilabel_classification

from mercer.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV

IRIS, SPECIES = load_iris(return_X_y=True)
DATA = {
    "three classes": (IRIS, SPECIES),
    "two classes": (IRIS[50:], np.array(["b", "a", "c"])[SPECIES[50:]]),
    "several labels": make_multilabel_classification(90, 8, n_classes=4, random_state=0),
    "wide": (np.random.default_rng(0).normal(size=(20, 40)), np.arange(20) % 3),
}
every_kind = pytest.mark.parametrize("kind", DATA)
weighted = pytest.mark.parametrize("is_weighted", [False, True])


def weights_of(X, is_weighted):
    return np.random.default_rng(1).uniform(0.2, 2, size=len(X)) if is_weighted else None


def assert_equal(ours, theirs, X):
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@every_kind
@weighted
@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}, {"solver": "lsqr", "tol": 1e-13}, {"alpha": 30.0}], ids=str)
def test_the_classifier_equals_scikit_learn(kind, is_weighted, params):
    X, y = DATA[kind]
    weights = weights_of(X, is_weighted)
    theirs = peers.RidgeClassifier(**params).fit(X, y, weights)
    for data in (X, sp.csr_matrix(X)):
        ours = RidgeClassifier(**params).fit(data, y, weights)
        assert_equal(ours, theirs, X)
        assert ours.certificate_.converged


@every_kind
@weighted
@pytest.mark.parametrize("params", [{}, {"cv": 3}, {"store_cv_results": True}, {"scoring": "accuracy"}], ids=str)
def test_the_search_equals_scikit_learn(kind, is_weighted, params):
    if "scoring" in params and kind in ("two classes", "several labels"):
        pytest.skip("there scikit-learn scores against a label that no row has")
    X, y = DATA[kind]
    weights = weights_of(X, is_weighted)
    ours, theirs = (module.fit(X, y, weights) for module in (RidgeClassifierCV(**params), peers.RidgeClassifierCV(**params)))
    assert_equal(ours, theirs, X)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-8)
    if params.get("store_cv_results"):
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["two classes", "several labels"])
def test_labels_of_rows_left_out_are_scored(kind):
    X, y = DATA[kind]
    model = RidgeClassifierCV([1.0], scoring="accuracy", store_cv_results=True).fit(X, y)
    hits = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        hits.append(np.all(RidgeClassifier(1.0).fit(X[rest], y[rest]).predict(X[i : i + 1])[0] == y[i]))
    assert model.best_score_ == pytest.approx(np.mean(hits))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 5.0, 2: 0.5}])
@pytest.mark.parametrize("search", [False, True])
def test_weights_of_classes_equal_scikit_learn(class_weight, search):
    X, y = IRIS[20:], SPECIES[20:]
    name = "RidgeClassifierCV" if search else "RidgeClassifier"
    ours = {"RidgeClassifierCV": RidgeClassifierCV, "RidgeClassifier": RidgeClassifier}[name](class_weight=class_weight)
    assert_equal(ours.fit(X, y), getattr(peers, name)(class_weight=class_weight).fit(X, y), X)


def test_it_is_ridge_regression_on_minus_one_and_one():
    X, y = DATA["two classes"]
    model = RidgeClassifier(0.5).fit(X, y)
    np.testing.assert_allclose(model.coef_, Ridge(0.5).fit(X, np.where(y == "c", 1.0, -1.0)).coef_)
    assert RidgeClassifier(0.5, positive=True).fit(X, y).coef_.min() >= 0


@pytest.mark.parametrize("estimator", [RidgeClassifier, RidgeClassifierCV])
def test_wrong_targets_and_weights_are_refused(estimator):
    X, y = DATA["several labels"]
    with pytest.raises(ValueError, match="class_weight='balanced' is not for rows of several labels"):
        estimator(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        estimator().fit(X, np.linspace(0, 1, len(X)))
    with pytest.raises(ValueError, match=r"class_weight=\{7: 1.0\} is not valid; its keys must be classes of y"):
        estimator(class_weight={7: 1.0}).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="no summary"):
        estimator().fit(X, y).summary()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("estimator", [RidgeClassifier, RidgeClassifierCV])
def test_one_class_is_predicted_everywhere(estimator, fit_intercept):
    """Even where values without an intercept are positive, which there stand for a second class."""
    y = np.array(["only"] * len(IRIS))
    model = estimator(fit_intercept=fit_intercept).fit(IRIS, y)
    peer = getattr(peers, estimator.__name__)(fit_intercept=fit_intercept).fit(IRIS, y)
    np.testing.assert_allclose(model.decision_function(IRIS), peer.decision_function(IRIS), atol=1e-10)
    assert list(model.classes_) == ["only"]
    assert set(model.predict(-IRIS)) == {"only"}
