"""Measures of the report against scikit-learn's."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics

from mercer._assessment.confusion import confusion_matrix
from mercer._assessment.intervals import delong, wilson
from mercer._assessment.predictions import ClassPredictions, NumberPredictions
from mercer._report.counts import from_counts
from mercer._report.measures import class_measures, measures_per_class, metric_of, regression_measures
from mercer._report.scoring import as_scoring


def _predictions(seed, n_rows, n_classes, digits=1, decision=False):
    """Random predictions with many ties."""
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    probability = np.round(rng.dirichlet(np.ones(n_classes), size=n_rows) + np.eye(n_classes)[true] * 0.3, digits) + 0.01
    probability /= probability.sum(axis=1, keepdims=True)
    predicted = probability.argmax(axis=1)
    if decision:
        return ClassPredictions(list(range(n_classes)), true, predicted, None, probability[:, 1] - 0.5)
    return ClassPredictions(list(range(n_classes)), true, predicted, probability, None)


def _values(measures):
    return {measure["name"]: measure["value"] for measure in measures}


BINARY = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "specificity": lambda true, predicted: metrics.recall_score(true, predicted, pos_label=0),
    "npv": lambda true, predicted: metrics.precision_score(true, predicted, pos_label=0),
    "f1": metrics.f1_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(4, 60))
def test_measures_of_two_classes_are_those_of_scikit_learn(seed, n_rows):
    found = _predictions(seed, n_rows, 2)
    values = _values(class_measures(found, as_scoring("roc_auc"), np.random.RandomState(0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, peer in BINARY.items():
            if values[name] is not None:
                assert math.isclose(values[name], peer(found.true, found.predicted), abs_tol=1e-12), name
    score = found.probability[:, 1]
    assert math.isclose(values["roc_auc"], metrics.roc_auc_score(found.true, score), abs_tol=1e-12)
    assert math.isclose(values["average_precision"], metrics.average_precision_score(found.true, score), abs_tol=1e-12)
    assert math.isclose(values["log_loss"], metrics.log_loss(found.true, found.probability), rel_tol=1e-12)
    assert math.isclose(values["brier"], metrics.brier_score_loss(found.true, score), rel_tol=1e-12)
    assert math.isclose(values["g_mean"], math.sqrt(values["recall"] * values["specificity"]), abs_tol=1e-12)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(8, 60), n_classes=st.integers(3, 5))
def test_measures_of_many_classes_are_those_of_scikit_learn(seed, n_rows, n_classes):
    found = _predictions(seed, n_rows, n_classes)
    values = _values(class_measures(found, as_scoring("accuracy"), np.random.RandomState(0)))
    true, predicted = found.true, found.predicted
    np.testing.assert_array_equal(
        confusion_matrix(found.true, found.predicted, found.n_classes),
        metrics.confusion_matrix(true, predicted, labels=range(n_classes)),
    )
    expected = {
        "accuracy": metrics.accuracy_score(true, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(true, predicted),
        "f1_macro": metrics.f1_score(true, predicted, average="macro"),
        "f1_weighted": metrics.f1_score(true, predicted, average="weighted"),
        "mcc": metrics.matthews_corrcoef(true, predicted),
        "kappa": metrics.cohen_kappa_score(true, predicted),
        "roc_auc_ovr": metrics.roc_auc_score(true, found.probability, multi_class="ovr"),
        "log_loss": metrics.log_loss(true, found.probability),
    }
    for name, value in expected.items():
        assert math.isclose(values[name], value, abs_tol=1e-12), name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers = metrics.precision_recall_fscore_support(true, predicted, labels=range(n_classes))
    for row, precision, recall, f1, n in zip(measures_per_class(found), *peers, strict=True):
        assert row["n"] == n
        assert math.isclose(row["precision"] or 0.0, precision, abs_tol=1e-12)
        assert math.isclose(row["recall"], recall, abs_tol=1e-12)
        assert math.isclose(row["f1"], f1, abs_tol=1e-12)
        assert row["recall_low"] <= row["recall"] <= row["recall_high"]


def test_measures_of_a_regression_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    true = rng.normal(5, 1, size=101)
    predicted = true + rng.normal(0, 0.5, size=101)
    for rows in (slice(None), slice(100)):
        values = _values(
            regression_measures(
                NumberPredictions(true[rows], predicted[rows]), as_scoring("neg_mean_squared_error"), np.random.RandomState(0)
            )
        )
        expected = {
            "r2": metrics.r2_score,
            "rmse": metrics.root_mean_squared_error,
            "mse": metrics.mean_squared_error,
            "mae": metrics.mean_absolute_error,
            "median_ae": metrics.median_absolute_error,
            "mape": metrics.mean_absolute_percentage_error,
        }
        for name, peer in expected.items():
            assert math.isclose(values[name], peer(true[rows], predicted[rows]), rel_tol=1e-12), name


def test_no_relative_error_of_targets_that_are_zero():
    true = np.array([0.0, 1.0, 2.0])
    assert "mape" not in _values(
        regression_measures(NumberPredictions(true, true + 1), as_scoring("r2"), np.random.RandomState(0))
    )


@pytest.mark.parametrize("scoring", ["neg_mean_gamma_deviance", "explained_variance"])
def test_a_measure_that_is_none_of_the_report_is_resampled_by_its_scorer(scoring):
    rng = np.random.default_rng(0)
    true = rng.gamma(3, size=80) + 1
    predicted = true * rng.uniform(0.8, 1.25, size=80)
    metric = regression_measures(NumberPredictions(true, predicted), as_scoring(scoring), np.random.RandomState(0))[0]
    peer = {
        "neg_mean_gamma_deviance": metrics.mean_gamma_deviance,
        "explained_variance": metrics.explained_variance_score,
    }[scoring]
    assert metric["is_metric"]
    assert math.isclose(metric["value"], peer(true, predicted), rel_tol=1e-12)
    assert metric["low"] < metric["high"]
    assert metric["greater_is_better"] != scoring.startswith("neg_")


@pytest.mark.parametrize("scoring", ["jaccard_macro", "neg_log_loss", "roc_auc_ovr"])
def test_every_scorer_of_classes_can_be_the_metric(scoring):
    found = _predictions(3, 60, 3)
    metric = metric_of(class_measures(found, as_scoring(scoring), np.random.RandomState(0)))
    assert metric["value"] is not None
    assert metric["low"] <= metric["high"]


@pytest.mark.parametrize("scoring", ["roc_auc", "jaccard"])
def test_decision_values_stand_in_for_probabilities(scoring):
    found = _predictions(5, 60, 2, decision=True)
    measures = class_measures(found, as_scoring(scoring), np.random.RandomState(0))
    assert metric_of(measures)["value"] is not None
    assert {"log_loss", "brier"}.isdisjoint(_values(measures))


def test_the_measure_that_models_were_compared_by_comes_first():
    measures = class_measures(_predictions(0, 30, 2), as_scoring("neg_log_loss"), np.random.RandomState(0))
    assert [measure["name"] for measure in measures if measure["is_metric"]] == ["log_loss"]
    assert measures[0]["name"] == "log_loss"
    assert not measures[0]["greater_is_better"]


def test_the_worked_example_of_the_notes():
    # S2 6.2.2: both classifiers err on less than 1 % of the rows, and their F-measures tell them apart.
    first, second = from_counts(3, 0, 990, 7), from_counts(9, 6, 984, 1)
    assert (first["precision"], first["recall"]) == (1.0, 0.3)
    assert (second["precision"], second["recall"]) == (0.6, 0.9)
    assert round(first["f_beta"], 2) == 0.46
    assert round(second["f_beta"], 2) == 0.72


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_beta_is_that_of_scikit_learn(beta):
    found = _predictions(1, 50, 2)
    (tn, fp), (fn, tp) = confusion_matrix(found.true, found.predicted, found.n_classes).tolist()
    expected = metrics.fbeta_score(found.true, found.predicted, beta=beta)
    assert math.isclose(from_counts(tp, fp, tn, fn, beta=beta)["f_beta"], expected, rel_tol=1e-12)


def test_cwa_is_a_mean_of_recall_and_specificity():
    assert math.isclose(from_counts(8, 1, 4, 2, alpha=0.25)["cwa"], 0.25 * 0.8 + 0.75 * 0.8)
    assert from_counts(8, 1, 4, 2, alpha=1.0)["cwa"] == 0.8


def test_a_share_of_nothing_is_not_defined():
    values = from_counts(0, 0, 5, 0)
    assert values["precision"] is None
    assert values["recall"] is None
    assert values["g_mean"] is None
    assert values["cwa"] is None
    assert values["specificity"] == 1.0


def test_scoring_must_be_a_name_or_a_function():
    with pytest.raises(ValueError, match="scoring is 3; it must be the name of a scorer or a callable"):
        as_scoring(3)


def test_the_interval_of_the_roc_auc_is_that_of_delong_and_those_of_shares_are_wilsons():
    found = _predictions(2, 60, 2, digits=2)
    measures = {each["name"]: each for each in class_measures(found, as_scoring("roc_auc"), np.random.RandomState(0))}
    ends = {name: (each["low"], each["high"]) for name, each in measures.items()}
    assert ends["roc_auc"] == delong(found.true == 1, found.score, 0.95)
    n_right = int(np.sum(found.true == found.predicted))
    assert ends["accuracy"] == wilson(n_right, 60, 0.95)
    for name, each in measures.items():
        assert each["low"] < each["value"] < each["high"], name


def test_where_resampling_changes_nothing_there_is_no_interval():
    true = np.repeat([0, 1], [10, 20])
    perfect = ClassPredictions(["no", "yes"], true, true, None, None)
    measures = {each["name"]: each for each in class_measures(perfect, as_scoring("accuracy"), np.random.RandomState(0))}
    for name in ("balanced_accuracy", "f1", "g_mean", "mcc", "kappa"):
        assert (measures[name]["value"], measures[name]["low"], measures[name]["high"]) == (1.0, None, None)
    tied = ClassPredictions(["no", "yes"], true, true, np.full((30, 2), 0.5), None)
    auc = metric_of(class_measures(tied, as_scoring("roc_auc"), np.random.RandomState(0)))
    assert (auc["value"], auc["low"], auc["high"]) == (0.5, None, None)


def test_a_class_without_test_rows_leaves_out_what_is_not_defined():
    true = np.array([0, 0, 1, 1, 0])
    found = ClassPredictions(["a", "b", "c"], true, true, np.full((5, 3), 1 / 3), None)
    values = _values(class_measures(found, as_scoring("accuracy"), np.random.RandomState(0)))
    assert "roc_auc_ovr" not in values
    assert values["g_mean"] is None
    row = measures_per_class(found)[2]
    assert (row["recall"], row["recall_low"], row["recall_high"], row["roc_auc"]) == (None, None, None, None)
