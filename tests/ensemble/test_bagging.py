"""Bagging: scikit-learn's draws, members of any kind, Mercer's own trees in one store, the spread of the members."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.ensemble
import sklearn.linear_model
import sklearn.neighbors
import sklearn.svm
import sklearn.tree
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.ensemble import BaggingClassifier, BaggingRegressor
from mercer.linear_model import LogisticRegression, Ridge
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.forest_data import CLASSIFICATION, REGRESSION, for_the_peer

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(300, noise=1.0, random_state=0)
DRAWS = [
    {},
    {"max_samples": 0.5},
    {"max_samples": 40, "max_features": 2},
    {"bootstrap": False, "max_samples": 0.7},
    {"bootstrap_features": True, "max_features": 0.75},
]


# ---- scikit-learn's draws, so the same members


@pytest.mark.sampled(4)
@pytest.mark.parametrize("params", DRAWS)
@pytest.mark.parametrize(
    "base",
    [sklearn.linear_model.LinearRegression(), sklearn.neighbors.KNeighborsRegressor(), sklearn.tree.ExtraTreeRegressor()],
)
def test_a_regressor_of_any_kind_is_bagged_as_by_scikit_learn(base, params):
    X, y = FRIEDMAN
    has_score = {"oob_score": True} if params.get("bootstrap", True) else {}
    mine = BaggingRegressor(base, 15, random_state=0, **params, **has_score).fit(X, y)
    peer = sklearn.ensemble.BaggingRegressor(base, n_estimators=15, random_state=0, **params, **has_score).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-10)
    for name in ("estimators_samples_", "estimators_features_"):
        for one, other in zip(getattr(mine, name), getattr(peer, name), strict=True):
            np.testing.assert_array_equal(one, other)
    if has_score and not np.isnan(mine.oob_prediction_).any():
        assert mine.oob_score_ == pytest.approx(peer.oob_score_)
        np.testing.assert_allclose(mine.oob_prediction_, peer.oob_prediction_)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("params", DRAWS)
@pytest.mark.parametrize(
    "base",
    [sklearn.linear_model.LogisticRegression(max_iter=1000), sklearn.neighbors.KNeighborsClassifier(), sklearn.svm.LinearSVC()],
)
def test_a_classifier_of_any_kind_is_bagged_as_by_scikit_learn(base, params):
    X, y = IRIS
    names = np.array(["one", "two", "three"])[y]
    mine = BaggingClassifier(base, 8, random_state=0, **params).fit(X, names)
    peer = sklearn.ensemble.BaggingClassifier(base, n_estimators=8, random_state=0, **params).fit(X, names)
    np.testing.assert_array_equal(mine.predict(X), peer.predict(X))
    np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-12)
    if hasattr(base, "decision_function"):
        np.testing.assert_allclose(mine.decision_function(X), peer.decision_function(X), rtol=1e-8)
    else:
        assert not hasattr(mine, "decision_function")


def test_rows_with_weights_are_drawn_as_by_scikit_learn():
    X, y = FRIEDMAN
    weights = np.random.RandomState(0).rand(len(y))
    mine, peer = (
        kind(sklearn.linear_model.LinearRegression(), n_estimators=5, random_state=0).fit(X, y, sample_weight=weights)
        for kind in (BaggingRegressor, sklearn.ensemble.BaggingRegressor)
    )
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-10)


def test_without_a_bootstrap_the_members_have_the_weights():
    X, y = FRIEDMAN
    weights = np.random.RandomState(0).randint(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    for base in (Ridge(), DecisionTreeRegressor(max_depth=2)):
        one = BaggingRegressor(base, 3, bootstrap=False, random_state=0).fit(X, y, sample_weight=weights)
        other = BaggingRegressor(base, 3, bootstrap=False, random_state=0).fit(X[rows], y[rows])
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="KNeighborsRegressor does not support sample weights"):
        BaggingRegressor(sklearn.neighbors.KNeighborsRegressor(), bootstrap=False).fit(X, y, sample_weight=weights)


# ---- Mercer's own trees


@pytest.mark.parametrize("params", [{}, {"max_samples": 0.5}, {"bootstrap": False, "max_samples": 0.6}, {"bootstrap": False}])
@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_trees_grown_in_one_call_are_those_fitted_one_by_one(kind, params):
    X, y = IRIS if kind is BaggingClassifier else FRIEDMAN
    base = (DecisionTreeClassifier if kind is BaggingClassifier else DecisionTreeRegressor)(min_samples_leaf=8, max_features=2)
    bagging = kind(base, 4, random_state=0, **params).fit(X, y)
    for tree, rows in zip(bagging.estimators_, bagging.estimators_samples_, strict=True):
        alone = clone(tree).fit(X, y, sample_weight=np.bincount(rows, minlength=len(X)))
        np.testing.assert_array_equal(alone.tree_.feature, tree.tree_.feature)
        np.testing.assert_allclose(alone.predict(X), tree.predict(X), rtol=1e-12)


def test_trees_on_some_of_the_rows_have_their_weights():
    X, y = FRIEDMAN
    weights = np.random.RandomState(0).rand(len(y))
    base = DecisionTreeRegressor(min_samples_leaf=8)
    bagging = BaggingRegressor(base, 3, bootstrap=False, max_samples=0.6, random_state=0).fit(X, y, sample_weight=weights)
    for tree, rows in zip(bagging.estimators_, bagging.estimators_samples_, strict=True):
        alone = clone(tree).fit(X[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_allclose(alone.predict(X), tree.predict(X), rtol=1e-10)


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_held_out_accuracy_is_that_of_scikit_learn(name):
    X, y = CLASSIFICATION[name]()
    mine = cross_val_score(BaggingClassifier(n_estimators=15, random_state=0), X, y, cv=3)
    theirs = cross_val_score(sklearn.ensemble.BaggingClassifier(n_estimators=15, random_state=0), for_the_peer(X), y, cv=3)
    assert mine.mean() > theirs.mean() - 0.03


@pytest.mark.parametrize("name", REGRESSION)
def test_held_out_r2_is_that_of_scikit_learn(name):
    X, y = REGRESSION[name]()
    mine = cross_val_score(BaggingRegressor(n_estimators=15, random_state=0), X, y, cv=3)
    theirs = cross_val_score(sklearn.ensemble.BaggingRegressor(n_estimators=15, random_state=0), for_the_peer(X), y, cv=3)
    assert mine.mean() > theirs.mean() - 0.04


def test_class_weights_of_the_base_go_the_general_way():
    X, y = make_classification(300, 4, weights=[0.9], random_state=0)
    bagging = BaggingClassifier(DecisionTreeClassifier(max_depth=2, class_weight="balanced"), 5, random_state=0).fit(X, y)
    assert isinstance(bagging.estimators_, list)
    assert bagging.predict(X).mean() > 0.1


# ---- the spread of the members


@pytest.mark.parametrize("base", [None, Ridge(), sklearn.tree.DecisionTreeRegressor(max_depth=3)])
def test_the_spread_of_regressors_is_the_standard_deviation_of_their_predictions(base):
    X, y = FRIEDMAN
    bagging = BaggingRegressor(base, 7, max_features=0.5 if base is not None else 1.0, random_state=0).fit(X, y)
    each = [member.predict(X[:, chosen]) for member, chosen in zip(bagging, bagging.estimators_features_, strict=True)]
    np.testing.assert_allclose(bagging.predict(X), np.mean(each, axis=0), rtol=1e-10)
    np.testing.assert_allclose(bagging.predict_std(X), np.std(each, axis=0), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("base", [None, LogisticRegression()])
@pytest.mark.parametrize("data", [IRIS, load_breast_cancer(return_X_y=True)], ids=["three classes", "two classes"])
def test_the_spread_of_classifiers_is_that_of_their_probabilities(base, data):
    X, y = StandardScaler().fit_transform(data[0]), data[1]
    bagging = BaggingClassifier(base, 6, random_state=0).fit(X, y)
    each = [member.predict_proba(X) for member in bagging.estimators_]
    np.testing.assert_allclose(bagging.predict_proba(X), np.mean(each, axis=0), atol=1e-12)
    np.testing.assert_allclose(bagging.predict_std(X), np.std(each, axis=0), atol=1e-10)


# ---- out of the bag


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
@pytest.mark.parametrize("is_fast", [True, False])
def test_out_of_bag_predictions_are_those_of_the_members_that_have_not_seen_the_row(kind, is_fast):
    X, y = IRIS if kind is BaggingClassifier else FRIEDMAN
    base = None if is_fast else (LogisticRegression() if kind is BaggingClassifier else Ridge())
    bagging = kind(base, 40, oob_score=True, random_state=0).fit(X, y)
    total, counts = 0.0, np.zeros(len(X))
    for member, rows in zip(bagging.estimators_, bagging.estimators_samples_, strict=True):
        is_out = np.bincount(rows, minlength=len(X)) == 0
        values = member.predict_proba(X) if kind is BaggingClassifier else member.predict(X)[:, None]
        total = total + values * is_out[:, None]
        counts += is_out
    expected = total / counts[:, None]
    found = bagging.oob_decision_function_ if kind is BaggingClassifier else bagging.oob_prediction_[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_out_of_bag_score_is_near_the_held_out_score():
    X, y = make_classification(3000, 10, n_informative=4, flip_y=0.1, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    bagging = BaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    held_out = bagging.score(X_test, y_test)
    assert abs(bagging.oob_score_ - held_out) < 2 * np.sqrt(2 * held_out * (1 - held_out) / len(y))


def test_a_row_in_every_bag_has_no_out_of_bag_prediction():
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        bagging = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0).fit(*FRIEDMAN)
    assert 0 < np.isnan(bagging.oob_prediction_).sum() < 300


# ---- members that are special


class NeedsAllClasses(ClassifierMixin, BaseEstimator):
    """Predicts the first class it was given; takes no weights, so that a bag may lack classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(np.eye(len(self.classes_))[0], (X.shape[0], 1))

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


