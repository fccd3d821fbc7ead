"""Measures by counts are scikit-learn's, and their intervals are those of the books."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from mercer.model_selection._evaluate import statistics
from mercer.model_selection._evaluate.intervals import delong, wilson
from mercer.model_selection._evaluate.measures import measure_test
from mercer.model_selection._evaluate.predictions import Predictions
from mercer.model_selection._evaluate.resampling import Bootstrap


def binary_rows(n=60, seed=0, digits=1):
    random = np.random.RandomState(seed)
    true = np.r_[0, 0, 1, 1, random.randint(0, 2, n - 4)]
    probability = np.clip(np.round(0.25 * true + 0.75 * random.uniform(size=n), digits), 0.05, 0.95)
    predicted = (probability > 0.5).astype(int)
    both = np.c_[1 - probability, probability]
    return Predictions(true, predicted, predicted, true, np.arange(2), probability, both)


def many_rows(n=80, seed=0, n_classes=4):
    random = np.random.RandomState(seed)
    true = np.r_[np.repeat(np.arange(n_classes), 2), random.randint(0, n_classes, n - 2 * n_classes)]
    probability = random.dirichlet(np.ones(n_classes), n) + 0.4 * np.eye(n_classes)[true]
    probability /= probability.sum(axis=1, keepdims=True)
    predicted = probability.argmax(axis=1)
    return Predictions(true, predicted, predicted, true, np.arange(n_classes), None, probability)


def measures_of(rows, n_resamples=50, **options):
    bootstrap = Bootstrap(len(rows.true), n_resamples, np.random.RandomState(0), **options)
    return {measure.name: measure for measure in measure_test(rows, bootstrap, 0.9)}


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
    found = measures_of(Predictions(true, predicted, predicted, true))
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
    true, score, predicted = rows.true[index], rows.score[index], rows.predicted[index]
    ranking, errors = statistics.Ranking(rows.true == 1, rows.score), np.abs(rows.true - rows.score)
    matrices = statistics.confusions(rows.true, rows.predicted, 2)
    pairs = [
        (ranking.roc_auc, peer.roc_auc_score(true, score)),
        (ranking.average_precision, peer.average_precision_score(true, score)),
        (statistics.median_of(errors), np.median(errors[index])),
        (statistics.r2(rows.true, rows.score), peer.r2_score(true, score)),
        (statistics.root_mean_of(errors), np.sqrt(errors[index].mean())),
        (statistics.of_confusion(statistics.matthews, matrices), peer.matthews_corrcoef(true, predicted)),
        (statistics.of_confusion(statistics.positive_f1, matrices), peer.f1_score(true, predicted, zero_division=np.nan)),
        (statistics.of_confusion(statistics.balanced_accuracy, matrices), peer.balanced_accuracy_score(true, predicted)),
    ]
    for statistic, expected in pairs:
        np.testing.assert_allclose(statistic(counts[None, :].astype(float))[0], expected, atol=1e-12)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (7, 20), (990, 1000), (1, 1)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_wilson_is_that_of_statsmodels(k, n, level):
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    np.testing.assert_allclose(wilson(k / n, n, level), expected, atol=1e-12)


def test_delong_variance_is_that_of_the_pairs():
    rows = binary_rows(50, digits=1)
    positives, negatives = rows.score[rows.true == 1], rows.score[rows.true == 0]
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)  # all pairs
    area = wins.mean()
    variance = wins.mean(axis=1).var(ddof=1) / len(positives) + wins.mean(axis=0).var(ddof=1) / len(negatives)
    half = 1.959963984540054 * np.sqrt(variance) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    expected = [1 / (1 + np.exp(half - logit)), 1 / (1 + np.exp(-half - logit))]
    np.testing.assert_allclose(delong(rows.true == 1, rows.score, 0.95), expected)


def test_a_perfect_order_of_few_rows_proves_little():
    true = np.array([0, 0, 0, 1, 1]) == 1
    low, high = delong(true, np.arange(5.0), 0.95)
    assert high == 1.0
    assert low == pytest.approx(0.025**0.5)
    low, high = delong(true, -np.arange(5.0), 0.95)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025**0.5)
    assert np.isnan(delong(np.ones(3, dtype=bool), np.arange(3.0), 0.95)).all()


def test_bootstrap_keeps_strata_and_draws_groups_whole():
    strata = np.repeat([0, 1, 2], [5, 3, 12])
    bootstrap = Bootstrap(20, 30, np.random.RandomState(0), strata)
    for counts in bootstrap._blocks():
        assert counts.shape == (30, 20)
        for stratum, size in enumerate((5, 3, 12)):
            assert (counts[:, strata == stratum].sum(axis=1) == size).all()
    groups = np.arange(20) % 7
    for counts in Bootstrap(20, 30, np.random.RandomState(0), strata, groups)._blocks():
        for group in range(7):
            assert np.ptp(counts[:, groups == group], axis=1).max() == 0


def test_bootstrap_in_blocks_has_as_many_resamples(monkeypatch):
    monkeypatch.setattr("mercer.model_selection._evaluate.resampling._BLOCK", 64)
    sizes = [len(counts) for counts in Bootstrap(20, 10, np.random.RandomState(0))._blocks()]
    assert sizes == [3, 3, 3, 1]


def test_bootstrap_interval_of_a_mean_is_that_of_its_standard_error():
    values = np.random.RandomState(1).randn(400)
    bootstrap = Bootstrap(400, 4000, np.random.RandomState(0))
    ((low, high),) = bootstrap.intervals([statistics.mean_of(values)], 0.95)
    half = 1.96 * values.std() / np.sqrt(400)
    np.testing.assert_allclose([low, high], [values.mean() - half, values.mean() + half], atol=0.1 * half)


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


def test_measures_with_groups_come_from_resampled_groups():
    rows = binary_rows()
    found = measures_of(rows, groups=np.arange(60) // 3)
    assert {measure.method for measure in found.values()} == {"bootstrap of groups"}
