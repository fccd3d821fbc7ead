"""A model and data in place of predictions draw the same picture; what is neither is told what would do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, learning_curve, validation_curve

from mercer.cluster import KMeans, elbow
from mercer.ensemble import IsolationForest, RandomForestClassifier
from mercer.linear_model import LogisticRegression, Ridge
from mercer.losses import Hinge, Logistic
from mercer.penalties import L1
from mercer.plots import (
    plot_calibration,
    plot_confusion,
    plot_elbow,
    plot_importances,
    plot_learning_curve,
    plot_losses,
    plot_penalties,
    plot_precision_recall,
    plot_residuals,
    plot_roc,
    plot_threshold,
    plot_validation_curve,
)
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier

SCORE_PLOTS = [plot_roc, plot_precision_recall, plot_calibration, plot_threshold]
PREDICTION_PLOTS = [*SCORE_PLOTS, plot_confusion, plot_residuals]


def assert_same(ax, other):
    """The same lines and the same legend."""
    assert len(ax.lines) == len(other.lines)
    for one, two in zip(ax.lines, other.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), two.get_xydata())
    texts = [[text.get_text() for text in each.get_legend().get_texts()] for each in (ax, other)]
    assert texts[0] == texts[1]


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(120, 4, random_state=0, flip_y=0.2)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def model(binary):
    return LogisticRegression().fit(*binary)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


# ---- predictions


@pytest.mark.parametrize("plot", SCORE_PLOTS)
@pytest.mark.parametrize("pos_label", [None, "no"])
def test_a_classifier_and_rows_draw_its_probabilities(plot, binary, model, pos_label):
    X, y = binary
    expected = plot(y, model.predict_proba(X), pos_label=pos_label)
    assert_same(plot(model, X, y, pos_label=pos_label), expected)


@pytest.mark.parametrize("plot", [plot_roc, plot_precision_recall, plot_threshold])
def test_a_classifier_without_probabilities_draws_its_decisions(plot, binary):
    X, y = binary
    machine = LinearSVC().fit(X, y)
    values = machine.decision_function(X)
    assert_same(plot(machine, X, y), plot(y, values))
    assert_same(plot(machine, X, y, pos_label="no"), plot(y, -values, pos_label="no"))


@pytest.mark.parametrize("plot", [plot_roc, plot_precision_recall, plot_calibration])
def test_several_models_are_drawn_under_their_names(plot, binary, model):
    X, y = binary
    other = RandomForestClassifier(5, random_state=0).fit(X, y)
    expected = plot(y, {"one": model.predict_proba(X), "other": other.predict_proba(X)})
    assert_same(plot({"one": model, "other": other}, X, y), expected)


def test_classes_that_no_row_has_are_not_drawn(iris):
    X, y = iris
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    ax = plot_roc(forest, X[50:], y[50:])
    assert [text.get_text().partition(" ")[0] for text in ax.get_legend().get_texts()] == ["1", "2", "chance"]


def test_outlier_detectors_have_scores_too(binary):
    X, y = binary
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    is_inlier = np.where(y == "yes", 1, -1)
    assert_same(plot_roc(forest, X, is_inlier), plot_roc(is_inlier, forest.decision_function(X)))


def test_a_model_and_rows_draw_its_confusion_and_its_residuals(binary, model):
    X, y = binary
    cells = [
        [text.get_text() for text in plot.texts] for plot in (plot_confusion(model, X, y), plot_confusion(y, model.predict(X)))
    ]
    assert cells[0] == cells[1]
    target = X[:, 0] + X[:, 1] ** 2
    ridge = Ridge().fit(X, target)
    offsets = [
        plot.collections[0].get_offsets()
        for plot in (plot_residuals(ridge, X, target), plot_residuals(target, ridge.predict(X)))
    ]
    np.testing.assert_array_equal(*offsets)


@pytest.mark.parametrize("plot", PREDICTION_PLOTS)
def test_what_is_no_model_with_rows_is_told_what_would_do(plot, binary, model):
    X, y = binary
    name = plot.__name__
    for arguments, message in (
        ((model, X), rf"{name}: a model needs rows and what is true of them; call {name}\(model, X, y\) or {name}\(y_true, y_"),
        ((y, model), "the model comes first"),
        ((X, y, model), "the model comes first"),
        ((LogisticRegression, X, y), "LogisticRegression is a class; give a fitted model"),
        ((y, y, y), "three arguments are a model"),
    ):
        with pytest.raises(TypeError, match=message):
            plot(*arguments)
    with pytest.raises(ValueError, match="X has 5 rows and y 120"):
        plot(model, X[:5], y)


@pytest.mark.parametrize("plot", SCORE_PLOTS)
def test_models_without_scores_or_with_other_classes_are_refused(plot, binary, model):
    X, y = binary
    with pytest.raises(TypeError, match="Ridge has no predict_proba"):
        plot(Ridge().fit(X, X[:, 0]), X, y)
    with pytest.raises(
        ValueError, match=r"y holds 'maybe', which LogisticRegression was not fitted with; its classes are \['no'"
    ):
        plot(model, X, np.where(y == "no", "maybe", y))
    with pytest.raises(ValueError, match="mapping of models is empty"):
        plot({}, X, y)
    with pytest.raises(ValueError, match="the models know different classes"):
        plot({"one": model, "other": LogisticRegression().fit(X, y == "yes")}, X, y)
    with pytest.raises(TypeError, match="the model comes first"):
        plot(y, {"one": model})


def test_calibration_wants_probabilities(binary):
    X, y = binary
    with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba; it must be"):
        plot_calibration(LinearSVC().fit(X, y), X, y)


# ---- curves


def test_learning_curves_of_a_model_are_those_of_scikit_learn(binary):
    tree = DecisionTreeClassifier(max_depth=2)
    options = {"cv": 3, "train_sizes": [0.5, 1.0], "scoring": "roc_auc"}
    ax = plot_learning_curve(tree, *binary, **options)
    scores = learning_curve(tree, *binary, **options, shuffle=True, random_state=0)
    assert_same(ax, plot_learning_curve(*scores))
    in_order = plot_learning_curve(tree, *binary, **options, shuffle=False)
    assert_same(in_order, plot_learning_curve(*learning_curve(tree, *binary, **options)))
    assert ax.get_ylabel() == "roc_auc"
    assert plot_learning_curve(tree, *binary, cv=2).get_ylabel() == "accuracy"
    assert plot_learning_curve(model=KMeans(2, random_state=0), X=binary[0], cv=2).get_ylabel() == "score"


@pytest.mark.filterwarnings("error")
def test_learning_curves_do_not_mind_rows_that_are_sorted_by_class(iris):
    assert len(plot_learning_curve(LogisticRegression(max_iter=1000), *iris, cv=3).lines[0].get_xdata()) == 5


def test_validation_curves_of_a_model_are_those_of_scikit_learn(binary):
    X, y = binary
    options = {"param_name": "max_depth", "param_range": [1, 3, None], "cv": 3}
    ax = plot_validation_curve(DecisionTreeClassifier(), X, y, **options)
    scores = validation_curve(DecisionTreeClassifier(), X, y, **options)
    assert_same(ax, plot_validation_curve([1, 3, None], *scores))
    assert ax.get_xlabel() == "max_depth"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "3", "None"]
    ridge = plot_validation_curve(
        Ridge(), X, X[:, 0], param_name="alpha", param_range=np.logspace(-2, 2, 3), cv=2, name="strength"
    )
    assert (ridge.get_xscale(), ridge.get_xlabel(), ridge.get_ylabel()) == ("log", "strength", "R2")


def test_curves_keep_their_names_as_keywords():
    by_name = plot_learning_curve(train_sizes=[1, 2], train_scores=[1, 2], test_scores=[0, 1])
    assert_same(by_name, plot_learning_curve([1, 2], [1, 2], [0, 1]))
    by_name = plot_validation_curve(values=[1, 2], train_scores=[1, 2], test_scores=[0, 1])
    assert_same(by_name, plot_validation_curve([1, 2], [1, 2], [0, 1]))


@pytest.mark.parametrize(
    ("plot", "call"),
    [
        (plot_learning_curve, r"plot_learning_curve\(model, X, y\)"),
        (plot_validation_curve, r"plot_validation_curve\(model, X, y, param_name=..., param_range=...\)"),
    ],
)
def test_curves_say_how_they_are_called(plot, call, binary, model):
    X, y = binary
    for arguments in ((), (model,), ([1, 2], [1, 2])):
        with pytest.raises(TypeError, match=rf"missing a required argument: .*; call {call} or {plot.__name__}\("):
            plot(*arguments)
    with pytest.raises(TypeError, match=rf"the model comes first; call {call}"):
        plot(X, y, model)
    with pytest.raises(TypeError, match=r"LogisticRegression is a class; give a model of it, LogisticRegression\(\)"):
        plot(LogisticRegression, X, y)
    with pytest.raises(TypeError, match="'words' is not valid; it must be a sequence"):
        plot("words", [1], [1])


def test_curves_name_a_wrong_option(binary, model):
    with pytest.raises(
        TypeError, match="plot_learning_curve: there is no option 'folds'; options are 'groups', 'train_sizes', 'cv'"
    ):
        plot_learning_curve(model, *binary, folds=3)
    with pytest.raises(TypeError, match="plot_validation_curve: there is no option 'folds'"):
        plot_validation_curve(model, *binary, param_name="C", param_range=[1], folds=3)


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_an_elbow_of_data_is_that_of_its_curve(iris, frame):
    X = iris[0]
    ax, other = plot_elbow(frame(X), range(1, 6)), plot_elbow(elbow(X, range(1, 6)))
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), other.lines[0].get_xydata())


def test_an_elbow_says_what_it_wants(iris):
    X = iris[0]
    assert len(plot_elbow(X).lines[0].get_xdata()) == 10
    assert len(plot_elbow(X[:5]).lines[0].get_xdata()) == 5
    one_start = KMeans(n_init=1, init="random", random_state=3)
    ax = plot_elbow(X, range(1, 4), estimator=one_start, sample_weight=np.arange(len(X)))
    np.testing.assert_array_equal(
        ax.lines[0].get_ydata(), elbow(X, range(1, 4), estimator=one_start, sample_weight=np.arange(len(X))).inertia
    )
    with pytest.raises(TypeError, match="the data come first"):
        plot_elbow(KMeans(), X)
    with pytest.raises(TypeError, match=r"n_clusters=5 is not valid; it must be several numbers, such as range\(1, 11\)"):
        plot_elbow(X, 5)
    with pytest.raises(TypeError, match="go with data; a curve is drawn as it is"):
        plot_elbow(elbow(X, range(1, 4)), range(1, 5))


# ---- importances, losses, penalties


@pytest.mark.filterwarnings("error")  # scikit-learn warns of names that are lost
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.from_pandas])
def test_importances_of_any_model_are_falls_of_its_score(frame):
    X, y = load_iris(return_X_y=True, as_frame=True)
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1.0]}, cv=2).fit(frame(X), y)
    ax = plot_importances(search, frame(X), y, n_repeats=30, scoring="neg_log_loss")
    model = LogisticRegression(max_iter=1000).fit(X, y)
    expected = permutation_importance(model, X, y, n_repeats=30, random_state=1, scoring="neg_log_loss")
    order = np.argsort(-expected.importances_mean)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected.importances_mean[order], rtol=0.2, atol=0.02)
    names = [f"x{j}" for j in range(4)] if frame is np.asarray else X.columns.tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == [names[j] for j in order]


def test_importances_say_what_they_need():
    X, y = load_iris(return_X_y=True, as_frame=True)
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": [1.0]}, cv=2).fit(X, y)
    with pytest.raises(
        TypeError, match=r"GridSearchCV has no feature_importances_; with rows, plot_importances\(model, X, y\)"
    ):
        plot_importances(search)
    with pytest.raises(TypeError, match="the score of a model needs y"):
        plot_importances(search, X)
    with pytest.raises(TypeError, match="X and y go with a model"):
        plot_importances([0.1, 0.2, 0.3, 0.4], X, y)


def test_one_concept_or_its_name_is_drawn_too():
    for losses, labels in ((Logistic(), ["Logistic"]), ("hinge", ["Hinge"]), (["hinge", Logistic()], ["Hinge", "Logistic"])):
        assert [text.get_text() for text in plot_losses(losses=losses).get_legend().get_texts()] == labels
    for penalties in (L1(), "l1", ["l1"]):
        assert [text.get_text() for text in plot_penalties(penalties=penalties).get_legend().get_texts()] == ["L1"]
    with pytest.raises(ValueError, match="wrong"):
        plot_losses(losses=[Hinge(), "wrong"])
