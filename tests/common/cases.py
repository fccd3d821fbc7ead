"""How to make an instance of any estimator, and data for it. An estimator is named here only where the defaults do not do."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from mercer.linear_model import Lasso, LogisticRegression, QuantileRegressor, Ridge, RidgeClassifier
from mercer.losses import Huber
from mercer.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.common.discovery import all_estimators


def _nothing(X: Any) -> dict[str, Any]:
    return {}


class SplitByValue:
    """Two folds by what is in a row, so that a row goes where its repetitions go."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        first = X[:, [0]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X)[:, 0]
        is_first = self.is_first(first)
        for test in (is_first, ~is_first):
            yield np.flatnonzero(~test), np.flatnonzero(test)

    def is_first(self, values: Any) -> Any:
        return values > 0.5

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 2


class SplitByDigit(SplitByValue):
    """As above, with every class in both folds."""

    def is_first(self, values: Any) -> Any:
        return np.floor(10 * values) % 2 == 0


@dataclass(frozen=True)
class Case:
    """What one estimator needs beyond the defaults.

    `random_state=0` and `n_jobs=None` are set wherever they exist, whatever is said here.
    """

    n_large: int = 20_000  # rows that make several chunks, and work enough for several threads
    n_long: int = 200_000  # rows over which one pass can be interrupted

    params: Mapping[str, Any] = field(default_factory=dict)  # for an instance on small data
    long_params: Mapping[str, Any] | None = None  # make one fit on large data last for many seconds; None: a one-pass fit
    fixed_params: Callable[[Any], dict[str, Any]] = _nothing  # leave nothing to chance or to the number of rows
    iterative_params: Mapping[str, Any] = field(default_factory=dict)  # make it iterate, where the default is a direct method
    # make few or equal rows enough, where the defaults refuse them
    regular_params: Mapping[str, Any] = field(default_factory=dict)
    unique_params: Mapping[str, Any] = field(default_factory=dict)  # leave one solution, whatever the order of the rows
    neutral_params: Mapping[str, Any] = field(default_factory=dict)  # predict the most probable class, where that is tuned
    silent_params: Mapping[str, Any] = field(default_factory=dict)  # leave nothing to warn about on data that overlap
    row_counting: tuple[str, ...] = ()  # attributes for which a row of weight two is not two rows
    grid: Mapping[str, list[Any]] = field(default_factory=dict)  # for a grid search
    is_lazy: bool = False  # keeps the data, grows greedily or leaves the work to members: nothing to certify
    is_online: bool = False  # takes one step a row: a step of weight two is not two steps
    iterates_elsewhere: bool = False  # `max_iter` is for a part of the fit, which tells nothing of its steps
    of_columns: bool = False  # clusters or compares them: there must be two
    of_counts: bool = False  # takes whole numbers >= 0 alone
    of_sequences: bool = False  # whose lengths stand in the place of y
    needs_variation: bool = False  # refuses X of which no column varies
    takes_infinity: bool = False  # in X, as an extreme value
    takes_labels: bool = False  # as y, though it is no classifier
    takes_any_sign: bool = False  # of weights
    of_equal_rows: tuple[str, ...] = ()  # attributes that say which of equal rows bear the solution: any of them may
    is_of_shares: bool = False  # a parameter is a share of each class, by weight
    counts_steps: bool = False  # in `n_iter_` and `max_iter`, as the peer does; an iteration takes many, and says how many
    draws_rows: bool = False  # by their weights: a row of weight two is two rows on average, not in every draw
    draws_for_rows: bool = False  # learns from draws for each row: a row of weight two has one, two equal rows have two
    draws_to_score: bool = False  # scores rows by draws, one row after another


# Enough for trees, whose threads share the rows of a node from 4,096 on and the members of an ensemble, and for what repeats
# fits that are tested by themselves.
_FEW_ROWS = 5_000

# A tolerance far below what the suites compare, and a penalty that leaves something of their data.
_SPARSE = Case(
    params={"alpha": 0.05},
    fixed_params=lambda X: {"tol": 1e-12},
    unique_params={"tol": 1e-12},
    grid={"alpha": [0.1, 0.5]},
)
_SPARSE_CV = Case(
    params={"alphas": 20},
    fixed_params=lambda X: {"tol": 1e-12, "alphas": [0.2, 0.1, 0.05], "cv": SplitByValue()},
    unique_params={"tol": 1e-12},
    grid={"eps": [0.1, 0.01]},
)
# Steps from the same point, however few: metrics that are learnt have many optima.
_METRIC = Case(
    n_large=600,
    n_long=4_000,
    params={"init": "identity", "max_iter": 5},
    takes_labels=True,
    grid={"max_iter": [2, 3]},
    long_params={"init": "identity", "tol": 0.0, "max_iter": 1_000_000},
    fixed_params=lambda X: {"init": "identity", "max_iter": 3},
    unique_params={"max_iter": 3},
    silent_params={"tol": 0.1, "max_iter": 50},
)

