"""Measures by counts are scikit-learn's, whether rows are repeated, counted or in a confusion matrix."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import sklearn.metrics as peer
from hypothesis import given, settings, strategies as st

from mercer._assessment import confusion, statistics
from mercer._assessment.predictions import NumberPredictions
from mercer._assessment.ranking import Ranking
from tests.assessment.data import binary_rows, many_rows, measures_of


@pytest.mark.parametrize("seed", range(4))
def test_measures_of_two_classes_are_the_peers(seed):
    rows = binary_rows(seed=seed)
    true, predicted, score = rows.true, rows.predicted, rows.score
    expected = {
        "accuracy": peer.accuracy_score(true, predicted),
        "balanced accuracy": peer.balanced_accuracy_score(true, predicted),
        "recall": peer.recall_score(true, predicted),
        "specificity": peer.recall_score(true, predicted, pos_label=0),
        "precision": peer.precision_score(true, predicted),
        "F1": peer.f1_score(true, predicted),
        "MCC": peer.matthews_corrcoef(true, predicted),
        "ROC AUC": peer.roc_auc_score(true, score),
        "average precision": peer.average_precision_score(true, score),
        "log loss": peer.log_loss(true, rows.probability),
        "Brier score": peer.brier_score_loss(true, score),
    }
    found = measures_of(rows)
    assert list(found) == list(expected)
    for name, measure in found.items():
        assert measure.value == pytest.approx(expected[name], abs=1e-12), name
        assert measure.low <= measure.value <= measure.high, name
    assert {name: measure.method for name, measure in found.items() if measure.method != "bootstrap"} == {
        "accuracy": "Wilson",
        "recall": "Wilson",
        "specificity": "Wilson",
        "precision": "Wilson",
        "ROC AUC": "DeLong",
    }


@pytest.mark.parametrize("seed", range(4))
def test_measures_of_many_classes_are_the_peers(seed):
    rows = many_rows(seed=seed)
    expected = {
        "accuracy": peer.accuracy_score(rows.true, rows.predicted),
        "balanced accuracy": peer.balanced_accuracy_score(rows.true, rows.predicted),
        "macro F1": peer.f1_score(rows.true, rows.predicted, average="macro"),
        "MCC": peer.matthews_corrcoef(rows.true, rows.predicted),
        "macro ROC AUC": peer.roc_auc_score(rows.true, rows.probability, multi_class="ovr"),
        "log loss": peer.log_loss(rows.true, rows.probability),
    }
    found = measures_of(rows)
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-12), name
    targets = np.eye(4)[rows.true]
    assert found["Brier score"].value == pytest.approx(((rows.probability - targets) ** 2).sum(axis=1).mean())


def test_measures_of_numbers_are_the_peers():
    random = np.random.RandomState(0)
    true = 1e4 + random.randn(41)
    predicted = true + random.randn(41)
    found = measures_of(NumberPredictions(true, predicted))
    assert found["R2"].value == pytest.approx(peer.r2_score(true, predicted))
    assert found["RMSE"].value == pytest.approx(peer.root_mean_squared_error(true, predicted))
    assert found["MAE"].value == pytest.approx(peer.mean_absolute_error(true, predicted))
    assert found["median absolute error"].value == pytest.approx(peer.median_absolute_error(true, predicted))


def repeated(counts):
    return np.repeat(np.arange(len(counts)), counts)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_counts_stand_for_repeated_rows(seed):
    rows = binary_rows(30, seed=seed)
    counts = np.random.RandomState(seed).randint(0, 3, size=30)
    counts[:4] = 1  # both classes stay
    index = repeated(counts)
    true, score = rows.true[index], rows.score[index]
    ranking, errors = Ranking(rows.true == 1, rows.score), np.abs(rows.true - rows.score)
    pairs = [
        (ranking.roc_auc, peer.roc_auc_score(true, score)),
        (ranking.average_precision, peer.average_precision_score(true, score)),
        (statistics.median_of(errors), np.median(errors[index])),
        (statistics.r2(rows.true, rows.score), peer.r2_score(true, score)),
        (statistics.root_mean_of(errors), np.sqrt(errors[index].mean())),
    ]
    for statistic, expected in pairs:
        np.testing.assert_allclose(statistic(counts[None, :].astype(float))[0], expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(4, 40))
def test_rankings_under_weights_are_those_of_scikit_learn(seed, n_rows):
    found = binary_rows(n_rows, seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=n_rows).astype(float)
    weight[:4] = 1  # both classes stay
    ranking, score = Ranking(found.true == 1, found.probability[:, 1]), found.probability[:, 1]
    expected = peer.roc_auc_score(found.true, score, sample_weight=weight)
    assert math.isclose(ranking.roc_auc(weight[None])[0], expected, abs_tol=1e-12)
    expected = peer.average_precision_score(found.true, score, sample_weight=weight)
    assert math.isclose(ranking.average_precision(weight[None])[0], expected, abs_tol=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_measures_of_stacked_matrices_are_those_of_each(seed, n_classes):
    random = np.random.RandomState(seed)
    samples = random.randint(0, n_classes, size=(3, 2, 12))  # small: classes that do not occur or are not predicted
    stack = np.stack([confusion.confusion_matrix(*sample, n_classes) for sample in samples])
    for sample, matrix in zip(samples, stack, strict=True):
        np.testing.assert_array_equal(matrix, peer.confusion_matrix(*sample, labels=range(n_classes)))
    expected = {
        "balanced_accuracy": peer.balanced_accuracy_score,
        "f1_macro": lambda *sample: peer.f1_score(*sample, average="macro"),
        "f1_weighted": lambda *sample: peer.f1_score(*sample, average="weighted", zero_division=0.0),
        "mcc": peer.matthews_corrcoef,
        "kappa": peer.cohen_kappa_score,
    }
    if n_classes == 2:
        expected["f1"] = lambda *sample: peer.f1_score(*sample, zero_division=np.nan)
    for name, measure in expected.items():
        values = [quietly(measure, *sample) for sample in samples]
        np.testing.assert_allclose(confusion.MEASURES[name](stack), values, atol=1e-12, err_msg=name)
    recalls = np.stack([quietly(peer.recall_score, *sample, average=None, labels=range(n_classes)) for sample in samples])
    recalls[stack.sum(axis=-1) == 0] = np.nan
    np.testing.assert_allclose(confusion.g_mean(stack), recalls.prod(axis=1) ** (1 / n_classes), atol=1e-12)


def quietly(measure, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(*args, **options)


def test_shares_of_stacked_matrices_are_nan_of_nothing():
    stack = np.array([[[5, 1], [2, 4]], [[3, 0], [0, 0]]])
    expected = {"accuracy": [9 / 12, 1], "precision": [4 / 5, np.nan], "recall": [4 / 6, np.nan]}
    expected |= {"specificity": [5 / 6, 1], "npv": [5 / 7, 1]}
    assert expected.keys() == confusion.SHARES.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(confusion.ratio(*confusion.SHARES[name](stack)), values, err_msg=name)


def test_a_ranking_of_one_class_is_not_defined():
    ranking = Ranking(np.array([True, True, False]), np.array([0.1, 0.3, 0.2]))
    counts = np.array([[1.0, 1, 0], [0, 0, 2], [1, 1, 1]])
    np.testing.assert_allclose(ranking.roc_auc(counts), [np.nan, np.nan, 0.5])
    np.testing.assert_allclose(ranking.average_precision(counts), [1, np.nan, (1 + 2 / 3) / 2])


@pytest.mark.parametrize("n_rows", [3, 7, 19])  # the computed mean of three times 0.1 is not 0.1
def test_no_share_of_the_variance_of_a_constant(n_rows):
    true = np.full(n_rows, 0.1)
    counts = np.random.RandomState(0).randint(1, 4, size=(50, n_rows)).astype(float)
    assert np.isnan(statistics.r2(true, true + 1)(counts)).all()


def test_measures_with_groups_come_from_resampled_groups():
    rows = binary_rows()
    found = measures_of(rows, groups=np.arange(60) // 3)
    assert {measure.method for measure in found.values()} == {"bootstrap of groups"}


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    random = np.random.RandomState(0)
    n_covered = dict.fromkeys(["accuracy", "ROC AUC", "log loss"], 0)
    # The truth, from a large sample of the same law.
    large = binary_rows(400_000, seed=1, digits=3)
    truth = {name: measure.value for name, measure in measures_of(large, n_resamples=1).items() if name in n_covered}
    for _ in range(400):
        rows = binary_rows(120, seed=random.randint(10**6), digits=3)
        for name, measure in measures_of(rows, 300).items():
            if name in n_covered:
                n_covered[name] += measure.low <= truth[name] <= measure.high
    for name, n in n_covered.items():
        assert 0.85 < n / 400 < 0.95, name
