"""Selection by repetition: shadows of columns (Boruta), and halves of rows (stability selection)."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.stats
from sklearn.datasets import make_friedman1, make_regression

import mercer
from mercer.ensemble import RandomForestClassifier, RandomForestRegressor
from mercer.feature_selection import BorutaSelector, SelectKBest, StabilitySelection, f_regression, stability_selection
from mercer.feature_selection._boruta import Contest
from mercer.feature_selection._stability import _halves
from mercer.linear_model import Lasso, Ridge

# ---- Boruta


def test_columns_that_matter_are_confirmed_and_noise_is_not():
    X, y = make_friedman1(300, n_features=12, random_state=0)
    forest = RandomForestRegressor(20, max_depth=5)
    selector = BorutaSelector(forest, max_runs=30, random_state=0).fit(X, y)
    assert selector.confirmed_[[0, 1, 3, 4]].all()
    assert not selector.confirmed_[5:].any()
    assert selector.rejected_[5:].sum() >= 6
    assert (selector.confirmed_.astype(int) + selector.tentative_ + selector.rejected_ == 1).all()
    np.testing.assert_array_equal(selector.get_support(), selector.confirmed_)
    again = BorutaSelector(forest, max_runs=30, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.importance_history_, selector.importance_history_)
    buffer = io.BytesIO()
    mercer.save(selector, buffer)
    np.testing.assert_array_equal(mercer.load(buffer.getvalue()).transform(X), selector.transform(X))


def test_of_noise_alone_nothing_is_confirmed():
    random = np.random.RandomState(1)
    X, y = random.randn(150, 8), np.array(["a", "b"])[random.randint(2, size=150)]
    selector = BorutaSelector(RandomForestClassifier(15, max_depth=4), max_runs=25, random_state=0).fit(X, y)
    assert not selector.confirmed_.any()


def test_what_is_undecided_is_tentative_and_stays_if_asked_for():
    X, y = make_friedman1(100, n_features=6, random_state=0)
    selector = BorutaSelector(RandomForestRegressor(5), max_runs=2, random_state=0).fit(X, y)
    assert selector.tentative_.all()  # two runs are too few for any test
    assert selector.ranking_.tolist() == [2] * 6
    assert not selector.get_support().any()
    assert (
        BorutaSelector(RandomForestRegressor(5), max_runs=2, keep_tentative=True, random_state=0).fit(X, y).get_support().all()
    )


def test_decisions_are_those_of_the_binomial_test():
    contest, random = Contest(4, alpha=0.05), np.random.RandomState(0)
    hits, decided = np.zeros(4, dtype=int), {}
    for run in range(1, 60):
        importances = random.rand(4) * [0.1, 1.0, 1.0, 10.0]
        contest.count(importances, 0.5)
        hits += importances > 0.5
        for j in range(4):
            if j not in decided:
                for side, name in (("greater", "confirmed"), ("less", "rejected")):
                    if scipy.stats.binomtest(int(hits[j]), run, 0.5, alternative=side).pvalue <= 0.05 / 4:
                        decided[j] = name
        for j in range(4):
            assert contest.outcomes[decided.get(j, "tentative")][j]
    assert decided[0] == "rejected"
    assert decided[3] == "confirmed"


def test_rejected_columns_leave_the_contest_and_are_ranked_by_how_long_they_held_out():
    contest = Contest(3, alpha=0.3)
    for run in range(12):
        contest.count(np.array([0.0, 1.0 if run < 3 else 0.0, 1.0]), 0.5)
    assert contest.ranking.tolist() == [4, 3, 1]


# ---- stability selection


@pytest.mark.parametrize("is_stratified", [False, True])
@pytest.mark.parametrize("n", [20, 21])
def test_halves_come_in_pairs_without_a_row_in_common(n, is_stratified):
    y = np.arange(n) % 3 == 0
    halves = _halves(y, 9, np.random.RandomState(0), is_stratified=is_stratified)
    assert len(halves) == 9
    for one, other in zip(halves[::2], halves[1::2], strict=False):
        assert not set(one) & set(other)
        assert n // 2 - 1 <= len(one) == len(other) <= n // 2
        if is_stratified:
            assert y[one].sum() == y.sum() // 2


def test_frequencies_and_the_bound_are_those_of_the_formula():
    X, y = make_regression(120, n_features=30, n_informative=4, noise=30.0, random_state=0)
    alphas = [20.0, 8.0, 4.0]
    selector = StabilitySelection(
        Lasso(), param_name="alpha", param_range=alphas, n_subsamples=20, threshold=0.75, random_state=0
    ).fit(X, y)
    halves = _halves(y, 20, np.random.RandomState(0), is_stratified=False)
    selected = np.array([[Lasso(alpha=alpha).fit(X[rows], y[rows]).coef_ != 0 for alpha in alphas] for rows in halves])
    np.testing.assert_allclose(selector.selection_frequencies_, selected.mean(axis=0))
    q = selected.any(axis=1).sum(axis=1).mean()
    assert selector.n_selected_ == pytest.approx(q)
    assert selector.max_false_ == pytest.approx(q**2 / (2 * 0.75 - 1) / 30)
    np.testing.assert_array_equal(selector.get_support(), selected.mean(axis=0).max(axis=0) >= 0.75)


def test_false_selections_stay_within_the_bound():
    random, n_true, n_false = np.random.RandomState(0), [], []
    for seed in range(15):
        X = random.randn(80, 40)
        y = 2 * X[:, :3].sum(axis=1) + random.randn(80)
        selector = stability_selection(
            SelectKBest(f_regression, k=5), X, y, max_false=1.0, n_subsamples=40, random_state=seed, threshold=0.55
        )
        assert selector.max_false_ <= 1.0 + 1e-12
        n_true.append(selector.get_support()[:3].sum())
        n_false.append(selector.get_support()[3:].sum())
    assert np.mean(n_false) <= 1.0
    assert np.mean(n_true) > 2.5


def test_a_bound_that_cannot_be_promised_is_refused():
    X, y = make_regression(60, n_features=10, noise=10.0, random_state=0)
    with pytest.raises(ValueError, match=r"max_false=0.5 cannot be promised: a half selects 10 of 10 columns"):
        StabilitySelection(Ridge(), max_false=0.5).fit(X, y)
    few = StabilitySelection(Ridge(), max_false=0.5, max_features=2, random_state=0).fit(X, y)
    assert few.n_selected_ == 2
    assert few.max_false_ <= 0.5
    with pytest.raises(ValueError, match="must be given together"):
        StabilitySelection(Lasso(), param_name="alpha").fit(X, y)
    with pytest.raises(ValueError, match="it must be a parameter of Lasso"):
        StabilitySelection(Lasso(), param_name="strength", param_range=[1.0]).fit(X, y)


def test_jobs_and_sweeps_change_nothing():
    X, y = make_regression(80, n_features=12, n_informative=3, noise=30.0, random_state=0)
    options = {"param_name": "alpha", "param_range": [5.0, 10.0], "n_subsamples": 8, "random_state": 0}
    one = StabilitySelection(Lasso(), **options).fit(X, y)
    two = StabilitySelection(Lasso(), n_jobs=2, **options).fit(X, y)
    np.testing.assert_array_equal(one.selection_frequencies_, two.selection_frequencies_)
    buffer = io.BytesIO()
    mercer.save(one, buffer)
    np.testing.assert_array_equal(mercer.load(buffer.getvalue()).transform(X), one.transform(X))