# Steps on all rows at once, of which the sums over rows are all that counts.
_WHOLE = {"solver": "sgd", "shuffle": False, "max_iter": 3}
_SMALL = {"hidden_layer_sizes": (8,), "max_iter": 20}
_NETWORK = Case(
    n_large=2_000,
    params=_SMALL,
    long_params={"hidden_layer_sizes": (8,), "max_iter": 1_000_000, "tol": 0.0, "n_iter_no_change": 1_000_000},
    fixed_params=lambda X: {**_WHOLE, "batch_size": 2_000},
    unique_params={**_WHOLE, "batch_size": 2_000},
    silent_params={"tol": 10.0, "n_iter_no_change": 2},
    grid={"alpha": [1e-4, 1e-1]},
    row_counting=("t_",),
)
_DRAWN_NETWORK = replace(_NETWORK, draws_for_rows=True)

_WITHIN = {"radius": np.inf}  # whatever the data are, no row is without neighbours, and each has all

CASES: dict[str, Case] = {
    # Times grow with the square of the rows.
    "AgglomerativeClustering": Case(n_large=2_000, n_long=30_000, grid={"n_clusters": [2, 3]}),
    "FeatureAgglomeration": Case(n_large=2_000, n_long=30_000, of_columns=True, grid={"n_clusters": [2, 3]}),
    "DivisiveClustering": Case(n_large=600, n_long=6_000, grid={"n_clusters": [2, 3]}),
    "Autoencoder": _NETWORK,
    "DenoisingAutoencoder": _DRAWN_NETWORK,
    "MLPClassifier": _NETWORK,
    "MLPRegressor": _NETWORK,
    "VariationalAutoencoder": replace(_DRAWN_NETWORK, draws_to_score=True),
    "BernoulliRBM": Case(n_large=2_000, params={"n_components": 16}, grid={"n_components": [2, 3]}, draws_to_score=True),
    "PCA": Case(grid={"n_components": [2, 3]}),
    "IncrementalPCA": Case(grid={"n_components": [2, 3]}),
    "TruncatedSVD": Case(params={"n_components": 1}, grid={"n_components": [2, 3]}),
    "KernelDensity": Case(n_large=5_000, is_lazy=True, grid={"bandwidth": [0.1, 1.0]}),
    "LSH": Case(n_large=5_000, is_lazy=True, grid={"n_tables": [1, 8]}),
    "KNeighborsClassifier": Case(n_large=5_000),
    "KNeighborsRegressor": Case(n_large=5_000, is_lazy=True),
    "KNeighborsTransformer": Case(n_large=2_000),  # graphs are compared as tables of all pairs
    "CondensedNearestNeighbor": Case(n_large=4_000),
    "KNeighborsRegressorCV": Case(n_large=5_000, is_lazy=True, params={"n_neighbors": [1, 4]}),
    "KNeighborsClassifierCV": Case(n_large=5_000, is_lazy=True, params={"n_neighbors": [1, 4]}),
    "RadiusNeighborsClassifier": Case(
        n_large=1_000, n_long=20_000, is_lazy=True, params={**_WITHIN, "outlier_label": "most_frequent"}
    ),
    "RadiusNeighborsRegressor": Case(n_large=1_000, n_long=20_000, is_lazy=True, params=_WITHIN),
    "RadiusNeighborsTransformer": Case(n_large=1_000, n_long=20_000, params=_WITHIN),
    "LocalOutlierFactor": Case(n_large=5_000, is_lazy=True, params={"n_neighbors": 5, "novelty": True}),
    "KernelRegression": Case(
        n_large=1_000, n_long=20_000, params={"bandwidth": 0.7}, is_lazy=True, fixed_params=lambda X: {"bandwidth": 0.7}
    ),
    # Kernel matrices have a value for each pair of rows; rows that are kept are as they were given.
    "KernelRidge": Case(
        n_large=600, n_long=5_000, unique_params={"kernel": "rbf"}, row_counting=("X_fit_",), grid={"alpha": [0.1, 10.0]}
    ),
    "KernelPCA": Case(
        n_large=600,
        n_long=3_000,
        params={"n_components": 3},
        row_counting=("X_fit_",),
        grid={"n_components": [1, 2]},
        iterates_elsewhere=True,
    ),
    "Nystroem": Case(params={"n_components": 10}, row_counting=("components_",), grid={"n_components": [2, 3]}, is_lazy=True),
    "RBFSampler": Case(grid={"n_components": [2, 3]}, is_lazy=True),
    "PolynomialCountSketch": Case(grid={"n_components": [2, 3]}, is_lazy=True),
    "SkewedChi2Sampler": Case(params={"skewedness": 50.0}, grid={"n_components": [2, 3]}, is_lazy=True),
    "AdditiveChi2Sampler": Case(grid={"sample_steps": [1, 2]}, is_lazy=True),
    "LocallyWeightedRegression": Case(n_large=1_000, n_long=20_000, is_lazy=True),
    "NeighborhoodComponentsAnalysis": _METRIC,
    "LMNN": replace(_METRIC, params={**_METRIC.params, "n_neighbors": 1}),
    "GeneralizedLinearRegressor": Case(unique_params={"alpha": 1.0}),  # fewer rows than parameters leave many solutions
    "ElasticNet": _SPARSE,
    "ElasticNetCV": _SPARSE_CV,
    "Lasso": _SPARSE,
    "LassoCV": _SPARSE_CV,
    "LpRegression": _SPARSE,
    "MultiTaskElasticNet": _SPARSE,
    "MultiTaskElasticNetCV": _SPARSE_CV,
    "MultiTaskLasso": _SPARSE,
    "MultiTaskLassoCV": _SPARSE_CV,
    "KMeans": Case(
        params={"n_clusters": 4},
        long_params={"n_clusters": 200, "init": "random", "n_init": 1000, "tol": 0.0, "max_iter": 100_000},
        fixed_params=lambda X: {"init": np.array(X[:4]), "n_init": 1, "tol": 0.0},
        unique_params={"n_clusters": 1},  # starts are drawn by row number, so more clusters may end in other local minima
        grid={"n_clusters": [2, 3]},
    ),
    **{
        name: Case(
            n_large=_FEW_ROWS,
            params={"n_components": 2, "verbose_interval": 1, "tol": 1e-6, "init_params": "k-means++"},
            long_params={"n_components": 100, "tol": 0.0, "max_iter": 100_000},
            fixed_params=lambda X: {"n_components": 1, "tol": 1e-3},
            unique_params={"n_components": 1},  # starts are drawn by row number: more may end in other local maxima
            grid={"n_components": [1, 2]},
        )
        for name in ("GaussianMixture", "BayesianGaussianMixture")
    },
    "LogisticRegression": Case(
        long_params={"solver": "gd", "tol": 0.0, "max_iter": 1_000_000},
        fixed_params=lambda X: {"tol": 1e-13},
        unique_params={"tol": 1e-13},
        grid={"C": [0.1, 10.0]},
    ),
    "LogisticRegressionCV": Case(
        n_large=_FEW_ROWS,
        params={"Cs": [0.1, 10.0], "cv": 2},
        long_params={"solver": "gd", "tol": 0.0, "max_iter": 1_000_000},
        fixed_params=lambda X: {"tol": 1e-13, "cv": SplitByValue(), "scoring": "neg_log_loss"},
        unique_params={"tol": 1e-13, "scoring": "neg_log_loss"},
        grid={"refit": [False, True]},
    ),
    "LinearSVC": Case(
        long_params={"loss": "hinge", "dual": True, "tol": 0.0, "max_iter": 1_000_000},
        fixed_params=lambda X: {"tol": 1e-12},
        unique_params={"tol": 1e-12},
        grid={"C": [0.1, 1.0]},
    ),
    "LinearSVR": Case(
        long_params={"dual": True, "tol": 0.0, "max_iter": 1_000_000},
        fixed_params=lambda X: {"tol": 1e-12},
        unique_params={"tol": 1e-12},
        grid={"C": [0.1, 1.0]},
    ),
    "QuantileRegressor": Case(  # a quantile that no number of rows can hit leaves one solution
        params={"alpha": 0.01, "quantile": 0.4321},
        fixed_params=lambda X: {"tol": 1e-12},
        unique_params={"alpha": 0.01, "quantile": 0.4321, "tol": 1e-12},
        grid={"alpha": [0.0, 0.01]},
    ),
}

