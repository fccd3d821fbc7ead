"""What each column of a table gave to predictions, whatever the model."""

from __future__ import annotations

import functools

import numpy as np
import polars as pl
import pytest

from mercer._explaining.contributions import Unexplained, contributions
from mercer._explaining.lime import lime_weights
from mercer._explaining.table_model import TableModel
from mercer.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor, VotingClassifier
from mercer.linear_model import LogisticRegression, Ridge, RidgeClassifier
from mercer.naive_bayes import GaussianNB
from mercer.preprocessing import prepare_pipeline
from mercer.svm import LinearSVC


@functools.cache
def table():
    """Numbers with missing ones, words, dates and a number that is noise."""
    random = np.random.default_rng(0)
    n = 150
    size = random.normal(10, 3, n)
    colour = random.choice(["red", "green", "blue"], n)
    day = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1) + pl.duration(days=n - 1), eager=True)
    X = pl.DataFrame(
        {
            "size": [None if i % 11 == 0 else value for i, value in enumerate(size.tolist())],
            "colour": colour,
            "day": day,
            "noise": random.normal(size=n),
        }
    )
    number = size + 4 * (colour == "red") + np.arange(n) / 50
    return X, number, np.where(number > np.median(number), "high", "low"), np.digitize(number, np.quantile(number, [0.3, 0.6]))


def _fitted(estimator, y, classes=None):
    X = table()[0]
    pipeline = prepare_pipeline(estimator, X).fit(X, y)
    return TableModel.of(pipeline, None if classes is None else pipeline.classes_.tolist())


def _cases():
    _, number, two, three = table()
    forest = {"n_estimators": 8, "random_state": 0}
    return {
        "ridge": (Ridge(), number, None),
        "forest of numbers": (RandomForestRegressor(**forest), number, None),
        "logistic, two classes": (LogisticRegression(), two, 2),
        "forest, two classes": (RandomForestClassifier(**forest), two, 2),
        "boosting, two classes": (GradientBoostingClassifier(n_estimators=8, random_state=0), two, 2),
        "boosting, three classes": (GradientBoostingClassifier(n_estimators=8, random_state=0), three, 3),
        "Bayes, three classes": (GaussianNB(), three, 3),
        "no probabilities": (RidgeClassifier(), three, 3),
        "no probabilities, two classes": (LinearSVC(), two, 2),
    }


@pytest.mark.parametrize("case", _cases())
def test_what_columns_give_adds_up_to_what_is_predicted(case):
    estimator, y, classes = _cases()[case]
    found = _fitted(estimator, y, classes)
    X = table()[0]
    explanation, unit = contributions(found, X[:6], X[40:60])
    assert explanation.values.shape == (6, 4, found.n_outputs)
    assert list(explanation.feature_names) == X.columns
    assert unit == found.unit
    np.testing.assert_allclose(explanation.sums, found(X[:6]), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(explanation.base_values[0], found(X[40:60]).mean(axis=0), rtol=1e-6, atol=1e-9)


def test_the_ways_agree_where_all_are_exact():
    found = _fitted(Ridge(), table()[1])
    X = table()[0].with_columns(pl.col("size").fill_null(10.0))
    expected = contributions(found, X[:3], X[40:60], "exact")[0].values
    for method in ("linear", "kernel", "permutation"):
        np.testing.assert_allclose(contributions(found, X[:3], X[40:60], method)[0].values, expected, rtol=1e-6, atol=1e-8)


def test_a_forest_is_explained_from_its_trees_as_by_coalitions():
    X, number, _, _ = table()
    X = X.select("size", "noise").with_columns(pl.col("size").fill_null(10.0))
    pipeline = prepare_pipeline(RandomForestRegressor(n_estimators=5, random_state=0), X).fit(X, number)
    found = TableModel.of(pipeline, None)
    by_trees, by_rows = (contributions(found, X[:5], X[40:60], method)[0] for method in ("tree", "exact"))
    np.testing.assert_allclose(by_trees.values, by_rows.values, atol=1e-9)
    assert "trees" in contributions(found, X[:5], X[40:60])[0].method


@pytest.mark.parametrize(
    "estimator", [GradientBoostingClassifier(n_estimators=8, random_state=0), LogisticRegression(), Ridge()]
)
def test_what_is_chosen_gives_the_shapley_values_of_the_users_own_columns(estimator):
    is_number = isinstance(estimator, Ridge)
    found = _fitted(estimator, table()[1 if is_number else 2], None if is_number else 2)
    X = table()[0]
    chosen, exact = (contributions(found, X[:4], X[40:60], method)[0].values for method in ("auto", "exact"))
    np.testing.assert_allclose(chosen, exact, atol=1e-9)


def test_a_blend_is_explained_by_coalitions():
    X, _, two, _ = table()
    members = [("a", prepare_pipeline(LogisticRegression(), X)), ("b", prepare_pipeline(GaussianNB(), X))]
    blend = VotingClassifier(members, voting="soft").fit(X, two)
    found = TableModel.of(blend, blend.classes_.tolist())
    explanation, unit = contributions(found, X[:3], X[40:50])
    assert unit == "probability"
    assert explanation.additivity_error < 1e-9
    assert sorted(found.reports()) == sorted(X.columns)
    with pytest.raises(Unexplained, match="permutation and kernel"):
        contributions(found, X[:3], X[40:50], "tree")


def test_a_column_without_use_gives_nothing():
    X, number, _, _ = table()
    found = TableModel.of(prepare_pipeline(Ridge(), X.drop("noise")).fit(X.drop("noise"), number), None)
    wide = X.select("size", "colour", "day")
    explanation, _ = contributions(found, wide[:4], wide[40:60].with_columns(day=wide["day"][0]), "exact")
    assert np.all(explanation.values[0, 2] == 0)


def test_the_raw_score_of_a_linear_classifier_says_that_it_is_one():
    found = _fitted(LogisticRegression(), table()[2], 2)
    explanation, unit = contributions(found, table()[0][:3], table()[0][40:60], "linear")
    assert unit == "raw score"
    values = found.model.decision_function(table()[0][:3])
    np.testing.assert_allclose(explanation.sums[:, 1], values, rtol=1e-9)
    np.testing.assert_allclose(explanation.sums[:, 0], -values, rtol=1e-9)


def test_lime_weighs_the_columns_that_matter():
    found = _fitted(Ridge(), table()[1])
    X = table()[0]
    explanation, fidelity = lime_weights(found, X[1:3], X, 0)
    weights = dict(zip(X.columns, np.abs(explanation.values[0, :, 0]), strict=True))
    assert weights["size"] > 10 * weights["noise"]
    assert fidelity.shape == (2, 1)
    assert fidelity[0, 0] > 0.5
    with pytest.raises(Unexplained, match="'size' has no number"):
        lime_weights(found, X[:1], X, 0)
