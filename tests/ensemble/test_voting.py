"""Voting agrees with scikit-learn's, and says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.datasets import load_diabetes, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mercer.ensemble import VotingClassifier, VotingRegressor
from mercer.linear_model import LogisticRegression, Ridge, RidgeClassifier

CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("logistic", LogisticRegression(C=0.01)),
]
REGRESSORS = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("near", KNeighborsRegressor())]
X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)
LABELS = {
    "numbers": Y_IRIS,
    "negative numbers": Y_IRIS - 5,
    "words": np.array(["virginica", "setosa", "versicolor"])[Y_IRIS],
    "objects": np.array(["a", "b", "c"], dtype=object)[Y_IRIS],
    "booleans": Y_IRIS > 1,
}


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [3, 1, 1], [0.2, 0.0, 0.5]])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("dropped", [None, "tree"])
def test_a_classifier_agrees_with_scikit_learn(voting, weights, labels, dropped):
    y = LABELS[labels]
    mine, peer = (
        cls(
            [(name, "drop" if name == dropped else member) for name, member in CLASSIFIERS], voting=voting, weights=weights
        ).fit(X_IRIS, y)
        for cls in (VotingClassifier, sklearn.ensemble.VotingClassifier)
    )
    np.testing.assert_array_equal(mine.predict(X_IRIS), peer.predict(X_IRIS))
    assert mine.predict(X_IRIS).dtype == peer.predict(X_IRIS).dtype
    np.testing.assert_allclose(mine.transform(X_IRIS), peer.transform(X_IRIS), rtol=1e-12)
    np.testing.assert_array_equal(mine.get_feature_names_out(), peer.get_feature_names_out())
    np.testing.assert_array_equal(mine.classes_, peer.classes_)
    assert mine.named_estimators_.keys() == peer.named_estimators_.keys()
    assert mine.score(X_IRIS, y) == peer.score(X_IRIS, y)
    assert hasattr(mine, "predict_proba") == (voting == "soft")
    if voting == "soft":
        np.testing.assert_allclose(mine.predict_proba(X_IRIS), peer.predict_proba(X_IRIS), rtol=1e-12)


def test_equal_votes_go_to_the_first_class():
    X = np.array([[0.0], [1.0]] * 5)
    y = np.array(["a", "b"] * 5)
    members = [("right", GaussianNB()), ("wrong", DecisionTreeClassifier(max_depth=1))]
    model = VotingClassifier(members).fit(X, y)
    model.named_estimators_.wrong.fit(X, 1 - np.tile([0, 1], 5))  # now they disagree everywhere
    assert set(model.predict(X)) == {"a"}


def test_probabilities_can_keep_three_dimensions():
    model = VotingClassifier(CLASSIFIERS, voting="soft", flatten_transform=False).fit(X_IRIS, Y_IRIS)
    assert model.transform(X_IRIS).shape == (3, 150, 3)
    with pytest.raises(ValueError, match="flatten_transform=True"):
        model.get_feature_names_out()


@pytest.mark.parametrize("weights", [None, [3, 1, 1], np.array([0.2, 0.0, 0.5])])
@pytest.mark.parametrize("dropped", [None, "tree"])
@pytest.mark.parametrize("sample_weight", [None, np.linspace(0, 2, len(Y_DIABETES))])
def test_a_regressor_agrees_with_scikit_learn(weights, dropped, sample_weight):
    members = [
        (name, "drop" if name == dropped else member) for name, member in REGRESSORS[: 2 if sample_weight is not None else 3]
    ]
    weights = weights if weights is None else weights[: len(members)]
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    mine, peer = (
        cls(members, weights=weights).fit(X_DIABETES, Y_DIABETES, **options)
        for cls in (VotingRegressor, sklearn.ensemble.VotingRegressor)
    )
    np.testing.assert_allclose(mine.predict(X_DIABETES), peer.predict(X_DIABETES), rtol=1e-12)
    np.testing.assert_allclose(mine.transform(X_DIABETES), peer.transform(X_DIABETES), rtol=1e-12)
    np.testing.assert_array_equal(mine.get_feature_names_out(), peer.get_feature_names_out())


def test_sparse_rows_go_to_the_members_as_they_are():
    X = sp.csr_matrix(np.where(X_IRIS > 2, X_IRIS, 0))
    members = [("logistic", LogisticRegression()), ("near", KNeighborsClassifier())]
    mine, peer = (cls(members, voting="soft").fit(X, Y_IRIS) for cls in (VotingClassifier, sklearn.ensemble.VotingClassifier))
    np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "2 values and estimators 3.*must be equal"),
        ([1, -2, 1], "finite number >= 0"),
        ([1, np.nan, 1], "finite number >= 0"),
        (["a", "b", "c"], "finite number >= 0"),
        ([[1], [2], [3]], "finite number >= 0"),
        ([0, 0, 0], "at least one must be positive"),
    ],
)
def test_bad_weights_of_members_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        VotingClassifier(CLASSIFIERS, weights=weights).fit(X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match=message):
        VotingRegressor(REGRESSORS, weights=weights).fit(X_DIABETES, Y_DIABETES)


def test_weights_of_dropped_members_do_not_count():
    with pytest.raises(ValueError, match="at least one must be positive"):
        VotingRegressor([("a", Ridge()), ("b", "drop")], weights=[0, 1]).fit(X_DIABETES, Y_DIABETES)


def test_soft_voting_names_the_member_without_probabilities():
    model = VotingClassifier([("bayes", GaussianNB()), ("ridge", RidgeClassifier())], voting="soft").fit(X_IRIS, Y_IRIS)
    with pytest.raises(AttributeError, match=r"member 'ridge' \(RidgeClassifier\).*predict_proba"):
        model.predict(X_IRIS)


def test_hard_voting_has_no_probabilities_and_says_so():
    model = VotingClassifier(CLASSIFIERS).fit(X_IRIS, Y_IRIS)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X_IRIS)


def test_labels_must_be_labels():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        VotingClassifier(CLASSIFIERS).fit(X_IRIS, np.linspace(0, 1, 150))


def test_several_columns_of_labels_are_refused_with_the_remedy():
    with pytest.raises(NotImplementedError, match=r"y has 2 columns.*MultiOutputClassifier"):
        VotingClassifier([("tree", DecisionTreeClassifier())]).fit(np.eye(4), np.eye(4, 2))
