"""Ensembles: models made of models."""

from mercer.ensemble._adaboost import AdaBoostClassifier, AdaBoostRegressor
from mercer.ensemble._anyboost import AnyBoost
from mercer.ensemble._bagging import BaggingClassifier, BaggingRegressor
from mercer.ensemble._embedding import RandomTreesEmbedding
from mercer.ensemble._extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from mercer.ensemble._gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from mercer.ensemble._hist_gradient_boosting.classifier import HistGradientBoostingClassifier
from mercer.ensemble._hist_gradient_boosting.regressor import HistGradientBoostingRegressor
from mercer.ensemble._isolation_forest import IsolationForest
from mercer.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor
from mercer.ensemble._stacking import StackingClassifier, StackingRegressor
from mercer.ensemble._super_learner import SuperLearner
from mercer.ensemble._voting import VotingClassifier, VotingRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoost",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "StackingClassifier",
    "StackingRegressor",
    "SuperLearner",
    "VotingClassifier",
    "VotingRegressor",
]
