"""Gradient boosting of exact trees (Friedman)."""

from mercer.ensemble._gradient_boosting._classifier import GradientBoostingClassifier
from mercer.ensemble._gradient_boosting._regressor import GradientBoostingRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]
