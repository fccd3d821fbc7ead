"""Ensembles: models made of models."""

from mercer.ensemble._adaboost.classifier import AdaBoostClassifier
from mercer.ensemble._adaboost.regressor import AdaBoostRegressor
from mercer.ensemble._anyboost.anyboost import AnyBoost
from mercer.ensemble._bagging.bagging import BaggingClassifier, BaggingRegressor
from mercer.ensemble._combination.stacking_classifier import StackingClassifier
from mercer.ensemble._combination.stacking_regressor import StackingRegressor
from mercer.ensemble._combination.super_learner import SuperLearner
from mercer.ensemble._combination.voting_classifier import VotingClassifier
from mercer.ensemble._combination.voting_regressor import VotingRegressor
from mercer.ensemble._forest.embedding import RandomTreesEmbedding
from mercer.ensemble._forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from mercer.ensemble._forest.isolation_forest import IsolationForest
from mercer.ensemble._forest.random_forest import RandomForestClassifier, RandomForestRegressor
from mercer.ensemble._gradient_boosting.classifier import GradientBoostingClassifier
from mercer.ensemble._gradient_boosting.regressor import GradientBoostingRegressor
from mercer.ensemble._hist_gradient_boosting.classifier import HistGradientBoostingClassifier
from mercer.ensemble._hist_gradient_boosting.regressor import HistGradientBoostingRegressor

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
