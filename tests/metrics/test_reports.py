"""Reports: every number is that of the measure of its name."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings

import mercer.metrics
from mercer.metrics import ConfusionReport, classification_report, confusion_report
from tests.metrics.cases import label_pairs, outcome

OF_CLASS = {
    "precision": "precision_score",
    "recall": "recall_score",
    "specificity": "specificity_score",
    "npv": "npv_score",
    "fpr": "false_positive_rate",
    "fnr": "false_negative_rate",
    "f_beta": "f1_score",
    "jaccard": "jaccard_score",
}
OVERALL = {
    "accuracy": "accuracy_score",
    "error_rate": "error_rate",
    "balanced_accuracy": "balanced_accuracy_score",
    "g_mean": "g_mean_score",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa_score",
}


@settings(max_examples=50, deadline=None)
@given(data=label_pairs(kinds=("int", "str", "negative")))
def test_each_number_is_that_of_its_measure(data):
    y_true, y_pred, weight = data
    report = confusion_report(y_true, y_pred, sample_weight=weight)
    for key, name in OF_CLASS.items():
        measure, options = getattr(mercer.metrics, name), {"sample_weight": weight, "zero_division": np.nan}
        values = outcome(measure, y_true, y_pred, average=None, **options)
        np.testing.assert_allclose([row[key] for row in report.of_class.values()], values, rtol=1e-10, atol=1e-14)
        for average in ("macro", "weighted"):
            value = outcome(measure, y_true, y_pred, average=average, **options)
            np.testing.assert_allclose(report.averages[average][key], value, rtol=1e-10, atol=1e-14)
    for key, name in OVERALL.items():
        value = outcome(getattr(mercer.metrics, name), y_true, y_pred, sample_weight=weight)
        np.testing.assert_allclose(report.overall[key], value, rtol=1e-10, atol=1e-14)
    assert str(report).startswith("Confusion matrix")
    assert json.loads(json.dumps(report.as_dict()["of_class"][report.labels[0]]))


def test_the_positive_class_of_two_stands_at_the_top():
    report = confusion_report(["no", "no", "yes", "yes"], ["no", "yes", "yes", "yes"], beta=2, alpha=0.25)
    found = report.as_dict()
    assert (found["recall"], found["specificity"], found["precision"]) == (1, 0.5, 2 / 3)
    assert found["f_beta"] == pytest.approx(sklearn.metrics.fbeta_score([0, 0, 1, 1], [0, 1, 1, 1], beta=2))
    assert found["class_weighted_accuracy"] == 0.25 * 1 + 0.75 * 0.5
    assert confusion_report([0, 1], [0, 0], pos_label=0).as_dict()["recall"] == 1
    assert "f_beta" in str(report)


def test_a_matrix_at_hand_does_as_well():
    report = ConfusionReport(np.array([[990, 0], [7, 3]]), labels=["negative", "positive"])
    assert report.of_class["positive"]["recall"] == 0.3
    assert round(report.of_class["positive"]["f_beta"], 2) == 0.46
    assert "negative      990" in str(report)
    weighted = ConfusionReport([[0.5, 0.25], [0.0, 1.25]])
    assert weighted.overall["accuracy"] == 0.875
    assert len(ConfusionReport(np.eye(3)).of_class) == 3


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([[1, 2]], {}, "not a square matrix"),
        ([["a"]], {}, "not a square matrix of numbers"),
        ([[1, -2], [0, 1]], {}, "finite numbers >= 0"),
        ([[0, 0], [0, 0]], {}, "at least one is positive"),
        ([[1, 2], [0, 1]], {"labels": [1]}, "must name each of the 2 rows"),
        ([[1, 2], [0, 1]], {"labels": [1, 1]}, "must name each of the 2 rows"),
        ([[1, 2], [0, 1]], {"pos_label": "x"}, r"pos_label='x' is not a valid label. It should be one of \[0, 1\]"),
        ([[1, 2], [0, 1]], {"beta": 0}, "beta=0 is not valid"),
        ([[1, 2], [0, 1]], {"alpha": 2}, "alpha=2 is not valid"),
    ],
)
def test_a_matrix_that_is_none_is_refused(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        ConfusionReport(matrix, **options)


@pytest.mark.parametrize("digits", [0, 2, 4])
@pytest.mark.parametrize("names", [None, ["a rather long name of a class", "b", "c"]])
def test_the_text_of_classification_reports_is_scikit_learns_to_the_letter(digits, names):
    random = np.random.RandomState(0)
    y_true, y_pred = random.randint(3, size=(2, 40))
    indicators = random.randint(2, size=(2, 30, 3))
    weight = random.randint(1, 9, size=40) / 4  # sums of it are exact
    calls = [((y_true, y_pred), {}), ((y_true, y_pred), {"sample_weight": weight}), (indicators, {"zero_division": 0})]
    for arguments, options in calls:
        options = {"digits": digits, "target_names": names, **options}
        assert classification_report(*arguments, **options) == sklearn.metrics.classification_report(*arguments, **options)
    chosen = {"labels": [2, 0], "digits": digits}
    assert classification_report(y_true, y_pred, **chosen) == sklearn.metrics.classification_report(y_true, y_pred, **chosen)
    with pytest.raises(ValueError, match="does not match size of target_names, 2"):
        classification_report(y_true, y_pred, target_names=["a", "b"])
