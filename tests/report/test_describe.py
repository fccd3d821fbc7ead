"""`describe`: what a report says of a fitted model."""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline

from mercer._report import PHASES, describe
from mercer._report.content import Description
from mercer._report.importance import permutation_importance
from mercer._report.learning import _read
from mercer._report.schema import check_value
from mercer._report.scoring import as_scoring
from mercer._tables import as_table, as_text
from mercer.linear_model import LogisticRegression
from mercer.preprocessing import StandardScaler
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier
from tests.report.samples import SCORING, description, fitted

TASKS = ["binary", "multiclass", "regression"]


@functools.cache
def _default(task):
    return description(task)


def _describe(model, data, task, classes, **changes):
    arguments = {"task": task, "classes": classes, "scoring": SCORING[task], "random_state": 0} | changes
    return describe(model, *data, **arguments)


@pytest.mark.parametrize("task", TASKS)
def test_a_description_is_what_is_declared_and_strict_json(task):
    found = _default(task)
    check_value(found, Description, "")
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["notes"] == []
    assert (found["scores"] is None) == (task != "binary")
    assert (found["residuals"] is None) == (task != "regression")
    assert (found["test"]["per_class"] is None) == (task != "multiclass")


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_description(task):
    expected = _default(task)
    assert description(task) == expected
    assert description(task, random_state=1)["importance"] != expected["importance"]


@pytest.mark.parametrize("task", TASKS)
def test_the_metric_is_the_score_of_the_model_on_the_test_rows(task):
    model, _, _, X_test, y_test, _ = fitted(task)
    metric = _default(task)["test"]["measures"][0]
    assert metric["is_metric"]
    assert metric["value"] == pytest.approx(abs(get_scorer(SCORING[task])(model, X_test, y_test)), rel=1e-12)
    assert metric["low"] <= metric["value"] <= metric["high"]


@pytest.mark.parametrize("kind", ["pandas", "array"])
def test_every_kind_of_table_gives_the_same_description(kind):
    model, X_train, y_train, X_test, y_test, classes = fitted("binary")

    def turn(X):
        return X.to_numpy() if kind == "array" else pd.DataFrame(X.to_numpy(), columns=X.columns, index=range(X.height, 0, -1))

    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(turn(X_train), y_train)
    found = _describe(model, (turn(X_train), pd.Series(y_train), turn(X_test), y_test), "binary", classes)
    expected = _default("binary")
    assert found["confusion"] == expected["confusion"]
    assert [row["mean"] for row in found["importance"]] == pytest.approx([row["mean"] for row in expected["importance"]])
    assert found["learning"]["test_mean"] == pytest.approx(expected["learning"]["test_mean"])
    assert [row["row"] for row in found["errors"]] == [row["row"] for row in expected["errors"]]
    if kind == "array":
        assert found["importance"][0]["column"].startswith("x")


def test_scores_follow_the_model_and_its_confusion_matrix():
    found = _default("binary")
    (tn, fp), (fn, tp) = found["confusion"]["matrix"]
    at = found["scores"]["at"]
    assert [found["scores"][key][at] for key in ("tn", "fp", "fn", "tp")] == [tn, fp, fn, tp]


def test_a_tuned_threshold_is_shown_and_starts_the_slider():
    model, X_train, y_train, X_test, y_test, classes = fitted("binary")
    tuned = FixedThresholdClassifier(model, threshold=0.2, pos_label=classes[1]).fit(X_train, y_train)
    found = _describe(tuned, (X_train, y_train, X_test, y_test), "binary", classes)
    scores = found["scores"]
    assert scores["tuned"] == 0.2
    assert scores["threshold"][scores["at"]] >= 0.2 > scores["threshold"][scores["at"] - 1]
    assert scores["fn"][scores["at"]] == found["confusion"]["matrix"][1][0]


def test_decision_values_take_the_place_of_probabilities():
    _, X_train, y_train, X_test, y_test, classes = fitted("binary")
    model = make_pipeline(StandardScaler(), LinearSVC()).fit(X_train, y_train)
    found = _describe(model, (X_train, y_train, X_test, y_test), "binary", classes)
    assert found["scores"]["kind"] == "decision"
    assert found["scores"]["default"] == 0.0
    assert found["curves"]["calibration"] == []
    assert found["curves"]["roc"]
    assert all(row["probability"] is None for row in found["errors"])


