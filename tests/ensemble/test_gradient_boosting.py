"""Gradient boosting against brute force and scikit-learn, over losses, weights, stages and stops."""

import numpy as np
import pytest
import sklearn.ensemble as peers
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_hastie_10_2,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from mercer.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from mercer.ensemble._gradient_boosting.leaves import Leaves
from mercer.ensemble._gradient_boosting.search import search_leaves
from mercer.losses import (
    Absolute,
    Exponential,
    Gamma,
    Hinge,
    Huber,
    LogCosh,
    Logistic,
    ModifiedHuber,
    Pinball,
    Poisson,
    SoftmaxCrossEntropy,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Tweedie,
    ZeroOne,
)
from tests.reference.boosting import tree_boost


def numbers(n_rows=2000, seed=0):
    """Continuous columns, exact in single precision."""
    random = np.random.RandomState(seed)
    X = random.randn(n_rows, 6).astype(np.float32).astype(np.float64)
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * random.randn(n_rows)


def classes(n_classes=2, n_rows=2000, seed=0):
    X, score = numbers(n_rows, seed)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def some_weights(n_rows, seed=1):
    return np.random.RandomState(seed).rand(n_rows) + 0.1


# ---- agreement

# Splits of small nodes tie, and the peer draws among ties: 50 rows a leaf leave none.
PARAMS = {"n_estimators": 25, "random_state": 0, "min_samples_leaf": 50}


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_regression_equals_scikit_learn(loss):
    X, y = numbers()
    weights = some_weights(len(y))  # without weights the peer begins at an interpolated quantile, and slopes of 0 or 1 tie
    mine = GradientBoostingRegressor(loss=loss, **PARAMS).fit(X, y, weights)
    peer = peers.GradientBoostingRegressor(loss=loss, **PARAMS).fit(X, y, weights)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mine.train_score_, peer.train_score_, rtol=1e-9)
    # At a residual of 0 the slope of the absolute error is 0 here and 1 there, which moves importances by a row's share.
    atol = 1e-8 if loss in ("squared_error", "huber") else 1e-3
    np.testing.assert_allclose(mine.feature_importances_, peer.feature_importances_, rtol=0, atol=atol)
    np.testing.assert_array_equal(mine.apply(X), peer.apply(X))
    for one, other in zip(mine.staged_predict(X), peer.staged_predict(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("loss", "n_classes"), [("log_loss", 2), ("log_loss", 4), ("exponential", 2)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_classification_equals_scikit_learn(loss, n_classes, is_weighted):
    X, y = classes(n_classes)
    weights = some_weights(len(y)) if is_weighted else None
    mine = GradientBoostingClassifier(loss=loss, **PARAMS).fit(X, y, weights)
    peer = peers.GradientBoostingClassifier(loss=loss, **PARAMS).fit(X, y, weights)
    np.testing.assert_allclose(mine.train_score_, peer.train_score_, rtol=1e-9)
    for method in ("decision_function", "predict_proba", "predict_log_proba", "predict", "apply"):
        np.testing.assert_allclose(getattr(mine, method)(X), getattr(peer, method)(X), rtol=1e-6, atol=1e-9)
    for method in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
        for one, other in zip(getattr(mine, method)(X), getattr(peer, method)(X), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    assert mine.estimators_.shape == peer.estimators_.shape
    for one, other in zip(mine.estimators_.ravel(), peer.estimators_.ravel(), strict=True):
        np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6, atol=1e-9)


def test_early_stopping_equals_scikit_learns():
    X, y = classes(3)
    params = {**PARAMS, "n_estimators": 200, "learning_rate": 0.3, "n_iter_no_change": 3, "tol": 1e-3}
    mine = GradientBoostingClassifier(**params).fit(X, y)
    peer = peers.GradientBoostingClassifier(**params).fit(X, y)
    assert mine.n_estimators_ == peer.n_estimators_ == len(mine.estimators_) == len(mine.train_score_) < 200
    np.testing.assert_allclose(mine.decision_function(X), peer.decision_function(X), rtol=1e-6, atol=1e-9)
    assert "validation_loss" in mine.history_[-1]


@pytest.mark.parametrize("patience", [1, 4])
def test_no_gain_is_large_enough_for_a_huge_tolerance(patience):
    X, y = numbers(300)
    model = GradientBoostingRegressor(n_iter_no_change=patience, tol=1e9, random_state=0).fit(X, y)
    assert model.n_estimators_ == patience + 1


@pytest.mark.parametrize("init", ["zero", "model"])
def test_starts_equal_scikit_learns(init):
    X, y = numbers()
    model = LinearRegression() if init == "model" else init
    mine = GradientBoostingRegressor(init=model, **PARAMS).fit(X, y)
    peer = peers.GradientBoostingRegressor(init=model, **PARAMS).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), atol=1e-5)  # the peer fits the model in single precision
    X, y = classes(3)
    model = LogisticRegression() if init == "model" else init
    mine = GradientBoostingClassifier(init=model, **PARAMS).fit(X, y, some_weights(len(y)))
    peer = peers.GradientBoostingClassifier(init=model, **PARAMS).fit(X, y, some_weights(len(y)))
    np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), atol=1e-5)


