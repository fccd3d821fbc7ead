"""`evaluate` is the protocol of the notes, step by step."""

from __future__ import annotations

import importlib.machinery
import json
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import accuracy_score, log_loss, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from mercer.ensemble import RandomForestClassifier
from mercer.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from mercer.model_selection import Choices, evaluate
from mercer.preprocessing import StandardScaler
from tests.model_selection.data import classes, numbers
from tests.model_selection.fakes import Means, Shrunken


def test_the_protocol_on_a_real_table_is_that_of_the_notes_by_hand():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    space = {"logisticregression__C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    result = evaluate(model, X, y, space=space, random_state=0)

    # 1. Split. 2. For each value, k folds of the training set. 3. Learn with the best on all of it. 4. Test once.
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    search = GridSearchCV(model, space, cv=5).fit(X_train, y_train)
    assert result.tuning.best_params == search.best_params_
    assert result.cv_score == pytest.approx(search.best_score_)
    np.testing.assert_array_equal(result.y_test, y_test)
    np.testing.assert_array_equal(result.prediction, search.predict(X_test))
    np.testing.assert_array_equal(X[result.test_rows], X_test)
    assert result.test_score.value == accuracy_score(y_test, search.predict(X_test))
    assert result.train_score == pytest.approx(search.score(X_train, y_train))
    share = search.predict_proba(X_test)
    np.testing.assert_allclose(result.score, share[:, 1])
    assert result.measures["ROC AUC"].value == pytest.approx(roc_auc_score(y_test, share[:, 1]))
    assert result.measures["log loss"].value == pytest.approx(log_loss(y_test, share))
    assert result.task == "two classes"


@pytest.mark.parametrize("size", [0.2, 60])
def test_a_validation_set_decides_in_place_of_folds(size):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:300], y[:300]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    space = {"logisticregression__C": [0.001, 0.1, 10.0]}
    result = evaluate(model, X, y, space=space, test_size=0.2, validation_size=size, random_state=0)

    # 1. Split in three. 2. Learn each candidate from the first part. 3. The second decides. 4. Learn from both. 5. Test once.
    rest, test = train_test_split(np.arange(300), test_size=0.2, stratify=y, random_state=0)
    learn, validate = train_test_split(rest, test_size=60, stratify=y[rest], random_state=0)
    scores = [clone(model).set_params(logisticregression__C=C).fit(X[learn], y[learn]).score(X[validate], y[validate])
              for C in space["logisticregression__C"]]  # fmt: skip
    assert [trial.fold_scores for trial in result.tuning.trials] == [(pytest.approx(score),) for score in scores]
    assert result.cv_score == pytest.approx(max(scores))
    best = clone(model).set_params(**result.tuning.best_params).fit(X[rest], y[rest])
    np.testing.assert_array_equal(result.prediction, best.predict(X[test]))
    np.testing.assert_array_equal(result.validation_rows, validate)
    np.testing.assert_array_equal(result.test_rows, test)
    assert "on the validation set" in result.reading
    assert "scored on the rows left out" in result.tuning.how


def test_a_validation_set_keeps_groups_together_and_strata_in_proportion():
    X, y = numbers(120)
    groups = np.repeat(np.arange(24), 5)
    result = evaluate(Ridge(), X, y, space={"alpha": [0.1, 1.0]}, groups=groups, validation_size=0.25, random_state=0)
    sides = [set(groups[rows]) for rows in (np.setdiff1d(result.train_rows, result.validation_rows), result.validation_rows,
                                            result.test_rows)]  # fmt: skip
    assert not sides[0] & sides[1]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
    assert [len(side) for side in sides] == [12, 6, 6]
    with pytest.raises(ValueError, match=r"cv=3 is not valid with validation_size=0\.2"):
        evaluate(Ridge(), X, y, cv=3, validation_size=0.2)
    for wrong in (0, 1.5, -0.1, "x"):
        with pytest.raises(ValueError, match="validation_size="):
            evaluate(Ridge(), X, y, validation_size=wrong)


