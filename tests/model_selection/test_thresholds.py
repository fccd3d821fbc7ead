"""Tuned thresholds: the best of all by trial, the peer's grid, spreads, costs, many classes, and what cannot be tuned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    fbeta_score,
    get_scorer,
    make_scorer,
    matthews_corrcoef,
)
from sklearn.model_selection import GroupKFold, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer._params import InvalidParameterError
from mercer.model_selection import TunedThresholdClassifier
from tests.reference import thresholds as reference

SCORINGS = ["accuracy", "balanced_accuracy", "cost", "cwa", "f_beta", "g_mean"]
COSTS = np.array([[0.0, 1.0], [7.0, -1.0]])


class Given(ClassifierMixin, BaseEstimator):
    """Scores are the columns of X."""

    def __init__(self, has_probabilities=True):
        self.has_probabilities = has_probabilities

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.n_features_in_ = np.unique(y), np.shape(X)[1]
        return self

    def __getattr__(self, name):
        if name == "predict_proba" and self.__dict__.get("has_probabilities", True):
            return lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]) if X.shape[1] == 1 else np.asarray(X)
        if name == "decision_function" and not self.__dict__.get("has_probabilities", True):
            return lambda X: X[:, 0] if X.shape[1] == 1 else np.asarray(X)
        raise AttributeError(name)

    def predict(self, X):
        raise AssertionError("only scores are to be used")


def split_rows(n_rows, n_folds, seed=0):
    fold = np.random.RandomState(seed).permutation(np.arange(n_rows) % n_folds)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


@pytest.fixture(scope="module")
def unbalanced():
    return make_classification(400, weights=[0.85], class_sep=0.6, flip_y=0.05, random_state=0)


# ---- two classes: nothing is better


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("positive", [0, 1])
@given(
    scores=st.lists(st.integers(0, 8), min_size=6, max_size=24),
    seed=st.integers(0, 1000),
    is_weighted=st.booleans(),
    n_folds=st.integers(2, 3),
)
@settings(max_examples=10, deadline=None)
def test_no_threshold_is_better_than_the_one_found(scoring, positive, scores, seed, is_weighted, n_folds):
    random = np.random.RandomState(seed)
    n_rows = len(scores)
    y = random.permutation(np.arange(n_rows) % 2)
    weights = random.randint(0, 3, n_rows).astype(float) if is_weighted else np.ones(n_rows)
    splits = [(np.arange(n_rows), test) for _, test in split_rows(n_rows, n_folds, seed)]  # there is nothing to learn
    if any(not weights[test].any() for _, test in splits):
        return
    X = np.asarray(scores, dtype=float)[:, None] / 8
    score = X[:, 0] if positive == 1 else 1 - X[:, 0]
    costs = COSTS if scoring == "cost" else None
    model = TunedThresholdClassifier(
        Given(), scoring=scoring, cv=splits, beta=2.0, alpha=0.3, cost_matrix=costs, pos_label=positive
    )
    model.fit(X, y, sample_weight=weights if is_weighted else None)
    folds = [(y[test], score[test], weights[test]) for _, test in splits]
    classes = np.array([0, 1])
    best = reference.best_threshold_score(folds, classes, scoring, positive=positive, beta=2.0, alpha=0.3, costs=costs)
    assert model.best_score_ == pytest.approx(best, rel=1e-12, abs=1e-12)

    def decide(s):
        return np.where(s >= model.best_threshold_, positive, 1 - positive)

    own = reference.mean_score(folds, decide, classes, scoring, positive=positive, beta=2.0, alpha=0.3, costs=costs)
    assert model.best_score_ == pytest.approx(own, rel=1e-12, abs=1e-12)  # the threshold is the one that has this score
    np.testing.assert_array_equal(model.predict(X), decide(score))


@pytest.mark.parametrize(("mine", "peers"), [("balanced_accuracy",) * 2, ("f_beta", "f1"), ("f1", "f1"), ("accuracy",) * 2])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_it_is_at_least_as_good_as_the_grid_of_the_peer(unbalanced, mine, peers, method):
    folds = StratifiedKFold(4)
    model = TunedThresholdClassifier(LogisticRegression(), scoring=mine, cv=folds, response_method=method).fit(*unbalanced)
    grid = TunedThresholdClassifierCV(LogisticRegression(), scoring=peers, cv=folds, response_method=method, thresholds=30)
    peer = grid.fit(*unbalanced)
    assert model.best_score_ >= peer.best_score_ - 1e-12
    fixed = TunedThresholdClassifier(LogisticRegression(), scoring=mine, cv=folds, response_method=method)
    at_peers = fixed.set_params(thresholds=[peer.best_threshold_]).fit(*unbalanced)
    assert model.best_score_ >= at_peers.best_score_
    np.testing.assert_array_equal(at_peers.predict(unbalanced[0]), peer.predict(unbalanced[0]))
    np.testing.assert_array_equal(model.predict_proba(unbalanced[0]), peer.predict_proba(unbalanced[0]))
    np.testing.assert_array_equal(model.decision_function(unbalanced[0]), peer.decision_function(unbalanced[0]))


def test_spreads_are_those_over_folds():
    X = np.array([0.1, 0.2, 0.3, 0.6, 0.1, 0.4, 0.8, 0.9])[:, None]
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    splits = [(np.arange(4, 8), np.arange(4)), (np.arange(4), np.arange(4, 8))]
    model = TunedThresholdClassifier(Given(), cv=splits).fit(X, y)
    # The first fold alone wants a cut in (0.2, 0.3], the second one in (0.4, 0.8], where 0.5 changes nothing; together the cut
    # goes where one row of one fold is wrong: in (0.3, 0.4], (0.2, 0.3] or (0.4, 0.6], of which 0.5 is in the last.
    assert model.threshold_spread_ == pytest.approx((0.5 - 0.25) / 2)
    assert model.best_threshold_ == 0.5
    assert model.best_score_ == pytest.approx((0.75 + 1) / 2)
    assert model.score_spread_ == pytest.approx(0.125)
    results = model.cv_results_
    at = results["thresholds"].tolist().index(model.best_threshold_)
    assert (results["scores"][at], results["spread"][at]) == (model.best_score_, model.score_spread_)
    assert results["scores"].max() == model.best_score_


def test_where_nothing_is_gained_the_decision_stays(unbalanced):
    X = np.array([0.1, 0.2, 0.8, 0.9] * 5)[:, None]
    y = np.array([0, 0, 1, 1] * 5)
    assert TunedThresholdClassifier(Given(), scoring="g_mean").fit(X, y).best_threshold_ == 0.5
    assert TunedThresholdClassifier(Given(False)).fit(X - 0.5, y).best_threshold_ == 0.0
    iris = load_iris(return_X_y=True)
    apart = iris[0][:, 2:] * [1, 0.1], iris[1]
    model = TunedThresholdClassifier(KNeighborsClassifier(3), cv=[(np.arange(150), np.arange(150))]).fit(*apart)
    if model.best_score_ == 1:
        np.testing.assert_array_equal(model.class_weights_, 1)


@pytest.mark.parametrize("value", [0.3, 0.5, 0.7])
def test_constant_scores_leave_all_or_none(value):
    X, y = np.full((20, 1), value), np.array([0, 0, 0, 1] * 5)
    for scoring, expected in (("accuracy", 0), ("f_beta", 1)):
        model = TunedThresholdClassifier(Given(), scoring=scoring).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), expected)
    assert TunedThresholdClassifier(DummyClassifier(), scoring="f_beta").fit(X, y).best_score_ == pytest.approx(0.4)


def test_equal_scores_are_not_torn_apart():
    X = np.array([0.2, 0.2, 0.2, 0.2, 0.7, 0.7])[:, None]
    y = np.array([0, 1, 0, 1, 1, 1])
    model = TunedThresholdClassifier(Given(), scoring="accuracy", cv=[(np.arange(6), np.arange(6))]).fit(X, y)
    assert model.best_score_ == pytest.approx(4 / 6)


def test_neighbouring_floats_are_told_apart():
    low = 0.3
    high = np.nextafter(low, 1)
    X, y = np.array([low, low, high, high])[:, None], np.array([0, 0, 1, 1])
    model = TunedThresholdClassifier(Given(), cv=[(np.arange(4), np.arange(4))]).fit(X, y)
    assert model.best_score_ == 1
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_fold_with_one_class_counts_what_it_has():
    X, y = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.3])[:, None], np.array([0, 0, 1, 1, 0, 0])
    splits = [(np.arange(6), np.arange(4)), (np.arange(6), np.arange(4, 6))]
    model = TunedThresholdClassifier(Given(), cv=splits, scoring="balanced_accuracy").fit(X, y)
    assert model.best_score_ == pytest.approx((0.75 + 1) / 2)


def test_a_training_fold_with_one_class_gives_the_other_probability_zero():
    X, y = np.linspace(0, 1, 12)[:, None], np.array([0] * 6 + [1] * 6)
    splits = [(np.arange(6), np.arange(6, 12)), (np.arange(12), np.arange(12))]
    model = TunedThresholdClassifier(KNeighborsClassifier(1), cv=splits, scoring="accuracy").fit(X, y)
    assert model.best_score_ >= 0.5
    lacking = TunedThresholdClassifier(RidgeClassifier(), cv=[(np.arange(8), np.arange(8, 12))]).fit
    with pytest.raises(ValueError, match=r"fitted on 2 of 3 classes.*training folds have every class"):
        lacking(X, np.repeat([0, 1, 2], 4))


# ---- measures given by the user


@pytest.mark.parametrize(
    ("scoring", "like"),
    [
        (balanced_accuracy_score, "balanced_accuracy"),
        (make_scorer(fbeta_score, beta=2.0), "f_beta"),
        (get_scorer("accuracy"), "accuracy"),
        (lambda y, p, w: np.average(y == p, weights=w), "accuracy"),
        (lambda y, p: np.mean(y == p), "accuracy"),
        (make_scorer(lambda y, p: np.mean(y == p)), "accuracy"),
        ("neg_zero_one", "accuracy"),
    ],
    ids=["function", "scorer", "named scorer", "three arguments", "no weights", "scorer without weights", "loss"],
)
def test_functions_and_scorers_find_what_the_named_measure_finds(unbalanced, scoring, like):
    if scoring == "neg_zero_one":
        scoring = make_scorer(
            lambda y, p, sample_weight=None: np.average(y != p, weights=sample_weight), greater_is_better=False
        )
    X, y = unbalanced[0][:80], unbalanced[1][:80]
    model = TunedThresholdClassifier(LogisticRegression(), scoring=scoring, cv=2).fit(X, y)
    named = TunedThresholdClassifier(LogisticRegression(), scoring=like, beta=2.0, cv=2).fit(X, y)
    assert model.best_threshold_ == pytest.approx(named.best_threshold_)


def test_a_function_sees_weights_and_words(unbalanced):
    X, y = unbalanced[0][:120], np.array(["no", "yes"])[unbalanced[1][:120]]
    weights = np.random.RandomState(0).rand(120)
    named = TunedThresholdClassifier(LogisticRegression(), scoring="balanced_accuracy", cv=2)
    model = clone(named).set_params(scoring=balanced_accuracy_score)
    assert model.fit(X, y, sample_weight=weights).best_score_ == pytest.approx(
        named.fit(X, y, sample_weight=weights).best_score_
    )


def test_a_measure_without_weights_is_refused_with_weights(unbalanced):
    X, y = unbalanced
    model = TunedThresholdClassifier(LogisticRegression(), scoring=lambda y, p: np.mean(y == p), cv=2)
    with pytest.raises(ValueError, match="scoring takes no sample_weight"):
        model.fit(X, y, sample_weight=np.linspace(0.1, 1, len(y)))


def test_nan_never_wins(unbalanced):
    def only_few(y, p, w):
        share = np.average(p, weights=w)
        return share if share < 0.3 else np.nan

    model = TunedThresholdClassifier(LogisticRegression(), scoring=only_few, cv=2, thresholds=50).fit(*unbalanced)
    assert 0 < model.best_score_ < 0.3
    with pytest.raises(ValueError, match="scoring gave NaN for every threshold"):
        TunedThresholdClassifier(LogisticRegression(), scoring=lambda y, p, w: np.nan, cv=2, thresholds=5).fit(*unbalanced)


# ---- costs


def test_costs_at_face_value_need_no_tuning(unbalanced):
    X, y = unbalanced
    costs = [[0, 2], [10, 1]]  # to raise an alarm in vain costs 2 more, to miss 9 more
    model = TunedThresholdClassifier(LogisticRegression(), scoring="expected_cost", cost_matrix=costs).fit(X, y)
    assert model.best_threshold_ == pytest.approx(2 / 11)
    assert model.threshold_spread_ == 0
    expected = (model.predict_proba(X) @ np.array(costs)).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)
    tuned = TunedThresholdClassifier(LogisticRegression(), scoring="cost", cost_matrix=costs).fit(X, y)
    assert tuned.best_score_ >= model.best_score_


def test_costs_of_many_classes_at_face_value_and_tuned():
    X, y = load_wine(return_X_y=True)
    X = X[:, :3]
    costs = np.array([[0, 1, 5], [2, 0, 1], [9, 1, 0]])
    base = make_pipeline(StandardScaler(), LogisticRegression())
    model = TunedThresholdClassifier(base, scoring="expected_cost", cost_matrix=costs).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X) @ costs).argmin(axis=1))
    np.testing.assert_array_equal(model.class_offsets_, 0)
    tuned = TunedThresholdClassifier(base, scoring="cost", cost_matrix=costs).fit(X, y)
    assert tuned.best_score_ > model.best_score_
    assert tuned.cv_results_["scores"][0] == model.best_score_


# ---- many classes


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_class_weights_have_the_score_they_say_and_no_single_change_is_better(scoring, method):
    X, y = make_classification(240, n_classes=3, n_informative=4, weights=[0.7, 0.2], class_sep=0.6, random_state=1)
    splits = split_rows(240, 2)
    base = LogisticRegression()
    model = TunedThresholdClassifier(base, scoring=scoring, response_method=method, cv=splits, beta=0.5)
    model.set_params(alpha={0: 1, 1: 2, 2: 4}).fit(X, y)
    costs = 1 - np.eye(3)
    scored = []
    for train, test in splits:
        scores = getattr(clone(base).fit(X[train], y[train]), method)(X[test])
        scored.append(
            (y[test], -scores @ costs if scoring == "cost" and method == "predict_proba" else scores, np.ones(len(test)))
        )
    is_product = hasattr(model, "class_weights_")
    assert is_product == (method == "predict_proba" and scoring != "cost")
    chosen = np.log(model.class_weights_) if is_product else model.class_offsets_
    assert chosen.mean() == pytest.approx(0, abs=1e-12)

    def value(offsets):
        def decide(s):
            return np.argmax(s * np.exp(offsets) if is_product else s + offsets, axis=1)

        return reference.mean_score(scored, decide, np.arange(3), scoring, beta=0.5, alpha=[1, 2, 4], costs=costs)

    assert model.best_score_ == pytest.approx(value(chosen), abs=1e-12)
    assert model.best_score_ >= value(np.zeros(3)) - 1e-12
    for k in range(3):
        for shift in np.linspace(-2, 2, 13):
            assert value(chosen + shift * np.eye(3)[k]) <= model.best_score_ + 1e-12
    assert (np.diff(model.cv_results_["scores"]) > 0).all()
    own = getattr(model.estimator_, method)(X)
    own = -own @ costs if scoring == "cost" and method == "predict_proba" else own
    np.testing.assert_array_equal(model.predict(X), np.argmax(own * np.exp(chosen) if is_product else own + chosen, axis=1))
    assert model.threshold_spread_.shape == (3,)


def test_two_classes_by_class_weights_are_two_classes_by_a_threshold():
    """A third class that is never likely leaves the choice between two."""
    random = np.random.RandomState(0)
    y = np.r_[random.randint(0, 2, 98), 2, 2]
    p = np.clip(0.3 * y + 0.6 * random.rand(100), 0.01, 0.99)
    p[98:] = 0.5
    X = np.column_stack([1 - p, p, np.zeros(100)])
    X[98:] = [0, 0, 1]
    whole = [(np.arange(100), np.arange(100))]
    model = TunedThresholdClassifier(Given(), cv=whole, scoring="accuracy").fit(X, y)
    binary = TunedThresholdClassifier(Given(), cv=[(np.arange(98), np.arange(98))], scoring="accuracy").fit(
        p[:98, None], y[:98]
    )
    np.testing.assert_array_equal(model.predict(X)[:98], binary.predict(p[:98, None]))


def test_rare_classes_are_weighted_up():
    X, y = make_classification(1000, n_classes=3, n_informative=4, weights=[0.9, 0.07], class_sep=0.8, random_state=0)
    plain = TunedThresholdClassifier(LogisticRegression(), scoring="accuracy").fit(X, y)
    model = TunedThresholdClassifier(LogisticRegression(), scoring="g_mean").fit(X, y)
    assert model.class_weights_[0] < model.class_weights_[1:].min()
    assert balanced_accuracy_score(y, model.predict(X)) > balanced_accuracy_score(y, plain.predict(X)) + 0.1


def test_a_function_may_judge_many_classes():
    X, y = load_iris(return_X_y=True)
    model = TunedThresholdClassifier(KNeighborsClassifier(7), scoring=matthews_corrcoef, cv=2).fit(X[:, :2], y)
    assert model.best_score_ >= model.cv_results_["scores"][0]
    named = TunedThresholdClassifier(KNeighborsClassifier(7), scoring="f1_macro", cv=2).fit(X[:, :2], y)
    by_function = lambda y, p, w: f1_score(y, p, average="macro", sample_weight=w)  # noqa: E731
    other = TunedThresholdClassifier(KNeighborsClassifier(7), scoring=by_function, cv=2).fit(X[:, :2], y)
    assert other.best_score_ == pytest.approx(named.best_score_)


# ---- how it is fitted


def test_a_fitted_estimator_is_taken_as_it_is(unbalanced):
    X, y = unbalanced
    base = LogisticRegression().fit(X[:200], y[:200])
    model = TunedThresholdClassifier(base, cv="prefit", refit=False).fit(X[200:], y[200:])
    assert model.estimator_ is base
    frozen = TunedThresholdClassifier(FrozenEstimator(base), cv=[(np.arange(200), np.arange(200))]).fit(X[200:], y[200:])
    assert frozen.best_threshold_ == model.best_threshold_
    peer = TunedThresholdClassifierCV(base, cv="prefit", refit=False).fit(X[200:], y[200:])
    assert model.best_score_ >= peer.best_score_ - 1e-12
    with pytest.raises(NotFittedError, match="must be fitted already"):
        TunedThresholdClassifier(LogisticRegression(), cv="prefit", refit=False).fit(X, y)
    with pytest.raises(InvalidParameterError, match="refit=True cannot be with cv='prefit'"):
        TunedThresholdClassifier(base, cv="prefit").fit(X, y)


def test_a_share_of_the_rows_is_held_out(unbalanced):
    X, y = unbalanced
    model = TunedThresholdClassifier(LogisticRegression(), cv=0.25, random_state=3, refit=False).fit(X, y)
    peer = TunedThresholdClassifierCV(LogisticRegression(), cv=0.25, random_state=3, refit=False).fit(X, y)
    np.testing.assert_array_equal(model.estimator_.coef_, peer.estimator_.coef_)
    assert model.best_score_ >= peer.best_score_ - 1e-12
    assert model.threshold_spread_ == model.score_spread_ == 0
    with pytest.raises(InvalidParameterError, match="refit=False leaves 5 models"):
        TunedThresholdClassifier(LogisticRegression(), refit=False).fit(X, y)


def test_weights_go_to_the_estimator_and_the_measure(unbalanced):
    X, y = unbalanced
    weights = np.random.RandomState(0).randint(0, 3, len(y)).astype(float)
    splits = split_rows(len(y), 3)
    model = TunedThresholdClassifier(LogisticRegression(), cv=splits).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, y, sample_weight=weights).coef_)
    folds = [
        (y[test], LogisticRegression().fit(X[train], y[train], weights[train]).predict_proba(X[test])[:, 1], weights[test])
        for train, test in splits
    ]
    best = reference.best_threshold_score(folds, np.array([0, 1]), "balanced_accuracy")
    assert model.best_score_ == pytest.approx(best)
    with pytest.raises(ValueError, match=r"sample_weight was given, and KNeighborsClassifier\.fit takes none"):
        TunedThresholdClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_a_row_without_weight_moves_no_threshold():
    X, y = np.array([0.1, 0.2, 0.25, 0.4, 0.45])[:, None], np.array([0, 0, 0, 1, 1])
    weights, rows = np.array([1.0, 1, 0, 1, 1]), np.array([0, 1, 3, 4])
    weighted = TunedThresholdClassifier(Given(), cv=[(np.arange(5), np.arange(5))]).fit(X, y, sample_weight=weights)
    without = TunedThresholdClassifier(Given(), cv=[(np.arange(4), np.arange(4))]).fit(X[rows], y[rows])
    assert weighted.best_threshold_ == without.best_threshold_ == pytest.approx(0.3)


def test_metadata_go_where_they_are_asked_for(unbalanced):
    X, y = unbalanced
    groups = np.arange(len(y)) % 7
    weights = np.linspace(0.5, 2, len(y))
    with config_context(enable_metadata_routing=True):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        model = TunedThresholdClassifier(base, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    expected = TunedThresholdClassifier(LogisticRegression(), cv=splits).fit(X, y, sample_weight=weights)
    assert model.best_threshold_ == expected.best_threshold_


def test_tables_and_lists_go_to_the_estimator_as_they_are(unbalanced):
    frames = pytest.importorskip("pandas")
    X, y = unbalanced
    frame = frames.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])], index=np.arange(len(y))[::-1])
    model = TunedThresholdClassifier(LogisticRegression()).fit(frame, frames.Series(y))
    expected = TunedThresholdClassifier(LogisticRegression()).fit(X, y)
    assert model.best_threshold_ == pytest.approx(expected.best_threshold_)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert TunedThresholdClassifier(LogisticRegression()).fit(X.tolist(), y.tolist()).best_threshold_ == pytest.approx(
        expected.best_threshold_
    )


def test_a_second_fit_forgets_the_kind_of_the_first(unbalanced):
    model = TunedThresholdClassifier(LogisticRegression(max_iter=1000))
    model.fit(*load_iris(return_X_y=True))
    assert hasattr(model, "class_weights_")
    model.fit(*unbalanced)
    assert hasattr(model, "best_threshold_")
    assert not hasattr(model, "class_weights_")
    assert not hasattr(model, "class_offsets_")


# ---- wrong parameters


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"scoring": "nonsense"}, r"scoring='nonsense' is not valid; it must be one of 'accuracy'"),
        ({"scoring": "roc_auc"}, r"scoring='roc_auc' cannot judge the labels.*must be a measure of predicted labels"),
        ({"scoring": lambda a: 1}, r"scoring=.* cannot judge the labels"),
        ({"beta": -1.0}, r"beta=-1\.0 is not valid; it must be a finite number >= 0"),
        ({"alpha": 1.5}, r"alpha=1\.5 is not valid"),
        ({"alpha": {0: 1}}, r"alpha=\{0: 1\} is not valid; it must be .* a weight >= 0 of every label of \[0, 1\]"),
        ({"alpha": {0: 1, 1: -1}}, r"alpha=.* is not valid"),
        ({"alpha": {0: 0, 1: 0}}, r"alpha=.* not all 0"),
        ({"thresholds": 0}, r"thresholds=0 is not valid"),
        ({"thresholds": [[0.5]]}, r"thresholds=\[\[0\.5\]\] is not valid"),
        ({"thresholds": [np.nan]}, r"thresholds=\[nan\] is not valid"),
        ({"thresholds": ["a"]}, r"thresholds=\['a'\] is not valid"),
        ({"scoring": "expected_cost", "thresholds": 10}, r"thresholds=10 has no meaning with scoring='expected_cost'"),
        ({"pos_label": "yes"}, r"pos_label='yes' is no label of y; it must be one of \[0, 1\]"),
        ({"cost_matrix": [[0, 1], [1, 0]]}, r"cost_matrix=.* has no meaning with scoring='balanced_accuracy'"),
        ({"scoring": "cost", "cost_matrix": [[0, 1]]}, r"cost_matrix=.*must be finite numbers of shape \(2, 2\)"),
        ({"scoring": "cost", "cost_matrix": [[0, np.inf], [1, 0]]}, r"must be finite numbers of shape \(2, 2\)"),
        ({"scoring": "cost", "cost_matrix": [[0, "a"], [1, 0]]}, r"must be finite numbers of shape \(2, 2\)"),
        ({"scoring": "cost", "cost_matrix": [[1, 0], [1, 0]]}, r"the cost of the right label, must be the least"),
        ({"scoring": "cost", "cost_matrix": [[1, 1], [2, 2]]}, r"some wrong label must cost more"),
        ({"estimator": RidgeClassifier(), "response_method": "predict_proba"}, r"RidgeClassifier has no predict_proba"),
        ({"estimator": RidgeClassifier(), "scoring": "expected_cost"}, r"scoring='expected_cost' needs probabilities"),
        ({"estimator": 3}, r"estimator=3 is not valid"),
        ({"cv": 1.5}, r"cv=1\.5 is not valid"),
        ({"cv": "loo"}, r"cv='loo' is not valid"),
    ],
)
def test_wrong_parameters_are_named(unbalanced, params, message):
    model = TunedThresholdClassifier(LogisticRegression()).set_params(**params)
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*unbalanced)


@pytest.mark.parametrize("params", [{"thresholds": 10}, {"pos_label": 1}])
def test_what_is_for_two_classes_is_refused_with_more(params):
    with pytest.raises(InvalidParameterError, match="is for two classes, and y holds 3; it must be None"):
        TunedThresholdClassifier(LogisticRegression(), **params).fit(*load_iris(return_X_y=True))


def test_class_weights_of_many_classes_must_be_given_for_cwa():
    with pytest.raises(InvalidParameterError, match=r"alpha=0\.5 is the weight of one of two classes, and y holds 3"):
        TunedThresholdClassifier(LogisticRegression(), scoring="cwa").fit(*load_iris(return_X_y=True))


def test_one_class_is_refused(unbalanced):
    with pytest.raises(ValueError, match="y holds 1 class only"):
        TunedThresholdClassifier(LogisticRegression()).fit(unbalanced[0], np.zeros(400))


@pytest.mark.parametrize(("tp", "fn", "fp", "tn", "expected"), [(3, 7, 0, 990, 0.46), (9, 1, 6, 984, 0.72)])
def test_f_measures_of_the_notes(tp, fn, fp, tn, expected):
    """S2, example 6.2: with the cut-off at one half these are the confusion matrices."""
    p = np.r_[np.ones(tp), np.zeros(fn), np.ones(fp), np.zeros(tn)]
    y = np.r_[np.ones(tp + fn), np.zeros(fp + tn)]
    model = TunedThresholdClassifier(Given(), scoring="f_beta", thresholds=[0.5], cv=[(np.arange(1000), np.arange(1000))])
    assert model.fit(p[:, None], y).best_score_ == pytest.approx(expected, abs=0.005)
