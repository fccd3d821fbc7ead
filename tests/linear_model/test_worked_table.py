"""The worked table of the notes: five rows, four features, an exact fit."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.linear_model import GeneralizedLinearRegressor, Lasso, LinearRegression, Ridge

X = np.array([[13.0, 18, 25, 11], [39, 18, 59, 30], [52, 50, 62, 53], [29, 43, 50, 29], [50, 37, 65, 56]])
Y = np.array([125.0, 158, 207, 182, 196])
INTERCEPT, COEF = 79.047988, [-0.246592, 1.200782, 0.889144, 0.483184]


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(alpha=0.0), GeneralizedLinearRegressor(alpha=0.0),
              Lasso(alpha=1e-9, tol=1e-12, max_iter=10**6)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_the_table_is_fitted_exactly_with_the_figures_of_the_notes(model):
    model.fit(X, Y)
    assert model.intercept_ == pytest.approx(INTERCEPT, abs=5e-5)
    np.testing.assert_allclose(model.coef_, COEF, atol=5e-6)
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-4)
