"""Linear models."""

from mercer.linear_model._linear_regression import LinearRegression

__all__ = ["LinearRegression"]
