"""Prepared tables in pipelines: the estimators learn, know their categories, and survive what is done to pipelines."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier as PeerBoosting
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from mercer.datasets import load_dataset
from mercer.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.preprocessing import prepare_pipeline
from mercer.svm import LinearSVC
from mercer.tree import DecisionTreeClassifier

FOLDS = KFold(3, shuffle=True, random_state=0)
FRAMES = [None, "polars", "pandas"]
CASES = [
    ("penguins", HistGradientBoostingClassifier(max_iter=20), 0.95),
    ("penguins", RandomForestClassifier(20, random_state=0), 0.95),
    ("penguins", LogisticRegression(), 0.95),
    ("penguins", LinearSVC(), 0.95),
    ("penguins", PeerBoosting(max_iter=20), 0.95),
    ("cars", HistGradientBoostingRegressor(max_iter=50), 0.8),
    ("cars", RandomForestRegressor(20, random_state=0), 0.8),
    ("cars", Ridge(), 0.75),
    ("cars", LinearRegression(), 0.7),
    ("election", HistGradientBoostingClassifier(max_iter=20), 0.85),
    ("election", LogisticRegression(), 0.88),
]


def _data(name, frame=None):
    if frame is not None:
        pytest.importorskip(frame)
    return load_dataset(name, frame=frame or "auto").split()


@pytest.mark.parametrize(("name", "estimator", "least"), CASES, ids=lambda value: type(value).__name__)
def test_estimators_learn_from_prepared_tables(name, estimator, least):
    pytest.importorskip("polars", reason="a dict of columns cannot be split into folds")
    X, y = _data(name)
    pipeline = prepare_pipeline(estimator, X)
    assert cross_val_score(pipeline, X, y, cv=FOLDS).mean() > least


@pytest.mark.parametrize("frame", FRAMES)
def test_estimators_are_told_their_categories(frame):
    if frame is not None:
        pytest.importorskip(frame)
    X, y = load_dataset("penguins", frame=frame).split()
    pipeline = prepare_pipeline(RandomForestClassifier(5, random_state=0), X).fit(X, y)
    assert pipeline.named_steps["estimator"].categorical_features == [0, 1]
    np.testing.assert_array_equal(pipeline.named_steps["preparer"].categorical_features_, [True] * 2 + [False] * 5)
    assert list(pipeline[:-1].get_feature_names_out())[:2] == ["island", "sex"]


def test_a_split_by_categories_is_one_that_no_order_of_codes_allows():
    colours = np.array(["a", "b", "c", "d"] * 50, dtype=object)
    X, y = {"colour": colours}, np.isin(colours, ["a", "c"])
    pipeline = prepare_pipeline(DecisionTreeClassifier(max_depth=1), X).fit(X, y)
    assert pipeline.score(X, y) == 1


def test_an_estimator_inside_another_is_told_too():
    colours = np.array(["a", "b", "c", "d"] * 50, dtype=object)
    X, y = {"colour": colours}, np.isin(colours, ["a", "c"])
    bagging = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 5, random_state=0)
    pipeline = prepare_pipeline(bagging, X).fit(X, y)
    assert pipeline.named_steps["estimator"].estimator.categorical_features == [0]
    assert bagging.estimator.categorical_features == "from_dtype"
    assert pipeline.score(X, y) == 1


def test_a_pipeline_can_be_cloned_searched_and_pickled():
    pytest.importorskip("pandas")
    X, y = load_dataset("penguins", frame="pandas").split()
    pipeline = prepare_pipeline(HistGradientBoostingClassifier(max_iter=5), X)
    search = GridSearchCV(pipeline, {"estimator__max_iter": [1, 5], "preparer__min_frequency": [1, 5]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    fitted = clone(pipeline).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(fitted.predict_proba(X), again.predict_proba(X))


def test_every_fold_has_the_same_columns_whatever_is_constant_or_missing_in_it():
    n = 60
    X = {
        "colour": np.array(["a", "b", "c"] * 20, dtype=object),
        "late": np.where(np.arange(n) < 40, 0.0, 1.0),
        "gone": np.where(np.arange(n) < 40, np.nan, np.arange(n)),
        "word": np.array(["x"] * 40 + ["y", "z"] * 10, dtype=object),
        "day": np.where(np.arange(n) < 40, np.datetime64("NaT"), np.datetime64("2024-01-01") + np.arange(n)),
    }
    y = np.arange(n) % 3
    for estimator in (RandomForestClassifier(5, random_state=0), LogisticRegression()):
        pipeline = prepare_pipeline(estimator, X)
        part = {name: values[:40] for name, values in X.items()}
        fitted = clone(pipeline).fit(part, y[:40])
        assert (fitted.predict(X) == y).all()
        assert fitted.named_steps["preparer"].kinds_ == pipeline.named_steps["preparer"].fit(X).kinds_


def test_columns_without_use_are_left_out_by_name():
    X = {"key": np.arange(50), "x": np.sin(np.arange(50)), "one": np.ones(50)}
    preparer = prepare_pipeline(Ridge(), X, skew_limit=3.0).named_steps["preparer"]
    assert preparer.drop == ["key", "one"]
    assert preparer.kinds == {"x": "number"}
    assert (preparer.categories, preparer.scaling, preparer.missing, preparer.skew_limit) == ("one-hot", True, "impute", 3.0)


def test_without_categories_the_estimator_is_told_that_there_are_none():
    X = {"x": np.sin(np.arange(50))}
    pipeline = prepare_pipeline(RandomForestRegressor(3), X).fit(X, X["x"])
    assert pipeline.named_steps["estimator"].categorical_features is None
