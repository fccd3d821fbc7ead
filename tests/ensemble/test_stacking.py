"""Stacking agrees with scikit-learn's, and does better where folds lack classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mercer.ensemble import StackingClassifier, StackingRegressor
from mercer.linear_model import LogisticRegression, Ridge, RidgeCV

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_CANCER = X_CANCER[:, :5] / X_CANCER[:, :5].std(axis=0)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)
CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("svm", LinearSVC(random_state=0)),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
]
REGRESSORS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
SPLITTERS = {
    "default": None,
    "three": 3,
    "shuffled": StratifiedKFold(4, shuffle=True, random_state=1),
    "list": list(KFold(3, shuffle=True, random_state=0).split(X_IRIS)),
}


def _both(mine, peer, members, final, X, y, fit_options=None, **options):
    return [cls(members, final, **options).fit(X, y, **(fit_options or {})) for cls in (mine, peer)]


def _classifiers(*args, **options):
    return _both(StackingClassifier, sklearn.ensemble.StackingClassifier, *args, **options)


def _regressors(*args, **options):
    return _both(StackingRegressor, sklearn.ensemble.StackingRegressor, *args, **options)


def _assert_agree(mine, peer, X):
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        assert hasattr(mine, name) == hasattr(peer, name)
        if hasattr(mine, name):
            one, other = getattr(mine, name)(X), getattr(peer, name)(X)
            one, other = (v.toarray() if sp.issparse(v) else v for v in (one, other))
            if one.dtype.kind == "f":
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
            else:
                np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(mine.get_feature_names_out(), peer.get_feature_names_out())
    assert mine.stack_method_ == peer.stack_method_


@pytest.mark.parametrize("cv", SPLITTERS)
@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("stack_method", ["auto", "predict"])
def test_a_classifier_agrees_with_scikit_learn(cv, passthrough, stack_method):
    options = {"cv": SPLITTERS[cv], "passthrough": passthrough, "stack_method": stack_method}
    labels = np.array(["setosa", "virginica", "versicolor"])[Y_IRIS]
    _assert_agree(*_classifiers(CLASSIFIERS, LogisticRegression(max_iter=1000), X_IRIS, labels, **options), X_IRIS)


@pytest.mark.parametrize("stack_method", ["auto", "predict_proba", "predict"])
def test_of_two_classes_one_probability_is_kept(stack_method):
    members = [CLASSIFIERS[0], CLASSIFIERS[2]]
    mine, peer = _classifiers(members, LogisticRegression(), X_CANCER, Y_CANCER, stack_method=stack_method)
    assert mine.transform(X_CANCER).shape == (len(X_CANCER), 2)
    _assert_agree(mine, peer, X_CANCER)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dropped", [False, True])
def test_a_regressor_agrees_with_scikit_learn(passthrough, weighted, dropped):
    members = [REGRESSORS[0], ("tree", "drop")] if dropped else REGRESSORS
    weights = {"sample_weight": np.linspace(0.1, 2, len(Y_DIABETES))} if weighted else {}
    mine, peer = _regressors(members, Ridge(), X_DIABETES, Y_DIABETES, weights, passthrough=passthrough)
    _assert_agree(mine, peer, X_DIABETES)


@pytest.mark.parametrize("passthrough", [False, True])
def test_sparse_rows_stay_sparse_where_they_are_passed_through(passthrough):
    X = sp.csr_matrix(np.where(X_IRIS > 2, X_IRIS, 0))
    members = [("near", KNeighborsClassifier()), ("svm", LinearSVC(random_state=0))]
    mine, peer = _classifiers(members, LogisticRegression(max_iter=1000), X, Y_IRIS, passthrough=passthrough)
    assert sp.issparse(mine.transform(X)) == passthrough
    _assert_agree(mine, peer, X)


def test_prefit_members_are_taken_as_they_are():
    members = [(name, clone(member).fit(X_IRIS[::2], Y_IRIS[::2])) for name, member in CLASSIFIERS]
    final = LogisticRegression(max_iter=1000)
    mine, peer = _classifiers(members, final, X_IRIS[1::2], Y_IRIS[1::2], cv="prefit")
    assert all(member is given for member, (_, given) in zip(mine.estimators_, members, strict=True))
    _assert_agree(mine, peer, X_IRIS)
    with pytest.raises(NotFittedError, match=r"member 'bayes' \(GaussianNB\)"):
        StackingClassifier(CLASSIFIERS, cv="prefit").fit(X_IRIS, Y_IRIS)


def test_a_matrix_of_indicators_has_a_label_a_column():
    X, Y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
    members = [("forest", RandomForestClassifier(5, random_state=0)), ("near", KNeighborsClassifier())]
    mine, peer = _classifiers(members, KNeighborsClassifier(), X, Y)
    np.testing.assert_array_equal(mine.transform(X), peer.transform(X))
    np.testing.assert_array_equal(mine.predict(X), peer.predict(X))
    np.testing.assert_allclose(mine.predict_proba(X), 1 - peer.predict_proba(X))  # there, the probability of label 0
    assert len(mine.classes_) == 3


@pytest.mark.filterwarnings("ignore:Number of classes in training fold")
@pytest.mark.parametrize("member", [GaussianNB(), LinearSVC(random_state=0)], ids=["probabilities", "decisions"])
def test_a_fold_that_lacks_a_class_works(member):
    y = np.array([*"abc"] * 25 + ["d"] * 10)  # the last fold has all there is of "d"
    X = np.random.RandomState(0).randn(85, 2) + 3 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[np.searchsorted([*"abcd"], y)]
    model = StackingClassifier([("one", member), ("tree", CLASSIFIERS[2][1])], cv=KFold(4), passthrough=True).fit(X, y)
    assert model.final_estimator_.certificate_.converged
    assert np.abs(model.final_estimator_.coef_).max() < 100
    assert list(model.classes_) == ["a", "b", "c", "d"]
    assert model.score(X, y) > 0.5


@pytest.mark.filterwarnings("ignore:Number of classes in training fold")
def test_a_class_that_a_fold_lacks_has_probability_zero_there():
    seen = {}

    class Watching(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen["X"] = X
            return super().fit(X, y)

    order = np.argsort(Y_IRIS, kind="stable")
    StackingClassifier([("bayes", GaussianNB())], Watching(), cv=KFold(3)).fit(X_IRIS[order], Y_IRIS[order])
    for k in range(3):
        assert (seen["X"][50 * k : 50 * (k + 1), k] == 0).all()


def test_folds_drawn_at_random_are_the_same_for_all_members():
    twins = [("one", Ridge()), ("two", Ridge())]
    model = StackingRegressor(twins, Ridge(alpha=1e-3), cv=KFold(3, shuffle=True)).fit(X_DIABETES, Y_DIABETES)
    one, two = model.final_estimator_.coef_
    assert one == pytest.approx(two, rel=1e-6)


def test_the_default_final_estimators_are_mercers():
    assert type(StackingClassifier(CLASSIFIERS).fit(X_IRIS, Y_IRIS).final_estimator_) is LogisticRegression
    assert type(StackingRegressor(REGRESSORS).fit(X_DIABETES, Y_DIABETES).final_estimator_) is RidgeCV


def test_methods_are_those_of_the_final_estimator():
    assert hasattr(StackingClassifier(CLASSIFIERS), "predict_proba")
    assert not hasattr(StackingClassifier(CLASSIFIERS, LinearSVC()), "predict_proba")
    assert hasattr(StackingClassifier(CLASSIFIERS, LinearSVC()), "decision_function")
    assert not hasattr(StackingClassifier(CLASSIFIERS, KNeighborsClassifier()), "decision_function")


def test_a_final_estimator_can_be_asked_for_more():
    model = StackingRegressor(REGRESSORS, GaussianProcessRegressor(alpha=1.0), cv=2).fit(X_DIABETES[:50], Y_DIABETES[:50])
    mean, deviation = model.predict(X_DIABETES[:3], return_std=True)
    assert mean.shape == deviation.shape == (3,)


def test_tables_of_output_do_not_reach_the_final_estimator(recwarn):
    pytest.importorskip("pandas")
    model = StackingRegressor(REGRESSORS, Ridge()).set_output(transform="pandas").fit(X_DIABETES, Y_DIABETES)
    plain = StackingRegressor(REGRESSORS, Ridge()).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_array_equal(model.predict(X_DIABETES), plain.predict(X_DIABETES))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StackingClassifier(CLASSIFIERS, Ridge()), "final_estimator=Ridge.*should be a classifier"),
        (lambda: StackingRegressor(REGRESSORS, LogisticRegression()), "final_estimator=Log.*should be a regressor"),
        (lambda: StackingClassifier(CLASSIFIERS, stack_method="predict_proba"), "member 'svm'.*predict_proba"),
        (lambda: StackingClassifier(CLASSIFIERS, cv=1), "cv=1 is not valid; it must be 'prefit' or None, an integer >= 2"),
        (lambda: StackingClassifier(CLASSIFIERS, cv="fit"), "cv='fit' is not valid"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X_IRIS, Y_IRIS)
