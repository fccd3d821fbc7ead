"""Histogram boosting: agreement with the formulas and with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from scipy.special import expit
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_friedman1,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from mercer import losses
from mercer.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tests.reference import histogram_boosting as boosting


@pytest.fixture(autouse=True)
def _one_thread_for_the_peer():
    with threadpool_limits(1, user_api="openmp"):
        yield


def squared(y, raw):
    return raw - y, np.ones_like(y)


def logistic(y, raw):
    p = expit(raw)
    return p - y, p * (1 - p)


def _table(n=300, seed=0, missing=0.0):
    """Numbers with few distinct values, so that bins are exact."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 12, size=(n, 4)).astype(float)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1] * (X[:, 2] > 5) + 0.2 * random.randn(n)
    X[random.uniform(size=X.shape) < missing] = np.nan
    return X, y


# ---- the formulas


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"l2": 3.0},
        {"leaf_cost": 0.5},
        {"l2": 1.0, "leaf_cost": 0.1, "min_rows": 20},
    ],
    ids=str,
)
def test_regression_is_what_the_formulas_give(missing, rules):
    X, y = _table(missing=missing)
    expected = boosting.boost(X, y, squared, y.mean(), n_rounds=5, learning_rate=0.3, max_leaves=7, **rules)
    model = HistGradientBoostingRegressor(
        max_iter=5,
        learning_rate=0.3,
        max_leaf_nodes=7,
        l2_regularization=rules.get("l2", 0.0),
        min_gain_to_split=rules.get("leaf_cost", 0.0),
        min_samples_leaf=rules.get("min_rows", 1),
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_classification_is_what_the_formulas_give(missing):
    X, y = _table(missing=missing)
    y = (y > np.median(y)).astype(float)
    start = np.log(y.mean() / (1 - y.mean()))
    rules = {"l2": 0.5, "min_rows": 10}
    expected = boosting.boost(X, y, logistic, start, n_rounds=5, learning_rate=0.3, max_leaves=7, **rules)
    model = HistGradientBoostingClassifier(
        max_iter=5, learning_rate=0.3, max_leaf_nodes=7, l2_regularization=0.5, min_samples_leaf=10
    ).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-8)


def test_the_gains_told_are_those_of_the_formula():
    X, y = _table()
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, l2_regularization=2.0, min_gain_to_split=0.25).fit(X, y)
    g, h = squared(y, np.full(len(y), y.mean()))
    expected = boosting.best_split(X, g, h, l2=2.0, leaf_cost=0.25, min_rows=20)
    assert model.history_[0]["gain"] == pytest.approx(expected[0], rel=1e-10)
    assert model.feature_importances_[expected[1]] == 1


@pytest.mark.parametrize("policy", ["leaf_wise", "depth_wise"])
def test_without_a_limit_on_leaves_the_order_of_growth_does_not_matter(policy):
    X, y = _table()
    params = {"max_iter": 5, "max_leaf_nodes": None, "max_depth": 4}
    one = HistGradientBoostingRegressor(**params, grow_policy=policy).fit(X, y)
    other = HistGradientBoostingRegressor(**{**params, "max_leaf_nodes": 1000}).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_depth_wise_growth_fills_a_level_before_the_next():
    X, y = make_friedman1(2000, random_state=0)
    model = HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=8, grow_policy="depth_wise").fit(X, y)
    assert [model._trees[t].max_depth for t in range(3)] == [3, 3, 3]


def test_a_cost_of_leaves_makes_trees_smaller():
    X, y = make_friedman1(2000, random_state=0)
    n_leaves = [
        HistGradientBoostingRegressor(max_iter=1, min_gain_to_split=cost).fit(X, y).history_[0]["n_leaves"]
        for cost in (0.0, 100.0, 1e9)
    ]
    assert n_leaves[0] > n_leaves[1] > n_leaves[2] == 1


# ---- scikit-learn


def _columns_of_categories(n, seed):
    """Numbers, categories and missing values."""
    random = np.random.RandomState(seed)
    X = random.randn(n, 5)
    X[:, 3] = random.randint(0, 20, size=n)
    X[:, 4] = random.randint(0, 5, size=n)
    effect = np.random.RandomState(7).randn(20)
    signal = X[:, 0] + effect[X[:, 3].astype(int)] + (X[:, 4] == 2) * X[:, 1]
    X[random.uniform(size=X.shape) < 0.1] = np.nan
    return X, signal + 0.3 * random.randn(n)


def _sets():
    for name, load in (
        ("breast cancer", load_breast_cancer),
        ("wine", load_wine),
        ("iris", load_iris),
        ("digits", load_digits),
    ):
        yield pytest.param(*load(return_X_y=True), {}, id=name)
    yield pytest.param(*load_diabetes(return_X_y=True), {}, id="diabetes")
    yield pytest.param(*make_friedman1(3000, random_state=0), {}, id="Friedman")
    yield pytest.param(*make_classification(3000, 20, n_informative=8, random_state=0), {}, id="clusters")
    X, y = _columns_of_categories(4000, 0)
    yield pytest.param(X, y, {"categorical_features": [3, 4]}, id="categories and missing values")
    yield pytest.param(
        X, np.digitize(y, [-1, 1]), {"categorical_features": [3, 4]}, id="classes by categories and missing values"
    )


