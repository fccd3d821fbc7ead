"""Gradient boosting with one step for the whole tree: AnyBoost's line search and its rule of when to stop."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.ensemble import AnyBoost, GradientBoostingClassifier, GradientBoostingRegressor
from mercer.losses import Huber, LogCosh, Poisson
from mercer.tree import DecisionTreeRegressor

random = np.random.default_rng(0)
X = random.normal(size=(120, 3))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.standard_t(2, size=120)
COUNTS = random.poisson(np.exp(X[:, 0]))
WEIGHTS = random.integers(1, 4, 120).astype(float)
PARAMS = {"n_estimators": 8, "learning_rate": 0.7}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", Huber(delta=0.5), LogCosh(), Poisson()], ids=str
)
def test_regression_is_anyboost(loss, weights):
    y = COUNTS if isinstance(loss, Poisson) else NUMBERS
    boosted = GradientBoostingRegressor(loss=loss, alpha=0.5, line_search="learner", max_depth=2, **PARAMS)
    name = {"squared_error": "squared_error", "absolute_error": "absolute", "quantile": "absolute"}.get(str(loss), loss)
    any_boost = AnyBoost(DecisionTreeRegressor(max_depth=2), loss=name, **PARAMS)
    expected = any_boost.fit(X, y, weights).predict(X)
    np.testing.assert_allclose(boosted.fit(X, y, weights).predict(X), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("loss", "name"), [("log_loss", "logistic"), ("exponential", "exponential")])
def test_two_classes_are_anyboost(loss, name):
    y = NUMBERS > 0.5
    boosted = GradientBoostingClassifier(loss=loss, line_search="learner", max_depth=2, **PARAMS).fit(X, y)
    expected = AnyBoost(DecisionTreeRegressor(max_depth=2), loss=name, **PARAMS).fit(X, y)
    np.testing.assert_allclose(boosted.decision_function(X), expected.decision_function(X), rtol=1e-8, atol=1e-10)


def test_each_tree_of_many_classes_has_the_step_of_least_loss():
    y = np.digitize(NUMBERS, [0.2, 1.2])
    model = GradientBoostingClassifier(line_search="learner", learning_rate=1, n_estimators=1, max_depth=2).fit(X, y)
    raw = np.tile(np.log(np.bincount(y) / len(y)), (len(y), 1))

    def loss(moved):
        return np.mean(np.log(np.exp(moved).sum(axis=1)) - moved[np.arange(len(y)), y])

    for output, tree in enumerate(model.estimators_[0]):
        along = np.zeros_like(raw)
        along[:, output] = tree.predict(X)
        at = {factor: loss(raw + factor * along) for factor in (0.999, 1.0, 1.001)}
        assert at[1.0] == min(at.values())
        raw += along
    assert loss(raw) == pytest.approx(model.train_score_[0])


def test_leaves_keep_the_ratios_of_the_mean_residuals():
    y = NUMBERS > 0.5
    stepped, searched = (
        GradientBoostingClassifier(line_search=way, n_estimators=1, max_depth=2).fit(X, y).estimators_[0, 0]
        for way in ("learner", "leaf")
    )
    residuals = y - y.mean()
    means = np.array([residuals[stepped.apply(X) == leaf].mean() for leaf in np.unique(stepped.apply(X))])
    values = stepped.tree_.value[np.unique(stepped.apply(X)), 0, 0]
    np.testing.assert_allclose(values / means, values[0] / means[0])
    assert not np.allclose(stepped.tree_.value, searched.tree_.value)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_fit_ends_where_no_tree_goes_along_with_the_residuals(n_classes):
    y = np.arange(60) % n_classes if n_classes else np.arange(60.0)
    kind = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    blind = kind(line_search="learner").fit(np.zeros((60, 1)), y)  # nothing tells the rows apart
    assert (blind.n_estimators_, blind.n_iter_, len(blind.estimators_)) == (0, 1, 0)
    assert len(blind.train_score_) == 0
    expected = np.bincount(y) / 60 if n_classes else [y.mean()]
    np.testing.assert_allclose((blind.predict_proba if n_classes else blind.predict)([[0.0]]).ravel(), expected)
    assert kind(n_estimators=7).fit(np.zeros((60, 1)), y).n_estimators_ == 7  # leaf by leaf it goes on


def test_a_wrong_line_search_is_named():
    with pytest.raises(ValueError, match="line_search='tree'"):
        GradientBoostingRegressor(line_search="tree").fit(X, NUMBERS)
