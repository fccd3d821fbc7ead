"""Measures of predicted labels: each equals scikit-learn's, or its definition, for any labels and weights."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

import mercer.metrics
from mercer.metrics import (
    accuracy_score,
    class_weighted_accuracy,
    confusion_matrix,
    error_rate,
    f1_score,
    false_negative_rate,
    false_positive_rate,
    fbeta_score,
    g_mean_score,
    npv_score,
    precision_score,
    recall_score,
    specificity_score,
    zero_one_loss,
)
from tests.metrics.cases import assert_same, label_pairs, outcome
from tests.reference.metrics import confusion
from tests.versions import against_scikit_learn_1_9

AVERAGES = ("macro", "micro", "weighted", None)
# Measures that go by scikit-learn's names, with options to try.
SHARED = [
    ("confusion_matrix", [{"normalize": how} for how in (None, "true", "pred", "all")]),
    ("accuracy_score", [{"normalize": True}, {"normalize": False}]),
    ("zero_one_loss", [{"normalize": True}, {"normalize": False}]),
    ("hamming_loss", [{}]),
    ("balanced_accuracy_score", [{"adjusted": False}, {"adjusted": True}]),
    ("matthews_corrcoef", [{}]),
    ("cohen_kappa_score", [{"weights": how} for how in (None, "linear", "quadratic")]),
    ("class_likelihood_ratios", [{}, {"replace_undefined_by": 1.0}, {"replace_undefined_by": {"LR+": 2.0, "LR-": 0.5}}]),
    *(
        (name, [{"average": how, "zero_division": zero} for how in AVERAGES for zero in ("warn", 1)])
        for name in ("precision_score", "recall_score", "f1_score", "jaccard_score")
    ),
    ("precision_score", [{"average": how, "zero_division": np.nan} for how in AVERAGES]),
    ("fbeta_score", [{"average": "macro", "beta": beta} for beta in (0, 0.5, 2, np.inf)]),
    ("precision_recall_fscore_support", [{"average": how, "beta": 2.0} for how in AVERAGES]),
    ("classification_report", [{"output_dict": True}, {"digits": 3, "zero_division": 0}]),
]
shared = pytest.mark.parametrize(("name", "options"), SHARED, ids=[f"{i}-{name}" for i, (name, _) in enumerate(SHARED)])


@against_scikit_learn_1_9
@shared
@settings(max_examples=25, deadline=None)
@given(data=label_pairs())
def test_measures_equal_scikit_learns_for_any_labels_and_weights(name, options, data):
    y_true, y_pred, weight = data
    for option in options:
        arguments = {**option, "sample_weight": weight}
        mine = outcome(getattr(mercer.metrics, name), y_true, y_pred, **arguments)
        theirs = outcome(getattr(sklearn.metrics, name), y_true, y_pred, **arguments)
        assert_same(mine, theirs)


@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
@settings(max_examples=25, deadline=None)
@given(data=label_pairs(kinds=("int", "str", "bool"), most_classes=2), place=st.integers(0, 2))
def test_measures_of_the_positive_class_equal_scikit_learns(name, data, place):
    y_true, y_pred, weight = data
    pos_label = {"i": [0, 1, 9], "U": ["ant", "bee", "eel"], "b": [False, True, True]}[y_true.dtype.kind][place]
    arguments = {"pos_label": pos_label, "sample_weight": weight}
    mine = outcome(getattr(mercer.metrics, name), y_true, y_pred, **arguments)
    theirs = outcome(getattr(sklearn.metrics, name), y_true, y_pred, **arguments)
    assert_same(mine, theirs)


@pytest.mark.parametrize("name", ["confusion_matrix", "precision_score", "recall_score", "f1_score", "cohen_kappa_score"])
@settings(max_examples=25, deadline=None)
@given(data=label_pairs(kinds=("int", "str")), places=st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True))
def test_chosen_labels_in_any_order_give_scikit_learns_values(name, data, places):
    y_true, y_pred, weight = data
    labels = (np.array(["ant", "bee", "cat", "dog", "eel"]) if y_true.dtype.kind == "U" else np.arange(5))[places]
    options = {} if name in ("confusion_matrix", "cohen_kappa_score") else {"average": "macro"}
    arguments = {"labels": labels, "sample_weight": weight, **options}
    mine = outcome(getattr(mercer.metrics, name), y_true, y_pred, **arguments)
    assert_same(mine, outcome(getattr(sklearn.metrics, name), y_true, y_pred, **arguments))


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples", None])
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
def test_indicator_matrices_give_scikit_learns_values(name, average):
    random = np.random.RandomState(0)
    y_true, y_pred = random.randint(2, size=(2, 30, 4))
    weight = random.uniform(size=30)
    for arguments in ({}, {"sample_weight": weight}, {"labels": [2, 0]}):
        mine = outcome(getattr(mercer.metrics, name), y_true, y_pred, average=average, **arguments)
        assert_same(mine, outcome(getattr(sklearn.metrics, name), y_true, y_pred, average=average, **arguments))


@pytest.mark.parametrize("name", ["accuracy_score", "zero_one_loss", "hamming_loss", "classification_report"])
def test_indicator_matrices_are_taken_where_scikit_learn_takes_them(name):
    y_true, y_pred = np.random.RandomState(1).randint(2, size=(2, 30, 3))
    assert_same(outcome(getattr(mercer.metrics, name), y_true, y_pred), outcome(getattr(sklearn.metrics, name), y_true, y_pred))


# ---- Mercer's own


RATES = {
    specificity_score: lambda c: c["tn"] / (c["tn"] + c["fp"]),
    npv_score: lambda c: c["tn"] / (c["tn"] + c["fn"]),
    false_positive_rate: lambda c: c["fp"] / (c["fp"] + c["tn"]),
    false_negative_rate: lambda c: c["fn"] / (c["fn"] + c["tp"]),
}


@pytest.mark.parametrize("measure", RATES, ids=lambda measure: measure.__name__)
@settings(max_examples=30, deadline=None)
@given(data=label_pairs(kinds=("int", "str")))
def test_rates_are_what_the_counts_of_each_class_say(measure, data):
    y_true, y_pred, weight = data
    classes = np.unique(np.concatenate([y_true, y_pred]))
    counts = [confusion(y_true, y_pred, label, weight) for label in classes]

    def value(c):
        with np.errstate(invalid="ignore"):
            return RATES[measure]({key: np.float64(number) for key, number in c.items()})

    call = partial(measure, y_true, y_pred, sample_weight=weight, zero_division=np.nan)
    expected = np.array([value(c) for c in counts])
    np.testing.assert_allclose(call(average=None), expected, rtol=1e-12)
    is_defined = ~np.isnan(expected)
    support = np.array([c["tp"] + c["fn"] for c in counts])
    micro = value({key: sum(c[key] for c in counts) for key in counts[0]})
    np.testing.assert_allclose(call(average="micro"), micro, rtol=1e-12)
    if is_defined.any():
        np.testing.assert_allclose(call(average="macro"), expected[is_defined].mean(), rtol=1e-12)
        if support[is_defined].sum() > 0:
            mean = np.average(expected[is_defined], weights=support[is_defined])
            np.testing.assert_allclose(call(average="weighted"), mean, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(data=label_pairs(kinds=("int",), most_classes=2))
def test_rates_complement_each_other(data):
    y_true, y_pred, weight = data
    options = {"sample_weight": weight, "zero_division": np.nan}
    pairs = [(specificity_score, false_positive_rate), (recall_score, false_negative_rate)]
    for share, rate in pairs:
        total = share(y_true, y_pred, **options) + rate(y_true, y_pred, **options)
        assert np.isnan(total) or abs(total - 1) < 1e-12
    # The negative class sees the positive one's specificity as its recall, and its npv as its precision.
    if set(y_true) | set(y_pred) == {0, 1}:
        recall, precision = (m(y_true, y_pred, pos_label=0, **options) for m in (recall_score, precision_score))
        np.testing.assert_allclose(specificity_score(y_true, y_pred, **options), recall, rtol=1e-12)
        np.testing.assert_allclose(npv_score(y_true, y_pred, **options), precision, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(data=label_pairs(kinds=("int", "str")))
def test_g_mean_is_the_geometric_mean_of_the_recalls(data):
    y_true, y_pred, weight = data
    counts = [confusion(y_true, y_pred, label, weight) for label in np.unique(y_true)]
    recalls = np.array([c["tp"] / (c["tp"] + c["fn"]) for c in counts if c["tp"] + c["fn"] > 0])
    mine = outcome(g_mean_score, y_true, y_pred, sample_weight=weight)
    np.testing.assert_allclose(mine, np.prod(recalls) ** (1 / len(recalls)), rtol=1e-12)
    raised = outcome(g_mean_score, y_true, y_pred, sample_weight=weight, correction=0.01)
    np.testing.assert_allclose(raised, np.prod(np.where(recalls == 0, 0.01, recalls)) ** (1 / len(recalls)), rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(data=label_pairs(kinds=("int",), most_classes=2, least_rows=4), alpha=st.floats(0, 1))
def test_class_weighted_accuracy_weighs_sensitivity_and_specificity(data, alpha):
    y_true, y_pred, weight = data
    y_true[:2] = 0, 1
    if weight is not None:
        weight[:2] = 1
    sensitivity, specificity = (m(y_true, y_pred, sample_weight=weight) for m in (recall_score, specificity_score))
    expected = alpha * sensitivity + (1 - alpha) * specificity
    np.testing.assert_allclose(
        class_weighted_accuracy(y_true, y_pred, alpha=alpha, sample_weight=weight), expected, rtol=1e-12, atol=1e-15
    )
    by_class = class_weighted_accuracy(y_true, y_pred, alpha={0: 2 * (1 - alpha), 1: 2 * alpha}, sample_weight=weight)
    np.testing.assert_allclose(by_class, expected, rtol=1e-12, atol=1e-15)
    other_side = class_weighted_accuracy(y_true, y_pred, alpha=1 - alpha, pos_label=0, sample_weight=weight)
    np.testing.assert_allclose(other_side, expected, rtol=1e-12, atol=1e-15)


def test_class_weighted_accuracy_of_many_classes_takes_a_weight_for_each():
    y_true, y_pred = ["a", "a", "b", "c"], ["a", "b", "b", "b"]
    assert class_weighted_accuracy(y_true, y_pred, alpha={"a": 1, "b": 2, "c": 1}) == (0.5 + 2 + 0) / 4
    with pytest.raises(ValueError, match=r"alpha=0.5 is the weight of one of two classes, but there are 3"):
        class_weighted_accuracy(y_true, y_pred)
    with pytest.raises(ValueError, match=r"no weight for the label 'c'"):
        class_weighted_accuracy(y_true, y_pred, alpha={"a": 1, "b": 1})
    with pytest.raises(ValueError, match="all classes weight 0"):
        class_weighted_accuracy(y_true, y_pred, alpha={"a": 0, "b": 0, "c": 0})


def test_class_weighted_accuracy_of_one_class_alone_warns_of_the_other():
    with pytest.warns(UndefinedMetricWarning, match="Recall is ill-defined"):
        assert class_weighted_accuracy([1, 1], [1, 1]) == 0.5
    assert class_weighted_accuracy([1, 1], [1, 1], zero_division=1) == 1
    assert class_weighted_accuracy(["no", "no"], ["no", "no"], zero_division=1) == 1
    assert class_weighted_accuracy([0, 0], [0, 0], alpha=0.25, zero_division=0) == 0.75


# ---- the worked example of the notes (S2, example 6.2)


def _from_counts(tp, fn, fp, tn):
    return np.repeat([1, 1, 0, 0], [tp, fn, fp, tn]), np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1"), [((3, 7, 0, 990), 1, 0.3, 0.46), ((9, 1, 6, 984), 0.6, 0.9, 0.72)]
)
def test_the_two_models_of_the_notes_have_the_measures_printed_there(counts, precision, recall, f1):
    y = _from_counts(*counts)
    assert (precision_score(*y), recall_score(*y), round(f1_score(*y), 2)) == (precision, recall, f1)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((3, 7, 0, 990), [1, 0.3, 6 / 13, 0.348837, 0.547723, 0.65, 0.992979, 0.007]),
        ((9, 1, 6, 984), [0.6, 0.9, 18 / 25, 0.818182, 0.945804, 0.946970, 0.998985, 0.007]),
    ],
)
def test_further_measures_of_the_two_models_of_the_notes(counts, expected):
    y = _from_counts(*counts)
    f2, cwa = fbeta_score(*y, beta=2), class_weighted_accuracy(*y, alpha=0.5)
    found = [precision_score(*y), recall_score(*y), f1_score(*y), f2, g_mean_score(*y), cwa, npv_score(*y), error_rate(*y)]
    np.testing.assert_allclose(found, expected, atol=5e-7)


@pytest.mark.parametrize(("fn", "fp", "expected"), [(25, 0, 2 / 3), (0, 50, 2 / 3), (25, 50, 0.4)])
def test_f1_weighs_misses_and_false_alarms_as_the_notes_say(fn, fp, expected):
    assert f1_score(*_from_counts(50 - fn, fn, fp, 500 - fp)) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("counts", [(3, 7, 0, 990), (9, 1, 6, 984), (40, 10, 60, 440)])
def test_f_beta_has_the_form_by_counts_with_its_misprint_mended(counts, beta):
    tp, fn, fp, _ = counts
    positives = tp + fn
    by_counts = (1 + beta**2) * tp / ((1 + beta**2) * positives - fn + fp)
    assert fbeta_score(*_from_counts(*counts), beta=beta) == pytest.approx(by_counts)


def test_all_negative_predictions_are_99_per_cent_accurate_and_find_nothing():
    y_true, y_pred = _from_counts(0, 1_000, 0, 99_000)
    assert accuracy_score(y_true, y_pred) == 0.99
    assert error_rate(y_true, y_pred) == zero_one_loss(y_true, y_pred) == 0.01
    assert recall_score(y_true, y_pred) == g_mean_score(y_true, y_pred) == 0


# ---- labels of any kind


SHAPES = {
    "list": list,
    "tuple": tuple,
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(y).astype("category"),
    "pandas string": lambda y: pd.Series(y).astype("string") if isinstance(y[0], str) else pd.Series(y).astype("Int64"),
    "polars": pl.Series,
    "column": lambda y: np.asarray(y)[:, None],
    "strided": lambda y: np.repeat(np.asarray(y), 2)[::2],
    "objects": lambda y: np.array(y, dtype=object),
    "read-only": lambda y: np.broadcast_to(np.asarray(y), (1, len(y)))[0],
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("labels", [[0, 1, 2, 1], ["a", "b", "c", "b"], [True, False, True, True]], ids=["int", "str", "bool"])
def test_labels_may_come_in_any_container(shape, labels):
    other = labels[1:] + labels[:1]
    expected = sklearn.metrics.confusion_matrix(labels, other)
    np.testing.assert_array_equal(confusion_matrix(shape(labels), shape(other)), expected)
    np.testing.assert_array_equal(confusion_matrix(shape(labels), other), expected)
    assert accuracy_score(shape(labels), shape(other)) == sklearn.metrics.accuracy_score(labels, other)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u4", "u8", "f4", "f8"])
def test_numbers_of_any_type_are_labels(dtype):
    y_true, y_pred = np.array([1, 2, 2, 100], dtype=dtype), np.array([1, 2, 100, 100], dtype=dtype)
    np.testing.assert_array_equal(confusion_matrix(y_true, y_pred), [[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    assert f1_score(y_true, y_pred, average=None).shape == (3,)


def test_huge_unsigned_labels_and_many_labels_are_counted():
    top = np.array([2**64 - 1, 0, 2**63], dtype=np.uint64)
    np.testing.assert_array_equal(confusion_matrix(top, top), np.eye(3))
    many = np.arange(200_000) * 17
    assert accuracy_score(many, np.roll(many, 1)) == 0
    assert f1_score(many, many, average="macro") == 1


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1], [0, 1, 1], r"inconsistent numbers of samples: \[2, 3\]"),
        ([], [], "minimum of 1 sample is required"),
        ([0, np.inf], [0, 1], "Input y_true contains infinity or a value too large"),
        ([0, 1], [0.2, 0.7], r"y_pred holds 0.2, which is not a class.*by a threshold"),
        ([0, np.nan], [0, 1], "y_true contains NaN"),
        ([0, np.inf], [0, 1], "y_true contains infinity"),
        (["a", "b"], [0, 1], r"Mix of label input types \(string and number\)"),
        (["a", 1], ["a", "b"], "y_true holds strings and other values, such as 1"),
        (np.array(["a", None], dtype=object), ["a", "b"], "y_true holds strings and other values, such as None"),
        (np.array([1, None], dtype=object), [0, 1], "y_true holds values of type NoneType, int"),
        (np.zeros((2, 2, 2)), [0, 1], r"y_true must be a vector of labels; got an array of shape \(2, 2, 2\)"),
        ("ab", [0, 1], "y_true='ab' is not an array of labels"),
        (np.array(["2020-01-01"] * 2, dtype="M8[D]"), [0, 1], "dtype datetime64"),
    ],
)
def test_labels_that_are_none_are_refused_with_their_name(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        accuracy_score(y_true, y_pred)


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="holds bytes"):
        accuracy_score(np.array([b"a", b"b"]), np.array([b"a", b"b"]))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"inconsistent numbers of samples: \[2, 2, 1\]; sample_weight, the last"),
        ([1.0, np.nan], "Input sample_weight contains NaN"),
        ([1.0, np.inf], "Input sample_weight contains infinity"),
        ([1.0, 1j], "Complex data not supported"),
        ([[1.0, 2.0], [1.0, 2.0]], "Sample weights must be 1D"),
        ([0, 0], "at least one non-zero"),
        (["a", "b"], "not numeric"),
    ],
)
def test_weights_that_are_none_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        accuracy_score([0, 1], [0, 1], sample_weight=weight)


def test_options_that_do_not_exist_are_refused_with_what_would_do():
    with pytest.raises(ValueError, match=r"average='median' is not valid; it must be 'binary' or 'micro'"):
        f1_score([0, 1], [0, 1], average="median")
    with pytest.raises(ValueError, match=r"zero_division=2 is not valid; it must be 'warn', 0, 1 or nan"):
        f1_score([0, 1], [0, 1], zero_division=2)
    with pytest.raises(ValueError, match="Target is multiclass but average='binary'"):
        specificity_score([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match=r"pos_label=1 is not a valid label. It should be one of \['a', 'b'\]"):
        specificity_score(["a", "b"], ["a", "b"])
    with pytest.raises(ValueError, match="At least one label specified must be in y_true"):
        confusion_matrix([0, 1], [0, 2], labels=[2])
    with pytest.raises(ValueError, match="multilabel data only"):
        f1_score([0, 1], [0, 1], average="samples")


def test_undefined_measures_warn_once_at_the_callers_line():
    with pytest.warns(UndefinedMetricWarning, match="Precision is ill-defined .* no predicted samples") as caught:
        precision_score([1, 0], [0, 0])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match="Specificity is ill-defined"):
        specificity_score([1, 1], [1, 0])


def test_a_weight_of_k_is_k_rows_and_one_of_zero_is_none():
    y_true, y_pred, weight = np.array([0, 1, 1, 2, 2]), np.array([0, 1, 2, 2, 0]), np.array([3, 0, 2, 1, 1])
    repeated = [np.repeat(y, weight) for y in (y_true, y_pred)]
    for name in ("accuracy_score", "g_mean_score", "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score"):
        measure = getattr(mercer.metrics, name)
        np.testing.assert_allclose(measure(y_true, y_pred, sample_weight=weight), measure(*repeated), rtol=1e-12)
    table = confusion_matrix(y_true, y_pred, sample_weight=weight)
    assert table.dtype == np.int64
    np.testing.assert_array_equal(table, confusion_matrix(*repeated))


@pytest.mark.parametrize(("values", "is_sparse"), [((0, 1), False), ((0, 1), True), ((3, 7), False)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_and_labels_of_indicator_matrices_are_counted_as_the_peer_counts_them(values, is_sparse, is_weighted, monkeypatch):
    random = np.random.default_rng(0)
    truth, found = np.array(values)[(random.random((2, 40, 3)) < 0.6).astype(int)]
    weights = random.random(40) if is_weighted else None
    expected = {
        (name, normalize): getattr(sklearn.metrics, name)(truth, found, normalize=normalize, sample_weight=weights)
        for name in ("accuracy_score", "zero_one_loss")
        for normalize in (True, False)
    }
    hamming = sklearn.metrics.hamming_loss(truth, found, sample_weight=weights)
    for name in ("accuracy_score", "zero_one_loss", "hamming_loss"):  # Mercer's may stand in for the peer's own functions
        monkeypatch.setattr(sklearn.metrics, name, getattr(mercer.metrics, name))
    given_truth = sp.csr_matrix(truth) if is_sparse else truth
    for (name, normalize), value in expected.items():
        got = getattr(mercer.metrics, name)(given_truth, found, normalize=normalize, sample_weight=weights)
        assert got == pytest.approx(value, rel=1e-14)
    assert mercer.metrics.hamming_loss(given_truth, found, sample_weight=weights) == pytest.approx(hamming, rel=1e-14)
    with pytest.raises(ValueError, match="numbers of labels"):
        mercer.metrics.accuracy_score(truth, found[:, :2])


@pytest.mark.parametrize("weight", [2**62 - 1, np.uint64(2**53 + 1), np.int64(2**63 - 1)])
def test_sums_of_huge_whole_weights_keep_their_units(weight):
    """As scikit-learn's; the sum of two of the last wraps around."""
    y_true, y_pred = [3, 5, 5, 3], [3, 5, 5, 5]
    weights = np.full(4, weight)
    mine = confusion_matrix(y_true, y_pred, sample_weight=weights)
    assert mine.dtype == np.int64
    np.testing.assert_array_equal(mine, sklearn.metrics.confusion_matrix(y_true, y_pred, sample_weight=weights))
    np.testing.assert_array_equal(confusion_matrix(y_true, y_pred, sample_weight=2**60), [[2**60, 2**60], [0, 2**61]])
