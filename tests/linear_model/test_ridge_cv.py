"""RidgeCV against brute leave-one-out, brute folds and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import RidgeCV as Peer
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, TimeSeriesSplit

from mercer.linear_model import Ridge, RidgeCV
from tests.linear_model.test_linear_regression import make_data
from tests.reference.ridge import left_out_errors

ALPHAS = np.logspace(-2, 3, 6)
SHAPES = [(40, 6), (12, 30), (15, 15)]


def make_weights(n, kind):
    if kind is None:
        return None
    weights = np.random.default_rng(n).uniform(0.3, 2, size=n)
    if kind == "some zero":
        weights[2::5] = 0
    return weights


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.sampled_from([*SHAPES, (3, 2), (3, 9)]),
    st.sampled_from([None, 2]),
    st.sampled_from([None, "random", "some zero"]),
    st.booleans(),
    st.sampled_from(["eigen", "svd", "sparse"]),
)
def test_leaving_one_out_in_closed_form_is_leaving_one_out(seed, shape, n_targets, weighting, fit_intercept, mode):
    X, y = make_data(seed, *shape, n_targets)
    weights = make_weights(len(X), weighting)
    alphas = np.array([0.05, 3.0])
    model = RidgeCV(
        alphas, fit_intercept=fit_intercept, gcv_mode="auto" if mode == "sparse" else mode, store_cv_results=True, scoring="r2"
    ).fit(sp.csr_matrix(X) if mode == "sparse" else X, y, weights)
    predictions = model.cv_results_.reshape(len(X), -1, 2)
    for number, alpha in enumerate(alphas):
        errors = left_out_errors(X, y, alpha, weights, fit_intercept=fit_intercept)
        expected = y.reshape(len(y), -1) - errors
        np.testing.assert_allclose(predictions[:, :, number], expected, rtol=1e-7, atol=1e-7 * np.abs(y).max())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighting", [None, "random"])
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"gcv_mode": "svd"},
        {"store_cv_results": True},
        {"scoring": "neg_mean_absolute_error", "store_cv_results": True},
        {"scoring": make_scorer(mean_absolute_error, greater_is_better=False)},
        {"alpha_per_target": True},
        {"cv": 3},
        {"cv": KFold(4, shuffle=True, random_state=0), "scoring": "neg_mean_squared_error"},
        {"cv": ShuffleSplit(3, train_size=0.5, test_size=0.2, random_state=0)},
        {"cv": TimeSeriesSplit(2)},
        {"fit_intercept": False},
        {"fit_intercept": False, "cv": 3},
    ],
    ids=str,
)
def test_choice_scores_and_coefficients_equal_scikit_learn(shape, weighting, n_targets, params):
    if n_targets == 1 and "alpha_per_target" in params:
        pytest.skip("for a single column scikit-learn gives a vector of one score")
    X, y = make_data(3, *shape, n_targets, noise=3.0)
    weights = make_weights(len(X), weighting)
    theirs = Peer(ALPHAS, **params).fit(X, y, weights)
    for data in (X, sp.csr_matrix(X)):
        ours = RidgeCV(ALPHAS, **params).fit(data, y, weights)
        for name in ("alpha_", "best_score_", "coef_", "intercept_"):
            one, other = getattr(ours, name), getattr(theirs, name)
            assert np.shape(one) == np.shape(other), name
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8, err_msg=name)
        assert hasattr(ours, "cv_results_") == hasattr(theirs, "cv_results_")
        if hasattr(theirs, "cv_results_"):
            np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-8)
        assert ours.certificate_.converged


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighting", [None, "random"])
def test_folds_that_share_products_score_as_separate_fits_do(shape, weighting):
    X, y = make_data(4, *shape)
    weights = make_weights(len(X), weighting)
    ours = RidgeCV([0.3], cv=3).fit(X, y, weights)
    scores = []
    for train, test in KFold(3).split(X):
        fit = Ridge(0.3).fit(X[train], y[train], None if weights is None else weights[train])
        scores.append(fit.score(X[test], y[test], None if weights is None else weights[test]))
    assert ours.best_score_ == pytest.approx(np.mean(scores), rel=1e-8)


def test_leave_one_out_as_folds_is_leave_one_out():
    X, y = make_data(5, 30, 4)
    closed = RidgeCV(ALPHAS).fit(X, y)
    folds = RidgeCV(ALPHAS, cv=LeaveOneOut(), scoring="neg_mean_squared_error").fit(X, y)
    assert closed.alpha_ == folds.alpha_
    assert closed.best_score_ == pytest.approx(folds.best_score_, rel=1e-9)


def test_the_fit_is_that_of_ridge_with_the_chosen_penalty():
    X, y = make_data(6, 60, 5, 2)
    model = RidgeCV(ALPHAS, alpha_per_target=True).fit(X, y)
    np.testing.assert_array_equal(model.coef_, Ridge(model.alpha_).fit(X, y).coef_)


def test_a_column_that_varies_in_one_fold_only_does_no_harm():
    X, y = make_data(7, 60, 3)
    X[:, 2] = 0
    X[5, 2] = 1e6
    ours, theirs = (cls(ALPHAS, cv=KFold(3)).fit(X, y) for cls in (RidgeCV, Peer))
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)


def test_float32_is_kept():
    X, y = make_data(8, 60, 5, dtype=np.float32)
    model = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    assert model.coef_.dtype == model.cv_results_.dtype == np.float32
    double = RidgeCV(ALPHAS).fit(X.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(model.coef_, double.coef_, rtol=1e-5)
    assert model.best_score_ == pytest.approx(double.best_score_, rel=1e-6)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": [1.0, 0.0]}, r"must be a finite number > 0"),
        ({"alphas": [1.0, -1.0], "cv": 3}, r"must be a finite number >= 0"),
        ({"alphas": []}, r"alphas=\[\]"),
        ({"alphas": [1.0, "a"]}, r"alphas\[1\]='a'"),
        ({"cv": 3, "store_cv_results": True}, r"store_cv_results=True are incompatible"),
        ({"cv": 3, "alpha_per_target": True}, r"alpha_per_target=True are incompatible"),
        ({"cv": 1}, r"cv=1"),
        ({"gcv_mode": "gram"}, r"gcv_mode='gram'"),
        ({"scoring": "elegance"}, r"scoring='elegance'"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    X, y = make_data(9, 20, 3)
    with pytest.raises(ValueError, match=message):
        RidgeCV(**params).fit(X, y)


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="n_samples=1"):
        RidgeCV().fit([[1.0], [2.0]], [1.0, 2.0], [1.0, 0.0])


def test_there_is_no_summary():
    X, y = make_data(10, 20, 3)
    with pytest.raises(ValueError, match="RidgeCV: no summary"):
        RidgeCV().fit(X, y).summary()