class OnlyLabels(ClassifierMixin, BaseEstimator):
    """Predicts labels and nothing else."""

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(np.asarray(X), y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(np.asarray(X))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_model_that_gives_only_labels_has_a_report_without_curves(task):
    _, X_train, y_train, X_test, y_test, classes = fitted(task)
    model = OnlyLabels().fit(X_train, y_train)
    found = _describe(model, (X_train, y_train, X_test, y_test), task, classes, scoring="accuracy")
    check_value(found, Description, "")
    assert found["scores"] is None
    assert found["curves"] == {"roc": [], "pr": [], "calibration": [], "threshold": None}


@pytest.mark.parametrize("labels", [[False, True], [0, 1], [2.0, 7.0]])
def test_labels_may_be_of_any_type_and_classes_may_be_their_text(labels):
    model, X_train, y_train, X_test, y_test, classes = fitted("binary")
    train, test = (np.array(labels)[(y == classes[1]).astype(int)] for y in (y_train, y_test))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, train)
    found = _describe(model, (X_train, train, X_test, test), "binary", labels, seconds=0.001)
    assert found["confusion"]["matrix"] == _default("binary")["confusion"]["matrix"]
    as_words = _describe(model, (X_train, train, X_test, test), "binary", [str(label) for label in labels], seconds=0.001)
    assert as_words["confusion"]["matrix"] == found["confusion"]["matrix"]
    assert found["confusion"]["labels"] == [str(label) for label in labels]


def test_a_class_that_the_test_rows_lack_is_noted():
    model, X_train, y_train, X_test, y_test, classes = fitted("multiclass")
    kept = np.flatnonzero(y_test != classes[0])
    found = _describe(model, (X_train, y_train, X_test[kept], y_test[kept]), "multiclass", classes)
    check_value(found, Description, "")
    assert any("no row of class_0" in note for note in found["notes"])
    assert found["test"]["per_class"][0]["recall"] is None
    assert len(found["curves"]["roc"]) == 2


def test_test_rows_of_one_class_give_what_is_defined():
    model, X_train, y_train, X_test, y_test, classes = fitted("binary")
    kept = np.flatnonzero(y_test == classes[1])
    found = _describe(model, (X_train, y_train, X_test[kept], y_test[kept]), "binary", classes, scoring="accuracy")
    check_value(found, Description, "")
    values = {row["name"]: row["value"] for row in found["test"]["measures"]}
    assert values["specificity"] is None
    assert values["recall"] is not None
    assert found["curves"]["roc"] == []


def test_the_worst_errors_are_the_most_confident_ones():
    model, _, _, X_test, y_test, classes = fitted("binary")
    errors = description("binary", test_rows=np.arange(1000, 1000 + len(y_test)))["errors"]
    probability = model.predict_proba(X_test)[np.arange(len(y_test)), [classes.index(label) for label in y_test]]
    wrong = np.flatnonzero(model.predict(X_test) != y_test)
    assert [row["row"] - 1000 for row in errors] == wrong[np.argsort(probability[wrong])][:12].tolist()
    first = errors[0]
    assert first["probability"] == pytest.approx(probability[wrong].min())
    column, text = next(iter(first["values"].items()))
    assert text == as_text(X_test[column][first["row"] - 1000])
    assert column == _default("binary")["importance"][0]["column"]


def test_the_worst_errors_of_a_regression_have_the_largest_residuals():
    model, _, _, X_test, y_test, _ = fitted("regression")
    residual = y_test - model.predict(X_test)
    found = _default("regression")
    assert [row["row"] for row in found["errors"]] == np.argsort(-np.abs(residual), kind="stable")[:12].tolist()
    assert found["errors"][0]["residual"] == pytest.approx(residual[found["errors"][0]["row"]])
    assert sum(found["residuals"]["count"]) == len(y_test)
    assert found["residuals"]["mean"] == pytest.approx(residual.mean())


