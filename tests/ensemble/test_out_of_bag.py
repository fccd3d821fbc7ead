"""What a forest says of rows that its trees have not seen, for one forest and for many at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import accuracy_score

from mercer._native import kernels
from mercer.ensemble import BaggingRegressor, ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from mercer.ensemble._forest.bags import Bags, make_states
from tests.common.state import assert_same_bits
from tests.ensemble.forest_data import with_categories

DIABETES, IRIS = load_diabetes(return_X_y=True), load_iris(return_X_y=True)


def naive(forest, X, values_of):
    """The mean over the trees of what each makes of the rows that it was not grown on."""
    found = [[] for _ in X]
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        values = values_of(tree)(X)
        for row in set(range(len(X))) - set(rows.tolist()):
            found[row].append(values[row])
    return np.array([np.mean(each, axis=0) if each else np.full(np.shape(values[0]), np.nan) for each in found])


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("n_estimators", [3, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_predicted_by_the_trees_that_have_not_seen_them(n_estimators, dtype):
    X, y = DIABETES[0].astype(dtype), DIABETES[1]
    weights = np.random.RandomState(0).rand(len(y))
    forest = RandomForestRegressor(n_estimators, oob_score=True, random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(forest.oob_prediction_, naive(forest, X, lambda tree: tree.predict), rtol=1e-12)
    X, y = IRIS[0].astype(dtype), IRIS[1]
    forest = RandomForestClassifier(n_estimators, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(forest.oob_decision_function_, naive(forest, X, lambda tree: tree.predict_proba), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.arange(50.0)], ids=["alike", "by weight"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_marks_are_those_of_the_draws(weights, n_threads):
    bags = Bags.make(make_states(0, 5), 50, 30, weights)
    expected = [bags.counts(member) > 0 for member in range(1, 4)]
    np.testing.assert_array_equal(bags.marks(1, 4, n_threads), expected)
    assert Bags.make(make_states(0, 2), 5, 0, None).marks(0, 2, n_threads).all()


def test_sums_out_of_the_bag_do_not_depend_on_threads():
    X, y = np.random.RandomState(0).randn(3000, 4), np.random.RandomState(1).randn(3000)
    forest = RandomForestRegressor(20, max_depth=6, random_state=0).fit(X, y)
    store, marks = forest._trees, forest._bags[0].marks(0, 20, 1)
    found = []
    for n_threads in (1, 2, 5):
        sums, totals = np.zeros((3000, 1)), np.zeros(3000)
        options = (store.values[:, 0], np.linspace(1, 2, 20), marks, sums, totals, n_threads)
        kernels.add_left_out_values(store.trees, 0, 20, X, *options)
        found.append((sums.tobytes(), totals.tobytes()))
    assert len(set(found)) == 1


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("params", [{"tree_weights": "oob"}, {"oob_score": True}, {"oob_importance": True}], ids=str)
@pytest.mark.parametrize(("name", "values"), [("max_depth", [2, None]), ("n_estimators", [9, 4])])
def test_a_sweep_keeps_what_a_forest_keeps_of_its_bags(params, name, values):
    model = RandomForestClassifier(10, random_state=0, **params)
    for sweep in (model.sweep, model.sweep_out_of_bag):
        for found, value in zip(sweep(*IRIS, name, values), values, strict=True):
            forest = found if sweep == model.sweep else found[0]
            assert_same_bits(forest, clone(model).set_params(**{name: value}).fit(*IRIS))


def test_quantiles_follow_a_sweep():
    model, (X, y) = RandomForestRegressor(8, random_state=0), DIABETES
    for name, values in {"n_estimators": [3, 8], "max_depth": [2, None], "ccp_alpha": [0.0, 5.0]}.items():
        for each in model.sweep(X, y, name, values):
            fitted = clone(model).set_params(**{name: getattr(each, name)}).fit(X, y)
            np.testing.assert_array_equal(each.predict_quantiles(X, [0.1, 0.9]), fitted.predict_quantiles(X, [0.1, 0.9]))


def test_tables_with_categories_are_swept():
    table, y = with_categories(300)
    model = ExtraTreesClassifier(10, bootstrap=True, random_state=0)
    for forest, _ in model.sweep_out_of_bag(table, y, "max_depth", [1, 5]):
        fitted = clone(model).set_params(max_depth=forest.max_depth).fit(table, y)
        np.testing.assert_array_equal(forest.predict_proba(table), fitted.predict_proba(table))


def test_several_outputs_are_viewed_as_they_are_predicted():
    X, y = IRIS
    several = np.column_stack([y, y > 0])
    ((forest, view),) = RandomForestClassifier(30, random_state=0).sweep_out_of_bag(X, several, "max_depth", [3])
    assert view.predict(X).shape == (150, 2)
    assert [shares.shape for shares in view.predict_proba(X)] == [(150, 3), (150, 2)]
    assert [each.tolist() for each in view.classes_] == [each.tolist() for each in forest.classes_]
    ((_, view),) = RandomForestRegressor(30, random_state=0).sweep_out_of_bag(X, several, "max_depth", [3])
    assert view.predict(X).shape == (150, 2)
    ((_, view),) = BaggingRegressor(n_estimators=30, random_state=0).sweep_out_of_bag(X, several, "n_estimators", [30])
    assert view.predict(X).shape == (150, 2)


def test_a_view_speaks_of_the_rows_with_votes():
    X, y = IRIS
    ((_, view),) = RandomForestClassifier(5, random_state=0).sweep_out_of_bag(X, y, "n_estimators", [5])
    known = view.has_votes
    assert 0 < known.sum() < len(y)
    assert accuracy_score(y[known], view.predict(X[known])) > 0.8


def test_counted_leaves_are_swept_by_fits():
    model = RandomForestClassifier(5, max_leaf_nodes=4, random_state=0)
    assert model.sweep_parameters() == ["n_estimators", "ccp_alpha"]
    assert "max_depth" in model.out_of_bag_parameters()
    for forest, _ in model.sweep_out_of_bag(*IRIS, "max_depth", [1, 3]):
        assert_same_bits(forest, clone(model).set_params(max_depth=forest.max_depth).fit(*IRIS))
