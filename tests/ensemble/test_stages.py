"""Boosting with many numbers of rounds from one fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from mercer.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoost,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from mercer.linear_model import LinearRegression, LogisticRegression
from tests.common.state import assert_same_bits

NUMBERS = [6, 2, 30, 1, 6]
DIABETES, IRIS = load_diabetes(return_X_y=True), load_iris(return_X_y=True)


def check(model, data, name="n_estimators", numbers=NUMBERS):
    swept = list(model.sweep(*data, name, numbers))
    for each, number in zip(swept, numbers, strict=True):
        fitted = clone(model).set_params(**{name: number}).fit(*data)
        assert_same_bits(each, fitted)
        np.testing.assert_array_equal(each.predict(data[0]), fitted.predict(data[0]))
    return swept


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_gradient_boosting_of_every_loss(loss):
    check(GradientBoostingRegressor(loss=loss, subsample=0.7, random_state=0), DIABETES)


@pytest.mark.parametrize("params", [{"n_iter_no_change": 2, "tol": 0.02}, {"init": "zero"}, {"ccp_alpha": 0.01}], ids=str)
def test_gradient_boosting_that_stops_early_or_starts_otherwise(params):
    check(GradientBoostingClassifier(**params, random_state=0), IRIS)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_a_stage_can_be_boosted_further_like_a_fit(loss):
    model = GradientBoostingRegressor(loss=loss, subsample=0.5, warm_start=True, random_state=0)
    stage, *_ = model.sweep(*DIABETES, "n_estimators", [3, 9])
    fitted = clone(model).set_params(n_estimators=3).fit(*DIABETES)
    assert_same_bits(stage.set_params(n_estimators=7).fit(*DIABETES), fitted.set_params(n_estimators=7).fit(*DIABETES))


@pytest.mark.parametrize("params", [{}, {"early_stopping": True, "tol": 0.5}, {"early_stopping": True}], ids=str)
def test_histogram_boosting_with_early_stopping_or_without(params):
    check(HistGradientBoostingRegressor(**params, max_features=0.5, random_state=0), DIABETES, "max_iter")
    ended = check(HistGradientBoostingClassifier(**params, random_state=0), IRIS, "max_iter")
    if "tol" in params:
        assert ended[2].n_iter_ < 30
        assert ended[2].certificate_.converged
        assert not ended[1].certificate_.converged


def test_histogram_boosting_that_is_refitted_is_not_swept():
    assert HistGradientBoostingRegressor(refit_best=True).sweep_parameters() == []
    assert HistGradientBoostingRegressor(refit_best=True, early_stopping=False).sweep_parameters() == ["max_iter"]


def test_adaboost_that_ends_before_the_last_round():
    X, y = IRIS
    perfect = (X[:, [2]] > 2.5).astype(float)  # one stump tells the first class from the others
    ended = check(AdaBoostClassifier(random_state=0), (perfect, (y > 0).astype(int)))
    assert {each.n_iter_ for each in ended} == {1}
    check(AdaBoostClassifier(LogisticRegression(), random_state=0), IRIS)
    check(AdaBoostRegressor(loss="square", random_state=0), DIABETES)


def test_anyboost_that_finds_nothing_more_to_gain():
    ended = check(AnyBoost(LinearRegression(), random_state=0), DIABETES)
    assert ended[2].certificate_.converged
    check(AnyBoost(loss="logistic", random_state=0), (IRIS[0][50:], IRIS[1][50:]))


def test_stages_share_nothing_that_a_further_fit_changes():
    model = GradientBoostingRegressor(subsample=0.5, warm_start=True, random_state=0)
    for numbers in ([2, 2, 4], [2, 2]):
        one, other, *_ = model.sweep(*DIABETES, "n_estimators", numbers)
        one.set_params(n_estimators=5).fit(*DIABETES)
        assert_same_bits(other, clone(model).set_params(n_estimators=2).fit(*DIABETES))