# Covariances of classes are singular, which is an error, where columns are constant or rows few.
CASES["QuadraticDiscriminantAnalysis"] = Case(
    params={"reg_param": 0.1}, regular_params={"reg_param": 0.1}, grid={"reg_param": [0.1, 0.5]}
)
CASES["LinearDiscriminantAnalysis"] = Case(grid={"tol": [1e-4, 1e-2]})
CASES["GaussianNB"] = Case(grid={"var_smoothing": [1e-9, 0.1]}, is_lazy=True)
CASES["NaiveBayes"] = Case(n_large=_FEW_ROWS, grid={"alpha": [0.1, 1.0]}, is_lazy=True)
for name in ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"):
    CASES[name] = Case(grid={"alpha": [0.1, 1.0]}, is_lazy=True)

_BEARERS = ("support_", "support_vectors_", "n_support_", "dual_coef_")
for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVCCV", "SVRCV"):
    _chosen = {"C": 1.0, "gamma": 0.3, "cv": 2} if name.endswith("CV") else {}
    CASES[name] = Case(
        n_large=1_500,
        n_long=20_000,
        params={**_chosen, **({"nu": 0.3} if name == "NuSVC" else {})},
        long_params={"gamma": 0.3, "tol": 0.0, "max_iter": 1_000_000_000},
        fixed_params=lambda X: {"gamma": 0.3, "tol": 1e-9},  # "scale" counts rows
        unique_params={"gamma": 0.3, "tol": 1e-9, **({"nu": 0.1} if name == "NuSVC" else {})},
        row_counting=("shape_fit_", "point_status_", "best_score_", "cv_scores_", *_BEARERS),
        grid={"coef0": [0.0, 1.0]} if name.endswith("CV") else {"gamma": [0.1, 1.0]},
        counts_steps=True,
        is_of_shares=name == "NuSVC",
        of_equal_rows=(*_BEARERS, "point_status_"),
    )
