"""The super learner on rows held out instead of folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mercer.ensemble import SuperLearner
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from tests.reference.super_learner import best_weights, log_risk, squared_risk

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
REGRESSORS = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("ridge", Ridge())]
CLASSIFIERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_weights_of_values_are_the_best_on_the_rows_held_out(is_weighted):
    X, y = DIABETES
    repeats = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if is_weighted else np.ones(len(y))
    given = {"sample_weight": repeats} if is_weighted else {}
    model = SuperLearner(REGRESSORS, holdout=0.3, random_state=5).fit(X, y, **given)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=5)
    fits = [clone(member).fit(X[train], y[train], sample_weight=repeats[train]) for _, member in REGRESSORS]
    outputs = [member.predict(X[test]) for member in fits]
    for (name, _), output in zip(REGRESSORS, outputs, strict=True):
        expected = mean_squared_error(y[test], output, sample_weight=repeats[test])
        assert model.cv_risk_[name].mean == pytest.approx(expected)
    shares = repeats[test] / repeats[test].sum()
    oracle = best_weights(lambda weights: squared_risk(weights, outputs, y[test], shares), len(outputs))
    np.testing.assert_allclose(model.weights_, oracle, atol=2e-3)
    whole = sum(w * clone(m).fit(X, y, **given).predict(X) for w, (_, m) in zip(model.weights_, REGRESSORS, strict=True))
    np.testing.assert_allclose(model.predict(X), whole)


def test_weights_of_probabilities_are_the_best_on_the_rows_held_out():
    X, labels = IRIS[0], np.array(["x", "y", "z"])[IRIS[1]]
    model = SuperLearner(CLASSIFIERS, holdout=0.4, random_state=1).fit(X, labels)
    train, test = train_test_split(np.arange(150), test_size=0.4, random_state=1, stratify=labels)
    outputs = [clone(member).fit(X[train], labels[train]).predict_proba(X[test]) for _, member in CLASSIFIERS]
    for (name, _), output in zip(CLASSIFIERS, outputs, strict=True):
        assert model.cv_risk_[name].mean == pytest.approx(log_loss(labels[test], output), rel=1e-6)
    oracle = best_weights(lambda weights: log_risk(weights, outputs, IRIS[1][test], np.full(60, 1 / 60)), 2)
    np.testing.assert_allclose(model.weights_, oracle, atol=2e-3)


class FirstTwo(LogisticRegression):
    """Does not see the last class."""

    def fit(self, X, y, sample_weight=None):
        is_seen = y < 2
        return super().fit(X[is_seen], y[is_seen])


def test_a_class_that_a_member_does_not_know_has_probability_zero():
    model = SuperLearner([("two", FirstTwo()), ("bayes", GaussianNB())], holdout=0.5, random_state=0, loss="brier")
    assert model.fit(*IRIS).cv_risk_["two"].mean > 2 / 3 > model.cv_risk_["bayes"].mean


def test_a_final_estimator_learns_from_the_rows_held_out():
    X, y = DIABETES
    model = SuperLearner(REGRESSORS, Ridge(alpha=1.0), holdout=0.25, random_state=0).fit(X, y)
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=0)
    Z = np.column_stack([clone(member).fit(X[train], y[train]).predict(X[test]) for _, member in REGRESSORS])
    np.testing.assert_allclose(model.final_estimator_.coef_, Ridge(alpha=1.0).fit(Z, y[test]).coef_)


def test_folds_and_a_hold_out_exclude_each_other():
    with pytest.raises(ValueError, match=r"cv=3 and holdout=0\.2 .* one must be None"):
        SuperLearner(REGRESSORS, cv=3, holdout=0.2).fit(*DIABETES)
    with pytest.raises(ValueError, match=r"holdout=1\.5"):
        SuperLearner(REGRESSORS, holdout=1.5).fit(*DIABETES)