SMOOTH = [
    (Squared(), 0.0),
    (LogCosh(), 0.0),
    (Huber(delta=0.7), 0.0),
    (SquaredEpsilonInsensitive(epsilon=0.2), 0.0),
]


@pytest.mark.parametrize(("loss", "shift"), SMOOTH, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_leaves_of_smooth_losses_are_minimised(loss, shift, is_weighted):
    X, y = numbers(300)
    y = 3 * y + shift
    weights = some_weights(300) if is_weighted else None
    model = GradientBoostingRegressor(loss=loss, n_estimators=5, max_depth=2).fit(X, y, weights)
    expected = tree_boost(X, y, loss, model._start.constant[0], 5, depth=2, weights=weights)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", [Poisson(), Gamma(), Tweedie(power=1.5)], ids=lambda loss: loss.name)
def test_positive_losses_are_minimised_and_predict_means(loss):
    X, y = numbers(500)
    y = np.random.RandomState(0).poisson(np.exp(1 + y / 3)) + (1.0 if loss.name == "gamma" else 0.0)
    model = GradientBoostingRegressor(loss=loss, n_estimators=5, max_depth=2, min_samples_leaf=30).fit(X, y)
    expected = tree_boost(X, y, loss, np.log(y.mean()), 5, depth=2, min_rows=30)
    np.testing.assert_allclose(model.predict(X), np.exp(expected), rtol=1e-5)


@pytest.mark.parametrize("loss", [SquaredHinge(), ModifiedHuber()], ids=lambda loss: loss.name)
def test_margin_losses_are_minimised_and_tell_probabilities(loss):
    X, y = classes(2, 500)
    model = GradientBoostingClassifier(loss=loss, n_estimators=5, max_depth=2, min_samples_leaf=30).fit(X, y)
    signs = 2.0 * y - 1
    raw = model.decision_function(X)
    assert np.mean(loss.value(signs, raw)) == pytest.approx(model.train_score_[-1])
    assert (np.diff(model.train_score_) < 0).all()
    probabilities = model.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(raw >= 0).astype(int)])


@pytest.mark.parametrize("loss", [LogCosh(), Huber(delta=0.1), Poisson(), ModifiedHuber()], ids=lambda loss: loss.name)
def test_every_leaf_is_at_its_minimum_however_fast_the_others_get_there(loss):
    at = np.repeat([0, 1, 3, 4], [3, 40, 200, 1000])  # node 2 is no leaf
    for seed in range(20):
        _check_minima(loss, at, np.random.RandomState(seed))


def _check_minima(loss, at, random):
    y = random.randn(len(at)) * 10.0 ** (at - 2)
    y = np.sign(y) if loss.kind == "margin" else random.poisson(3, len(at)) + 1.0 if loss.kind == "positive" else y
    raw, weights = random.randn(len(at)), random.randint(0, 3, len(at)).astype(float)
    steps = search_leaves(loss, Leaves(at, 5, weights), y, raw)
    slopes = np.bincount(at, weights * loss.derivative(y, raw + steps[at]), minlength=5)
    sizes = np.bincount(at, weights * np.abs(loss.derivative(y, raw)), minlength=5)
    assert (np.abs(slopes) <= 1e-9 * sizes).all()
    assert steps[2] == 0


