from __future__ import annotations

import numpy as np
import pytest
import sklearn.inspection
from hypothesis import given, settings, strategies as st
from sklearn.ensemble import GradientBoostingRegressor as PeerBoosting

from mercer.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from mercer.inspection import PartialDependenceDisplay, partial_dependence
from mercer.linear_model import LinearRegression
from mercer.tree import DecisionTreeRegressor
from tests.inspection.models import ALL, NUMBERS, PAIRS, THREE, TREES, TWO, X, fitted
from tests.reference.dependence import individual_expectations, walked

GRID = np.array([-1.0, 0.0, 0.5, 2.0])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("columns", [[1], [0, 3]])
def test_averages_and_answers_are_those_of_rows_written_out(name, columns):
    model, rows, _ = fitted(name)
    if name == "ridge of labels":
        pytest.skip("it has no probabilities")
    found = partial_dependence(
        model, rows, columns, custom_values={column: GRID for column in columns}, kind="both", method="brute"
    )
    points = np.stack([each.ravel() for each in np.meshgrid(*[GRID] * len(columns), indexing="ij")], axis=1)
    expected = individual_expectations(model, np.array(rows), columns, points)
    shape = (*expected.shape[:2], *[len(GRID)] * len(columns))
    if name in TREES:
        np.testing.assert_array_equal(found.individual, expected.reshape(shape))
    else:
        np.testing.assert_allclose(found.individual, expected.reshape(shape), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.average, expected.reshape(shape).mean(axis=1), atol=1e-12)


@given(
    st.integers(0, 1000),
    st.lists(st.floats(-3, 3) | st.just(float("nan")), min_size=1, max_size=12),
    st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=20, deadline=None)
def test_points_in_any_order_part_in_a_tree_as_rows_do(seed, values, dtype):
    random = np.random.RandomState(seed)
    rows = np.round(random.randn(40, 2), 1).astype(dtype)
    rows[random.rand(40, 2) < 0.1] = np.nan
    model = DecisionTreeRegressor(random_state=0).fit(rows, random.randn(40))
    found = partial_dependence(model, rows, [0], custom_values={0: values}, kind="individual")
    expected = individual_expectations(model, rows, [0], np.array(values, dtype=dtype)[:, None])
    np.testing.assert_array_equal(found.individual, expected)


@pytest.mark.parametrize("columns", [[0], [1, 2]])
def test_the_recursion_goes_both_ways_by_the_training_rows(columns):
    weights = np.random.RandomState(1).uniform(size=len(X))
    model = RandomForestRegressor(5, random_state=0, min_samples_leaf=5).fit(X, NUMBERS, weights)
    found = partial_dependence(model, X, columns, custom_values={column: GRID for column in columns})
    points = np.stack([each.ravel() for each in np.meshgrid(*[GRID] * len(columns), indexing="ij")], axis=1)
    expected = [np.mean([walked(tree.tree_, point, columns) for tree in model.estimators_]) for point in points]
    np.testing.assert_allclose(found.average.ravel(), expected)


def test_the_recursion_of_boosting_is_its_score_without_the_start():
    rows = np.column_stack([X[:, 0], np.zeros(len(X))])  # one feature: the recursion is the score itself
    for model in (GradientBoostingClassifier(n_estimators=5), HistGradientBoostingClassifier(max_iter=5)):
        model.fit(rows, THREE)
        found = partial_dependence(model, rows, [0], custom_values={0: GRID})
        scores = model.decision_function(np.column_stack([GRID, 0 * GRID]))
        differences = scores.T - found.average
        np.testing.assert_allclose(differences, np.tile(differences[:, :1], (1, len(GRID))), atol=1e-12)
    model = GradientBoostingClassifier(init=RandomForestClassifier(3, random_state=0), n_estimators=2).fit(X, TWO)
    with pytest.warns(UserWarning, match="non-constant init"):
        partial_dependence(model, X, [0], method="recursion")


def test_the_recursion_of_scikit_learns_models_is_its_own():
    model = PeerBoosting(n_estimators=5, random_state=0).fit(X, NUMBERS)
    theirs = sklearn.inspection.partial_dependence(model, X, [0, 1], grid_resolution=5)
    found = partial_dependence(model, X, [0, 1], grid_resolution=5)
    np.testing.assert_array_equal(found.average, theirs.average)
    for one, other in zip(found.grid_values, theirs.grid_values, strict=True):
        np.testing.assert_array_equal(one, other)