for name in ("Ridge", "RidgeClassifier"):
    CASES[name] = Case(iterative_params={"solver": "sparse_cg"}, grid={"alpha": [0.1, 10.0]})
for name in ("RidgeCV", "RidgeClassifierCV"):
    CASES[name] = Case(
        unique_params={"alphas": 1.0},
        fixed_params=lambda X: {"alphas": 1.0},
        row_counting=("best_score_",),  # leaving out a row of weight two is not leaving out one of two equal rows
        grid={"fit_intercept": [True, False]},
    )
for _name in ("GammaRegressor", "PoissonRegressor", "TweedieRegressor"):  # sparse rows have another solver
    CASES[_name] = Case(fixed_params=lambda X: {"tol": 1e-9})
ONLINE = {"max_iter": 1_000_000, "tol": None}
for _name in ("SGDClassifier", "SGDRegressor"):
    CASES[_name] = Case(
        long_params=ONLINE, fixed_params=lambda X: {"shuffle": False}, grid={"alpha": [1e-4, 1e-2]}, is_online=True
    )
for _name in ("PassiveAggressiveClassifier", "PassiveAggressiveRegressor"):
    CASES[_name] = Case(long_params=ONLINE, fixed_params=lambda X: {"shuffle": False}, grid={"C": [0.1, 1.0]}, is_online=True)
CASES["Perceptron"] = Case(
    long_params=ONLINE,
    fixed_params=lambda X: {"shuffle": False},
    silent_params={"penalty": "l2"},  # without one it wants no mistakes
    grid={"eta0": [0.1, 1.0]},
    is_online=True,
)
# Splits of few rows tie, and rounding then chooses among them; leaves of some weight (not: of some rows) leave no ties.
for _name in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
    CASES[_name] = Case(fixed_params=lambda X: {"min_weight_fraction_leaf": 0.05}, grid={"max_depth": [2, 4]}, is_lazy=True)
CASES["ID3"] = Case(n_large=_FEW_ROWS, grid={"criterion": ["information_gain", "gain_ratio"]})

