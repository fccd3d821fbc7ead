"""Linear models."""

from mercer.linear_model._linear_regression import LinearRegression
from mercer.linear_model._ridge import Ridge
from mercer.linear_model._ridge_classifier import RidgeClassifier, RidgeClassifierCV
from mercer.linear_model._ridge_cv import RidgeCV

__all__ = ["LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"]