def test_importance_is_the_loss_of_score_when_a_column_is_shuffled():
    model, _, _, X_test, y_test, _ = fitted("regression")
    scoring = as_scoring(SCORING["regression"])
    rows, note = permutation_importance(model, as_table(X_test, "X"), y_test, scoring, 5, time.monotonic() + 60)
    assert note is None
    drops = []
    for repeat in range(10):
        order = np.random.default_rng([5, 1 + repeat, 2]).permutation(X_test.height)
        shuffled = X_test.with_columns(bmi=X_test["bmi"].to_numpy()[order])
        drops.append(scoring(model, shuffled, y_test) - scoring(model, X_test, y_test))
    bmi = next(row for row in rows if row["column"] == "bmi")
    assert bmi["mean"] == pytest.approx(np.mean(drops))
    assert bmi["std"] == pytest.approx(np.std(drops, ddof=1))
    assert [row["mean"] for row in rows] == sorted((row["mean"] for row in rows), reverse=True)


def test_shuffling_leaves_mixed_tables_and_their_types_alone():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", None]), "b": [1, 2, 3], "c": pd.array([1, None, 3], dtype="Int64")})
    table = as_table(frame, "X")
    shuffled = table.shuffled(0, np.array([2, 1, 0]))
    assert shuffled.dtypes.equals(frame.dtypes)
    assert shuffled["a"].tolist()[1:] == ["y", "x"]
    assert frame["a"].tolist()[:2] == ["x", "y"]
    assert as_text(table.cell(1, 2)) == ""
    assert as_text(float("nan")) == ""
    assert as_text("x" * 200).endswith("…")


def test_less_time_gives_fewer_rounds_and_sizes_and_never_other_ones(monkeypatch):
    whole = _default("regression")
    clock = itertools.count()
    for module in ("describe", "importance", "learning"):  # a clock on which every look takes a second
        clocked = SimpleNamespace(monotonic=lambda: float(next(clock)))
        monkeypatch.setattr(importlib.import_module(f"mercer._report.{module}"), "time", clocked)
    short = description("regression", seconds=40.0)
    assert any("Permutation importance: the time allowed" in note for note in short["notes"])
    assert all(row["n_repeats"] < 10 for row in short["importance"])
    assert any("Learning curve: the time allowed" in note for note in short["notes"])
    n_sizes = len(short["learning"]["n_train"])
    assert 0 < n_sizes < len(whole["learning"]["n_train"])
    assert short["learning"]["n_train"] == whole["learning"]["n_train"][:n_sizes]
    assert short["learning"]["test_mean"][0] == whole["learning"]["test_mean"][0]
    assert short["test"] == whole["test"]


def test_a_model_that_cannot_be_refitted_has_a_report_without_a_learning_curve():
    class Stubborn(OnlyLabels):
        def fit(self, X, y):
            raise RuntimeError("I learn\nonly once")

    _, X_train, y_train, X_test, y_test, classes = fitted("multiclass")
    model = Stubborn()
    OnlyLabels.fit(model, X_train, y_train)
    found = _describe(model, (X_train, y_train, X_test, y_test), "multiclass", classes)
    assert found["learning"] is None
    assert found["notes"] == ["Learning curve: a fit on fewer rows failed (RuntimeError: I learn only once)."]


def _learning(train, test, spread, label="r2", floor=0.0):
    learning = {"train_mean": train, "test_mean": test, "test_std": [spread] * len(test), "n_folds": [5] * len(test)}
    learning |= {"n_train": [100 * (i + 1) for i in range(len(test))], "verdict": "unknown", "trend": "unknown", "reading": ""}
    _read(learning, as_scoring(label), floor)
    return learning["verdict"], learning["trend"], learning["reading"]