# Members with one solution, found to the last digits, and folds in which a row goes where its repetitions go.
CLASSIFIERS = [("logistic", LogisticRegression(tol=1e-12)), ("ridge", RidgeClassifier(alpha=5.0))]
REGRESSORS = [("ridge", Ridge(alpha=5.0)), ("lasso", Lasso(alpha=0.1, tol=1e-12))]
CASES["VotingClassifier"] = Case(n_large=_FEW_ROWS, params={"estimators": CLASSIFIERS}, grid={"weights": [None, [1, 2]]})
CASES["VotingRegressor"] = Case(
    n_large=_FEW_ROWS, params={"estimators": REGRESSORS}, grid={"weights": [None, [1, 2]]}, is_lazy=True
)
CASES["StackingClassifier"] = Case(
    n_large=_FEW_ROWS,
    params={"estimators": CLASSIFIERS, "cv": 2},
    fixed_params=lambda X: {"cv": SplitByDigit(), "final_estimator": LogisticRegression(tol=1e-12)},
    unique_params={"final_estimator": LogisticRegression(tol=1e-12)},
    grid={"passthrough": [False, True]},
)
CASES["StackingRegressor"] = Case(
    n_large=_FEW_ROWS,
    params={"estimators": REGRESSORS, "cv": 2},
    fixed_params=lambda X: {"cv": SplitByValue(), "final_estimator": Ridge()},
    unique_params={"final_estimator": Ridge()},
    grid={"passthrough": [False, True]},
    is_lazy=True,
)
CASES["SuperLearner"] = Case(
    n_large=_FEW_ROWS,
    params={"estimators": REGRESSORS, "cv": 2},
    fixed_params=lambda X: {"cv": SplitByValue(), "tol": 1e-13},
    iterative_params={
        "loss": Huber(delta=0.5),
        "estimators": [(f"{share:.0%}", QuantileRegressor(quantile=share, alpha=0.01)) for share in (0.3, 0.7)],
    },
    unique_params={"tol": 1e-13},
    grid={"cv": [2, 3]},
)
CASES["IsolationForest"] = Case(params={"n_estimators": 5}, grid={"max_samples": [10, 20]}, is_lazy=True, draws_rows=True)

# Forests are small here. Without draws of rows and features nothing is left to chance, and large nodes have no equal splits.
FIXED_FOREST = {"bootstrap": False, "max_features": None, "max_depth": 3}
for _name in ("RandomForestClassifier", "RandomForestRegressor"):
    CASES[_name] = Case(
        n_large=_FEW_ROWS,
        params={"n_estimators": 5},
        fixed_params=lambda X: FIXED_FOREST,
        unique_params={**FIXED_FOREST, "max_depth": 1},
        grid={"max_depth": [2, None]},
        is_lazy=True,
    )
for _name in ("ExtraTreesClassifier", "ExtraTreesRegressor"):
    CASES[_name] = Case(
        n_large=_FEW_ROWS,
        params={"n_estimators": 5},
        fixed_params=lambda X: {"max_depth": 3},
        unique_params={"max_depth": 1},
        grid={"max_depth": [2, None]},
        is_lazy=True,
    )
for _name in ("ExtraTreeClassifier", "ExtraTreeRegressor"):
    CASES[_name] = Case(
        fixed_params=lambda X: {"max_depth": 3}, unique_params={"max_depth": 1}, grid={"max_depth": [2, None]}, is_lazy=True
    )
CASES["RandomTreesEmbedding"] = Case(
    params={"n_estimators": 5, "sparse_output": False},
    row_counting=("feature_importances_",),  # they speak of a random target, one a row
    grid={"max_depth": [2, 4]},
)
for _name, _tree in (("BaggingClassifier", DecisionTreeClassifier), ("BaggingRegressor", DecisionTreeRegressor)):
    CASES[_name] = Case(
        n_large=_FEW_ROWS,
        params={"n_estimators": 5},
        fixed_params=lambda X, tree=_tree: {"bootstrap": False, "estimator": tree(max_depth=3)},
        unique_params={"bootstrap": False, "estimator": _tree(max_depth=1)},
        grid={"max_samples": [0.5, 1.0]},
        is_lazy=True,
    )

# Later rounds of boosting look at few rows, where splits tie and rounding chooses among them; a few rounds of stumps do not.
STUMP = DecisionTreeRegressor(max_depth=1)
_FEW = {"n_large": _FEW_ROWS, "params": {"n_estimators": 5}, "grid": {"n_estimators": [2, 4]}}
CASES["AdaBoostClassifier"] = Case(**_FEW, unique_params={"n_estimators": 1})
CASES["AdaBoostRegressor"] = Case(
    **_FEW,
    fixed_params=lambda X: {"resample": False, "estimator": STUMP},
    unique_params={"resample": False, "estimator": STUMP, "n_estimators": 1},
    is_lazy=True,
)
CASES["AnyBoost"] = Case(
    **_FEW, fixed_params=lambda X: {"estimator": STUMP}, unique_params={"estimator": STUMP, "n_estimators": 1}
)
CASES["GradientBoostingRegressor"] = Case(
    **_FEW, fixed_params=lambda X: {"max_depth": 1}, unique_params={"max_depth": 1, "n_estimators": 1}, is_lazy=True
)
CASES["GradientBoostingClassifier"] = Case(  # fifteen rows of three classes have no split without a tie
    **_FEW, fixed_params=lambda X: {"max_depth": 1}, unique_params={"min_samples_split": 100}
)

