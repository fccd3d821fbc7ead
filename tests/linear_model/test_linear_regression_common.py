"""scikit-learn's own checks."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.linear_model import LinearRegression


@parametrize_with_checks([LinearRegression(), LinearRegression(positive=True), LinearRegression(fit_intercept=False)])
def test_scikit_learns_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)
