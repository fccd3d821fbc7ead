"""Linear models."""

from typing import TYPE_CHECKING

from mercer._exports import exports

if TYPE_CHECKING:
    from sklearn.linear_model import *  # noqa: F403

    from mercer.linear_model._bound import strength_of_bound as strength_of_bound
    from mercer.linear_model._glm.families import Family as Family
    from mercer.linear_model._glm.links import Link as Link
    from mercer.linear_model._glm.named import (
        GammaRegressor as GammaRegressor,
        PoissonRegressor as PoissonRegressor,
        TweedieRegressor as TweedieRegressor,
    )
    from mercer.linear_model._glm.regressor import GeneralizedLinearRegressor as GeneralizedLinearRegressor
    from mercer.linear_model._least_squares.linear_regression import LinearRegression as LinearRegression
    from mercer.linear_model._locally_weighted import LocallyWeightedRegression as LocallyWeightedRegression
    from mercer.linear_model._logistic.cv import LogisticRegressionCV as LogisticRegressionCV
    from mercer.linear_model._logistic.logistic import LogisticRegression as LogisticRegression
    from mercer.linear_model._online.passive_aggressive import (
        PassiveAggressiveClassifier as PassiveAggressiveClassifier,
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
    )
    from mercer.linear_model._online.perceptron import Perceptron as Perceptron
    from mercer.linear_model._online.sgd_classifier import SGDClassifier as SGDClassifier
    from mercer.linear_model._online.sgd_regressor import SGDRegressor as SGDRegressor
    from mercer.linear_model._ridge.classifier import RidgeClassifier as RidgeClassifier, RidgeClassifierCV as RidgeClassifierCV
    from mercer.linear_model._ridge.cv import RidgeCV as RidgeCV
    from mercer.linear_model._ridge.ridge import Ridge as Ridge
    from mercer.linear_model._robust.huber import HuberRegressor as HuberRegressor
    from mercer.linear_model._robust.log_cosh import LogCoshRegressor as LogCoshRegressor
    from mercer.linear_model._robust.quantile import QuantileRegressor as QuantileRegressor
    from mercer.linear_model._sparse.elastic_net import ElasticNet as ElasticNet, Lasso as Lasso
    from mercer.linear_model._sparse.elastic_net_cv import ElasticNetCV as ElasticNetCV, LassoCV as LassoCV
    from mercer.linear_model._sparse.lp import LpRegression as LpRegression
    from mercer.linear_model._sparse.multi_task import (
        MultiTaskElasticNet as MultiTaskElasticNet,
        MultiTaskLasso as MultiTaskLasso,
    )
    from mercer.linear_model._sparse.multi_task_cv import (
        MultiTaskElasticNetCV as MultiTaskElasticNetCV,
        MultiTaskLassoCV as MultiTaskLassoCV,
    )
    from mercer.linear_model._sparse.paths import enet_path as enet_path, lasso_path as lasso_path

__getattr__, __dir__ = exports(
    __name__,
    {
        "._bound": ("strength_of_bound",),
        "._glm.families": ("Family",),
        "._glm.links": ("Link",),
        "._glm.named": ("GammaRegressor", "PoissonRegressor", "TweedieRegressor"),
        "._glm.regressor": ("GeneralizedLinearRegressor",),
        "._least_squares.linear_regression": ("LinearRegression",),
        "._locally_weighted": ("LocallyWeightedRegression",),
        "._logistic.cv": ("LogisticRegressionCV",),
        "._logistic.logistic": ("LogisticRegression",),
        "._online.passive_aggressive": ("PassiveAggressiveClassifier", "PassiveAggressiveRegressor"),
        "._online.perceptron": ("Perceptron",),
        "._online.sgd_classifier": ("SGDClassifier",),
        "._online.sgd_regressor": ("SGDRegressor",),
        "._ridge.classifier": ("RidgeClassifier", "RidgeClassifierCV"),
        "._ridge.cv": ("RidgeCV",),
        "._ridge.ridge": ("Ridge",),
        "._robust.huber": ("HuberRegressor",),
        "._robust.log_cosh": ("LogCoshRegressor",),
        "._robust.quantile": ("QuantileRegressor",),
        "._sparse.elastic_net": ("ElasticNet", "Lasso"),
        "._sparse.elastic_net_cv": ("ElasticNetCV", "LassoCV"),
        "._sparse.lp": ("LpRegression",),
        "._sparse.multi_task": ("MultiTaskElasticNet", "MultiTaskLasso"),
        "._sparse.multi_task_cv": ("MultiTaskElasticNetCV", "MultiTaskLassoCV"),
        "._sparse.paths": ("enet_path", "lasso_path"),
    },
)
