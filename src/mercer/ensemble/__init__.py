"""Ensembles: models made of models."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.ensemble import *  # noqa: F403

    from mercer.ensemble._adaboost.classifier import AdaBoostClassifier as AdaBoostClassifier
    from mercer.ensemble._adaboost.regressor import AdaBoostRegressor as AdaBoostRegressor
    from mercer.ensemble._anyboost.anyboost import AnyBoost as AnyBoost
    from mercer.ensemble._bagging.bagging import BaggingClassifier as BaggingClassifier, BaggingRegressor as BaggingRegressor
    from mercer.ensemble._combination.stacking_classifier import StackingClassifier as StackingClassifier
    from mercer.ensemble._combination.stacking_regressor import StackingRegressor as StackingRegressor
    from mercer.ensemble._combination.super_learner import SuperLearner as SuperLearner
    from mercer.ensemble._combination.voting_classifier import VotingClassifier as VotingClassifier
    from mercer.ensemble._combination.voting_regressor import VotingRegressor as VotingRegressor
    from mercer.ensemble._forest.embedding import RandomTreesEmbedding as RandomTreesEmbedding
    from mercer.ensemble._forest.extra_trees import (
        ExtraTreesClassifier as ExtraTreesClassifier,
        ExtraTreesRegressor as ExtraTreesRegressor,
    )
    from mercer.ensemble._forest.isolation_forest import IsolationForest as IsolationForest
    from mercer.ensemble._forest.random_forest import (
        RandomForestClassifier as RandomForestClassifier,
        RandomForestRegressor as RandomForestRegressor,
    )
    from mercer.ensemble._gradient_boosting.classifier import GradientBoostingClassifier as GradientBoostingClassifier
    from mercer.ensemble._gradient_boosting.regressor import GradientBoostingRegressor as GradientBoostingRegressor
    from mercer.ensemble._hist_gradient_boosting.classifier import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from mercer.ensemble._hist_gradient_boosting.regressor import HistGradientBoostingRegressor as HistGradientBoostingRegressor

__getattr__, __dir__ = exports(
    __name__,
    {
        "._adaboost.classifier": ("AdaBoostClassifier",),
        "._adaboost.regressor": ("AdaBoostRegressor",),
        "._anyboost.anyboost": ("AnyBoost",),
        "._bagging.bagging": ("BaggingClassifier", "BaggingRegressor"),
        "._combination.stacking_classifier": ("StackingClassifier",),
        "._combination.stacking_regressor": ("StackingRegressor",),
        "._combination.super_learner": ("SuperLearner",),
        "._combination.voting_classifier": ("VotingClassifier",),
        "._combination.voting_regressor": ("VotingRegressor",),
        "._forest.embedding": ("RandomTreesEmbedding",),
        "._forest.extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
        "._forest.isolation_forest": ("IsolationForest",),
        "._forest.random_forest": ("RandomForestClassifier", "RandomForestRegressor"),
        "._gradient_boosting.classifier": ("GradientBoostingClassifier",),
        "._gradient_boosting.regressor": ("GradientBoostingRegressor",),
        "._hist_gradient_boosting.classifier": ("HistGradientBoostingClassifier",),
        "._hist_gradient_boosting.regressor": ("HistGradientBoostingRegressor",),
    },
)
