"""Figures and corrected formulas of the notes on trees and ensembles."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from mercer.losses import Exponential
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor

STEP = np.repeat([0.0, 1.0], [5, 8])[:, None]
BINARY = np.array([0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0])
ONE_TREE = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "early_stopping": False}


def test_a_bootstrap_holds_63_percent_of_the_rows():
    X = np.arange(2000.0)[:, None]
    forest = RandomForestClassifier(30, max_depth=1, random_state=0).fit(X, X[:, 0] > 1000)
    held = np.array([len(np.unique(rows)) / 2000 for rows in forest.estimators_samples_])
    assert abs(held.mean() - 0.632) < 0.004
    bagging = BaggingRegressor(DecisionTreeRegressor(max_depth=1), 30, random_state=0).fit(X, X[:, 0])
    held = np.array([len(np.unique(rows)) / 2000 for rows in bagging.estimators_samples_])
    assert abs(held.mean() - 0.632) < 0.004


def test_gini_of_two_classes_is_at_most_a_half_and_entropy_one_bit():
    X, y = np.zeros((8, 1)), np.arange(8) % 2
    assert DecisionTreeClassifier().fit(X, y).tree_.impurity[0] == 0.5
    assert DecisionTreeClassifier(criterion="entropy").fit(X, y).tree_.impurity[0] == pytest.approx(1.0)
    quarter = DecisionTreeClassifier(criterion="entropy").fit(X, np.arange(8) < 2).tree_.impurity[0]
    assert quarter == pytest.approx(-(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75)))


def test_the_variance_is_the_mean_of_squared_differences_over_twice_the_rows():
    y = np.array([1.0, 4.0, 6.0, 6.5])
    pairs = ((y[:, None] - y) ** 2).sum() / (2 * len(y))
    tree = DecisionTreeRegressor().fit(np.zeros((4, 1)), y).tree_
    assert tree.impurity[0] * tree.n_node_samples[0] == pytest.approx(pairs)


def test_weights_of_adaboost_leave_the_last_member_at_chance():
    """D exp(-alpha y h) / (2 sqrt(eps (1 - eps))) gives half of the weight to the rows that were got wrong."""
    rows, signs = np.arange(4)[:, None], np.array([-1, 1, 1, -1])
    model = AdaBoostClassifier(n_estimators=1).fit(rows, signs)
    answers, error = model.estimators_[0].predict(rows), model.estimator_errors_[0]
    alpha = model.estimator_weights_[0] / 2
    assert alpha == pytest.approx(0.5 * np.log((1 - error) / error))
    weights = 0.25 * np.exp(-alpha * signs * answers) / (2 * np.sqrt(error * (1 - error)))
    assert weights.sum() == pytest.approx(1)
    assert weights[answers != signs].sum() == pytest.approx(0.5)
    assert np.mean(Exponential().value(signs, alpha * answers)) == pytest.approx(model.training_error_product_)


@pytest.mark.parametrize("penalty", [0.0, 2.5])
def test_a_logistic_leaf_is_the_residuals_over_the_curvature_and_lambda(penalty):
    model = HistGradientBoostingClassifier(l2_regularization=penalty, **ONE_TREE).fit(STEP, BINARY)
    share = BINARY.mean()
    start = np.log(share / (1 - share))
    for side in (0.0, 1.0):
        in_leaf = BINARY[STEP[:, 0] == side]
        expected = start + (in_leaf - share).sum() / (penalty + len(in_leaf) * share * (1 - share))
        assert model.decision_function([[side]])[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("penalty", [0.0, 2.5])
def test_a_leaf_is_the_average_only_without_lambda(penalty):
    y = BINARY * 3.0 + np.arange(13)
    model = HistGradientBoostingRegressor(l2_regularization=penalty, **ONE_TREE).fit(STEP, y)
    for side in (0.0, 1.0):
        in_leaf = y[STEP[:, 0] == side]
        expected = y.mean() + (in_leaf - y.mean()).sum() / (penalty + len(in_leaf))
        assert model.predict([[side]])[0] == pytest.approx(expected, rel=1e-6)
        assert (expected == pytest.approx(in_leaf.mean())) == (penalty == 0)


def test_an_ensemble_is_better_than_its_mean_member_not_than_every_one():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = X[:, 0] + random.normal(size=200)
    model = BaggingRegressor(DecisionTreeRegressor(), 10, random_state=0).fit(X[:100], y[:100])
    errors = np.array([np.mean((member.predict(X[100:]) - y[100:]) ** 2) for member in model.estimators_])
    assert np.mean((model.predict(X[100:]) - y[100:]) ** 2) <= errors.mean()


class AtChance(DecisionTreeClassifier):
    """Right about one class of three."""

    def predict(self, X, check_input=True):
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(("n_first", "is_fitted"), [(5, True), (4, False), (3, False)])
def test_many_classes_stop_at_one_minus_one_over_their_number(n_first, is_fitted):
    y = np.repeat([0, 1, 2], [n_first, 4, 12 - n_first - 4])  # an error of 7/12, 2/3 and 3/4; chance is 2/3
    model = AdaBoostClassifier(AtChance(), n_estimators=1)
    if is_fitted:
        assert model.fit(np.zeros((12, 1)), y).estimator_errors_ == pytest.approx(7 / 12)
    else:
        with pytest.raises(ValueError, match=r"no better than chance \(0\.6667 for 3 classes\)"):
            model.fit(np.zeros((12, 1)), y)