def test_every_row_is_on_one_side_and_classes_keep_their_shares():
    X, y = load_wine(return_X_y=True)
    result = evaluate(make_pipeline(StandardScaler(), RidgeClassifier()), X, y, space={}, random_state=1, test_size=0.3)
    assert sorted([*result.train_rows, *result.test_rows]) == list(range(len(y)))
    np.testing.assert_allclose(np.bincount(y[result.test_rows]) / len(result.test_rows), np.bincount(y) / len(y), atol=0.02)
    assert result.task == "many classes"
    assert result.score is None
    assert list(result.measures) == ["accuracy", "balanced accuracy", "macro F1", "MCC"]


def test_numbers_are_evaluated_by_their_own_measures():
    X, y = load_diabetes(return_X_y=True)
    result = evaluate(Lasso(), X, y, space={"alpha": [0.01, 0.1, 1.0]}, scoring="neg_mean_absolute_error", random_state=0)
    assert result.task == "regression"
    assert list(result.measures) == ["R2", "RMSE", "MAE", "median absolute error"]
    assert result.test_score.value == -mean_absolute_error(result.y_test, result.prediction)
    # The same measure by another way: the bootstrap of a scorer and that of a mean draw from the same law.
    mae = result.measures["MAE"]
    assert (-result.test_score.high, -result.test_score.low) == pytest.approx((mae.low, mae.high), rel=0.05)


def test_groups_stay_on_one_side():
    X, y = numbers(120)
    groups = np.arange(120) // 4
    result = evaluate(Shrunken(), X, y, space={"alpha": [1.0, 10.0]}, groups=groups, random_state=0)
    assert not set(groups[result.train_rows]) & set(groups[result.test_rows])
    assert len(set(groups[result.test_rows])) == 8
    assert result.measures["R2"].method == "bootstrap of groups"


def test_the_estimators_own_space_is_searched_and_an_empty_one_is_not():
    X, y = numbers()

    class Searchable(Shrunken):
        _search_space = {"alpha": Choices(0.1, 1.0, 10.0)}  # noqa: RUF012

    assert len(evaluate(Searchable(), X, y).tuning.trials) == 3
    assert len(evaluate(Searchable(), X, y, space={}).tuning.trials) == 1
    assert len(evaluate(Shrunken(), X, y).tuning.trials) == 1


def test_same_seed_gives_the_same_report_for_any_number_of_jobs():
    X, y = classes()
    runs = [evaluate(RidgeClassifier(), X, y, space={"alpha": [1.0, 9.0]}, random_state=3, n_jobs=n) for n in (None, 2)]
    assert runs[0].measures == runs[1].measures
    assert runs[0].test_score == runs[1].test_score
    other = evaluate(RidgeClassifier(), X, y, space={"alpha": [1.0, 9.0]}, random_state=4)
    assert list(other.test_rows) != list(runs[0].test_rows)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_and_labels_of_any_kind_work(make):
    X, y = load_iris(return_X_y=True)
    frame = make({f"x{j}": X[:, j] for j in range(4)})
    names = np.array(["one", "three", "two"])[y]
    target = pd.Series(names) if make is pd.DataFrame else names
    result = evaluate(LogisticRegression(C=3.0), frame, target, space={}, random_state=0)
    assert list(result.classes) == ["one", "three", "two"]
    assert set(result.prediction) <= set(names)
    assert result.measures["accuracy"].value > 0.85


def test_a_class_of_one_row_is_no_obstacle():
    X, y = classes(100, n_classes=3)
    y[y == 2] = 1
    y[7] = 2
    result = evaluate(RandomForestClassifier(10, random_state=0), X, y, space={}, cv=3, random_state=0)
    assert len(result.classes) == 3
    assert 0 < result.measures["accuracy"].value <= 1


def test_own_strata_and_no_strata():
    X, y = numbers(80)
    strata = np.arange(80) % 4
    result = evaluate(Shrunken(), X, y, space={}, stratify=strata, random_state=0)
    assert list(np.bincount(strata[result.test_rows])) == [5, 5, 5, 5]
    test = train_test_split(np.arange(80), test_size=0.25, random_state=0)[1]
    np.testing.assert_array_equal(evaluate(Shrunken(), X, y, space={}, stratify=None, random_state=0).test_rows, test)