@pytest.mark.parametrize(
    ("name", "loss"),
    [("squared_error", Squared()), ("absolute_error", Absolute()), ("quantile", Pinball(quantile=0.9))],
)
def test_a_name_and_its_loss_are_the_same_for_numbers(name, loss):
    X, y = numbers(500)
    one, other = (GradientBoostingRegressor(loss=each, n_estimators=5).fit(X, y) for each in (name, loss))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize(
    ("name", "loss", "n_classes"),
    [("log_loss", Logistic(), 2), ("exponential", Exponential(), 2), ("log_loss", SoftmaxCrossEntropy(), 3)],
)
def test_a_name_and_its_loss_are_the_same_for_classes(name, loss, n_classes):
    X, y = classes(n_classes, 500)
    one, other = (GradientBoostingClassifier(loss=each, n_estimators=5).fit(X, y) for each in (name, loss))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


CLASSES = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits, even or odd": lambda: (load_digits().data, load_digits().target % 2),
    "hastie": lambda: make_hastie_10_2(1500, random_state=0),
    "generated": lambda: make_classification(1000, 20, n_informative=6, n_classes=3, random_state=0),
}


@pytest.mark.parametrize("name", CLASSES)
def test_held_out_accuracy_is_the_peers(name):
    X_train, X_test, y_train, y_test = train_test_split(*CLASSES[name](), random_state=0)
    params = {"n_estimators": 40, "random_state": 0}
    mine = GradientBoostingClassifier(**params).fit(X_train, y_train).score(X_test, y_test)
    peer = peers.GradientBoostingClassifier(**params).fit(X_train, y_train).score(X_test, y_test)
    assert mine >= peer - 2 * np.sqrt(0.25 / len(y_test))


NUMBERS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman 1": lambda: make_friedman1(1000, noise=1.0, random_state=0),
    "friedman 2": lambda: make_friedman2(1000, noise=50.0, random_state=0),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_held_out_r2_is_the_peers(name, subsample):
    X_train, X_test, y_train, y_test = train_test_split(*NUMBERS[name](), random_state=0)
    params = {"n_estimators": 60, "random_state": 0, "subsample": subsample}
    mine = GradientBoostingRegressor(**params).fit(X_train, y_train).score(X_test, y_test)
    peer = peers.GradientBoostingRegressor(**params).fit(X_train, y_train).score(X_test, y_test)
    assert mine >= peer - 0.04


# ---- rounds


def test_stages_end_at_the_prediction_and_trees_add_up():
    X, y = numbers(300)
    model = GradientBoostingRegressor(n_estimators=7, learning_rate=0.3).fit(X, y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    total = model.init_.predict(X) + 0.3 * sum(tree.predict(X) for tree in model.estimators_[:, 0])
    np.testing.assert_allclose(total, model.predict(X), rtol=1e-12)
    assert [record["train_loss"] for record in model.history_] == model.train_score_.tolist()
    assert model.n_iter_ == 7


def test_left_out_rows_are_scored():
    X, y = numbers(400)
    model = GradientBoostingRegressor(n_estimators=30, subsample=0.5, random_state=0).fit(X, y)
    assert model.oob_scores_.shape == model.oob_improvement_.shape == (30,)
    np.testing.assert_allclose(-np.diff(model.oob_scores_), model.oob_improvement_[1:], rtol=1e-9)
    assert model.oob_score_ == model.oob_scores_[-1]
    assert model.oob_improvement_[0] > 0
    assert not hasattr(GradientBoostingRegressor(n_estimators=2).fit(X, y), "oob_scores_")


def test_a_part_of_the_rows_is_what_a_round_learns_from():
    X, y = numbers(400)
    model = GradientBoostingRegressor(n_estimators=3, subsample=0.25, random_state=0).fit(X, y)
    assert [tree.tree_.n_node_samples[0] for tree in model.estimators_[:, 0]] == [100, 100, 100]
    model.fit(X, y, sample_weight=np.full(400, 2.0))
    assert [tree.tree_.n_node_samples[0] for tree in model.estimators_[:, 0]] == [100, 100, 100]
    assert [tree.tree_.weighted_n_node_samples[0] for tree in model.estimators_[:, 0]] == [200, 200, 200]


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_a_warm_start_goes_on_where_the_fit_ended(subsample):
    X, y = classes(3, 500)
    params = {"random_state": 0, "subsample": subsample, "min_samples_leaf": 20}
    model = GradientBoostingClassifier(n_estimators=4, warm_start=True, **params).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    whole = GradientBoostingClassifier(n_estimators=9, **params).fit(X, y)
    assert len(model.estimators_) == len(model.history_) == len(model.train_score_) == 9
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(model.train_score_, whole.train_score_, rtol=1e-9)
    model.fit(X, y)
    assert len(model.estimators_) == 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_estimators": 2}, "n_estimators=2 must be larger or equal to estimators_.shape"),
        ({"learning_rate": 0.5}, "learning_rate=0.5 is not that of the trees"),
    ],
)
def test_a_warm_start_must_be_the_same_model(change, message):
    X, y = classes(2, 100)
    model = GradientBoostingClassifier(n_estimators=4, warm_start=True).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(X, y)
    with pytest.raises(ValueError, match="must keep them"):
        model.set_params(n_estimators=5, learning_rate=0.1).fit(X[:, :3], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)  # a failed fit leaves the model as it was


