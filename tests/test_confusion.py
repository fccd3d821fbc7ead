"""Measures of confusion matrices: those of scikit-learn, for one matrix or many, and a rule for what is not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as peer

from mercer import _confusion
from mercer._assessment import confusion as of_test_set
from mercer._confusion import count_classes, geometric_mean_of_defined, mean_of_defined, ratio
from mercer.model_selection._thresholds import measures as of_cutoffs


def labels_of(cells):
    """One row a pair of classes, with its weight."""
    true, predicted = np.indices(cells.shape)
    return true.ravel(), predicted.ravel(), cells.ravel().astype(float)


def matrices(n_classes, n=20, *, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 30, size=(n_classes, n_classes, n))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_shares_of_each_class_are_those_of_scikit_learn(n_classes):
    cells = matrices(n_classes, 1)[:, :, 0]
    true, predicted, weights = labels_of(cells)
    counts = count_classes(cells)
    options = {"average": None, "sample_weight": weights}
    np.testing.assert_allclose(ratio(*counts.precision), peer.precision_score(true, predicted, **options))
    np.testing.assert_allclose(ratio(*counts.recall), peer.recall_score(true, predicted, **options))
    np.testing.assert_allclose(ratio(*counts.jaccard), peer.jaccard_score(true, predicted, **options))
    for beta in (0.5, 1.0, 2.0):
        np.testing.assert_allclose(ratio(*counts.f_beta(beta)), peer.fbeta_score(true, predicted, beta=beta, **options))
    (tn, fp), (fn, tp) = peer.multilabel_confusion_matrix(true, predicted, sample_weight=weights).transpose(1, 2, 0)
    np.testing.assert_allclose(ratio(*counts.specificity), tn / (tn + fp))
    np.testing.assert_allclose(ratio(*counts.npv), tn / (tn + fn))
    np.testing.assert_allclose(ratio(*counts.false_positive_rate), fp / (tn + fp))
    np.testing.assert_allclose(ratio(*counts.false_negative_rate), fn / (tp + fn))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_measures_over_classes_are_those_of_scikit_learn(n_classes):
    cells = matrices(n_classes, 1)[:, :, 0]
    true, predicted, weights = labels_of(cells)
    counts, given = count_classes(cells), {"sample_weight": weights}
    assert math.isclose(ratio(*counts.accuracy), peer.accuracy_score(true, predicted, **given))
    assert math.isclose(mean_of_defined(ratio(*counts.recall)), peer.balanced_accuracy_score(true, predicted, **given))
    assert math.isclose(_confusion.mcc(counts), peer.matthews_corrcoef(true, predicted, **given))
    assert math.isclose(_confusion.kappa(cells), peer.cohen_kappa_score(true, predicted, **given))
    distance = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes)))
    for name, costs in {"linear": distance, "quadratic": distance**2}.items():
        assert math.isclose(_confusion.kappa(cells, costs), peer.cohen_kappa_score(true, predicted, weights=name, **given))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("measure", [of_test_set.mcc, of_test_set.kappa, of_test_set.f1_weighted])
def test_many_matrices_are_measured_as_one_by_one(measure, n_classes):
    many = np.moveaxis(matrices(n_classes), -1, 0)
    np.testing.assert_allclose(measure(many), [measure(one) for one in many], rtol=1e-13)


@pytest.mark.parametrize("name", ["balanced_accuracy", "g_mean"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_test_set_and_a_cut_off_are_measured_alike(name, n_classes):
    cells = matrices(n_classes)
    np.testing.assert_array_equal(
        getattr(of_cutoffs, name)(cells), getattr(of_test_set, name)(np.moveaxis(cells, (0, 1), (-2, -1)))
    )


def test_a_class_without_rows_is_left_out_of_means():
    counts = count_classes(np.array([[3, 1, 0], [0, 0, 0], [1, 0, 1]]))
    recalls = ratio(*counts.recall)
    np.testing.assert_array_equal(recalls, [0.75, math.nan, 0.5])
    assert mean_of_defined(recalls) == 0.625
    assert math.isclose(geometric_mean_of_defined(recalls), math.sqrt(0.375))


@pytest.mark.parametrize("undefined", [math.nan, 0.0])
def test_what_nothing_of_nothing_is_the_caller_says(undefined):
    nothing = np.full((3, 2), np.nan)
    means = mean_of_defined(nothing, undefined), geometric_mean_of_defined(nothing, undefined)
    for found in (ratio([0.0], [0.0], undefined), *means):
        np.testing.assert_array_equal(found, np.full_like(found, undefined))


def test_one_empty_class_among_cut_offs_counts_nothing_and_in_a_test_set_leaves_the_g_mean_undefined():
    matrix = np.array([[4, 4], [0, 0]])
    assert of_cutoffs.g_mean(matrix[:, :, None]) == 0.5
    assert np.isnan(of_test_set.g_mean(matrix))


def test_the_geometric_mean_of_many_small_recalls_is_not_zero():
    assert math.isclose(geometric_mean_of_defined(np.full(400, 0.1)), 0.1)
    assert geometric_mean_of_defined(np.array([0.5, 0.0, 1.0])) == 0.0


@pytest.mark.parametrize("side", [0, 1])
def test_a_constant_side_has_no_correlation_whatever_the_weights(side):
    cells = np.zeros((2, 2))
    cells[:, 0] = 0.1, 0.2  # all predicted as the first
    assert _confusion.mcc(count_classes(cells if side == 0 else cells.T)) == 0.0


def test_f0_is_the_precision_and_a_class_that_is_never_predicted_has_none():
    cells = np.array([[3, 0, 1], [2, 0, 0], [1, 0, 4]])[:, :, None]
    assert math.isclose(of_cutoffs.FBeta(0.0, None)(cells)[0], (3 / 6 + 0 + 4 / 5) / 3)
