"""Categorical columns: the best set goes left, whatever they are called and wherever they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.reference import category_splits

COUNTRIES = np.array(["Chad", "France", "Italy", "Peru", "Spain", "UAE"])


def make_rows(seed=0, n=300):
    random = np.random.default_rng(seed)
    codes = random.integers(0, len(COUNTRIES), n)
    wealth = random.normal(size=n)
    signal = np.array([0.0, 3.0, 0.5, 2.5, -1.0, 3.5])[codes] + wealth + random.normal(size=n) / 2
    return codes, wealth, signal


def root_gain(model):
    tree = model.tree_
    if tree.node_count == 1:
        return 0.0
    risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    return risk[0] - risk[tree.children_left[0]] - risk[tree.children_right[0]]


# ---- the search for sets


@settings(max_examples=150, deadline=None)
@given(
    criterion=st.sampled_from(["gini", "entropy", "misclassification", "squared_error", "poisson"]),
    n_classes=st.sampled_from([2, 3, 5]),
    n_categories=st.integers(2, 7),
    share_missing=st.sampled_from([0.0, 0.2]),
    is_weighted=st.booleans(),
    seed=st.integers(0, 2**20),
)
def test_the_set_that_goes_left_is_the_best_of_all(criterion, n_classes, n_categories, share_missing, is_weighted, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 60))
    column = random.integers(0, n_categories, n).astype(float)
    column[random.random(n) < share_missing] = np.nan
    weights = random.uniform(0.1, 2, n) if is_weighted else np.ones(n)
    if criterion in ("squared_error", "poisson"):
        y = random.exponential(size=n) + np.nan_to_num(column) % 3
        model = DecisionTreeRegressor(criterion=criterion, max_depth=1, categorical_features=[0])
    else:
        y = random.integers(0, n_classes, n)
        model = DecisionTreeClassifier(criterion=criterion, max_depth=1, categorical_features=[0])
    model.fit(column[:, None], y, weights if is_weighted else None)
    best = category_splits.best_gain(column, y, weights, getattr(category_splits, criterion))
    np.testing.assert_allclose(root_gain(model), best, atol=1e-10)


def test_many_categories_of_many_classes_are_split_no_worse_than_one_against_the_rest():
    random = np.random.default_rng(1)
    column = random.integers(0, 40, 2000)
    y = (random.permutation(40)[column] % 5 + (random.random(2000) < 0.3)) % 5
    model = DecisionTreeClassifier(max_depth=1, categorical_features=[0]).fit(column[:, None], y)
    single = max(
        category_splits.gini(y, np.ones(2000))
        - sum(side.sum() * category_splits.gini(y[side], np.ones(side.sum())) for side in (column == c, column != c)) / 2000
        for c in range(40)
    )
    assert root_gain(model) >= single - 1e-12


def test_a_set_beats_what_an_order_of_codes_can_do():
    codes = np.arange(60) % 6
    y = np.isin(codes, [0, 2, 5]).astype(int)
    one = DecisionTreeClassifier(max_depth=1, categorical_features=[True]).fit(codes[:, None], y)
    assert one.score(codes[:, None], y) == 1.0
    assert sorted(one.tree_.left_categories(0)) in ([0, 2, 5], [1, 3, 4])
    assert np.isnan(one.tree_.threshold[0])
    assert DecisionTreeClassifier(max_depth=1).fit(codes[:, None], y).score(codes[:, None], y) < 1.0


@pytest.mark.parametrize("n_categories", [31, 32, 33, 64, 65, 1000])
def test_sets_of_any_size_keep_every_category(n_categories):
    codes = np.repeat(np.arange(n_categories), 3)
    truth = np.random.default_rng(0).integers(0, 2, n_categories).astype(float)
    model = DecisionTreeRegressor(categorical_features=[0], max_depth=1).fit(codes[:, None], truth[codes])
    np.testing.assert_allclose(model.predict(np.arange(n_categories)[:, None]), truth, atol=1e-12)


def test_leaf_limits_hold_for_sets():
    codes, _, signal = make_rows()
    model = DecisionTreeRegressor(categorical_features=[0], min_samples_leaf=40).fit(codes[:, None], signal)
    assert model.tree_.n_node_samples[model.tree_.is_leaf].min() >= 40


# ---- where categories come from


def frames():
    codes, wealth, signal = make_rows()
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = COUNTRIES[codes]
    tables = {
        "pandas category": pandas.DataFrame({"country": pandas.Categorical(names), "wealth": wealth}),
        "polars Categorical": polars.DataFrame(
            {"country": polars.Series(names.tolist()).cast(polars.Categorical), "wealth": wealth}
        ),
        "polars Enum": polars.DataFrame(
            {"country": polars.Series(names.tolist()).cast(polars.Enum(COUNTRIES.tolist())), "wealth": wealth}
        ),
    }
    objects = np.empty((len(codes), 2), dtype=object)
    objects[:, 0], objects[:, 1] = names, wealth
    return codes, wealth, signal, tables, objects


def test_every_kind_of_table_gives_the_tree_of_the_mask():
    codes, wealth, signal, tables, objects = frames()
    X = np.column_stack([codes, wealth])
    expected = DecisionTreeRegressor(max_depth=4, categorical_features=[True, False]).fit(X, signal)
    for name, table in tables.items():
        model = DecisionTreeRegressor(max_depth=4).fit(table, signal)
        np.testing.assert_array_equal(model.predict(table), expected.predict(X), err_msg=name)
        assert model.categories_[0].tolist() == COUNTRIES.tolist()
        assert model.categories_[1] is None
        assert list(model.feature_names_in_) == ["country", "wealth"]
    by_number = DecisionTreeRegressor(max_depth=4, categorical_features=[0]).fit(objects, signal)
    np.testing.assert_array_equal(by_number.predict(objects), expected.predict(X))
    by_name = DecisionTreeRegressor(max_depth=4, categorical_features=["country"]).fit(tables["pandas category"], signal)
    np.testing.assert_array_equal(by_name.predict(tables["pandas category"]), expected.predict(X))


def test_the_order_of_a_pandas_categorys_levels_does_not_matter():
    pandas = pytest.importorskip("pandas")
    codes, wealth, signal = make_rows()
    names = COUNTRIES[codes]
    one, other = (
        pandas.DataFrame({"country": pandas.Categorical(names, categories=levels), "wealth": wealth})
        for levels in (COUNTRIES, [*COUNTRIES[::-1], "Nowhere"])
    )
    model = DecisionTreeRegressor(max_depth=4).fit(one, signal)
    np.testing.assert_array_equal(model.predict(one), model.predict(other))
    np.testing.assert_array_equal(model.predict(one), DecisionTreeRegressor(max_depth=4).fit(other, signal).predict(one))


def test_missing_categories_are_missing_values():
    pandas = pytest.importorskip("pandas")
    names = ["a", "b", None, "a", "b", None] * 10
    y = [0, 0, 1, 0, 0, 1] * 10
    table = pandas.DataFrame({"x": pandas.Categorical(names)})
    model = DecisionTreeClassifier().fit(table, y)
    assert model.score(table, y) == 1.0
    assert model.categories_[0].tolist() == ["a", "b"]


def test_none_makes_numbers_of_every_column():
    codes, _, signal = make_rows()
    model = DecisionTreeRegressor(categorical_features=None, max_depth=2).fit(codes[:, None], signal)
    assert not model.tree_.is_categorical.any()


# ---- categories that training never saw


def two_sided():
    """Most rows go left of the only split; missing values go right."""
    column = np.array(["a"] * 6 + ["b"] * 3 + [None] * 2, dtype=object)[:, None]
    return column, np.array([0] * 6 + [1] * 5)


@pytest.mark.parametrize(("unseen", "expected"), [("missing", 1), ("other", 0)])
def test_an_unseen_category_follows_the_rule(unseen, expected):
    X, y = two_sided()
    model = DecisionTreeClassifier(categorical_features=[0], unseen=unseen).fit(X, y)
    assert model.predict(np.array([["z"]], dtype=object)) == [expected]
    assert model.predict(np.array([[None]], dtype=object)) == [1]
    assert model.predict(np.array([["a"], ["b"]], dtype=object)).tolist() == [0, 1]


def test_an_unseen_category_can_be_an_error_that_names_it():
    X, y = two_sided()
    model = DecisionTreeClassifier(categorical_features=[0], unseen="error").fit(X, y)
    with pytest.raises(ValueError, match=r"Column 0 holds the category 'z'.*unseen='error'"):
        model.predict(np.array([["z"]], dtype=object))
    pandas = pytest.importorskip("pandas")
    model = DecisionTreeClassifier(unseen="error").fit(pandas.DataFrame({"kind": pandas.Categorical(X[:, 0])}), y)
    with pytest.raises(ValueError, match=r"Column 'kind' holds the category 'z'"):
        model.predict(pandas.DataFrame({"kind": pandas.Categorical(["z", "a"])}))


# ---- errors


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ([True], r"mask of shape \(1,\).*\(2,\)"),
        ([5], "from 0 to 1"),
        ([-1], "from 0 to 1"),
        ([0.5], "must be an integer"),
        (["country"], "'country', which X does not have"),
    ],
)
def test_columns_that_are_not_there_are_refused(wanted, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeRegressor(categorical_features=wanted).fit([[0.0, 1.0], [1.0, 2.0]], [0.0, 1.0])


def test_numbers_beside_categories_must_be_numbers():
    X = np.array([["a", "word"], ["b", "other"]], dtype=object)
    with pytest.raises(ValueError, match="convert"):
        DecisionTreeRegressor(categorical_features=[0]).fit(X, [0.0, 1.0])
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeRegressor(categorical_features=[0]).fit(np.array([["a", np.inf], ["b", 1.0]], dtype=object), [0.0, 1.0])