def test_trees_of_a_warm_start_keep_the_parameters_that_they_were_grown_with():
    X, y = numbers(100)
    model = GradientBoostingRegressor(n_estimators=3, max_depth=1, warm_start=True).fit(X, y)
    model.set_params(n_estimators=5, max_depth=2).fit(X, y)
    assert [tree.max_depth for tree in model.estimators_.ravel()] == [1, 1, 1, 2, 2]
    assert [tree.get_depth() for tree in model.estimators_.ravel()] == [1, 1, 1, 2, 2]
    np.testing.assert_allclose(sum(0.1 * tree.predict(X) for tree in model.estimators_.ravel()) + y.mean(), model.predict(X))


def test_rounds_of_a_warm_start_that_left_no_rows_out_improve_nothing_there():
    X, y = numbers(100)
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=5, subsample=0.5).fit(X, y)
    assert model.oob_improvement_.shape == model.oob_scores_.shape == (5,)
    assert not model.oob_improvement_[:3].any()
    assert model.oob_improvement_[3:].all()


def test_a_monitor_sees_every_round_and_may_end_the_fit():
    X, y = numbers(200)
    seen = []

    def monitor(i, model, record):
        seen.append((i, len(model.estimators_), record["train_loss"]))
        return i == 3

    model = GradientBoostingRegressor(n_estimators=10).fit(X, y, monitor=monitor)
    assert [entry[:2] for entry in seen] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert [entry[2] for entry in seen] == model.train_score_.tolist()
    assert len(model.estimators_) == 4


def test_shrinkage_of_zero_changes_nothing():
    X, y = numbers(100)
    model = GradientBoostingRegressor(n_estimators=3, learning_rate=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_parameters_of_the_trees_reach_them():
    X, y = numbers(500)
    params = {"max_leaf_nodes": 4, "max_depth": None, "min_samples_leaf": 20, "ccp_alpha": 0.0, "max_features": 2}
    model = GradientBoostingRegressor(n_estimators=5, random_state=0, **params).fit(X, y)
    assert model.max_features_ == 2
    for tree in model.estimators_[:, 0]:
        assert tree.get_n_leaves() <= 4
        assert tree.tree_.n_node_samples.min() >= 20
    pruned = GradientBoostingRegressor(n_estimators=5, ccp_alpha=1e9).fit(X, y)
    assert all(tree.get_n_leaves() == 1 for tree in pruned.estimators_[:, 0])
    np.testing.assert_allclose(pruned.feature_importances_, 0)


# ---- data


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", LogCosh(), Poisson()])
def test_weights_are_repetitions(loss):
    X, y = numbers(300)
    y = np.abs(y)
    weights = np.random.RandomState(0).randint(0, 4, 300)
    rows = np.repeat(np.arange(300), weights)
    params = {"loss": loss, "n_estimators": 5, "max_depth": 2}
    one = GradientBoostingRegressor(**params).fit(X, y, weights)
    other = GradientBoostingRegressor(**params).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-7)


def test_the_number_of_threads_changes_no_bit():
    X, y = classes(3, 10_000)
    outputs = []
    for n_threads in (1, 2, 7):
        with threadpool_limits(n_threads, user_api="mercer"):
            model = GradientBoostingClassifier(n_estimators=3, subsample=0.7, random_state=0).fit(X, y)
            outputs.append(model.predict_proba(X).tobytes())
    assert len(set(outputs)) == 1


