"""Histogram boosting beside extreme numbers: huge targets, weights and derivatives hide nothing; infinity is a value of X."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mercer
from mercer._native import kernels
from mercer.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

# ---- derivatives in whole numbers


def _grown_leaves(X, gradient, hessian, n_threads=1, max_leaves=31):
    """The value of each row's leaf in one tree without shrinkage."""
    edges, counts = np.empty((X.shape[1], 254)), np.empty(X.shape[1], dtype=np.int32)
    kernels.find_bin_edges(X, None, None, None, 255, edges, counts, 1)
    binned = kernels.BinnedRows(X, edges, counts, None, 1)
    kind = kernels.CountGrower if hessian is None else kernels.HessianGrower
    grower = kind(binned, None, 0.0, 0.0, 5, 1.0, max_leaves, 0, False, 1.0, 0, None, None, None)
    grower.grow(gradient, hessian, 0, n_threads)
    values = np.zeros(len(X))
    grower.add_leaf_values(values, 1)
    return values, grower.hessian


def _spoilt(n, huge, seed=0):
    """Columns with a signal, gradients with it, and one that is huge."""
    random = np.random.RandomState(seed)
    X = random.randint(0, 12, size=(n, 3)).astype(np.float64)
    gradient = np.where(X[:, 0] < 5, -0.2, 0.7) + 0.1 * random.randn(n)
    gradient[n // 3] = huge
    return X, gradient


@pytest.mark.parametrize("has_hessian", [False, True], ids=["counted", "hessian"])
@pytest.mark.parametrize("huge", [1e3, -1e6, 1e12, 1e18, 1e40, 1e-3])
def test_leaves_hold_the_sums_of_their_own_rows_alone(huge, has_hessian):
    X, gradient = _spoilt(3000, huge)
    hessian = np.random.RandomState(1).uniform(0.5, 1, size=3000) if has_hessian else np.ones(3000)
    if has_hessian:
        hessian[77] = abs(huge)
    values, _ = _grown_leaves(X, gradient, hessian if has_hessian else None)
    is_clean = np.ones(3000, dtype=bool)
    # As the kernel has it: a mean of gradients is off by 2^-9 of what rows differ by, but for one pair in 1024; Hessians too.
    apart = np.quantile(np.abs(np.diff(gradient)), 1 / 1024) / 512
    for value in np.unique(values):
        rows = values == value
        expected = -math.fsum(gradient[rows]) / math.fsum(hessian[rows])
        is_clean[rows] = not rows[1000]
        rounding = 1e-15 * np.abs(gradient[rows]).max()
        assert value == pytest.approx(expected, rel=1 / 512 if has_hessian else 1e-14, abs=2 * apart + rounding)
    low, high = values[is_clean & (X[:, 0] < 5)], values[is_clean & (X[:, 0] >= 5)]
    assert len(low) + len(high) > 1500
    assert np.median(low) - np.median(high) > 0.8


@pytest.mark.parametrize("huge", [1.0, 1e15, 1e35])
def test_any_number_of_threads_gives_the_same_bits_beside_a_huge_gradient(huge):
    X, gradient = _spoilt(80_000, huge)
    hessian = np.abs(gradient)
    for given in (None, hessian):
        expected = [part.tobytes() for part in _grown_leaves(X, gradient, given, 1)]
        for n_threads in (2, 7):
            assert [part.tobytes() for part in _grown_leaves(X, gradient, given, n_threads)] == expected


def test_subnormal_and_zero_gradients_grow_a_tree():
    X, gradient = _spoilt(500, 0.1)
    for scale in (0.0, 5e-324, 1e-310, 1e300):
        values, _ = _grown_leaves(X, gradient * scale, np.ones(500))
        assert np.isfinite(values).all()


def test_a_difference_far_below_what_all_gradients_share_is_found():
    X, _ = _spoilt(5000, 0.0)
    values, _ = _grown_leaves(X, 1e9 + np.where(X[:, 0] < 5, 0.0, 1.0), None, max_leaves=2)
    assert sorted(set(values.round(3))) == [-1e9 - 1, -1e9]
    assert ((values == values.max()) == (X[:, 0] < 5)).all()


# ---- targets and weights


def _two_groups(n, seed=0):
    """Zeros and ones, two in ten and eight in ten; a second column sets fifty rows apart."""
    random = np.random.RandomState(seed)
    X = np.column_stack([random.uniform(size=n), np.arange(n) < 50])
    return X, (random.uniform(size=n) < np.where(X[:, 0] < 0.5, 0.2, 0.8)).astype(np.float64)


def _contrast(model, X, n_special=50):
    low = X[n_special:, 0] < 0.5
    predicted = model.predict_proba(X)[n_special:, 1] if hasattr(model, "predict_proba") else model.predict(X)[n_special:]
    return np.median(predicted[~low]) - np.median(predicted[low])


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("huge", [1e6, 1e9, 1e12, 1e15])
def test_a_huge_target_does_not_hide_the_others(huge, loss):
    X, y = _two_groups(20_000)
    y[7] = huge
    params = {"early_stopping": False, "max_iter": 30, "max_leaf_nodes": 6}
    model = HistGradientBoostingRegressor(loss=loss, **params).fit(X, y)
    rest = np.delete(np.arange(20_000), np.arange(50))
    alone = HistGradientBoostingRegressor(loss=loss, **params).fit(X[rest], y[rest])
    assert _contrast(model, X) == pytest.approx(_contrast(alone, X), rel=0.1)


@pytest.mark.parametrize("weight", [1e6, 1e12, 1e24])
def test_a_huge_weight_does_not_hide_the_others(weight):
    X, y = _two_groups(20_000)
    weights = np.ones(len(X))
    weights[7] = weight
    params = {"early_stopping": False, "max_iter": 30}
    model = HistGradientBoostingRegressor(**params).fit(X, y, sample_weight=weights)
    assert _contrast(model, X) == pytest.approx(0.6, abs=0.06)
    if weight <= 1e6:  # beyond, the odds of the first prediction leave the others no curvature
        model = HistGradientBoostingClassifier(**params).fit(X, y, sample_weight=weights)
        assert _contrast(model, X) == pytest.approx(0.6, abs=0.06)


def test_a_heavy_row_takes_no_bins_from_the_others():
    X = np.random.RandomState(0).permutation(10_000)[:, None].astype(np.float64)
    weights = np.where(X[:, 0] == 5000, 1e20, 1.0)
    edges, counts = np.empty((1, 254)), np.empty(1, dtype=np.int32)
    kernels.find_bin_edges(X, None, weights, None, 255, edges, counts, 1)
    sizes = np.bincount(np.searchsorted(edges[0, : counts[0]], X[:, 0]))
    assert sizes.min() == 1
    assert sizes.max() < 45


@pytest.mark.slow
def test_a_huge_target_among_millions_does_not_hide_the_others():
    X, y = _two_groups(3_000_000)
    y[7] = 1e6
    model = HistGradientBoostingRegressor(early_stopping=False, max_iter=10, max_leaf_nodes=6).fit(X, y)
    assert _contrast(model, X) == pytest.approx(0.6 * (1 - 0.9**10), rel=0.05)


# ---- infinity in X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinite_values_are_the_extreme_ones(dtype):
    values = np.array([-np.inf, -2, 0, 1, np.inf, np.nan], dtype=dtype)
    X, y = np.repeat(values, 40)[:, None], np.repeat([5.0, 0, 1, 2, 9, 3], 40)
    query = np.array([-np.inf, -1e30, -2, 0, 1, 1e30, np.inf, np.nan], dtype=dtype)[:, None]
    model = HistGradientBoostingRegressor(min_samples_leaf=5).fit(X, y)
    np.testing.assert_allclose(model.predict(query), [5, 0, 0, 1, 2, 2, 9, 3], atol=1e-3)


def test_infinite_values_go_through_predictions_stages_and_files(tmp_path):
    random = np.random.RandomState(0)
    X = random.randn(1000, 2)
    X[::3, 0], X[1::3, 0] = np.inf, -np.inf
    y = np.where(np.isposinf(X[:, 0]), 2, np.where(np.isneginf(X[:, 0]), 1, 0))
    model = HistGradientBoostingClassifier(max_iter=20, early_stopping=True).fit(X, y)
    assert (model.predict(X) == y).all()
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X))
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict_proba(X), model.predict_proba(X))