for _name in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"):
    CASES[_name] = Case(
        n_large=_FEW_ROWS,
        params={"max_iter": 20},
        long_params={"max_iter": 1_000_000, "early_stopping": False},
        fixed_params=lambda X: {"early_stopping": False, "min_samples_leaf": 1},  # which counts rows, not weights
        grid={"max_leaf_nodes": [4, 8]},
        takes_infinity=True,
    )

CASES["TunedThresholdClassifier"] = Case(
    n_large=_FEW_ROWS,
    params={"estimator": LogisticRegression(tol=1e-12), "cv": 2},
    fixed_params=lambda X: {"cv": SplitByDigit()},
    neutral_params={"scoring": "expected_cost"},
    grid={"scoring": ["balanced_accuracy", "f_beta"]},
)
CASES["CalibratedClassifierCV"] = Case(
    n_large=_FEW_ROWS,
    params={"estimator": LogisticRegression(tol=1e-12), "cv": 2},
    fixed_params=lambda X: {"cv": SplitByDigit()},
    unique_params={"estimator": LogisticRegression(tol=1e-12)},
    grid={"method": ["sigmoid", "temperature"]},
)

# A row of weight two is not two rows where rows are counted.
CASES["DBSCAN"] = Case(
    n_large=_FEW_ROWS,
    params={"eps": 1.0},
    grid={"eps": [0.5, 1.0]},
    row_counting=("core_sample_indices_", "components_"),
    is_lazy=True,
    takes_any_sign=True,
)
CASES["HDBSCAN"] = Case(n_large=2_000, grid={"min_cluster_size": [5, 8]}, is_lazy=True, takes_infinity=True)
CASES["OPTICS"] = Case(n_large=2_000, n_long=50_000, grid={"min_samples": [3, 5]}, is_lazy=True)


def _ends(X: Any, n_clusters: int, random_state: Any) -> Any:
    """The rows of the least and the greatest sum."""
    rows = X.toarray() if hasattr(X, "toarray") else X
    return rows[np.argsort(rows.sum(axis=1), kind="stable")[[0, -1]]]


CASES["MiniBatchKMeans"] = Case(
    n_large=_FEW_ROWS,
    params={"n_clusters": 4},
    long_params={"n_clusters": 200, "max_iter": 1_000_000, "max_no_improvement": None},
    fixed_params=lambda X: {"init": np.array(X[:4]), "n_init": 1},
    unique_params={"n_clusters": 1},
    grid={"n_clusters": [2, 3]},
    draws_rows=True,
)
CASES["BisectingKMeans"] = Case(
    params={"n_clusters": 4},
    long_params={"n_clusters": 200, "n_init": 1000, "tol": 0.0, "max_iter": 100_000},
    fixed_params=lambda X: {"n_clusters": 2, "init": _ends},
    unique_params={"n_clusters": 1},
    grid={"n_clusters": [2, 3]},
    iterates_elsewhere=True,
)
CASES["SelfOrganizingMap"] = Case(
    params={"grid_shape": (3, 2), "n_epochs": 5},
    long_params={"grid_shape": (20, 20), "tol": 0.0, "n_epochs": 100_000, "max_iter": 1_000_000},
    fixed_params=lambda X: {"tol": 0.0},
    unique_params={"grid_shape": (1, 1)},
    silent_params={"tol": 0.01},
    grid={"n_epochs": [5, 10]},
)
CASES["SpectralClustering"] = Case(
    n_large=600, n_long=3_000, params={"n_clusters": 3, "n_init": 2}, grid={"n_clusters": [2, 3]}
)
CASES["MeanShift"] = Case(
    n_large=1_500, n_long=20_000, params={"bandwidth": 1.0}, grid={"bandwidth": [1.0, 2.0]}, iterates_elsewhere=True
)
CASES["AffinityPropagation"] = Case(
    n_large=400,
    n_long=2_000,
    long_params={"max_iter": 1_000_000, "convergence_iter": 1_000_000},
    silent_params={"damping": 0.9, "max_iter": 2_000},
    grid={"damping": [0.5, 0.9]},
)
CASES["Birch"] = Case(n_large=2_000, n_long=100_000, grid={"threshold": [0.2, 0.4]})

