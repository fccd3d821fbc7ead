"""Plots of scores, decisions, tuning, residuals and importances: every line holds the figures that it names."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

import mercer.plots
from mercer.calibration import calibration_curve
from mercer.plots import (
    plot_calibration,
    plot_confusion,
    plot_importances,
    plot_learning_curve,
    plot_precision_recall,
    plot_residuals,
    plot_roc,
    plot_threshold,
    plot_validation_curve,
)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(200, weights=[0.7], class_sep=0.5, random_state=0)
    return y, LogisticRegression().fit(X, y).predict_proba(X)


@pytest.fixture(scope="module")
def many():
    X, y = make_classification(300, n_classes=4, n_informative=5, random_state=0)
    labels = np.array(["a", "b", "c", "d"])[y]
    return labels, LogisticRegression().fit(X, labels).predict_proba(X)


# ---- scores


def test_roc_draws_the_curve_and_its_area(ax, binary):
    y, p = binary
    weights = np.linspace(0, 1, len(y))
    assert plot_roc(y, p, sample_weight=weights, ax=ax) is ax
    false, true, _ = roc_curve(y, p[:, 1], sample_weight=weights)
    np.testing.assert_array_equal(ax.lines[0].get_data(), (false, true))
    assert legend(ax) == [f"AUC {roc_auc_score(y, p[:, 1], sample_weight=weights):.3f}", "chance"]
    assert ax.lines[1].get_xydata().tolist() == [[0, 0], [1, 1]]


def test_precision_recall_draws_the_curve_its_area_and_chance(ax, binary):
    y, p = binary
    plot_precision_recall(y, {"one": p[:, 1], "other": -p[:, 1]}, ax=ax)
    precision, recall, _ = precision_recall_curve(y, p[:, 1])
    np.testing.assert_array_equal(ax.lines[0].get_data(), (recall, precision))
    assert legend(ax)[0] == f"one (AP {average_precision_score(y, p[:, 1]):.3f})"
    assert legend(ax)[2] == f"chance ({y.mean():.3f})"
    assert ax.lines[2].get_ydata()[0] == pytest.approx(y.mean())


def test_calibration_draws_the_curve(ax, binary):
    y, p = binary
    plot_calibration(y, p, n_bins=5, strategy="uniform", ax=ax)
    share, predicted = calibration_curve(y, p[:, 1], n_bins=5)
    np.testing.assert_array_equal(ax.lines[0].get_data(), (predicted, share))
    assert legend(ax) == [f"Brier {np.mean((p[:, 1] - y) ** 2):.3f}", "perfect"]


@pytest.mark.parametrize("plot", [plot_roc, plot_precision_recall, plot_calibration])
def test_each_of_many_classes_is_drawn_against_the_rest(ax, many, plot):
    y, p = many
    plot(y, p, ax=ax)
    names = [entry.partition(" (")[0] for entry in legend(ax)]
    assert names[:4] == ["a", "b", "c", "d"]
    assert len({(line.get_color(), str(line.get_linestyle())) for line in ax.lines[:4]}) == 4


@pytest.mark.parametrize("plot", [plot_roc, plot_precision_recall, plot_calibration])
def test_the_first_class_may_be_the_positive_one(ax, binary, plot):
    y, p = binary
    words = np.array(["no", "yes"])[y]
    plot(words, p, pos_label="no", ax=ax)
    other = plot(1 - y, 1 - p[:, 1])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), other.lines[0].get_ydata())


@pytest.mark.parametrize("plot", [plot_roc, plot_precision_recall, plot_calibration, plot_threshold])
def test_scores_that_do_not_fit_are_refused(plot, binary, many):
    y, p = binary
    for scores, message in (
        (p[:-1], r"y_score has shape \(199, 2\)"),
        (np.full(len(y), np.nan), "contains NaN or infinity"),
        (np.ones((len(y), 3)), "3 columns, and y_true 2 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            plot(y, scores)
    with pytest.raises(ValueError, match="holds 1 class only"):
        plot(np.zeros(4), np.ones(4))
    with pytest.raises(ValueError, match="pos_label=7 is no label"):
        plot(y, p, pos_label=7)
    with pytest.raises(ValueError, match=r"y_score has shape \(300, 2\), and y_true 4 classes"):
        plot(many[0], many[1][:, :2])
    with pytest.raises(ValueError, match="compare models on one class"):
        plot(many[0], {"one": many[1]})


def test_a_long_legend_goes_beside_the_axes():
    random = np.random.RandomState(0)
    y = np.arange(120) % 10
    ax = plot_roc(y, random.rand(120, 10))
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1 + 1


# ---- decisions


def test_thresholds_draw_the_measures_of_scikit_learn(ax, binary):
    y, p = binary
    names = ("precision", "recall", "f_beta", "balanced_accuracy")
    plot_threshold(y, p, measures=names, best="f_beta", beta=2.0, ax=ax)
    functions = [precision_score, recall_score, lambda t, q: fbeta_score(t, q, beta=2.0), balanced_accuracy_score]
    for line, function in zip(ax.lines, functions, strict=False):
        cuts, values = line.get_data()
        for at in (0, 50, 120, len(cuts) - 1):
            assert values[at] == pytest.approx(function(y, (p[:, 1] >= cuts[at]).astype(int)))
    cuts, values = ax.lines[2].get_data()
    best = int(np.argmax(values))
    assert ax.lines[4].get_xdata()[0] == cuts[best]
    assert ax.texts[0].get_text() == f"F2: {values[best]:.3g} at {cuts[best]:.3g}"
    assert legend(ax) == ["precision", "recall", "F2", "balanced accuracy"]


def test_a_given_threshold_is_marked_with_its_measure(ax, binary):
    y, p = binary
    plot_threshold(y, p, threshold=0.5, ax=ax)
    assert ax.texts[0].get_text() == f"F1: {f1_score(y, (p[:, 1] >= 0.5).astype(int)):.3g} at 0.5"


def test_thresholds_of_weighted_rows_are_those_of_repeated_rows(binary):
    y, p = binary
    counts = np.random.RandomState(0).randint(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    names = ("cwa", "g_mean", "specificity", "accuracy")
    weighted = plot_threshold(y, p, measures=names, alpha=0.2, sample_weight=counts)
    repeated = plot_threshold(y[rows], p[rows], measures=names, alpha=0.2)
    for one, other in zip(weighted.lines, repeated.lines, strict=True):
        np.testing.assert_allclose(one.get_ydata(), other.get_ydata())


def test_thresholds_name_wrong_measures(binary):
    with pytest.raises(ValueError, match="measures='f1' is not valid; it must be 'accuracy'"):
        plot_threshold(*binary, measures=["f1"])
    with pytest.raises(ValueError, match="best='auc' is not valid"):
        plot_threshold(*binary, best="auc")


def test_confusion_writes_every_cell(ax, many):
    y, p = many
    predicted = np.array(["a", "b", "c", "d"])[p.argmax(axis=1)]
    plot_confusion(y, predicted, ax=ax)
    assert [text.get_text() for text in ax.texts] == [str(count) for count in confusion_matrix(y, predicted).ravel()]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c", "d"]
    shares = plot_confusion(y, predicted, normalize="true", labels=["d", "a"])
    cells = confusion_matrix(y, predicted, labels=["d", "a"], normalize="true")
    assert [text.get_text() for text in shares.texts] == [f"{share:.2f}" for share in cells.ravel()]
    with pytest.raises(ValueError, match="normalize='rows' is not valid"):
        plot_confusion(y, predicted, normalize="rows")


def test_a_confusion_of_very_many_classes_has_colours_and_few_names(ax):
    plot_confusion(np.arange(60) % 45, np.arange(60) // 2, ax=ax)
    assert not ax.texts
    assert len(ax.get_xticks()) <= 20


# ---- tuning


def test_learning_curves_draw_mean_and_spread(ax):
    train, test = np.array([[1.0, 0.9], [0.9, 0.8]]), np.array([[0.5, 0.7], [0.7, np.nan]])
    plot_learning_curve([10, 20], train, test, score_name="accuracy", ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.95, 0.85])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.6, 0.7])
    heights = ax.collections[1].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(0.5)
    assert ax.get_ylabel() == "accuracy"
    with pytest.raises(ValueError, match=r"test_scores has shape \(3,\)"):
        plot_learning_curve([10, 20], train, [1, 2, 3])
    with pytest.raises(ValueError, match="train_scores is NaN for all folds of a point"):
        plot_learning_curve([10, 20], [np.nan, 1.0], [0.1, 0.2])


def test_validation_curves_mark_the_best_value(ax):
    plot_validation_curve([0.01, 1.0, 100.0], [0.6, 0.8, 0.9], [0.5, 0.7, 0.6], name="C", ax=ax)
    assert ax.get_xscale() == "log"
    assert ax.texts[0].get_text() == "best: 1"
    words = plot_validation_curve(["gini", "entropy"], [0.6, 0.8], [0.7, 0.5])
    assert words.texts[0].get_text() == "best: gini"
    assert [label.get_text() for label in words.get_xticklabels()] == ["gini", "entropy"]
    assert plot_validation_curve([1, 2, 3], [1, 1, 1], [1, 2, 3]).get_xscale() == "linear"
    assert plot_validation_curve([1, 2, 3], [1, 1, 1], [1, 2, 3], log=True).get_xscale() == "log"


# ---- regression


def test_residuals_against_predictions_quantiles_and_counts(ax):
    random = np.random.RandomState(0)
    fitted = random.rand(100)
    true = fitted + random.randn(100) / 10
    plot_residuals(true, fitted, ax=ax)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([fitted, true - fitted]))
    lowest = np.argsort(fitted)[:10]
    np.testing.assert_allclose(ax.lines[1].get_xydata()[0], [fitted[lowest].mean(), (true - fitted)[lowest].mean()])
    quantiles = np.asarray(plot_residuals(true, fitted, kind="qq").collections[0].get_offsets())
    assert (np.diff(quantiles, axis=0) >= 0).all()
    assert quantiles.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert quantiles[:, 1].std() == pytest.approx(1)
    bars = plot_residuals(true, fitted, kind="histogram").patches
    assert sum(bar.get_height() for bar in bars) == 100


def test_residuals_say_what_is_wrong():
    with pytest.raises(ValueError, match="kind='pie' is not valid"):
        plot_residuals([1.0], [1.0], kind="pie")
    with pytest.raises(ValueError, match="inconsistent"):
        plot_residuals([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        plot_residuals([1.0, np.nan], [1.0, 2.0])
    plot_residuals([1.0, 1.0], [1.0, 1.0], kind="qq")  # no spread


# ---- importances


def test_importances_of_arrays_results_and_models(ax):
    plot_importances([0.1, -0.2, 0.7], spread=[0.01, 0.02, 0.03], names=["age", "height", "income"], ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["income", "age", "height"]
    assert [bar.get_width() for bar in ax.patches] == [0.7, 0.1, -0.2]
    assert ax.yaxis_inverted()
    result = SimpleNamespace(importances_mean=np.array([0.1, 0.3]), importances_std=np.array([0.1, 0.1]))
    assert [label.get_text() for label in plot_importances(result).get_yticklabels()] == ["x1", "x0"]
    model = SimpleNamespace(feature_importances_=np.arange(30.0), feature_names_in_=[f"column {j}" for j in range(30)])
    shown = plot_importances(model, max_features=5)
    assert [label.get_text() for label in shown.get_yticklabels()] == [f"column {j}" for j in (29, 28, 27, 26, 25)]
    assert "25 more are not shown" in shown.get_title()
    assert len(plot_importances(model, max_features=None).patches) == 30


def test_importances_say_what_is_wrong():
    with pytest.raises(ValueError, match="must be a vector of finite numbers"):
        plot_importances("words")
    with pytest.raises(ValueError, match="names has 1 values"):
        plot_importances([1, 2], names=["a"])
    with pytest.raises(ValueError, match=r"spread has shape \(3,\)"):
        plot_importances([1, 2], spread=[1, 2, 3])
    with pytest.raises(ValueError, match="max_features=0 is not valid"):
        plot_importances([1, 2], max_features=0)


# ---- all of them


def test_every_plot_makes_axes_of_its_own_and_labels_them(binary):
    y, p = binary
    drawn = [
        plot_roc(y, p),
        plot_precision_recall(y, p),
        plot_calibration(y, p),
        plot_threshold(y, p),
        plot_confusion(y, p.argmax(axis=1)),
        plot_learning_curve([1, 2], [1, 2], [1, 2]),
        plot_validation_curve([1, 2], [1, 2], [1, 2]),
        plot_residuals(y, p[:, 1]),
    ]
    assert len({id(ax.figure) for ax in drawn}) == len(drawn)
    for ax in drawn:
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert ax.get_title()


def test_matplotlib_is_loaded_when_something_is_drawn_and_not_before():
    code = "import sys, mercer.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert all(name.startswith("plot_") for name in mercer.plots.__all__)
