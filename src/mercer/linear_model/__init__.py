"""Linear models."""

from mercer.linear_model._families import Family
from mercer.linear_model._glm_named import GammaRegressor, PoissonRegressor, TweedieRegressor
from mercer.linear_model._glm_regressor import GeneralizedLinearRegressor
from mercer.linear_model._linear_regression import LinearRegression
from mercer.linear_model._links import Link
from mercer.linear_model._ridge import Ridge
from mercer.linear_model._ridge_classifier import RidgeClassifier, RidgeClassifierCV
from mercer.linear_model._ridge_cv import RidgeCV

__all__ = [
    "Family",
    "GammaRegressor",
    "GeneralizedLinearRegressor",
    "LinearRegression",
    "Link",
    "PoissonRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "TweedieRegressor",
]