# Selectors of columns: one fit or many of another model, and scores that are no objective.
CASES["SelectKBest"] = Case(takes_labels=True, params={"k": 2}, grid={"k": [1, 2]})
CASES["SelectPercentile"] = Case(takes_labels=True, params={"percentile": 50}, grid={"percentile": [30, 60]})
CASES["GenericUnivariateSelect"] = Case(takes_labels=True, params={"mode": "k_best", "param": 2}, grid={"param": [1, 2]})
for _name in ("SelectFpr", "SelectFdr", "SelectFwe"):
    CASES[_name] = Case(takes_labels=True, grid={"alpha": [0.05, 0.1]})
CASES["VarianceThreshold"] = Case(needs_variation=True, grid={"threshold": [0.0, 0.01]})
CASES["SelectFromModel"] = Case(takes_labels=True, params={"estimator": Ridge()}, grid={"threshold": ["mean", "median"]})
CASES["RFE"] = Case(of_columns=True, params={"estimator": Ridge()}, grid={"n_features_to_select": [1, 2]}, is_lazy=True)
CASES["RFECV"] = Case(
    of_columns=True,
    n_large=_FEW_ROWS,
    params={"estimator": Ridge(), "cv": 2},
    fixed_params=lambda X: {"cv": SplitByValue()},
    grid={"min_features_to_select": [1, 2]},
    is_lazy=True,
)
CASES["SequentialFeatureSelector"] = Case(
    of_columns=True,
    n_large=_FEW_ROWS,
    takes_labels=True,
    params={"estimator": Ridge(), "cv": 2},
    fixed_params=lambda X: {"cv": SplitByValue()},
    grid={"direction": ["forward", "backward"]},
)
CASES["BorutaSelector"] = Case(
    n_large=2_000,
    params={"estimator": Ridge(), "max_runs": 6, "keep_tentative": True},
    takes_labels=True,
    grid={"alpha": [0.05, 0.5]},
)
CASES["StabilitySelection"] = Case(
    n_large=_FEW_ROWS,
    params={"estimator": Lasso(0.5), "n_subsamples": 6},
    takes_labels=True,
    grid={"threshold": [0.6, 0.9]},
)


for _name in ("GaussianHMM", "GMMHMM", "PoissonHMM"):
    CASES[_name] = Case(
        n_large=3_000,
        n_long=20_000,
        params={"n_components": 2, "n_iter": 5},
        long_params={"n_iter": 1_000_000, "tol": -1.0},
        fixed_params=lambda X: {"n_components": 1},
        silent_params={"tol": 100.0},
        grid={"n_components": [1, 2]},
        of_sequences=True,
        of_counts=_name == "PoissonHMM",
    )


def case_of(estimator: type[BaseEstimator]) -> Case:
    return CASES.get(estimator.__name__, Case())


def parameters_of(estimator: type[BaseEstimator]) -> list[str]:
    return list(inspect.signature(estimator.__init__).parameters)[1:]


def make(estimator: type[BaseEstimator], /, **params: Any) -> BaseEstimator:
    """An instance for small data, deterministic unless `params` says otherwise."""
    seed = {"random_state": 0} if "random_state" in parameters_of(estimator) else {}
    return estimator(**{**case_of(estimator).params, **seed, **params})


def make_plain(estimator: type[BaseEstimator]) -> BaseEstimator:
    """An instance with the defaults; what has none is as in `make`."""
    signature = inspect.signature(estimator.__init__).parameters.values()
    needed = [parameter.name for parameter in list(signature)[1:] if parameter.default is parameter.empty]
    return estimator(**{name: case_of(estimator).params[name] for name in needed}, **case_of(estimator).regular_params)


# Of what makes one fit many: members, folds, values to choose from.
_FEWER = ("n_estimators", "n_subsamples", "cv", "alphas", "Cs", "C", "gamma")


