"""Ensembles: models made of models."""

from mercer.ensemble._bagging import BaggingClassifier, BaggingRegressor
from mercer.ensemble._isolation_forest import IsolationForest
from mercer.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor
from mercer.ensemble._stacking import StackingClassifier, StackingRegressor
from mercer.ensemble._super_learner import SuperLearner
from mercer.ensemble._voting import VotingClassifier, VotingRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "SuperLearner",
    "VotingClassifier",
    "VotingRegressor",
]
