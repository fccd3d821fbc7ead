from __future__ import annotations

import numpy as np
import pytest

from mercer.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from mercer.inspection import accumulated_local_effects
from mercer.linear_model import LinearRegression
from tests.inspection.models import NUMBERS, X, fitted
from tests.reference.dependence import accumulated


@pytest.mark.parametrize("name", ["random thresholds", "boosting of three classes", "logistic, two classes", "naive Bayes"])
def test_effects_are_those_of_the_formula(name):
    model, rows, _ = fitted(name)
    if name == "boosting of three classes":
        assert len(model.classes_) == 3
    found = accumulated_local_effects(model, rows, 2, grid_resolution=9)
    np.testing.assert_allclose(found.average, accumulated(model, rows, 2, found.grid_values[0]), atol=1e-12)
    assert found.counts.sum() == len(rows)


class Product:
    """x0 x1 and what each does alone."""

    def __init__(self):
        self.model_ = None

    @staticmethod
    def answer(rows):
        return 3 * rows[:, 0] * rows[:, 1] + rows[:, 0] ** 2 - 2 * rows[:, 1]


def _product():
    from sklearn.base import BaseEstimator, RegressorMixin

    class Model(RegressorMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.is_fitted_ = True
            return self

        def predict(self, X):
            return Product.answer(X)

    return Model().fit(X)


def test_effects_of_two_features_are_their_interaction_alone():
    random = np.random.RandomState(0)
    rows = random.uniform(-1, 1, size=(20_000, 2))
    found = accumulated_local_effects(_product(), rows, [0, 1], grid_resolution=8)
    first, second = found.grid_values
    np.testing.assert_allclose(found.average[0], 3 * np.outer(first, second), atol=0.06)
    assert found.counts.shape == (8, 8)


def test_correlated_features_have_the_effects_of_what_the_model_says_near_the_rows():
    random = np.random.RandomState(0)
    z = random.uniform(size=2000)
    rows = np.column_stack([z, z + 0.01 * random.randn(2000)])
    model = HistGradientBoostingRegressor(max_iter=50).fit(rows, rows[:, 0] + rows[:, 1] ** 2)
    one, two = (accumulated_local_effects(model, rows, j, grid_resolution=10) for j in (0, 1))
    total = (one.average[0][-1] - one.average[0][0]) + (two.average[0][-1] - two.average[0][0])
    assert total == pytest.approx(2, abs=0.3)  # along the diagonal, where the rows are


def test_cells_without_rows_take_the_nearest():
    z = np.linspace(0, 1, 200)
    rows = np.column_stack([z, z**2])  # a curve: most cells are empty
    found = accumulated_local_effects(_product(), rows, [0, 1], grid_resolution=5)
    assert (found.counts == 0).any()
    assert np.isfinite(found.average).all()


def test_levels_stand_beside_those_that_are_alike():
    pd = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    level = random.randint(4, size=600)
    names = np.array(["d", "b", "a", "c"])[level]  # by size: d, b, a, c
    size = level + 0.3 * random.randn(600)
    frame = pd.DataFrame({"kind": pd.Categorical(names), "size": size})
    model = HistGradientBoostingRegressor(max_iter=30).fit(frame, 2.0 * level + size)
    found = accumulated_local_effects(model, frame, "kind")
    order = found.grid_values[0].tolist()
    assert order in (["d", "b", "a", "c"], ["c", "a", "b", "d"])
    np.testing.assert_allclose(found.average[0] @ found.counts, 0, atol=1e-9)
    ordered = frame.assign(kind=pd.Categorical(names, categories=["a", "b", "c", "d"], ordered=True))
    assert accumulated_local_effects(model.fit(ordered, size), ordered, "kind").grid_values[0].tolist() == ["a", "b", "c", "d"]


def test_weights_are_as_good_as_repetition():
    random = np.random.RandomState(0)
    counts = random.randint(1, 4, size=len(X))
    model = RandomForestRegressor(5, random_state=0).fit(X, NUMBERS)
    ends = np.repeat(X, counts, axis=0)
    weighted = accumulated_local_effects(model, X, 0, sample_weight=counts, grid_resolution=1)
    repeated = accumulated_local_effects(model, ends, 0, grid_resolution=1)
    np.testing.assert_allclose(weighted.average, repeated.average, atol=1e-12)


@pytest.mark.parametrize(
    ("features", "words"),
    [([0, 1, 2], "one feature or two"), ([0, 0], "one feature or two"), (3, "constant"), (4, "missing values")],
)
def test_what_has_no_effects_is_refused(features, words):
    rows = np.column_stack([X[:, :3], np.ones(len(X)), np.full(len(X), np.nan)])
    with pytest.raises(ValueError, match=words):
        accumulated_local_effects(LinearRegression().fit(X, NUMBERS), rows, features)