@pytest.mark.parametrize(
    ("train", "test", "label", "floor", "verdict", "trend"),
    [
        ([1.0, 1.0], [0.5, 0.6], "r2", 0.0, "overfitting", "rising"),
        ([0.3, 0.25], [0.2, 0.2], "r2", 0.0, "underfitting", "flat"),
        ([0.92, 0.9], [0.88, 0.88], "r2", 0.0, "balanced", "flat"),
        ([0.92, 0.9], [0.95, 0.85], "r2", 0.0, "balanced", "falling"),
        ([0.0, 0.1], [5.0, 4.0], "neg_root_mean_squared_error", 8.0, "overfitting", "rising"),
        ([6.0, 6.1], [6.2, 6.19], "neg_root_mean_squared_error", 8.0, "underfitting", "flat"),
        ([0.95, 0.92], [0.75, 0.76], "r2", 0.0, "overfitting", "flat"),
    ],
)
def test_the_learning_curve_is_read_by_its_rules(train, test, label, floor, verdict, trend):
    found = _learning(train, test, 0.04, label, floor)
    assert found[:2] == (verdict, trend)
    assert found[2]


def test_what_is_said_of_the_gap_follows_from_it():
    apart = _learning([0.95, 0.92], [0.75, 0.76], 0.02)[2]
    assert "With 200 rows fitted, R2 is 0.92" in apart.replace("R²", "R2")
    assert "a gap of 0.160, 16.0\N{NO-BREAK SPACE}% of the way from the baseline to a perfect score" in apart
    assert "real, but small" in _learning([0.95, 0.94], [0.88, 0.88], 0.02)[2]
    assert "no farther apart than folds vary" in _learning([0.95, 0.94], [0.92, 0.93], 0.02)[2]
    assert "poor on both, with a gap of 0.0900" in _learning([0.3, 0.29], [0.2, 0.2], 0.02)[2]


def test_a_learning_curve_of_one_size_is_not_read():
    verdict, trend, reading = _learning([1.0], [0.5], 0.01)
    assert (verdict, trend) == ("unknown", "unknown")
    assert "One size is too little" in reading


def test_a_learning_curve_of_one_fold_is_not_read():
    verdict, trend, reading = _learning([1.0, 1.0], [0.5, 0.5], None)
    assert (verdict, trend) == ("unknown", "unknown")
    assert "too little to go by" in reading


@pytest.mark.parametrize(
    ("cv_score", "cv_spread", "words"),
    [(None, None, "is 0.9"), (0.96, 0.01, "The two agree"), (0.5, 0.01, "came out easier"), (1.0, 0.0001, "clearly worse")],
)
def test_the_test_score_is_read_beside_that_of_cross_validation(cv_score, cv_spread, words):
    reading = description("binary", cv_score=cv_score, cv_spread=cv_spread, seconds=0.001)["test"]["reading"]
    assert words in reading


def test_the_sign_of_a_loss_in_cross_validation_does_not_matter():
    found = [description("regression", cv_score=sign * 55.0, cv_spread=3.0, seconds=0.001)["test"] for sign in (1, -1)]
    assert found[0] == found[1]
    assert found[0]["cv_score"] == 55.0
    assert "The two agree" in found[0]["reading"]


def test_phases_are_told_in_order():
    told = []
    description("regression", on_phase=told.append)
    assert tuple(told) == PHASES


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "ranking"}, "task is 'ranking'; it must be 'binary', 'multiclass' or 'regression'"),
        ({"classes": ["a"]}, "it must hold two distinct labels"),
        ({"classes": None}, "it must hold two distinct labels"),
        ({"task": "multiclass"}, "it must hold three or more distinct labels"),
        ({"classes": ["benign", "dubious"]}, "which is not among the classes"),
        ({"seconds": 0}, "seconds is 0; it must be a positive number"),
        ({"scoring": "nonsense"}, "nonsense"),
        ({"test_rows": [1, 2]}, "test_rows has shape"),
    ],
)
def test_wrong_arguments_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        description("binary", **changes)


def test_tables_and_targets_must_be_equally_long():
    model, X_train, y_train, X_test, y_test, classes = fitted("binary")
    with pytest.raises(ValueError, match="X_test has 171 rows and y_test 170"):
        _describe(model, (X_train, y_train, X_test, y_test[:-1]), "binary", classes)
    with pytest.raises(TypeError, match="X_train is a list; it must be a polars or pandas data frame"):
        _describe(model, ([1, 2], y_train, X_test, y_test), "binary", classes)