def test_weights_are_those_of_the_average_and_centred_curves_begin_at_zero():
    model, rows, _ = fitted("forest of three classes")
    weights = np.random.RandomState(0).uniform(size=len(rows))
    found = partial_dependence(model, rows, [2], sample_weight=weights, kind="both", grid_resolution=7)
    np.testing.assert_allclose(found.average, np.average(found.individual, axis=1, weights=weights))
    centred = partial_dependence(model, rows, [2], sample_weight=weights, kind="both", grid_resolution=7, centered=True)
    assert (centred.individual[:, :, 0] == 0).all()
    np.testing.assert_allclose(centred.average, found.average - found.average[:, :1])
    np.testing.assert_allclose(centred.individual, found.individual - found.individual[:, :, :1])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_with_categories_are_asked_in_the_words_of_the_user(kind):
    frames = pytest.importorskip(kind)
    words = np.where(X[:, 0] > 0.5, "up", np.where(X[:, 0] < -0.5, "down", "even"))
    column = frames.Categorical(words) if kind == "pandas" else frames.Series(words, dtype=frames.Categorical)
    frame = frames.DataFrame({"way": column, "size": X[:, 1]})
    model = HistGradientBoostingClassifier(max_iter=10).fit(frame, TWO)
    found = partial_dependence(model, frame, "way", categorical_features=["way"], method="brute")
    assert found.grid_values[0].tolist() == ["down", "even", "up"]
    for place, word in enumerate(["down", "even", "up"]):
        everywhere = [word] * len(X)
        changed = frames.Categorical(everywhere) if kind == "pandas" else frames.Series(everywhere, dtype=frames.Categorical)
        table = frames.DataFrame({"way": changed, "size": X[:, 1]})
        np.testing.assert_allclose(found.average[0, place], model.predict_proba(table)[:, 1].mean())
    by_trees = partial_dependence(model, frame, "way", categorical_features=[0])
    assert (np.diff(by_trees.average[0]) > 0).all()


def test_missing_values_take_no_part_in_the_grid():
    model, rows, _ = fitted("forest of numbers")
    found = partial_dependence(model, rows, [0], grid_resolution=10, method="brute")
    known = rows[~np.isnan(rows[:, 0]), 0]
    low, high = found.grid_values[0][[0, -1]]
    assert known.min() < low < high < known.max()


@pytest.mark.parametrize(
    ("features", "options", "words"),
    [
        ([5], {}, r"all features must be in \[0, 4\]"),
        ([-1], {}, "all features must be in"),
        (["age"], {}, "only supported for dataframes"),
        ([0], {"kind": "all"}, "kind='all' is not valid"),
        ([0], {"method": "recursion"}, "Only the following estimators support"),
        ([0], {"method": "fast"}, "method='fast' is not valid"),
        ([0], {"percentiles": (0.5, 0.5)}, "strictly less"),
        ([0], {"grid_resolution": 1}, "strictly greater than 1"),
        ([0], {"response_method": "predict_proba"}, "ignored for regressors"),
        ([0], {"categorical_features": []}, "empty list"),
        ([0], {"categorical_features": [True]}, "boolean array-like"),
        ([0], {"sample_weight": np.ones(3)}, "sample_weight"),
    ],
)
def test_wrong_parameters_are_named(features, options, words):
    model = LinearRegression().fit(X, NUMBERS)
    with pytest.raises(ValueError, match=words):
        partial_dependence(model, X, features, **options)


def test_pictures_are_of_mercers_dependences():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    model = RandomForestRegressor(5, random_state=0).fit(X, NUMBERS)
    display = PartialDependenceDisplay.from_estimator(
        model, X, [0, (1, 2)], grid_resolution=6, kind=["both", "average"], subsample=5
    )
    assert isinstance(display, PartialDependenceDisplay)
    assert isinstance(display, sklearn.inspection.PartialDependenceDisplay)
    expected = partial_dependence(model, X, [0], grid_resolution=6, kind="both")
    np.testing.assert_array_equal(display.lines_[0, 0, -1].get_ydata(), expected.average[0])
    with pytest.raises(ValueError, match="target must be specified"):
        PartialDependenceDisplay.from_estimator(RandomForestRegressor(2).fit(X, PAIRS), X, [0])
    with pytest.raises(ValueError, match="target must be in"):
        PartialDependenceDisplay.from_estimator(RandomForestRegressor(2).fit(X, PAIRS), X, [0], target=2)
    plt.close("all")
