"""Linear models."""

from mercer.linear_model._glm.families import Family
from mercer.linear_model._glm.links import Link
from mercer.linear_model._glm.named import GammaRegressor, PoissonRegressor, TweedieRegressor
from mercer.linear_model._glm.regressor import GeneralizedLinearRegressor
from mercer.linear_model._least_squares.linear_regression import LinearRegression
from mercer.linear_model._locally_weighted import LocallyWeightedRegression
from mercer.linear_model._logistic.cv import LogisticRegressionCV
from mercer.linear_model._logistic.logistic import LogisticRegression
from mercer.linear_model._online.passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from mercer.linear_model._online.perceptron import Perceptron
from mercer.linear_model._online.sgd_classifier import SGDClassifier
from mercer.linear_model._online.sgd_regressor import SGDRegressor
from mercer.linear_model._ridge.classifier import RidgeClassifier, RidgeClassifierCV
from mercer.linear_model._ridge.cv import RidgeCV
from mercer.linear_model._ridge.ridge import Ridge
from mercer.linear_model._robust.huber import HuberRegressor
from mercer.linear_model._robust.log_cosh import LogCoshRegressor
from mercer.linear_model._robust.quantile import QuantileRegressor
from mercer.linear_model._sparse.elastic_net import ElasticNet, Lasso
from mercer.linear_model._sparse.elastic_net_cv import ElasticNetCV, LassoCV
from mercer.linear_model._sparse.lp import LpRegression
from mercer.linear_model._sparse.multi_task import MultiTaskElasticNet, MultiTaskLasso
from mercer.linear_model._sparse.multi_task_cv import MultiTaskElasticNetCV, MultiTaskLassoCV
from mercer.linear_model._sparse.paths import enet_path, lasso_path

__all__ = [
    "ElasticNet",
    "ElasticNetCV",
    "Family",
    "GammaRegressor",
    "GeneralizedLinearRegressor",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "Link",
    "LocallyWeightedRegression",
    "LogCoshRegressor",
    "LogisticRegression",
    "LogisticRegressionCV",
    "LpRegression",
    "MultiTaskElasticNet",
    "MultiTaskElasticNetCV",
    "MultiTaskLasso",
    "MultiTaskLassoCV",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDRegressor",
    "TweedieRegressor",
    "enet_path",
    "lasso_path",
]
