"""Stability: updates agree with fits, what is measured with what is known, and ensembles with the mean of their members."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin

from mercer._params import InvalidParameterError
from mercer.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.neighbors import KNeighborsClassifier
from mercer.svm import LinearSVC
from mercer.theory import ensemble_decomposition, stability
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor


class RidgeByFits(Ridge):
    """Ridge, fitted again for every row: any class but Ridge itself is."""


@settings(max_examples=12, deadline=None)
@given(
    n=st.integers(4, 40),
    d=st.integers(1, 6),
    seed=st.integers(0, 99),
    intercept=st.booleans(),
    alpha=st.sampled_from([0.1, 10.0]),
    mode=st.sampled_from(["replace", "leave_out"]),
)
def test_updates_of_rank_two_are_the_fits(n, d, seed, intercept, alpha, mode):
    random = np.random.RandomState(seed)
    X, y = random.normal(size=(n, d)) + 3, random.normal(size=n)
    options = {"mode": mode, "random_state": seed}
    fast = stability(Ridge(alpha=alpha, fit_intercept=intercept), X, y, **options)
    slow = stability(RidgeByFits(alpha=alpha, fit_intercept=intercept), X, y, **options)
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=1e-7, atol=1e-9)
    for name in ("pointwise", "uniform", "coefficients", "largest_coefficients"):
        assert getattr(fast, name) == pytest.approx(getattr(slow, name), rel=1e-7, abs=1e-10)


def test_new_rows_come_in_and_some_rows_go():
    random = np.random.RandomState(0)
    X, y, X_new, y_new = random.normal(size=(60, 3)), random.normal(size=60), random.normal(size=(9, 3)), random.normal(size=9)
    options = {"X_new": X_new, "y_new": y_new, "n_rows": 20, "random_state": 1}
    fast, slow = stability(Ridge(), X, y, **options), stability(RidgeByFits(), X, y, **options)
    np.testing.assert_allclose(fast.changes, slow.changes, rtol=1e-8)
    assert len(fast.rows) == 20
    np.testing.assert_array_equal(fast.rows, slow.rows)


def test_jobs_and_threads_change_nothing():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(200, 3)), random.normal(size=200)
    fast = [stability(Ridge(), X, y, random_state=0, n_jobs=n_jobs).changes for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*fast)
    with parallel_config("threading"):
        slow = [stability(RidgeByFits(), X, y, n_rows=6, random_state=0, n_jobs=n_jobs).changes for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*slow)


class Interpolation(RegressorMixin, BaseEstimator):
    """Learns rows by heart and says 0 elsewhere."""

    def fit(self, X, y):
        self.known_ = {tuple(row): value for row, value in zip(X, y, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.known_.get(tuple(row), 0.0) for row in X])


def test_on_average_stability_is_the_generalisation_gap():
    """Learning by heart has no error on its rows and y^2 elsewhere."""
    random = np.random.RandomState(0)
    X, y = random.normal(size=(50, 2)), random.normal(size=50)
    found = stability(Interpolation(), X, y, random_state=0)
    np.testing.assert_allclose(found.changes, y**2)
    assert found.coefficients is None


def test_the_average_over_samples_is_the_expected_gap_of_least_squares():
    """y = noise, d columns: the gap between risk in truth and on the rows is known for normal rows."""
    random, n, d, gaps, measured = np.random.RandomState(0), 30, 3, [], []
    for _ in range(300):
        X, y = random.normal(size=(n, d)), random.normal(size=n)
        X_new, y_new = random.normal(size=(400, d)), random.normal(size=400)
        model = Ridge(alpha=0.01, fit_intercept=False).fit(X, y)
        gaps.append(((model.predict(X_new) - y_new) ** 2).mean() - ((model.predict(X) - y) ** 2).mean())
        measured.append(stability(model, X, y, X_new=X_new, y_new=y_new, random_state=random).on_average)
    difference = np.array(gaps) - np.array(measured)
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))
    assert abs(np.mean(gaps) - d / n - d / (n - d - 1)) < 4 * np.std(gaps) / np.sqrt(len(gaps))


@pytest.mark.parametrize("mode", ["replace", "leave_out"])
def test_what_is_measured_is_no_more_than_what_is_known(mode):
    random = np.random.RandomState(0)
    X = random.uniform(-1, 1, size=(80, 2))
    y = X[:, 0] + 0.1 * random.normal(size=80)
    found = stability(Ridge(alpha=20.0, fit_intercept=False), X, y, mode=mode, random_state=0)
    assert found.uniform <= found.known.uniform
    assert found.largest_coefficients <= found.known.coefficients
    machine = LinearSVC(loss="hinge", fit_intercept=False, C=0.1)
    found = stability(machine, X, (y > 0).astype(int), mode=mode, loss="hinge", n_rows=20, random_state=0)
    assert found.uniform <= found.known.uniform
    assert found.largest_coefficients <= found.known.coefficients
    votes = stability(KNeighborsClassifier(5), X, (y > 0).astype(int), mode=mode, random_state=0)
    assert votes.pointwise <= votes.known.pointwise == (5 if mode == "leave_out" else 10) / 80


def test_where_theory_says_nothing_it_says_why():
    X, y = np.random.RandomState(0).normal(size=(20, 2)), np.arange(20.0)
    found = stability(DecisionTreeRegressor(random_state=0), X, y, n_rows=3, random_state=0)
    assert found.known.uniform is None
    assert "nothing is known" in repr(found)
    assert "intercept" in stability(Ridge(), X, y, random_state=0).known.note


def test_a_loss_of_ones_own_and_the_hinge():
    random = np.random.RandomState(0)
    X = random.normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    own = stability(LogisticRegression(), X, y, loss=lambda t, p: 2.0 * (t != p), n_rows=5, random_state=0)
    usual = stability(LogisticRegression(), X, y, n_rows=5, random_state=0)
    np.testing.assert_array_equal(own.changes, 2 * usual.changes)
    assert stability(LogisticRegression(), X, y, loss="hinge", n_rows=5, random_state=0).pointwise > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "swap"}, "mode='swap'"),
        ({"loss": "log"}, "loss='log'"),
        ({"n_rows": 99}, "n_rows=99"),
        ({"X_new": [[1.0]]}, "belong together"),
        ({"X_new": [[1.0]], "y_new": [1.0], "mode": "leave_out"}, "no row comes in"),
    ],
)
def test_wrong_calls_are_named(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        stability(Ridge(), np.arange(6.0)[:, None], np.arange(6.0), **options)


def test_a_ridge_refuses_what_it_refuses():
    with pytest.raises(ValueError, match="alpha=-1"):
        stability(Ridge(alpha=-1), np.arange(6.0)[:, None], np.arange(6.0))


def test_least_squares_that_a_row_determines_is_fitted_again():
    X, y = np.zeros((6, 2)), np.arange(6.0)
    X[0, 0] = X[1:, 1] = 1.0
    found = stability(Ridge(alpha=0.0, fit_intercept=False), X, y, mode="leave_out")
    slow = stability(RidgeByFits(alpha=0.0, fit_intercept=False), X, y, mode="leave_out")
    np.testing.assert_allclose(found.changes, slow.changes, atol=1e-10)


# ---- ensembles


def table(kind, labels=None):
    random = np.random.RandomState(0)
    X = random.normal(size=(120, 4))
    y = X[:, 0] * X[:, 1] + 0.1 * random.normal(size=120)
    if kind == "classes":
        y = np.asarray(labels)[np.digitize(y, [-0.3, 0.3])]
    return X, y


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestRegressor(7, random_state=0),
        BaggingRegressor(DecisionTreeRegressor(), n_estimators=5, max_features=0.5, random_state=0),
        VotingRegressor([("a", Ridge()), ("b", DecisionTreeRegressor(max_depth=2))], weights=[1, 3]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_error_of_an_average_is_that_of_its_members_less_their_ambiguity(ensemble):
    X, y = table("numbers")
    ensemble.fit(X[:80], y[:80])
    found = ensemble_decomposition(ensemble, X[80:], y[80:])
    assert found.error == pytest.approx(((ensemble.predict(X[80:]) - y[80:]) ** 2).mean(), rel=1e-9)
    assert found.error == pytest.approx(found.member_error - found.ambiguity, rel=1e-9)
    assert -1 <= found.correlation <= 1


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3], ["a", "b", "c"], [5.0, 10.0, 20.0]], ids=str)
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(7, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0),
        VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))], voting="soft"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_brier_score_of_an_average_is_that_of_its_members_less_their_ambiguity(ensemble, labels):
    X, y = table("classes", labels)
    ensemble.fit(X[:80], y[:80])
    found = ensemble_decomposition(ensemble, X[80:], y[80:])
    brier = ((ensemble.predict_proba(X[80:]) - (y[80:, None] == ensemble.classes_)) ** 2).sum(axis=1).mean()
    assert found.error == pytest.approx(brier, rel=1e-9)
    assert found.error == pytest.approx(found.member_error - found.ambiguity, rel=1e-9)


def test_members_alone_make_an_ensemble_and_boosting_none():
    X, y = table("numbers")
    members = [LinearRegression().fit(X[:40], y[:40]), LinearRegression().fit(X[40:], y[40:])]
    assert ensemble_decomposition(members, X, y).ambiguity > 0
    with pytest.raises(InvalidParameterError, match="no average of its members"):
        ensemble_decomposition(GradientBoostingRegressor(n_estimators=3).fit(X, y), X, y)
    with pytest.raises(InvalidParameterError, match="no fitted members"):
        ensemble_decomposition(Ridge(), X, y)
