from __future__ import annotations

import numpy as np
import pytest

from mercer.ensemble import GradientBoostingRegressor
from mercer.inspection import h_statistic
from mercer.linear_model import LinearRegression
from tests.inspection.models import NUMBERS, X, fitted
from tests.reference.dependence import h_statistics


@pytest.mark.parametrize("name", ["random thresholds", "boosting of numbers", "logistic, two classes", "naive Bayes"])
def test_interactions_are_those_of_the_formula(name):
    model, rows, _ = fitted(name)
    rows = np.asarray(rows)[:40]
    found = h_statistic(model, rows, [2, 3, 0], max_samples=None)
    pair, total = h_statistics(model, rows, 2, 3)
    assert found.pairwise[0, 0, 1] == pytest.approx(pair, rel=1e-9)
    assert found.pairwise[0, 1, 0] == found.pairwise[0, 0, 1]
    assert found.total[0, 0] == pytest.approx(total, rel=1e-9)
    assert found.n_samples == 40


def test_what_adds_up_has_no_interactions():
    model = LinearRegression().fit(X, NUMBERS)
    found = h_statistic(model, X, max_samples=50, random_state=0)
    assert found.n_samples == 50
    assert found.features == [0, 1, 2, 3, 4]
    assert found.pairwise.max() < 1e-6
    assert found.total.max() < 1e-6


def test_the_pair_that_interacts_stands_out_and_weights_count():
    rows = np.random.RandomState(0).uniform(-1, 1, size=(300, 5))
    model = GradientBoostingRegressor(random_state=0).fit(rows, rows[:, 2] * rows[:, 3] + rows[:, 0])
    found = h_statistic(model, rows, random_state=0, sample_weight=np.ones(len(rows)))
    sizes = found.pairwise_size[0]
    assert np.unravel_index(sizes.argmax(), sizes.shape) in ((2, 3), (3, 2))
    some = np.repeat([1.0, 0.0], [60, len(rows) - 60])
    weighted = h_statistic(model, rows, [0, 1], max_samples=None, sample_weight=some)
    alone = h_statistic(model, rows[:60], [0, 1], max_samples=None)
    np.testing.assert_allclose(weighted.pairwise, alone.pairwise)
    np.testing.assert_allclose(weighted.total, alone.total)


def test_wrong_parameters_are_named():
    model = LinearRegression().fit(X, NUMBERS)
    with pytest.raises(ValueError, match="different columns"):
        h_statistic(model, X, [0, 0])
    with pytest.raises(ValueError, match="max_samples=1 is not valid"):
        h_statistic(model, X, max_samples=1)
