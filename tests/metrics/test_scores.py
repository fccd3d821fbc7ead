"""Curves and areas of scores: equal to scikit-learn's and to their definitions, ties and weights included."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

import mercer.metrics
from mercer._native import kernels
from mercer.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score, roc_curve, top_k_accuracy_score
from tests.metrics.cases import assert_same, outcome, scored
from tests.reference import metrics as reference
from tests.versions import against_scikit_learn_1_9

CURVES = ["roc_curve", "precision_recall_curve", "det_curve", "confusion_matrix_at_thresholds"]


@against_scikit_learn_1_9
@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("name", CURVES)
@settings(max_examples=40, deadline=None)
@given(data=scored())
def test_curves_equal_scikit_learns_with_ties_and_weights(name, drop, data):
    y, score, weight = data
    options = {} if name == "confusion_matrix_at_thresholds" else {"drop_intermediate": drop}
    mine = outcome(getattr(mercer.metrics, name), y, score, sample_weight=weight, **options)
    theirs = outcome(getattr(sklearn.metrics, name), y, score, sample_weight=weight, **options)
    assert_same(mine, theirs)
    if not isinstance(theirs, type):
        assert mine[-1].dtype == theirs[-1].dtype


@pytest.mark.parametrize(
    ("name", "options"), [("roc_auc_score", {}), ("roc_auc_score", {"max_fpr": 0.3}), ("average_precision_score", {})]
)
@settings(max_examples=60, deadline=None)
@given(data=scored())
def test_areas_equal_scikit_learns_with_ties_and_weights(name, options, data):
    y, score, weight = data
    if weight is not None and not (weight[y == 0].any() and weight[y == 1].any()):
        weight = None  # where a class has no weight, scikit-learn fails for reasons of its own
    mine = outcome(getattr(mercer.metrics, name), y, score, sample_weight=weight, **options)
    theirs = outcome(getattr(sklearn.metrics, name), y, score, sample_weight=weight, **options)
    assert_same(mine, theirs, rtol=1e-11, atol=1e-13)


@settings(max_examples=50, deadline=None)
@given(data=scored(both_classes=True))
def test_roc_auc_is_the_share_of_pairs_in_the_right_order(data):
    y, score, weight = data
    expected = reference.roc_auc(y == 1, score)
    assert abs(roc_auc_score(y, score) - expected) < 1e-14
    if weight is not None and weight[y == 1].any() and weight[y == 0].any():
        np.testing.assert_allclose(
            roc_auc_score(y, score, sample_weight=weight), reference.roc_auc(y == 1, score, weight), rtol=1e-12, atol=1e-14
        )


def test_the_area_is_that_under_the_curve():
    random = np.random.RandomState(0)
    y, score, weight = random.randint(2, size=5_000), random.randint(300, size=5_000) / 7, random.uniform(size=5_000)
    fpr, tpr, _ = roc_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(roc_auc_score(y, score, sample_weight=weight), auc(fpr, tpr), rtol=1e-12)
    precision, recall, _ = precision_recall_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(
        average_precision_score(y, score, sample_weight=weight), -np.sum(np.diff(recall) * precision[:-1]), rtol=1e-12
    )


# ---- many classes


def _many(seed=0, n=60, k=4):
    random = np.random.RandomState(seed)
    proba = np.round(random.dirichlet(np.ones(k), size=n), 2)
    proba[:, -1] = 1 - proba[:, :-1].sum(axis=1)
    return random.permutation(np.arange(n) % k), proba, random.uniform(size=n)


@pytest.mark.parametrize("names", [np.arange(4), np.array(["a", "b", "c", "d"])], ids=["int", "str"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_roc_auc_of_many_classes_equals_scikit_learns(names, multi_class, average):
    y, proba, weight = _many()
    for options in ({}, {"sample_weight": weight}):
        arguments = {"multi_class": multi_class, "average": average, **options}
        mine = outcome(roc_auc_score, names[y], proba, **arguments)
        assert_same(mine, outcome(sklearn.metrics.roc_auc_score, names[y], proba, **arguments))


def test_roc_auc_with_given_labels_equals_scikit_learns():
    y, proba, _ = _many()
    is_kept = y < 2
    arguments = (y[is_kept], proba[is_kept])
    options = {"multi_class": "ovr", "labels": [0, 1, 2, 3], "average": "weighted"}
    assert_same(outcome(roc_auc_score, *arguments, **options), outcome(sklearn.metrics.roc_auc_score, *arguments, **options))
    for labels, message in [
        ([1, 0, 2, 3], "ordered"),
        ([0, 0, 1, 2], "unique"),
        ([0, 1, 2], "columns"),
        ([1, 2, 3, 4], "not in"),
    ]:
        with pytest.raises(ValueError, match=message):
            roc_auc_score(*arguments, multi_class="ovr", labels=labels)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples", None])
@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_areas_of_indicator_matrices_equal_scikit_learns(name, average):
    random = np.random.RandomState(3)
    y, score, weight = random.randint(2, size=(40, 3)), random.randint(9, size=(40, 3)) / 3, random.uniform(size=40)
    y[:, 0] |= y.sum(axis=1) == 0
    y[y.sum(axis=1) == 3, 1] = 0
    for options in ({}, {"sample_weight": weight}):
        mine = outcome(getattr(mercer.metrics, name), y, score, average=average, **options)
        assert_same(mine, outcome(getattr(sklearn.metrics, name), y, score, average=average, **options))


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", None])
def test_average_precision_of_many_classes_equals_scikit_learns(average):
    y, proba, weight = _many()
    for options in ({}, {"sample_weight": weight}):
        mine = outcome(average_precision_score, y, proba, average=average, **options)
        assert_same(mine, outcome(sklearn.metrics.average_precision_score, y, proba, average=average, **options))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("normalize", [True, False])
def test_top_k_accuracy_equals_scikit_learns(k, normalize):
    y, proba, weight = _many()
    for options in ({}, {"sample_weight": weight}):
        arguments = {"k": k, "normalize": normalize, **options}
        mine = outcome(top_k_accuracy_score, y, np.round(proba, 1), **arguments)
        assert_same(mine, outcome(sklearn.metrics.top_k_accuracy_score, y, np.round(proba, 1), **arguments))
    for scores in (proba[:, 0], proba[:, 0] - 0.5):
        mine = outcome(top_k_accuracy_score, y > 1, scores, k=k)
        assert_same(mine, outcome(sklearn.metrics.top_k_accuracy_score, y > 1, scores, k=k))


# ---- input


def test_labels_and_scores_may_come_in_any_container():
    y, score = ["no", "yes", "yes", "no", "yes"], [0.1, 0.4, 0.35, 0.8, 0.9]
    expected = sklearn.metrics.roc_auc_score(y, score)
    for make in (list, tuple, np.array, pd.Series, pl.Series, lambda values: np.array(values)[:, None]):
        assert roc_auc_score(make(y), make(score)) == expected
    assert roc_auc_score(np.array(y) == "yes", score) == expected
    assert roc_auc_score(y, np.array(score, dtype=np.float16).astype(np.longdouble)) == pytest.approx(expected)
    fpr, _, _ = roc_curve(y, score, pos_label="yes")
    assert fpr[-1] == 1
    with pytest.raises(ValueError, match=r"y_true takes value in {'no', 'yes'} and pos_label is not specified"):
        roc_curve(y, score)
    with pytest.raises(ValueError, match=r"pos_label=1 is not a valid label. It should be one of \['no', 'yes'\]"):
        average_precision_score(y, score)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 50, 99])
def test_scores_that_are_not_finite_are_refused_in_scikit_learns_words(bad, place):
    score = np.linspace(0, 1, 100)
    score[place] = bad
    for name in (*CURVES, "roc_auc_score", "average_precision_score", "h_measure"):
        with pytest.raises(ValueError, match=r"Input y_score contains (NaN|infinity)"):
            getattr(mercer.metrics, name)(np.arange(100) % 2, score)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.5]), "inconsistent numbers of samples"),
        (([0, 1, 2], [0.5, 0.6, 0.7]), "multi_class must be in"),
        (([0, 1], np.zeros((2, 2))), "y_score must be a vector of scores"),
        (([0, 1], ["a", "b"]), "y_score of dtype .* is not numeric"),
    ],
)
def test_bad_scores_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        roc_auc_score(*arguments)


def test_one_class_alone_warns_and_gives_nan():
    with pytest.warns(UndefinedMetricWarning, match="Only one class is present in y_true") as caught:
        assert np.isnan(roc_auc_score([1, 1], [0.1, 0.2]))
    assert caught[0].filename == __file__
    for max_fpr in (None, 0.5):
        with pytest.warns(UndefinedMetricWarning, match="Only one class"):
            assert np.isnan(roc_auc_score([0, 1], [0.1, 0.2], sample_weight=[0, 1], max_fpr=max_fpr))
    with pytest.warns(UndefinedMetricWarning, match="No negative samples"):
        fpr, _, _ = roc_curve([1, 1], [0.1, 0.2])
    assert np.isnan(fpr).all()


def test_auc_needs_two_points_that_go_one_way():
    assert auc([1, 0], [1, 1]) == 1
    with pytest.raises(ValueError, match="At least 2 points"):
        auc([1], [1])
    with pytest.raises(ValueError, match="neither increasing nor decreasing"):
        auc([0, 1, 0.5], [0, 1, 1])


# ---- the sort behind them


def _spreads(n):
    random = np.random.RandomState(0)
    return {
        "uniform": random.uniform(size=n),
        "normal": random.normal(size=n) * 5,
        "few": random.randint(5, size=n) / 5,
        "equal": np.full(n, 0.3),
        "huge": np.where(random.uniform(size=n) < 0.5, -1, 1) * 10.0 ** random.uniform(-300, 300, size=n),
        "crowded": np.concatenate([1 + random.uniform(size=n - 2) * 1e-12, [-1e308, 1e308]]),
        "sorted": np.sort(random.uniform(size=n)),
        "tiny": random.randint(-3, 4, size=n) * 5e-324,
        "signed zeros": np.where(random.uniform(size=n) < 0.5, -0.0, 0.0),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("n", [1, 23, 25, 3_000, 200_000])
def test_cut_offs_are_the_distinct_scores_with_what_lies_above(n, has_weights, dtype):
    y = np.random.RandomState(1).randint(2, size=n)
    weight = np.random.RandomState(2).randint(1, 9, size=n) / 8 if has_weights else None
    rows = np.ones(n) if weight is None else weight
    kind = kernels.RankedScores64 if dtype == np.float64 else kernels.RankedScores32
    for name, scores in _spreads(max(n, 3)).items():
        with np.errstate(over="ignore", under="ignore"):
            scores = np.nan_to_num(scores[:n].astype(dtype))
        ranked = kind(scores, y, 1, weight, 2)
        cuts, place = np.unique(-scores, return_inverse=True)
        assert ranked.n_cuts == len(cuts), name
        thresholds, positive, negative = np.empty(len(cuts), dtype=dtype), np.empty(len(cuts)), np.empty(len(cuts))
        ranked.curve(thresholds, positive, negative, 2)
        np.testing.assert_array_equal(thresholds, -cuts, err_msg=name)
        np.testing.assert_array_equal(positive, np.cumsum(np.bincount(place, weights=rows * y)), err_msg=name)
        np.testing.assert_array_equal(negative, np.cumsum(np.bincount(place, weights=rows * (1 - y))), err_msg=name)


@pytest.mark.parametrize("has_weights", [False, True])
def test_results_have_the_same_bits_for_any_number_of_threads(has_weights):
    random = np.random.RandomState(0)
    n = 300_000
    y, scores = random.randint(2, size=n), np.round(random.normal(size=n), 4)
    weight = random.uniform(size=n) if has_weights else None
    proba = random.dirichlet(np.ones(3), size=n)
    columns = np.arange(3, dtype=np.int32)
    seen = set()
    for n_threads in (1, 2, 3, 8):
        ranked = kernels.RankedScores64(scores, y, 1, weight, n_threads)
        curve = [np.empty(ranked.n_cuts) for _ in range(3)]
        ranked.curve(*curve, n_threads)
        tally = np.empty((3, 2))
        kernels.weigh_labels(y, y, np.ones(n) if weight is None else weight, 0, tally, n_threads)
        numbers = (
            ranked.roc_area(n_threads),
            ranked.average_precision(n_threads),
            *ranked.total,
            *kernels.log_loss(proba, y, 0, columns, weight, n_threads),
        )
        seen.add((numbers, *(array.tobytes() for array in (*curve, tally))))
    assert len(seen) == 1


@settings(max_examples=30, deadline=None)
@given(shift=st.floats(-5, 5), scale=st.floats(0.01, 100))
def test_areas_depend_on_the_order_alone(shift, scale):
    random = np.random.RandomState(0)
    y, scores = random.randint(2, size=200), random.randint(50, size=200) / 8
    moved = np.exp(scale / 100 * scores) + shift
    assert roc_auc_score(y, moved) == roc_auc_score(y, scores)
    assert average_precision_score(y, moved) == average_precision_score(y, scores)
    assert roc_auc_score(y, -scores) == pytest.approx(1 - roc_auc_score(y, scores), abs=1e-15)