def test_a_measure_of_ones_own_has_an_interval_if_it_is_one_of_predictions():
    X, y = numbers()
    mae = make_scorer(mean_absolute_error, greater_is_better=False)
    scored = evaluate(Shrunken(), X, y, space={}, scoring=mae, random_state=0, n_bootstrap=50)
    assert scored.test_score.low < scored.test_score.value < scored.test_score.high
    opaque = evaluate(Shrunken(), X, y, space={}, scoring=lambda model, X, y: float(model.coef_[0]), random_state=0)
    assert opaque.test_score.method == "no interval"
    assert opaque.reading == ""
    assert "no interval" in repr(opaque)


def test_scores_from_decision_values_probabilities_or_neither():
    X, y = classes()
    assert "ROC AUC" in evaluate(RidgeClassifier(), X, y, space={}).measures
    assert "log loss" not in evaluate(RidgeClassifier(), X, y, space={}).measures
    assert "log loss" in evaluate(Means(), X, y, space={}).measures
    auc = evaluate(RidgeClassifier(), X, y, space={}, scoring="roc_auc", random_state=0)
    assert auc.test_score.value == pytest.approx(auc.measures["ROC AUC"].value)
    assert auc.test_score.method == "DeLong"
    precise = evaluate(RidgeClassifier(), X, y, space={}, scoring="average_precision", random_state=0, n_bootstrap=30)
    assert precise.test_score.value == pytest.approx(precise.measures["average precision"].value)


def test_text_tells_the_whole_story():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    lines = repr(evaluate(model, X, y, space={"logisticregression__C": [0.1, 1.0]}, random_state=0)).splitlines()
    assert lines[0] == "Evaluation: two classes, 426 rows to learn from, 143 to test on"
    assert lines[1].split() == ["model", "StandardScaler,", "LogisticRegression"]
    assert "logisticregression__C=" in lines[2]
    assert "over folds" in lines[3]
    assert "(Wilson), 95 % confidence" in lines[4]
    assert [line for line in lines if "ROC AUC" in line and "(DeLong)" in line]
    assert lines[-1].strip() == "The score over folds lies within the interval of the test: it held up on new rows."
    assert max(map(len, lines)) <= 140


def test_reading_sees_overfitting():
    X, y = numbers(160, 70)
    result = evaluate(Shrunken(alpha=1e-6), X, y, space={}, random_state=0, cv=10)
    assert result.train_score > 0.75
    assert result.cv_score < 0.3
    assert "the model over-fits" in result.reading
    assert "over-fits" not in evaluate(Shrunken(alpha=500.0), X, y, space={}, random_state=0).reading


def test_dict_is_plain_data():
    X, y = numbers()
    data = json.loads(json.dumps(evaluate(Shrunken(), X, y, space={}, random_state=0).to_dict()))
    assert data["n_train"] + data["n_test"] == 90
    assert data["measures"]["RMSE"]["method"] == "bootstrap"


@pytest.mark.parametrize(
    ("model", "data", "function"),
    [
        (LogisticRegression(), classes(), "plot_roc"),
        (LogisticRegression(), classes(n_classes=3), "plot_confusion"),
        (Ridge(), numbers(), "plot_residuals"),
    ],
)
def test_plot_asks_for_the_picture_of_the_task(model, data, function, monkeypatch):
    calls = []
    plots = types.ModuleType("mercer.plots")
    plots.__spec__ = importlib.machinery.ModuleSpec("mercer.plots", None)
    for name in ("plot_roc", "plot_confusion", "plot_residuals"):
        setattr(plots, name, lambda *args, ax, name=name: calls.append((name, args, ax)) or ax)
    monkeypatch.setitem(sys.modules, "mercer.plots", plots)
    monkeypatch.setattr("mercer.plots", plots, raising=False)
    result = evaluate(model, *data, space={}, random_state=0)
    assert result.plot(ax="axes") == "axes"
    ((name, (truth, predicted), _),) = calls
    assert name == function
    np.testing.assert_array_equal(truth, result.y_test)
    assert len(predicted) == len(truth)
