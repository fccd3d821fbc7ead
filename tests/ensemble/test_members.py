"""What all ensembles of named members share: parameters, names, errors, jobs, metadata."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mercer.ensemble import StackingClassifier, StackingRegressor, SuperLearner, VotingClassifier, VotingRegressor
from mercer.linear_model import Lasso, LogisticRegression, Ridge

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(120, 4)
VALUES = X @ [1.0, -2, 0, 0.5] + RANDOM.randn(120)
LABELS = np.where(VALUES > 0, "up", "down")

CLASSIFIERS = [("logistic", LogisticRegression(C=2.0)), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
REGRESSORS = [("ridge", Ridge(alpha=2.0)), ("tree", DecisionTreeRegressor(max_depth=2, random_state=0))]
FOR_LABELS = [VotingClassifier, StackingClassifier, SuperLearner]
FOR_VALUES = [VotingRegressor, StackingRegressor, SuperLearner]
CASES = [(cls, CLASSIFIERS, LABELS) for cls in FOR_LABELS] + [(cls, REGRESSORS, VALUES) for cls in FOR_VALUES]

every_ensemble = pytest.mark.parametrize(
    ("ensemble", "members", "y"), CASES, ids=[f"{cls.__name__} {members[0][0]}" for cls, members, _ in CASES]
)


class Failing(ClassifierMixin, RegressorMixin, BaseEstimator):
    """Fails to fit, or to predict."""

    def __init__(self, error=None, *, when="fit", is_regressor=False):
        self.error = error
        self.when = when
        self.is_regressor = is_regressor

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.is_regressor else "classifier"
        return tags

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.when == "fit":
            raise self.error
        return self

    def predict(self, X):
        raise self.error

    predict_proba = predict


class Asking(ClassifierMixin, BaseEstimator):
    """A classifier that takes one more thing when fitted."""

    def fit(self, X, y, colour=None, sample_weight=None):
        self.classes_, self.colour_, self.weights_ = np.unique(y), colour, sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


# ---- parameters


@every_ensemble
def test_members_and_their_parameters_are_parameters_of_the_ensemble(ensemble, members, y):
    model = ensemble(members)
    (first, member), (second, _) = members
    params = model.get_params()
    assert params[first] is member
    assert params[f"{second}__max_depth"] == 2
    assert first not in model.get_params(deep=False)
    model = clone(model).set_params(**{f"{second}__max_depth": 5, first: "drop"})
    assert model.named_estimators[second].max_depth == 5
    assert model.named_estimators[first] == "drop"
    model.fit(X, y)
    assert len(model.estimators_) == 1
    assert model.named_estimators_[first] == "drop"
    assert members[1][1].max_depth == 2  # the clone was changed, not what was given


@every_ensemble
def test_a_new_list_of_members_and_parameters_of_them_can_be_set_at_once(ensemble, members, y):
    model = ensemble(members).set_params(estimators=[("new", clone(members[1][1]))], new__max_depth=1)
    assert [name for name, _ in model.estimators] == ["new"]
    assert model.estimators[0][1].max_depth == 1


@every_ensemble
def test_a_grid_search_can_drop_members(ensemble, members, y):
    search = GridSearchCV(ensemble(members), {members[0][0]: ["drop"], "tree__max_depth": [1, 3]}, cv=2).fit(X, y)
    assert search.best_estimator_.estimators_[0].max_depth in (1, 3)


@every_ensemble
def test_a_fit_leaves_the_given_members_alone(ensemble, members, y):
    given = [(name, clone(member)) for name, member in members]
    ensemble(given).fit(X, y)
    assert not any(hasattr(member, "n_features_in_") for _, member in given)


@every_ensemble
@pytest.mark.parametrize(
    "estimators",
    [[], None, "abc", [Ridge()], [("a", Ridge)], [("a", 3)], [(1, Ridge())], [("a", Ridge(), 2)], [("a", None)]],
    ids=["empty", "none", "text", "no names", "a class", "a number", "a number as name", "three", "none as member"],
)
def test_estimators_must_be_named_instances(ensemble, members, y, estimators):
    model = ensemble(estimators)
    model.get_params()
    with pytest.raises(ValueError, match=r"estimators=.*non-empty list of \(name, estimator\) pairs"):
        model.fit(X, y)


@every_ensemble
@pytest.mark.parametrize(
    ("names", "message"),
    [(("a", "a"), "must differ"), (("a", "a__b"), "must not contain __"), (("a", "n_jobs"), "conflict with constructor")],
)
def test_names_must_differ_and_be_no_parameters(ensemble, members, y, names, message):
    with pytest.raises(ValueError, match=message):
        ensemble(list(zip(names, [member for _, member in members], strict=True))).fit(X, y)


@every_ensemble
def test_some_member_must_be_left(ensemble, members, y):
    with pytest.raises(ValueError, match="all members are 'drop'"):
        ensemble([("a", "drop"), ("b", "drop")]).fit(X, y)


@pytest.mark.parametrize(
    ("ensemble", "member", "kind"),
    [
        (VotingClassifier, Ridge(), "classifier"),
        (VotingRegressor, LogisticRegression(), "regressor"),
        (StackingRegressor, LogisticRegression(), "regressor"),
    ],
)
def test_a_member_of_the_wrong_kind_is_named(ensemble, member, kind):
    with pytest.raises(ValueError, match=rf"member 'odd' \({type(member).__name__}\) is no {kind}"):
        ensemble([("odd", member)]).fit(X, LABELS)


# ---- errors


@every_ensemble
def test_a_member_that_fails_names_itself_and_keeps_its_type(ensemble, members, y):
    failing = Failing(ZeroDivisionError("no luck"), is_regressor=members is REGRESSORS)
    model = ensemble([*members, ("bad", failing)])
    with pytest.raises(ZeroDivisionError, match=r"^member 'bad' \(Failing\): no luck$"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.skipif("MERCER_SANITIZED" in os.environ, reason="joblib waits for ever for workers that it killed there")
def test_a_member_that_fails_in_another_process_names_itself():
    model = VotingClassifier([*CLASSIFIERS, ("bad", Failing(ZeroDivisionError("no luck")))], n_jobs=2)
    with pytest.raises(ZeroDivisionError, match=r"^member 'bad' \(Failing\): no luck$"):
        model.fit(X, LABELS)


@pytest.mark.parametrize(("ensemble", "members", "y"), CASES[:1] + CASES[3:4], ids=["labels", "values"])
def test_a_member_that_fails_to_predict_names_itself(ensemble, members, y):
    failing = Failing(OSError(5, "disk"), when="predict", is_regressor=members is REGRESSORS)
    model = ensemble([*members, ("bad", failing)]).fit(X, y)
    with pytest.raises(OSError, match="disk") as caught:  # two arguments: the name goes into a note
        model.predict(X)
    assert caught.value.__notes__ == ["raised by member 'bad' (Failing)"]


@every_ensemble
def test_a_member_without_weights_is_named(ensemble, members, y):
    near = KNeighborsRegressor() if members is REGRESSORS else KNeighborsClassifier()
    with pytest.raises(TypeError, match=r"member 'near' \(KNeighbors.*does not support sample weights"):
        ensemble([*members, ("near", near)]).fit(X, y, sample_weight=np.ones(len(X)))


@every_ensemble
def test_unknown_metadata_are_refused_unless_routing_is_enabled(ensemble, members, y):
    with pytest.raises(ValueError, match=r"\['colour'\].*enable_metadata_routing"):
        ensemble(members).fit(X, y, colour="red")


# ---- jobs


@every_ensemble
def test_jobs_side_by_side_give_the_same(ensemble, members, y):
    noisy = "tree", clone(members[1][1]).set_params(max_features=1, random_state=np.random.RandomState(3))
    one, two = (ensemble([members[0], noisy], n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@every_ensemble
def test_a_fitted_ensemble_can_be_pickled(ensemble, members, y):
    model = ensemble(members).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@every_ensemble
def test_members_may_take_what_only_they_understand(ensemble, members, y):
    words = np.array([["a", "b"][int(row[0] > 0)] for row in X], dtype=object)[:, None]

    class Reader(type(members[1][1])):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.asarray(X) == "b", y)

        def predict(self, X):
            return super().predict(np.asarray(X) == "b")

        def predict_proba(self, X):
            return super().predict_proba(np.asarray(X) == "b")

    model = ensemble([("reader", Reader(max_depth=1))]).fit(words, y)
    assert model.score(words, y) > (0.55 if members is CLASSIFIERS else 0.0)


def test_names_of_features_come_from_the_members():
    frames = pytest.importorskip("pandas")
    frame = frames.DataFrame(X, columns=list("abcd"))
    model = VotingRegressor(REGRESSORS).fit(frame, VALUES)
    assert list(model.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(list("abce"))
    model.fit(X, VALUES)
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match=r"number of features \(4\), got 3"):
        model.get_feature_names_out(list("abc"))


# ---- metadata routing


@pytest.mark.parametrize("ensemble", FOR_LABELS)
def test_members_get_the_metadata_that_they_ask_for(ensemble):
    weights = np.linspace(1, 2, len(X))
    with config_context(enable_metadata_routing=True):
        members = [
            ("both", Asking().set_fit_request(colour=True, sample_weight=True)),
            ("weighted", Asking().set_fit_request(colour=False, sample_weight=True)),
            ("plain", DummyClassifier().set_fit_request(sample_weight=False)),
        ]
        model = ensemble(members).fit(X, LABELS, sample_weight=weights, colour="red")
        both, weighted = (model.named_estimators_[name] for name in ("both", "weighted"))
        assert both.colour_ == "red"
        assert weighted.colour_ is None
        np.testing.assert_array_equal(both.weights_, weights)
        np.testing.assert_array_equal(weighted.weights_, weights)
        with pytest.raises(TypeError, match="shape"):
            ensemble(members).fit(X, LABELS, shape="round")
        ensemble(members).fit(X, LABELS)


def test_weights_can_reach_members_through_pipelines_where_they_are_routed():
    with config_context(enable_metadata_routing=True):
        steps = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), Lasso(alpha=0.1).set_fit_request(sample_weight=True)
        )
        weights = (np.arange(len(X)) % 2).astype(float)
        model = VotingRegressor([("steps", steps)]).fit(X, VALUES, sample_weight=weights)
        np.testing.assert_allclose(model.predict(X), clone(steps).fit(X, VALUES, sample_weight=weights).predict(X))
        assert not np.allclose(model.predict(X), clone(steps).fit(X, VALUES).predict(X))
