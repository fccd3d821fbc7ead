"""What is known of models before a table is seen: how promising they are, settings that often do well, what is worth trying.

A model that is not named here is tried as it comes, after those that are, and its own `_search_space` is searched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._base import MercerEstimator
from mercer._runs.problem import Problem
from mercer._tuning import Choices, Integers, Reals, Space

Params = Mapping[str, Any]
_COUNTS_SKEW, _POSITIVE_SKEW = 0.5, 1.0
_FEWEST_ROWS = 1_000
_MUCH_MORE = 3.0  # times as many rows in the largest class as in the smallest


@dataclass(frozen=True)
class Outlook:
    """What to expect of a model, and where its search begins."""

    tier: int = 3  # 1 is tried first
    settings: Sequence[Params] = ({},)  # in this order
    space: Mapping[str, Space] | None = None  # None: its own
    fixed: Params = field(default_factory=dict)  # in every trial
    is_swept: bool = True  # whether sweeps of its parameters repay
    first_rows: int = 10_000  # of the first trials, where there is a minute


_BOOSTING = Outlook(
    1,
    (
        {"learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20, "l2_regularization": 1e-6, "max_features": 1.0},
        {"learning_rate": 0.06, "max_leaf_nodes": 40, "min_samples_leaf": 8, "l2_regularization": 1.0, "max_features": 0.5},
        {"learning_rate": 0.08, "max_leaf_nodes": 8, "min_samples_leaf": 20, "l2_regularization": 0.1, "max_features": 0.7},
        {"learning_rate": 0.12, "max_leaf_nodes": 300, "min_samples_leaf": 5, "l2_regularization": 2.0, "max_features": 0.7},
        {"learning_rate": 0.06, "max_leaf_nodes": 100, "min_samples_leaf": 4, "l2_regularization": 5.0, "max_features": 0.4},
    ),
    {
        "learning_rate": Reals(0.01, 0.3, log=True),
        "max_leaf_nodes": Integers(3, 512, log=True),
        "min_samples_leaf": Integers(1, 120, log=True),
        "l2_regularization": Reals(1e-6, 1e2, log=True),
        "max_features": Reals(0.15, 1.0),
        "max_bins": Integers(31, 255, log=True),
    },
    {"early_stopping": False, "max_iter": 4000},
    first_rows=40_000,
)
_FOREST_SPACE: Mapping[str, Space] = {
    "n_estimators": Integers(10, 300, log=True),
    "max_features": Reals(0.1, 1.0),
    "min_samples_leaf": Integers(1, 40, log=True),
}


def _forest(*settings: Params) -> Outlook:
    return Outlook(1, settings, _FOREST_SPACE, is_swept=False)


_SLOW, _FAST = 2_000, 100_000  # rows

OUTLOOKS: Mapping[str, Outlook] = {
    "HistGradientBoostingRegressor": _BOOSTING,
    "HistGradientBoostingClassifier": _BOOSTING,
    "ExtraTreesRegressor": _forest(
        {"n_estimators": 30, "max_features": 1.0, "min_samples_leaf": 2},
        {"n_estimators": 50, "max_features": 0.5, "min_samples_leaf": 5},
    ),
    "ExtraTreesClassifier": _forest(
        {"n_estimators": 30, "max_features": 0.5, "min_samples_leaf": 2},
        {"n_estimators": 50, "max_features": 0.2, "min_samples_leaf": 5},
    ),
    "RandomForestRegressor": _forest(
        {"n_estimators": 30, "max_features": 0.4, "min_samples_leaf": 3},
        {"n_estimators": 50, "max_features": 0.7, "min_samples_leaf": 8},
    ),
    "RandomForestClassifier": _forest(
        {"n_estimators": 30, "max_features": 0.3, "min_samples_leaf": 2},
        {"n_estimators": 50, "max_features": 0.2, "min_samples_leaf": 8},
    ),
    "Ridge": Outlook(1, first_rows=_FAST),
    "LogisticRegression": Outlook(1, first_rows=20_000),
    "PoissonRegressor": Outlook(2, first_rows=_FAST),
    "GammaRegressor": Outlook(2, first_rows=_FAST),
    "TweedieRegressor": Outlook(2, first_rows=_FAST),
    "MLPRegressor": Outlook(2, ({"hidden_layer_sizes": (64, 64), "learning_rate_init": 3e-3, "alpha": 1e-3}, {})),
    "MLPClassifier": Outlook(2, ({"hidden_layer_sizes": (64, 64), "learning_rate_init": 3e-3, "alpha": 1e-3}, {})),
    "KNeighborsRegressor": Outlook(2),
    "KNeighborsClassifier": Outlook(2),
    "SVC": Outlook(2, ({"C": 1.0}, {"C": 10.0}), first_rows=_SLOW),
    "SVR": Outlook(2, ({"C": 1.0}, {"C": 10.0}), first_rows=_SLOW),
    "ElasticNet": Outlook(2, first_rows=_FAST),
    "LinearDiscriminantAnalysis": Outlook(2, first_rows=_FAST),
    "QuadraticDiscriminantAnalysis": Outlook(2, first_rows=_FAST),
    "QuantileRegressor": Outlook(2, first_rows=_SLOW),
    "GradientBoostingRegressor": Outlook(3, first_rows=_SLOW, is_swept=False),
    "GradientBoostingClassifier": Outlook(3, first_rows=_SLOW, is_swept=False),
    "KernelRegression": Outlook(3, first_rows=_SLOW),
}


def outlook_of(name: str, cls: type[MercerEstimator], problem: Problem, minutes: float) -> Outlook:
    """What to expect of a model on this problem: losses that fit the target, and weights of classes where these are unequal."""
    found = OUTLOOKS.get(name, Outlook(first_rows=_SLOW))
    space = dict((cls._search_space or {}) if found.space is None else found.space)
    settings = [dict(one) for one in found.settings]
    estimator = cls(**cls._candidate_params)
    known = estimator.get_params(deep=False)
    if problem.kind == "multiclass" and "l2_regularization" in settings[0]:
        settings[0]["l2_regularization"] = 1.0  # leaves of rare classes hold little curvature
    if (losses := _losses(name, problem)) and "loss" in known:
        space["loss"] = Choices(*losses)
        settings[1:1] = [{**settings[0], "loss": loss} for loss in losses[1:]]
    if problem.classes is not None and "class_weight" in known and _weighs_classes(problem):
        space["class_weight"] = Choices(None, "balanced")
        settings[1:1] = [{**settings[0], "class_weight": "balanced"}]
    fixed = {key: value for key, value in found.fixed.items() if key in known}
    return Outlook(
        found.tier, tuple(settings), space, fixed, found.is_swept, max(_FEWEST_ROWS, round(found.first_rows * minutes))
    )


def _losses(name: str, problem: Problem) -> list[str]:
    """Losses of histogram boosting that fit the target, the usual one first."""
    if problem.classes is not None or not name.startswith("HistGradientBoosting"):
        return []
    y = problem.y[problem.train]
    losses = ["squared_error"]
    if y.min() >= 0 and y.mean() > 0 and (np.all(y == np.round(y)) or _skewness(y) > _COUNTS_SKEW):
        losses.append("poisson")
    if y.min() > 0 and _skewness(y) > _POSITIVE_SKEW:
        losses.append("gamma")
    if "absolute" in problem.metric.name:
        losses.insert(0, "absolute_error")
    return losses if len(losses) > 1 else []


def _skewness(y: Any) -> float:
    spread = float(np.std(y))
    return float(np.mean(((y - y.mean()) / spread) ** 3)) if spread > 0 else 0.0


def _weighs_classes(problem: Problem) -> bool:
    """Whether classes are unequal and the measure goes by labels, which weights move, and not by an order of rows alone."""
    counts = np.unique(problem.y[problem.train], return_counts=True)[1]
    is_by_labels = not any(word in problem.metric.name for word in ("roc_auc", "log_loss", "brier", "accuracy"))
    return bool(counts.max() > _MUCH_MORE * counts.min()) and (is_by_labels or "balanced" in problem.metric.name)
