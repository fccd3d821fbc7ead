"""The super learner: the weights are the best there are, the risks are what they say, and the theory's inequality holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.ensemble import StackingClassifier, StackingRegressor, SuperLearner
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.losses import Absolute, Hinge, Huber, LogCosh
from tests.common.cases import CLASSIFIERS as MERCERS
from tests.reference.super_learner import best_weights, brier_risk, log_risk, predictions_out_of_fold, squared_risk

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_CANCER, Y_CANCER = load_breast_cancer(return_X_y=True)
X_CANCER = X_CANCER[:, :5] / X_CANCER[:, :5].std(axis=0)
X_DIABETES, Y_DIABETES = load_diabetes(return_X_y=True)
REGRESSORS = [
    ("line", LinearRegression()),
    ("ridge", Ridge()),
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("near", KNeighborsRegressor(15)),
]
CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("logistic", LogisticRegression(C=0.1)),
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("near", KNeighborsClassifier(7)),
]
WEIGHTABLE = {"regression": REGRESSORS[:3], "classification": CLASSIFIERS[:3]}
LABELLED = {"iris": (X_IRIS, Y_IRIS), "cancer": (X_CANCER, Y_CANCER)}
RISKS = {"log_loss": log_risk, "brier": brier_risk}


def _assert_best(model, risk, n_members):
    """Weights on the simplex, as good as a general solver's, and near them where that is as good."""
    weights = model.weights_
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert model.certificate_.converged
    oracle = best_weights(risk, n_members)
    assert risk(weights) <= risk(oracle) * (1 + 1e-9)
    assert risk(weights) - model.certificate_.gap <= risk(oracle) * (1 + 1e-12)
    np.testing.assert_allclose(weights, oracle, atol=2e-3)
    assert model.ensemble_risk_.mean == pytest.approx(risk(weights), rel=1e-10)
    assert model.certificate_.primal == pytest.approx(risk(weights), rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_for_values_are_those_of_the_oracle(weighted):
    members, n = (REGRESSORS[:3], len(Y_DIABETES)) if weighted else (REGRESSORS, len(Y_DIABETES))
    splits = list(KFold(4, shuffle=True, random_state=0).split(X_DIABETES))
    repeats = np.random.RandomState(0).randint(1, 4, size=n) if weighted else np.ones(n, dtype=int)
    model = SuperLearner(members, cv=splits).fit(X_DIABETES, Y_DIABETES, **({"sample_weight": repeats} if weighted else {}))
    rows = np.repeat(np.arange(n), repeats)  # a weight is a repetition, in the fold of its row
    ends = np.cumsum(repeats)
    places = [np.arange(end - count, end) for end, count in zip(ends, repeats, strict=True)]
    repeated = [tuple(np.concatenate([places[i] for i in part]) for part in pair) for pair in splits]
    X, y = X_DIABETES[rows], Y_DIABETES[rows]
    outputs = predictions_out_of_fold(members, X, y, repeated, "predict")
    shares = np.full(len(rows), 1 / len(rows))
    _assert_best(model, lambda w: squared_risk(w, outputs, y, shares), len(members))
    for (name, _), output in zip(members, outputs, strict=True):
        losses = (y - output) ** 2
        assert model.cv_risk_[name].mean == pytest.approx(mean_squared_error(y, output), rel=1e-9)
        assert model.cv_risk_[name].standard_error == pytest.approx(losses.std() / np.sqrt(len(rows)), rel=1e-9)


@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("data", LABELLED)
def test_weights_for_labels_are_those_of_the_oracle(loss, data):
    X, y = LABELLED[data]
    labels = np.array(["one", "three", "two"])[y]
    splits = list(StratifiedKFold(5).split(X, y))
    model = SuperLearner(CLASSIFIERS, cv=splits, loss=loss).fit(X, labels)
    outputs = predictions_out_of_fold(CLASSIFIERS, X, y, splits, "predict_proba", len(np.unique(y)))
    shares = np.full(len(y), 1 / len(y))
    _assert_best(model, lambda w: RISKS[loss](w, outputs, y, shares), len(CLASSIFIERS))
    measure = {"log_loss": log_loss, "brier": brier_score_loss}[loss]
    for (name, _), output in zip(CLASSIFIERS, outputs, strict=True):
        given = output[:, 1] if loss == "brier" and data == "cancer" else output
        assert model.cv_risk_[name].mean == pytest.approx(measure(y, given), rel=1e-6)
    mixed = sum(w * member.predict_proba(X) for w, member in zip(model.weights_, model.estimators_, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), mixed, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[mixed.argmax(axis=1)])


@pytest.mark.parametrize("loss", [Huber(delta=20.0), LogCosh()])
def test_any_smooth_convex_loss_of_residuals_will_do(loss):
    model = SuperLearner(REGRESSORS, loss=loss).fit(X_DIABETES, Y_DIABETES)
    outputs = [cross_val_predict(member, X_DIABETES, Y_DIABETES) for _, member in REGRESSORS]

    def risk(w):
        return float(np.mean(loss.value(Y_DIABETES, sum(v * output for v, output in zip(w, outputs, strict=True)))))

    assert model.certificate_.converged
    assert risk(model.weights_) <= risk(best_weights(risk, len(outputs))) * (1 + 1e-9)


class Fixed(RegressorMixin, BaseEstimator):
    """Predicts a column of X."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, self.column]


@settings(max_examples=40, deadline=None)
@given(
    n_rows=st.integers(5, 40),
    n_members=st.integers(1, 8),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
    offset=st.sampled_from([0.0, 1e3]),
    degenerate=st.sampled_from(["none", "twins", "constant", "mixture"]),
)
def test_the_ensemble_is_never_worse_than_its_best_member(n_rows, n_members, seed, scale, offset, degenerate):
    random = np.random.RandomState(seed)
    X = scale * (random.randn(n_rows, n_members) + offset)
    if degenerate == "twins":
        X[:, -1] = X[:, 0]
    elif degenerate == "constant":
        X[:, 0] = scale * offset
    elif degenerate == "mixture":
        X[:, -1] = X.mean(axis=1)
    y = X @ random.dirichlet(np.ones(n_members)) + scale * random.randn(n_rows)
    members = [(f"m{j}", Fixed(j)) for j in range(n_members)]
    model = SuperLearner(members, cv=2).fit(X, y)
    best = model.cv_risk_[model.best_member_].mean
    assert model.ensemble_risk_.mean <= best * (1 + 1e-12)
    assert best == min(risk.mean for risk in model.cv_risk_.values())
    assert model.certificate_.converged
    gradient = 2 * X.T @ (X @ model.weights_ - y) / n_rows  # the conditions of Karush, Kuhn and Tucker, anew
    slack = gradient - gradient @ model.weights_
    assert slack.min() >= -1e-7 * best


def test_weights_that_are_known_are_found():
    random = np.random.RandomState(0)
    X = random.randn(200, 3)
    model = SuperLearner([(name, Fixed(j)) for j, name in enumerate("abc")]).fit(X, X @ [0.5, 0.3, 0.2])
    np.testing.assert_allclose(model.weights_, [0.5, 0.3, 0.2], atol=1e-10)
    model = SuperLearner([(name, Fixed(j)) for j, name in enumerate("abc")]).fit(X, 2 * X[:, 1])
    np.testing.assert_array_equal(model.weights_, [0, 1, 0])
    assert model.best_member_ == "b"


def test_a_perfect_member_gets_all_the_weight():
    X = np.random.RandomState(0).randn(50, 2)
    model = SuperLearner([("noise", Fixed(0)), ("truth", Fixed(1))]).fit(X, X[:, 1])
    np.testing.assert_array_equal(model.weights_, [0, 1])
    assert model.ensemble_risk_ == (0.0, 0.0)
    assert model.certificate_.converged


def test_one_member_has_weight_one():
    model = SuperLearner([("line", LinearRegression()), ("other", "drop")]).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_array_equal(model.weights_, [1.0])
    expected = LinearRegression().fit(X_DIABETES, Y_DIABETES).predict(X_DIABETES)
    np.testing.assert_allclose(model.predict(X_DIABETES), expected, rtol=1e-12)


def test_the_discrete_super_learner_is_at_hand():
    model = SuperLearner(REGRESSORS).fit(X_DIABETES, Y_DIABETES)
    best = model.named_estimators_[model.best_member_]
    expected = clone(dict(REGRESSORS)[model.best_member_]).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_array_equal(best.predict(X_DIABETES), expected.predict(X_DIABETES))


def test_the_kind_of_the_ensemble_is_that_of_its_members():
    assert is_regressor(SuperLearner(REGRESSORS))
    assert is_classifier(SuperLearner(CLASSIFIERS))
    assert not hasattr(SuperLearner(REGRESSORS), "predict_proba")
    assert hasattr(SuperLearner(CLASSIFIERS), "predict_proba")
    with pytest.raises(ValueError, match="'line' is regressor, 'bayes' is classifier"):
        SuperLearner([REGRESSORS[0], CLASSIFIERS[0]]).fit(X_IRIS, Y_IRIS)


def test_a_second_fit_of_another_kind_forgets_the_first():
    model = SuperLearner(CLASSIFIERS).fit(X_IRIS, Y_IRIS)
    model.set_params(estimators=REGRESSORS, final_estimator=Ridge()).fit(X_DIABETES, Y_DIABETES)
    fresh = SuperLearner(REGRESSORS, Ridge()).fit(X_DIABETES, Y_DIABETES)
    assert vars(model).keys() == vars(fresh).keys()


def test_a_final_estimator_makes_it_stacking():
    model = SuperLearner(REGRESSORS, Ridge()).fit(X_DIABETES, Y_DIABETES)
    stacked = StackingRegressor(REGRESSORS, Ridge()).fit(X_DIABETES, Y_DIABETES)
    np.testing.assert_array_equal(model.predict(X_DIABETES), stacked.predict(X_DIABETES))
    assert not hasattr(model, "weights_")
    assert not hasattr(model, "certificate_")
    final = LogisticRegression()
    labels = np.array(["a", "b", "c"])[Y_IRIS]
    model, stacked = (cls(CLASSIFIERS, final).fit(X_IRIS, labels) for cls in (SuperLearner, StackingClassifier))
    np.testing.assert_array_equal(model.predict(X_IRIS), stacked.predict(X_IRIS))
    np.testing.assert_array_equal(model.predict_proba(X_IRIS), stacked.predict_proba(X_IRIS))
    np.testing.assert_array_equal(model.transform(X_IRIS), stacked.transform(X_IRIS))
    assert 0 < model.ensemble_risk_.mean < 1
    model = SuperLearner(CLASSIFIERS, LinearSVC(random_state=0)).fit(X_IRIS, labels)
    assert not hasattr(model, "ensemble_risk_")
    assert not hasattr(model, "predict_proba")


@pytest.mark.filterwarnings("ignore:Number of classes in training fold")
@pytest.mark.parametrize("loss", RISKS)
def test_a_fold_that_lacks_a_class_works(loss):
    order = np.argsort(Y_IRIS, kind="stable")
    model = SuperLearner(CLASSIFIERS, cv=KFold(3), loss=loss).fit(X_IRIS[order], Y_IRIS[order])
    assert model.certificate_.converged
    assert np.isfinite(model.ensemble_risk_.mean)
    worst = -np.log(np.finfo(float).eps) if loss == "log_loss" else 2
    assert all(risk.mean <= worst * (1 + 1e-12) for risk in model.cv_risk_.values())


def test_members_of_weight_zero_are_not_asked():
    X = np.random.RandomState(0).randn(50, 2)
    model = SuperLearner([("noise", Fixed(0)), ("truth", Fixed(1))]).fit(X, X[:, 1])
    model.named_estimators_["noise"] = None
    np.testing.assert_array_equal(model.predict(X), X[:, 1])


def test_rounding_that_ends_the_iterations_is_told():
    with pytest.warns(UserWarning, match=r"SuperLearner: after .*tol=0. Raise max_iter or tol"):
        SuperLearner(CLASSIFIERS, tol=0.0, max_iter=2).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SuperLearner(REGRESSORS, loss="log_loss"), "loss='log_loss' is not valid for members that are regressors"),
        (SuperLearner(REGRESSORS, loss=Absolute()), r"loss=Absolute\(\) is not valid.*smooth convex loss of residuals"),
        (SuperLearner(REGRESSORS, loss=Hinge()), r"loss=Hinge\(\) is not valid"),
        (SuperLearner(CLASSIFIERS, loss="squared_error"), "loss='squared_error' is not valid for members that are class"),
        (SuperLearner(CLASSIFIERS, loss=Huber()), "is not valid for members that are classifiers; it must be 'auto' or 'log"),
        (SuperLearner(REGRESSORS, LogisticRegression()), "final_estimator=Log.*must be a regressor or None"),
        (SuperLearner(REGRESSORS, cv="prefit"), "cv='prefit' is not valid"),
        (SuperLearner([*CLASSIFIERS, ("svm", LinearSVC())]), "member 'svm' .*predict_proba"),
    ],
)
def test_what_cannot_be_is_refused_by_name(model, message):
    X, y = (X_DIABETES, Y_DIABETES) if is_regressor(model) else (X_IRIS, Y_IRIS)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_member_whose_risk_overflows_is_named():
    X = np.random.RandomState(0).randn(20, 2) * [1, 1e200]
    with pytest.raises(ValueError, match=r"member 'huge' \(Fixed\) is not finite.*large as .*Scale"):
        SuperLearner([("fine", Fixed(0)), ("huge", Fixed(1))]).fit(X, X[:, 0])


def test_extra_arguments_of_predict_need_a_final_estimator():
    with pytest.raises(TypeError, match="return_std"):
        SuperLearner(REGRESSORS).fit(X_DIABETES, Y_DIABETES).predict(X_DIABETES, return_std=True)


# The common suites run over regressors; these are scikit-learn's checks over classifiers.
@parametrize_with_checks(
    [SuperLearner([("strong", MERCERS[0][1]), ("weak", clone(MERCERS[0][1]).set_params(C=0.01))], tol=1e-13)]
)
def test_an_ensemble_of_classifiers_passes_the_check(estimator, check):
    check(estimator)
