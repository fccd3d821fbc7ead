"""The test result beside that of a model that knows the target alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from mercer._assessment.bootstrap import Bootstrap, on_sample
from mercer._assessment.comparison import compare
from mercer._assessment.measures import assess_classes, assess_numbers, statistic_of
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._assessment.statistics import mean_of
from mercer._report.baseline import baseline_of, cautions_of
from mercer._report.measures import class_measures, measures_per_class, regression_measures
from mercer._report.scoring import as_scoring

N = 200


def _classes(n_classes, noise, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_classes, N)
    score = np.eye(n_classes)[true] + noise * rng.normal(size=(N, n_classes))
    probability = softmax(score, axis=1)
    return ClassPredictions(list(range(n_classes)), true, probability.argmax(axis=1), probability, None)


def _numbers(noise, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.normal(10, 2, N)
    return NumberPredictions(true, true + noise * rng.normal(size=N))


def _bootstrap():
    return Bootstrap(N, 200, np.random.RandomState(0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_measure_of_classes_is_a_statistic_of_rows(n_classes):
    found = _classes(n_classes, 0.7)
    names = ["accuracy", "balanced_accuracy", "f1_macro", "mcc", "kappa", "g_mean", "log_loss", "brier"]
    names += ["precision", "recall", "f1", "roc_auc", "average_precision"] if n_classes == 2 else ["roc_auc_ovr"]
    for name, estimate in assess_classes(found, names, _bootstrap(), 0.95).items():
        assert on_sample(statistic_of(found, name), N) == pytest.approx(estimate.value), name


def test_counts_of_rows_are_repetitions_of_them():
    found = _classes(3, 0.7)
    counts = np.random.default_rng(1).integers(0, 3, (1, N)).astype(float)
    rows = np.repeat(np.arange(N), counts[0].astype(int))
    drawn = ClassPredictions(found.labels, found.true[rows], found.predicted[rows], found.probability[rows], None)
    for name in ("mcc", "accuracy", "roc_auc_ovr"):
        assert statistic_of(found, name)(counts)[0] == pytest.approx(on_sample(statistic_of(drawn, name), len(rows)))


def test_every_measure_of_numbers_is_a_statistic_of_rows():
    found = _numbers(1.0)
    for name, estimate in assess_numbers(found, ["r2", "rmse", "mae", "median_ae", "mape"], _bootstrap(), 0.95).items():
        assert on_sample(statistic_of(found, name), N) == pytest.approx(estimate.value), name
    assert statistic_of(found, "accuracy") is None


def test_what_rows_have_in_common_cancels():
    rng = np.random.default_rng(0)
    hard = 10 * rng.random(N)  # rows differ by much more than the two models
    found = compare(mean_of(hard), mean_of(hard + 0.1 + 0.1 * rng.random(N)), _bootstrap(), 0.95)
    assert found.is_real
    assert found.low < found.difference < found.high < 0
    assert found.high - found.low < 0.02
    same = compare(mean_of(hard), mean_of(hard), _bootstrap(), 0.95)
    assert (same.low, same.high, same.is_real) == (0.0, 0.0, False)


def _baseline(found, scoring):
    measure = as_scoring(scoring)
    make = class_measures if isinstance(found, ClassPredictions) else regression_measures
    measures = make(found, measure, np.random.RandomState(0))
    return baseline_of(found, found.truth(), found.truth(), measures, measure, 0), measures


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_log_loss", "matthews_corrcoef", "f1"])
def test_a_model_that_has_learnt_is_better_than_its_baseline_by_more_than_chance(scoring):
    baseline, _ = _baseline(_classes(2, 0.5), scoring)
    assert baseline["is_real"]
    assert 0 < baseline["low"] < baseline["gain"] < baseline["high"]
    assert "which chance does not explain" in baseline["reading"]


def test_guessing_is_not_said_to_be_better():
    baseline, _ = _baseline(_classes(2, 500.0), "roc_auc")
    assert baseline["value"] == 0.5
    assert baseline["is_real"] is False
    assert baseline["low"] < 0 < baseline["high"]
    assert "these rows do not show that it has learnt anything" in baseline["reading"]


def test_losses_gain_by_being_smaller():
    good, _ = _baseline(_numbers(0.5), "neg_root_mean_squared_error")
    assert good["value"] == pytest.approx(2, abs=0.3)
    assert good["gain"] == pytest.approx(good["value"] - 0.5, abs=0.1)
    bad, measures = _baseline(_numbers(9.0), "r2")
    assert bad["gain"] < 0
    assert bad["is_real"]
    assert "the model is worse by" in bad["reading"]
    assert any("below zero" in words for words in cautions_of(measures, None))


def test_a_measure_of_the_users_own_is_compared_too():
    def closeness(model, X, y):
        return -float(np.abs(model.predict(X) - y).max())

    baseline, _ = _baseline(_numbers(0.1), closeness)
    assert baseline["is_real"]
    assert baseline["gain"] > 0


def test_a_measure_that_a_constant_does_not_have_has_no_baseline():
    def demanding(model, X, y):
        if len(np.unique(model.predict(X))) == 1:
            raise ValueError("too few values")
        return 1.0

    assert _baseline(_numbers(0.1), demanding)[0] is None


def test_an_area_below_one_half_is_called_what_it_is():
    found = _classes(2, 0.5)
    turned = ClassPredictions(found.labels, 1 - found.true, found.predicted, found.probability, None)
    _, measures = _baseline(turned, "roc_auc")
    said = cautions_of(measures, None)
    assert len(said) == 1
    assert "below one half: the model ranks rows worse than guessing, by more than chance explains" in said[0]
    assert cautions_of(_baseline(found, "roc_auc")[1], None) == []


def test_classes_that_are_ranked_worse_than_by_guessing_are_named():
    found = _classes(3, 0.3)
    probability = found.probability.copy()
    probability[:, 2] = 1 - probability[:, 2]
    turned = ClassPredictions(found.labels, found.true, found.predicted, probability, None)
    said = cautions_of(_baseline(turned, "accuracy")[1], measures_per_class(turned))
    assert any("ranked worse than by guessing: 2." in words for words in said)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_median_absolute_error", "neg_max_error"])
def test_rows_count_by_their_weights(scoring):
    found = _numbers(3.0) if "error" in scoring else _classes(2, 0.7)
    weights = np.random.default_rng(2).integers(1, 4, N).astype(float)
    rows = np.repeat(np.arange(N), weights.astype(int))
    measure = as_scoring(scoring)
    make = class_measures if "loss" in scoring else regression_measures
    measures = make(found, measure, np.random.RandomState(0))
    y = found.truth()
    weighed = {"train_weights": weights, "test_weights": weights}
    if scoring == "neg_max_error":  # a measure that takes no weights has no baseline of rows that have some
        assert baseline_of(found, y, y, measures, measure, 0, **weighed) is None
        return
    baseline = baseline_of(found, y, y, measures, measure, 0, **weighed)
    if isinstance(found, ClassPredictions):
        parts = (found.true[rows], found.predicted[rows], found.probability[rows], None)
        repeated = ClassPredictions(found.labels, *parts)
    else:
        repeated = NumberPredictions(found.true[rows], found.predicted[rows])
    expected = baseline_of(repeated, y[rows], y[rows], measures, measure, 0)
    assert (baseline["value"], baseline["gain"]) == pytest.approx((expected["value"], expected["gain"]))
