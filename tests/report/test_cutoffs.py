"""Cut-offs, curves and calibration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer._assessment.predictions import ClassPredictions
from mercer._report.cutoffs import calibration_of, cutoffs_of, roc_and_pr, scores_of, threshold_curves, tuned_threshold


def _found(score, is_positive, threshold=0.5):
    probability = np.column_stack([1 - score, score])
    return ClassPredictions(["no", "yes"], is_positive.astype(np.intp), (score >= threshold).astype(np.intp), probability, None)


def _sample(seed, n_rows, digits):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n_rows) < 0.4
    is_positive[:2] = True, False
    return np.clip(np.round(rng.beta(2, 2, n_rows) * 0.7 + 0.3 * is_positive, digits), 0, 1), is_positive


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(2, 50), digits=st.integers(1, 3))
def test_counts_at_every_cut_off_are_exact(seed, n_rows, digits):
    score, is_positive = _sample(seed, n_rows, digits)
    scores = scores_of(_found(score, is_positive), None)
    assert scores["threshold"][:-1] == np.unique(score).tolist()
    for i, threshold in enumerate(scores["threshold"]):
        called = score >= threshold
        assert scores["tp"][i] == np.sum(called & is_positive)
        assert scores["fp"][i] == np.sum(called & ~is_positive)
        assert scores["tn"][i] == np.sum(~called & ~is_positive)
        assert scores["fn"][i] == np.sum(~called & is_positive)
    assert scores["tp"][-1] == scores["fp"][-1] == 0


def test_very_many_cut_offs_are_thinned_to_exact_ones():
    score, is_positive = _sample(0, 20_000, 12)
    scores = scores_of(_found(score, is_positive, 0.37), 0.37)
    threshold = np.array(scores["threshold"])
    assert len(threshold) <= 2010
    assert set(threshold[:-1]) <= set(score.tolist())
    for i in range(0, len(threshold), 97):
        assert scores["tp"][i] == np.sum((score >= threshold[i]) & is_positive)
        assert scores["fp"][i] == np.sum((score >= threshold[i]) & ~is_positive)
    between = -np.diff(np.array(scores["tp"]) + np.array(scores["fp"]))
    assert between.max() <= 2 * len(score) / 2000 + 1
    called = score >= 0.37
    assert scores["tp"][scores["at"]] == np.sum(called & is_positive)
    assert scores["fp"][scores["at"]] == np.sum(called & ~is_positive)


def test_the_slider_starts_at_the_predictions_of_the_model():
    score, is_positive = _sample(1, 60, 1)
    is_called = score > 0.5  # a tie at exactly 0.5 is not called positive, as scikit-learn's argmax has it
    scores = scores_of(replace(_found(score, is_positive), predicted=is_called.astype(np.intp)), None)
    assert np.any(score == 0.5)
    assert scores["tp"][scores["at"]] == np.sum(is_called & is_positive)


def test_predictions_that_no_cut_off_gives_are_said_to_be_so():
    found = _found(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, False, True, True]))
    assert scores_of(replace(found, predicted=np.array([1, 0, 0, 1])), None)["at"] is None


def test_a_model_that_never_says_yes_starts_above_all_scores():
    score = np.array([0.1, 0.2])
    found = _found(score, np.array([False, True]))
    scores = scores_of(found, None)
    assert scores["at"] == len(scores["threshold"]) - 1


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(2, 60), digits=st.integers(1, 3))
def test_curves_are_those_of_scikit_learn(seed, n_rows, digits):
    score, is_positive = _sample(seed, n_rows, digits)
    roc, pr = roc_and_pr("yes", is_positive, score)
    fpr, tpr, _ = metrics.roc_curve(is_positive, score, drop_intermediate=False)
    mine = {*zip(roc["x"], roc["y"], strict=True)}
    assert mine <= {*zip(np.round(fpr, 6).tolist(), np.round(tpr, 6).tolist(), strict=True)}
    np.testing.assert_allclose(np.trapezoid(roc["y"], roc["x"]), metrics.roc_auc_score(is_positive, score), atol=1e-5)
    precision, recall, _ = metrics.precision_recall_curve(is_positive, score)
    points = {*zip(np.round(recall, 6).tolist(), np.round(precision, 6).tolist(), strict=True)}
    assert points <= {*zip(pr["x"], pr["y"], strict=True)}
    assert pr["share"] == np.mean(is_positive)


def test_a_curve_of_one_class_alone_is_none():
    assert roc_and_pr("yes", np.ones(3, dtype=bool), np.array([0.1, 0.2, 0.3])) is None


def test_long_curves_are_thinned_and_keep_their_ends():
    score, is_positive = _sample(0, 30_000, 12)
    for curve in roc_and_pr("yes", is_positive, score, 400):
        assert len(curve["x"]) <= 400
    roc, _ = roc_and_pr("yes", is_positive, score)
    assert (roc["x"][0], roc["y"][0], roc["x"][-1], roc["y"][-1]) == (0, 0, 1, 1)


def test_calibration_is_that_of_scikit_learn():
    score, is_positive = _sample(2, 500, 3)
    found = calibration_of("yes", is_positive, score)
    observed, predicted = calibration_curve(is_positive, score, n_bins=10)
    np.testing.assert_allclose(found["predicted"], predicted, atol=1e-6)
    np.testing.assert_allclose(found["observed"], observed, atol=1e-6)
    assert sum(found["count"]) == 500
    for low, middle, high in zip(found["low"], found["observed"], found["high"], strict=True):
        assert low <= middle <= high


def test_measures_against_the_cut_off_follow_the_counts():
    score, is_positive = _sample(3, 40, 2)
    scores = scores_of(_found(score, is_positive), None)
    curves = threshold_curves(scores)
    at = 5
    called = score >= scores["threshold"][at]
    assert curves["precision"][at] == metrics.precision_score(is_positive, called)
    assert curves["f1"][at] == pytest.approx(metrics.f1_score(is_positive, called))
    assert curves["precision"][-1] is None


def test_tuned_thresholds_are_found_in_models_and_pipelines():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.tile([0, 1], 30)
    model = TunedThresholdClassifierCV(LogisticRegression(), cv=2).fit(X, y)
    assert tuned_threshold(model) == model.best_threshold_
    assert tuned_threshold(make_pipeline(StandardScaler(), model)) == model.best_threshold_
    assert tuned_threshold(FixedThresholdClassifier(LogisticRegression(), threshold=0.2).fit(X, y)) == 0.2
    assert tuned_threshold(DummyClassifier().fit(X, y)) is None


def test_cut_offs_rise():
    score, is_positive = _sample(0, 100, 2)
    assert np.all(np.diff(cutoffs_of(is_positive, score).threshold) > 0)
