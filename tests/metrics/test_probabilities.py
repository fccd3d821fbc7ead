"""Losses of probabilities: equal to scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning

import mercer.metrics
from mercer.metrics import brier_score_loss, d2_log_loss_score, log_loss
from tests.metrics.cases import assert_same, outcome, weights
from tests.versions import against_scikit_learn_1_9

NAMES = ["log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score"]
every_loss = pytest.mark.parametrize("name", NAMES)


@st.composite
def predicted(draw):
    """Labels, probabilities as a vector or a matrix, and weights or None."""
    n, k = draw(st.integers(1, 30)), draw(st.integers(2, 4))
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    raw = np.array(draw(st.lists(st.integers(0, 5), min_size=n * k, max_size=n * k)), dtype=float).reshape(n, k)
    raw[raw.sum(axis=1) == 0] = 1
    proba = raw / raw.sum(axis=1, keepdims=True)
    if k == 2 and draw(st.booleans()):
        proba = proba[:, 1]
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    return y, proba.astype(dtype), draw(weights(n))


@against_scikit_learn_1_9
@every_loss
@settings(max_examples=60, deadline=None)
@given(data=predicted())
def test_losses_equal_scikit_learns(name, data):
    y, proba, weight = data
    rtol = 1e-11 if proba.dtype == np.float64 else 2e-5
    names = np.array(["a", "b", "c", "d"])
    for labels in (None, list(range(max(2, proba.ndim == 2 and proba.shape[1])))):
        options = {"sample_weight": weight, "labels": labels}
        mine = outcome(getattr(mercer.metrics, name), y, proba, **options)
        assert_same(mine, outcome(getattr(sklearn.metrics, name), y, proba, **options), rtol=rtol, atol=rtol)
    if proba.ndim == 2:
        mine = outcome(getattr(mercer.metrics, name), names[y], proba, sample_weight=weight)
        theirs = outcome(getattr(sklearn.metrics, name), names[y], proba, sample_weight=weight)
        assert_same(mine, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_log_loss_of_many_rows_in_any_memory_order_equals_scikit_learns(normalize, order):
    random = np.random.RandomState(0)
    proba = np.array(random.dirichlet(np.ones(5), size=30_000), order=order)
    y, weight = random.randint(5, size=30_000), random.uniform(size=30_000)
    for options in ({}, {"sample_weight": weight}):
        mine = log_loss(y, proba, normalize=normalize, **options)
        np.testing.assert_allclose(mine, sklearn.metrics.log_loss(y, proba, normalize=normalize, **options), rtol=1e-12)
    strided = np.repeat(proba, 2, axis=1)[::-1, ::2]
    np.testing.assert_allclose(log_loss(y[::-1], strided), log_loss(y, proba), rtol=1e-12)


@against_scikit_learn_1_9
@pytest.mark.parametrize("options", [{}, {"pos_label": "b"}, {"pos_label": "a"}, {"pos_label": "b", "scale_by_half": False}])
def test_brier_score_with_a_positive_label_equals_scikit_learns(options):
    y, proba = np.array(["a", "b", "b", "a"]), np.array([0.1, 0.7, 0.4, 0.2])
    assert_same(outcome(brier_score_loss, y, proba, **options), outcome(sklearn.metrics.brier_score_loss, y, proba, **options))
    numbers = np.array([1, 2, 2, 1])
    assert brier_score_loss(numbers, proba) == pytest.approx(sklearn.metrics.brier_score_loss(numbers, proba))


def test_log_loss_takes_indicators_lists_and_frames():
    y, proba = [0, 1, 2, 1], [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3]]
    expected = sklearn.metrics.log_loss(y, proba)
    assert log_loss(y, proba) == pytest.approx(expected)
    assert log_loss(pd.Series(y), pd.DataFrame(proba)) == pytest.approx(expected)
    indicators = np.eye(3, dtype=int)[y]
    assert log_loss(indicators, proba) == pytest.approx(sklearn.metrics.log_loss(indicators, proba))


@against_scikit_learn_1_9
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_losses_of_several_labels_a_row_equal_scikit_learns(monkeypatch, is_weighted, dtype):
    """Also where Mercer's functions stand in the place of scikit-learn's: they call none of the same name."""
    rng = np.random.default_rng(3)
    y, proba = rng.integers(0, 2, size=(40, 5)), rng.dirichlet(np.ones(5), size=40).astype(dtype)
    proba[0] = [1, 0, 0, 0, 0]
    options = {"sample_weight": rng.integers(0, 4, size=40)} if is_weighted else {}
    calls = [(log_loss, {}), (log_loss, {"normalize": False}), (d2_log_loss_score, {})]
    expected = [getattr(sklearn.metrics, each.__name__)(y, proba, **more, **options) for each, more in calls]
    for each, _ in calls:
        monkeypatch.setattr(sklearn.metrics, each.__name__, each)
    for container in (np.asarray, sp.csr_array):
        found = [each(container(y), proba, **more, **options) for each, more in calls]
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == np.float64 else 1e-5)
    with pytest.raises(ValueError, match="y_true of shape"):
        d2_log_loss_score(y[:, :3], proba)


def test_certainty_that_is_wrong_costs_the_log_of_eps():
    for dtype in (np.float64, np.float32):
        loss = log_loss([0, 1], np.array([1, 1], dtype=dtype))
        assert loss == pytest.approx(-np.log(np.finfo(dtype).eps) / 2, rel=1e-6)


@every_loss
@pytest.mark.parametrize(
    ("y", "proba", "message"),
    [
        ([0, 1], [0.5, 1.5], "greater than 1: 1.5"),
        ([0, 1], [0.5, -0.5], "lower than 0: -0.5"),
        ([0, 1], [0.5, np.nan], "Input y_proba contains NaN"),
        ([0, 1], [np.inf, 0.5], "Input y_proba contains infinity"),
        ([0, 1, 1], [0.5, 0.5], "inconsistent numbers of samples"),
        ([0, 1, 2], [[0.5, 0.5]] * 3, "different number of classes: 3 vs 2"),
        ([1, 1], [[0.5, 0.5]] * 2, "only one label"),
    ],
)
def test_what_are_no_probabilities_of_the_labels_is_refused(name, y, proba, message):
    with pytest.raises(ValueError, match=message):
        getattr(mercer.metrics, name)(y, proba)


def test_rows_that_do_not_sum_to_one_and_labels_out_of_order_warn():
    proba = np.array([[0.5, 0.6], [0.5, 0.5]])
    for name in ("log_loss", "brier_score_loss"):
        with pytest.warns(UserWarning, match="do not sum to one"):
            getattr(mercer.metrics, name)([0, 1], proba)
    with pytest.warns(UserWarning, match="assumes labels are ordered"):
        log_loss([0, 1], [0.5, 0.5], labels=[1, 0])
    with pytest.raises(ValueError, match="not belonging to the passed labels"):
        log_loss([0, 2], [0.5, 0.5], labels=[0, 1])
    with pytest.warns(UndefinedMetricWarning, match="less than two samples"):
        assert np.isnan(d2_log_loss_score([0], [0.5]))


@pytest.mark.parametrize("name", ["log_loss", "d2_log_loss_score"])
def test_probabilities_may_have_the_name_that_they_had_before(name):
    measure, truth, shares = getattr(mercer.metrics, name), [0, 1, 1], [0.2, 0.7, 0.6]
    assert measure(y_true=truth, y_pred=shares) == measure(truth, shares) == measure(truth, y_proba=shares)
    with pytest.raises(ValueError, match="must be given, and both were"):
        measure(truth, shares, y_pred=shares)
    with pytest.raises(ValueError, match="must be given, and neither was"):
        measure(truth)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_brier_takes_the_truth_as_a_matrix_of_ones(n_classes):
    random = np.random.RandomState(n_classes)
    y = np.r_[np.arange(n_classes), random.randint(n_classes, size=40)]
    proba, truth, weight = random.dirichlet(np.ones(n_classes), size=len(y)), np.eye(n_classes)[y], random.rand(len(y))
    for form in (truth, sp.csr_matrix(truth), truth.astype(int)):
        for measure in (mercer.metrics.brier_score_loss, mercer.metrics.d2_brier_score):
            expected = measure(y, proba, sample_weight=weight)
            assert measure(form, proba, sample_weight=weight) == pytest.approx(expected, rel=1e-14)
    with pytest.raises(ValueError, match="y_true of shape"):
        mercer.metrics.brier_score_loss(truth[:, :-1] if n_classes > 2 else np.c_[truth, truth], proba)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.6])
def test_the_shares_of_the_classes_explain_nothing(share):
    y = np.repeat([0, 1], [round(10 * (1 - share)), round(10 * share)])
    assert mercer.metrics.d2_brier_score(y, np.full(10, share)) == 0