def fewer_fits(estimator: type[BaseEstimator]) -> dict[str, Any]:
    """For checks that fit many times: few members, yet enough to learn what they ask for; folds and values as in `make`."""
    params = case_of(estimator).params
    is_repeated = {"n_estimators", "n_subsamples"} & set(params) or "cv" in parameters_of(estimator)
    few = {name: params[name] for name in _FEWER if is_repeated and name in params}
    return {**few, "n_estimators": 20} if "n_estimators" in few else few


def make_checked(estimator: type[BaseEstimator]) -> BaseEstimator:
    """As `make_plain`, for checks that fit many times."""
    return make_plain(estimator).set_params(**fewer_fits(estimator))


def make_iterative(estimator: type[BaseEstimator], /, **params: Any) -> BaseEstimator:
    """As `make`, for an estimator with `max_iter`: an instance that uses it."""
    return make(estimator, **{**case_of(estimator).iterative_params, **params})


def fixed(estimator: type[BaseEstimator], X: Any, /, **params: Any) -> BaseEstimator:
    """An instance whose fit depends on the data alone: no draws, no rule that counts rows."""
    return make(estimator, **{**case_of(estimator).fixed_params(X), **params})


@dataclass(frozen=True)
class Data:
    X: Any
    y: Any = None

    @property
    def args(self) -> tuple[Any, ...]:
        return (self.X,) if self.y is None else (self.X, self.y)

    def with_X(self, X: Any) -> Data:
        return Data(X, self.y)

    def rows(self, index: Any) -> Data:
        return Data(self.X[index], None if self.y is None else self.y[index])


def make_data(
    estimator: type[BaseEstimator], n_rows: int = 200, n_columns: int = 5, dtype: Any = np.float64, *, always_y: bool = False
) -> Data:
    """Blobs that overlap, and the y that the estimator's tags ask for (`always_y`: one for pipelines with a regressor)."""
    random = np.random.RandomState(0)
    instance = make(estimator)
    tags = get_tags(instance)
    groups = random.randint(4, size=n_rows)
    X = random.randn(4, n_columns)[groups] * 1.5 + random.randn(n_rows, n_columns)
    if tags.input_tags.positive_only:
        X = np.abs(X)
    if case_of(estimator).of_counts:
        X = np.floor(np.abs(X))
    y = None
    if case_of(estimator).takes_labels:
        y = groups  # a regressor at the end of a pipeline takes them too
    elif is_classifier(instance):
        y = np.array(["a", "b", "c", "d"])[groups]
    elif is_regressor(instance) or tags.target_tags.required or (always_y and not case_of(estimator).of_sequences):
        y = X @ random.randn(n_columns) + random.randn(n_rows)
        if tags.target_tags.positive_only:
            y = np.exp(y / np.abs(y).max())
        if not tags.target_tags.single_output:
            y = np.column_stack([y, X[:, 0] - y, random.randn(n_rows)])
    if y is not None and y.dtype.kind == "f":
        y = y.astype(dtype)
    return Data(X.astype(dtype), y)


def make_large(estimator: type[BaseEstimator], dtype: Any = np.float64) -> Data:
    """As many rows as the estimator needs for several chunks and threads."""
    return make_data(estimator, case_of(estimator).n_large, 12, dtype)


@functools.cache
def fitted(estimator: type[BaseEstimator], dtype: Any = np.float64) -> BaseEstimator:
    """One instance fitted on the small data, for all checks that ask something of a fitted one: to be read, not changed."""
    return make(estimator).fit(*make_data(estimator, dtype=dtype).args)


@functools.cache
def fitted_fixed(estimator: type[BaseEstimator], dtype: Any = np.float64) -> BaseEstimator:
    """The same of an instance whose fit depends on the data alone."""
    data = make_data(estimator, dtype=dtype)
    return fixed(estimator, data.X).fit(*data.args)


@functools.cache
def fitted_serially(estimator: type[BaseEstimator], dtype: Any = np.float64) -> BaseEstimator:
    """One instance fitted on large data by one thread, for all checks that compare with it: to be read, not changed."""
    with threadpool_limits(1, user_api="mercer"):
        return make(estimator).fit(*make_large(estimator, dtype).args)


def takes_weights(estimator: type[BaseEstimator]) -> bool:
    return "sample_weight" in inspect.signature(estimator.fit).parameters


def is_iterative(estimator: type[BaseEstimator]) -> bool:
    return "max_iter" in parameters_of(estimator) and not case_of(estimator).iterates_elsewhere


def ids(estimators: list[type[BaseEstimator]]) -> list[str]:
    return [estimator.__name__ for estimator in estimators]


ESTIMATORS = all_estimators()