@pytest.mark.parametrize(("X", "y", "params"), list(_sets()))
def test_rows_never_seen_are_predicted_as_well_as_by_scikit_learn(X, y, params):
    is_class = y.dtype.kind == "i"
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    params = {**params, "max_iter": 40, "max_leaf_nodes": 15}
    if is_class:
        mine = HistGradientBoostingClassifier(**params).fit(X_train, y_train)
        peer = sklearn.ensemble.HistGradientBoostingClassifier(**params).fit(X_train, y_train)
        scores = [-log_loss(y_test, model.predict_proba(X_test)) for model in (mine, peer)]
        assert scores[0] > scores[1] - 0.015
        assert mine.score(X_test, y_test) > peer.score(X_test, y_test) - 0.015
    else:
        mine = HistGradientBoostingRegressor(**params).fit(X_train, y_train)
        peer = sklearn.ensemble.HistGradientBoostingRegressor(**params).fit(X_train, y_train)
        assert mine.score(X_test, y_test) > peer.score(X_test, y_test) - 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_on_few_distinct_values_are_scikit_learns(weighted):
    X, y = _table(500)
    weights = np.random.RandomState(1).randint(1, 4, size=500).astype(float) if weighted else None
    params = {"max_iter": 10, "max_leaf_nodes": 5, "min_samples_leaf": 30}
    mine = HistGradientBoostingRegressor(**params).fit(X, y, weights)
    peer = sklearn.ensemble.HistGradientBoostingRegressor(**params).fit(X, y, weights)
    np.testing.assert_allclose(mine.predict(X), peer.predict(X), rtol=1e-5, atol=1e-6)


# ---- losses


@pytest.mark.parametrize(
    ("name", "params"),
    [("squared_error", {}), ("absolute_error", {}), ("gamma", {}), ("poisson", {}), ("quantile", {"quantile": 0.8})],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_loss_goes_as_low_as_scikit_learns(name, params, weighted):
    X, y = make_friedman1(2000, random_state=0)
    y = np.abs(y) + 0.1
    weights = np.random.RandomState(1).uniform(0.5, 2, size=2000) if weighted else None
    both = {"loss": name, **params, "max_iter": 30}
    mine = HistGradientBoostingRegressor(**both).fit(X, y, weights)
    peer = sklearn.ensemble.HistGradientBoostingRegressor(**both).fit(X, y, weights)
    loss = losses.get_loss(name, **params)
    link = np.log if loss.kind == "positive" else np.asarray
    values = [np.average(loss.value(y, link(model.predict(X))), weights=weights) for model in (mine, peer)]
    start = np.average(loss.value(y, link(np.full(2000, np.average(y, weights=weights)))), weights=weights)
    assert start - values[0] > 0.97 * (start - values[1])


@pytest.mark.parametrize(
    "loss",
    [losses.Huber(delta=1.0), losses.LogCosh(), losses.Tweedie(power=1.5), losses.SquaredEpsilonInsensitive(epsilon=0.1)],
    ids=lambda loss: loss.name,
)
def test_losses_that_scikit_learn_does_not_have_fall_too(loss):
    X, y = make_friedman1(1000, random_state=0)
    model = HistGradientBoostingRegressor(loss=loss, max_iter=50).fit(X, np.abs(y))
    found = [record["loss"] for record in model.history_]
    assert found == sorted(found, reverse=True)
    assert np.corrcoef(model.predict(X), np.abs(y))[0, 1] > 0.95


@pytest.mark.parametrize("name", ["squared_error", "absolute_error", "poisson", "gamma"])
def test_a_loss_object_is_as_good_as_its_name(name):
    X, y = make_friedman1(500, random_state=0)
    y = np.abs(y) + 0.1
    one = HistGradientBoostingRegressor(loss=name, max_iter=5).fit(X, y)
    other = HistGradientBoostingRegressor(loss=losses.get_loss(name), max_iter=5).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_callable_loss_gives_what_the_loss_of_the_same_formula_gives():
    X, y = make_friedman1(1000, random_state=0)
    one = HistGradientBoostingRegressor(loss=squared, max_iter=20).fit(X, y)
    other = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-8)
    X, labels = make_classification(1000, random_state=0)
    one = HistGradientBoostingClassifier(loss=logistic, max_iter=20).fit(X, labels)
    other = HistGradientBoostingClassifier(max_iter=20).fit(X, labels)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6)


def test_a_callable_loss_of_several_classes_gives_what_softmax_gives():
    X, y = load_iris(return_X_y=True)

    def cross_entropy(y, raw):
        p = np.exp(raw - raw.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p - np.eye(3)[y.astype(int)], p * (1 - p)

    one = HistGradientBoostingClassifier(loss=cross_entropy, max_iter=10).fit(X, y)
    other = HistGradientBoostingClassifier(max_iter=10).fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("quantile", [0.5, 0.25])
def test_leaves_of_piecewise_linear_losses_are_quantiles(quantile):
    for seed in range(5):  # leaves of even and of odd size
        X, y = _table(seed=seed)
        loss = losses.Absolute() if quantile == 0.5 else losses.Pinball(quantile=quantile)
        predicted = (
            HistGradientBoostingRegressor(loss=loss, max_iter=1, learning_rate=1.0, max_leaf_nodes=4).fit(X, y).predict(X)
        )
        for value in np.unique(predicted):
            expected = np.quantile(y[predicted == value], quantile, method="averaged_inverted_cdf")
            assert value == pytest.approx(expected, abs=1e-12)
