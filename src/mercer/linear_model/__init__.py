"""Linear models."""

from mercer.linear_model._elastic_net import ElasticNet, Lasso
from mercer.linear_model._elastic_net_cv import ElasticNetCV, LassoCV
from mercer.linear_model._families import Family
from mercer.linear_model._glm_named import GammaRegressor, PoissonRegressor, TweedieRegressor
from mercer.linear_model._glm_regressor import GeneralizedLinearRegressor
from mercer.linear_model._huber import HuberRegressor
from mercer.linear_model._linear_regression import LinearRegression
from mercer.linear_model._links import Link
from mercer.linear_model._locally_weighted import LocallyWeightedRegression
from mercer.linear_model._log_cosh import LogCoshRegressor
from mercer.linear_model._logistic import LogisticRegression
from mercer.linear_model._logistic_cv import LogisticRegressionCV
from mercer.linear_model._lp import LpRegression
from mercer.linear_model._multi_task import MultiTaskElasticNet, MultiTaskLasso
from mercer.linear_model._multi_task_cv import MultiTaskElasticNetCV, MultiTaskLassoCV
from mercer.linear_model._passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from mercer.linear_model._paths import enet_path, lasso_path
from mercer.linear_model._perceptron import Perceptron
from mercer.linear_model._quantile import QuantileRegressor
from mercer.linear_model._ridge import Ridge
from mercer.linear_model._ridge_classifier import RidgeClassifier, RidgeClassifierCV
from mercer.linear_model._ridge_cv import RidgeCV
from mercer.linear_model._sgd_classifier import SGDClassifier
from mercer.linear_model._sgd_regressor import SGDRegressor

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