def test_categories_and_missing_values_go_through():
    pandas = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    kind = random.choice(list("abcdef"), 400)
    size = random.randn(400)
    size[::5] = np.nan
    X = pandas.DataFrame({"kind": pandas.Categorical(kind), "size": size})
    y = np.isin(kind, ["a", "d", "f"]) * 2.0 + np.isnan(size)
    model = GradientBoostingRegressor(n_estimators=60, learning_rate=0.3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    strange = X.assign(kind=pandas.Categorical(["z"] * 400))
    assert np.isfinite(model.predict(strange)).all()
    with pytest.raises(ValueError, match="'z', which training never saw"):
        GradientBoostingRegressor(n_estimators=2, unseen="error").fit(X, y).predict(strange)


def test_constant_targets_are_predicted():
    X, _ = numbers(50)
    for loss in ("squared_error", "absolute_error", "huber", "quantile", LogCosh(), Poisson()):
        model = GradientBoostingRegressor(loss=loss, n_estimators=3).fit(X, np.full(50, 2.5))
        np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-12)


def test_counts_that_are_all_zero_do_no_harm():
    X, _ = numbers(50)
    model = GradientBoostingRegressor(loss=Poisson(), n_estimators=5).fit(X, np.zeros(50))
    assert np.isfinite(model.predict(X)).all()
    assert (model.predict(X) < 1e-9).all()


# ---- errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "log_loss"}, "loss='log_loss'"),
        ({"loss": Hinge()}, "of kind 'margin'"),
        ({"loss": "pinball"}, "loss='pinball'"),
        ({"subsample": 0.0}, "subsample=0"),
        ({"subsample": 1.5}, "subsample=1.5"),
        ({"alpha": 1.0}, "alpha=1"),
        ({"init": "mean"}, "init='mean'"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"learning_rate": -0.1}, "learning_rate=-0.1"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**params).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Hinge(), "has kinks"),
        (ZeroOne(), "has kinks"),
        (Squared(), "of kind 'residual'"),
    ],
)
def test_losses_that_do_not_suit_classes_are_refused(loss, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingClassifier(loss=loss).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("loss", "takes_many"),
    [("log_loss", True), (SoftmaxCrossEntropy(), True), ("exponential", False), (Logistic(), False), (SquaredHinge(), False)],
)
def test_the_tags_say_whether_the_loss_takes_many_classes(loss, takes_many):
    assert get_tags(GradientBoostingClassifier(loss=loss)).classifier_tags.multi_class == takes_many


def test_targets_that_do_not_suit_the_loss_are_refused():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match="only suitable for a binary classification"):
        GradientBoostingClassifier(loss="exponential").fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="y holds -1; every value must be a number >= 0"):
        GradientBoostingRegressor(loss=Poisson()).fit(X, [0, -1, 2])
    with pytest.raises(ValueError, match="1 class after sample_weight"):
        GradientBoostingClassifier().fit(X, [0, 0, 1], [1, 1, 0])


def test_starts_that_cannot_be_are_refused():
    X, y = numbers(50)
    with pytest.raises(ValueError, match="does not support sample weights"):
        GradientBoostingRegressor(init=KNeighborsRegressor()).fit(X, y, np.ones(50))
    with pytest.raises(ValueError, match="has no predict_proba"):
        GradientBoostingClassifier(init=LinearRegression()).fit(X, y > 0)


def test_early_stopping_needs_every_class():
    X, y = classes(2, 100)
    y[0] = 7
    with pytest.raises(ValueError, match=r"least populated class|missing some classes"):
        GradientBoostingClassifier(n_iter_no_change=2).fit(X, y)


def test_rows_left_out_that_do_not_count_have_no_score():
    X, y = numbers(2)
    model = GradientBoostingRegressor(n_estimators=2, subsample=0.5, random_state=0).fit(X, y, [1.0, 0.0])
    assert np.isfinite(model.predict(X)).all()


def test_the_deprecated_criterion_is_taken_and_changes_nothing():
    X, y = make_friedman1(60, random_state=0)
    plain = GradientBoostingRegressor(n_estimators=5).fit(X, y).predict(X)
    for criterion in ("friedman_mse", "squared_error"):
        assert np.array_equal(GradientBoostingRegressor(n_estimators=5, criterion=criterion).fit(X, y).predict(X), plain)
    with pytest.raises(ValueError, match=r"criterion='mae'"):
        GradientBoostingClassifier(criterion="mae").fit(X, y > 14)