def test_a_bag_that_lacks_a_class_works():
    X, y = IRIS
    bagging = BaggingClassifier(NeedsAllClasses(), 30, max_samples=2, random_state=0).fit(X, y)
    shares = bagging.predict_proba(X[:1])[0]
    np.testing.assert_allclose(shares.sum(), 1)
    assert (shares > 0).all()


def test_pipelines_and_sparse_rows_are_bagged():
    X, y = IRIS
    bagging = BaggingClassifier(make_pipeline(StandardScaler(), LogisticRegression()), 4, random_state=0).fit(X, y)
    assert bagging.score(X, y) > 0.9
    base = LogisticRegression(tol=1e-10)
    sparse = BaggingClassifier(base, 4, max_features=3, random_state=0).fit(sp.csr_matrix(X), y)
    dense = BaggingClassifier(base, 4, max_features=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(X)), dense.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_n_jobs_changes_nothing(n_jobs):
    X, y = FRIEDMAN
    for base in (None, sklearn.tree.DecisionTreeRegressor(max_features=2)):
        one = BaggingRegressor(base, 4, random_state=0).fit(X, y)
        other = BaggingRegressor(base, 4, random_state=0, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_an_error_names_the_member():
    with pytest.raises(ValueError, match=r"member '0' \(Ridge\)"):
        BaggingRegressor(Ridge(alpha=-1.0)).fit(*FRIEDMAN)


def test_metadata_goes_to_the_members():
    X, y = IRIS
    with pytest.raises(ValueError, match=r"coef_init.*enable_metadata_routing"):
        BaggingClassifier(sklearn.linear_model.SGDClassifier()).fit(X, y, coef_init=np.zeros((3, 4)))
    with sklearn.config_context(enable_metadata_routing=True):
        base = sklearn.linear_model.SGDClassifier(max_iter=5, tol=None).set_fit_request(coef_init=True, sample_weight=True)
        BaggingClassifier(base, 2, random_state=0).fit(X, y, coef_init=np.zeros((3, 4)))


class Shifted(sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator):
    """Predicts a class that `predict` may be told to shift."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X, by=0):
        return np.full(len(X), by)


class ShiftedShares(Shifted):
    def predict_proba(self, X, by=0):
        return np.eye(len(self.classes_))[self.predict(X, by)]

    def decision_function(self, X, by=0):
        return self.predict_proba(X, by)


@pytest.mark.parametrize("base", [Shifted(), ShiftedShares()])
def test_metadata_of_predictions_goes_to_the_method_that_members_are_asked_by(base):
    X, y = IRIS
    asked = "predict_proba" if isinstance(base, ShiftedShares) else "predict"
    with pytest.raises(ValueError, match=r"predict was given \['by'\].*enable_metadata_routing"):
        BaggingClassifier(base, 2, random_state=0).fit(X, y).predict(X, by=1)
    with sklearn.config_context(enable_metadata_routing=True):
        getattr(base, f"set_{asked}_request")(by=True)
        bagging = BaggingClassifier(base, 2, random_state=0).fit(X, y)
        assert (bagging.predict(X) == 0).all()
        assert (bagging.predict(X, by=2) == 2).all()
        assert (bagging.predict_proba(X, by=2)[:, 2] == 1).all()
        assert (bagging.predict_log_proba(X, by=2)[:, 2] == 0).all()
        if isinstance(base, ShiftedShares):
            base.set_decision_function_request(by=True)
            assert (BaggingClassifier(base, 2).fit(X, y).decision_function(X, by=1)[:, 1] == 1).all()
        with pytest.raises(TypeError, match="by"):
            BaggingClassifier(random_state=0).fit(X, y).predict(X, by=1)  # trees request nothing


# ---- targets, warm start, errors


def test_a_column_of_labels_is_taken_as_a_vector_and_several_are_refused():
    X, y = IRIS
    for base in (None, LogisticRegression()):
        with pytest.warns(DataConversionWarning, match="column-vector"):
            bagging = BaggingClassifier(base, 2, random_state=0).fit(X, y[:, None])
        assert bagging.predict(X).shape == (150,)
        with pytest.raises(ValueError, match="1d array"):
            BaggingClassifier(base).fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("base", [None, Ridge()])
def test_several_regression_targets(base):
    X, y = FRIEDMAN
    bagging = BaggingRegressor(base, 30, oob_score=True, random_state=0).fit(X, np.column_stack([y, -y]))
    assert bagging.predict(X).shape == bagging.predict_std(X).shape == bagging.oob_prediction_.shape == (300, 2)
    np.testing.assert_allclose(bagging.predict(X)[:, 0], -bagging.predict(X)[:, 1], rtol=1e-6)


@pytest.mark.parametrize("base", [None, Ridge()])
def test_a_warm_start_adds_the_members_that_a_larger_ensemble_has(base):
    X, y = FRIEDMAN
    grown = BaggingRegressor(base, 3, warm_start=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=7).fit(X, y)
    whole = BaggingRegressor(base, 7, random_state=0).fit(X, y)
    np.testing.assert_array_equal(grown.predict(X), whole.predict(X))
    assert len(grown.estimators_samples_) == len(grown.estimators_) == 7
    with pytest.warns(UserWarning, match="does not fit new"):
        grown.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger"):
        grown.set_params(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="members of the same kind"):
        grown.set_params(n_estimators=9, estimator=Ridge() if base is None else None).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": "tree"}, "estimator='tree'.*must be"),
        ({"bootstrap": False, "oob_score": True}, "oob_score=True.*bootstrap=True"),
        ({"bootstrap": False, "max_samples": 1000}, "max_samples=1000.*<= n_samples"),
        ({"max_features": 100}, "max_features=100.*<= n_features"),
        ({"max_samples": 1.5}, "max_samples=1.5.*must be"),
        ({"n_estimators": 0}, "n_estimators=0"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        BaggingRegressor(**params).fit(*FRIEDMAN)
