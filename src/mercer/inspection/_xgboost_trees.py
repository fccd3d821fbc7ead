"""XGBoost's models as sums of trees, from what `save_raw` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit

from mercer._arrays import FloatArray
from mercer.inspection._foreign_trees import ForeignTree, store_of
from mercer.inspection._tree_sum import LOG_ODDS, NUMBERS, OTHER, Output, TreeSum, Unsuited

# How the base score, which is saved in the units of predictions, becomes a raw sum.
_LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
_LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def sum_of(model: Any) -> TreeSum:
    """A fitted `xgboost.Booster`, or an estimator around one, as a sum of trees."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    missing = getattr(model, "missing", np.nan)
    if not (missing is None or np.isnan(missing)):
        raise Unsuited(f"XGBoost's missing={missing!r} is not read; have NaN stand for missing values.")
    learner = json.loads(booster.save_raw("json").decode())["learner"]
    trees, groups = _trees_of(learner, _n_rounds(model, booster))
    n_features = int(learner["learner_model_param"]["num_feature"])
    store, values = store_of(trees, n_features)
    base = _base_of(learner, int(groups.max(initial=0)) + 1)
    outputs = tuple(Output(values, float(start), np.flatnonzero(groups == k)) for k, start in enumerate(base))
    read = partial(_rows_of, _categories_of(learner), n_features)
    classes = getattr(model, "classes_", None)
    names = [str(label) for label in classes] if classes is not None and len(outputs) > 1 else None
    units, loss = _units_of(str(learner["objective"]["name"]))
    sums = TreeSum(store, outputs, read, partial(_raw, model), units, loss, _two(classes, units), names)
    _require_agreement(sums, booster, n_features)
    return sums


def _two(classes: Any, units: str) -> Any:
    """The classes that a target is one of: those of a bare booster are 0 and 1."""
    if units != LOG_ODDS:
        return None
    return np.array([0, 1]) if classes is None else np.asarray(classes)


def _n_rounds(model: Any, booster: Any) -> int:
    """How many rounds a prediction takes: of an estimator that stopped early, those up to the best."""
    best = booster.attr("best_iteration") if hasattr(model, "get_booster") else None
    return int(booster.num_boosted_rounds()) if best is None else int(best) + 1


def _trees_of(learner: Mapping[str, Any], n_rounds: int) -> tuple[list[ForeignTree], Any]:
    kind = learner["gradient_booster"]
    if kind["name"] not in ("gbtree", "dart"):
        raise Unsuited(f"XGBoost's booster {kind['name']!r} is no sum of trees.")
    weights = kind.get("weight_drop")
    model = kind["gbtree"]["model"] if kind["name"] == "dart" else kind["model"]
    last = model["iteration_indptr"][n_rounds] if "iteration_indptr" in model else len(model["trees"])
    trees = [_tree(each, 1.0 if weights is None else float(weights[t])) for t, each in enumerate(model["trees"][:last])]
    if not trees:
        raise Unsuited("An XGBoost model without trees has nothing to explain.")
    return trees, np.array(model["tree_info"][:last], dtype=np.int64)


def _tree(raw: Mapping[str, Any], weight: float) -> ForeignTree:
    if int(raw["tree_param"]["size_leaf_vector"]) > 1:
        raise Unsuited("XGBoost's trees with a vector in each leaf (multi_strategy='multi_output_tree') are not read.")
    left, right = np.array(raw["left_children"]), np.array(raw["right_children"])
    condition = np.array(raw["split_conditions"], dtype=np.float32)
    missing_left = np.array(raw["default_left"], dtype=bool)
    is_leaf = left < 0
    # x < condition in single precision is x <= the next number below it.
    threshold = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    values = np.where(is_leaf, condition.astype(np.float64) * weight, 0.0)
    sets = {}
    for node, start, size in zip(raw["categories_nodes"], raw["categories_segments"], raw["categories_sizes"], strict=True):
        # The set goes right there, and all else left: the children change places.
        sets[int(node)] = raw["categories"][start : start + size]
        left[node], right[node] = right[node], left[node]
        missing_left[node] = not missing_left[node]
    cover = np.array(raw["sum_hessian"], dtype=np.float64)
    feature = np.array(raw["split_indices"], dtype=np.int64)
    return ForeignTree(left, right, feature, threshold, missing_left, cover, values, sets)


def _base_of(learner: Mapping[str, Any], n_groups: int) -> FloatArray:
    saved, objective = learner["learner_model_param"]["base_score"], str(learner["objective"]["name"])
    given = np.array(json.loads(saved) if saved.startswith("[") else [float(saved)], dtype=np.float64)
    if objective in _LOGISTIC:
        given = np.asarray(logit(given))
    elif objective in _LOGARITHMIC:
        given = np.log(given)
    return np.broadcast_to(given, (n_groups,)) if len(given) == 1 else given


def _units_of(objective: str) -> tuple[str, str | None]:
    if objective in _LOGISTIC:
        return LOG_ODDS, "log"
    if objective == "reg:squarederror":
        return NUMBERS, "squared"
    return (NUMBERS if objective.startswith("reg:") and objective not in _LOGARITHMIC else OTHER), None


def _raw(model: Any, X: Any) -> FloatArray:
    if hasattr(model, "get_booster"):
        return np.asarray(model.predict(X, output_margin=True), dtype=np.float64)
    xgboost: Any = import_module("xgboost")

    given = (
        X if isinstance(X, xgboost.DMatrix) else xgboost.DMatrix(X, enable_categorical=True, feature_names=model.feature_names)
    )
    return np.asarray(model.predict(given, output_margin=True), dtype=np.float64)


def _categories_of(learner: Mapping[str, Any]) -> list[Any]:
    """For each feature the categories that training saw, in the order of their codes; None for numbers and bare codes."""
    kind = learner["gradient_booster"]
    model = kind["gbtree"]["model"] if kind["name"] == "dart" else kind["model"]
    return [_levels(each) for each in model.get("cats", {}).get("enc", [])]


def _levels(encoded: Mapping[str, Any]) -> list[Any] | None:
    values = encoded.get("values", [])
    if not values:
        return None
    offsets = encoded.get("offsets")
    if offsets is None:
        return list(values)
    text = bytes(value % 256 for value in values)
    return [text[begin:end].decode() for begin, end in pairwise(offsets)]


def _rows_of(categories: list[Any], n_features: int, X: Any) -> FloatArray:
    """X in single precision, as XGBoost reads it; columns of categories as codes."""
    if not hasattr(X, "columns"):
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        return _checked(rows, n_features)
    if len(X.columns) != n_features:
        raise ValueError(f"X has {len(X.columns)} features; the model was fitted on {n_features} features.")
    columns = []
    for j in range(n_features):
        column = X.iloc[:, j]
        if hasattr(column, "cat"):
            levels = categories[j] if j < len(categories) and categories[j] is not None else list(column.cat.categories)
            known = {level: float(code) for code, level in enumerate(levels)}
            strange = [level for level in column.dropna().unique().tolist() if level not in known]
            if strange:
                raise ValueError(f"Column {X.columns[j]!r} holds the category {strange[0]!r}, which training never saw.")
            columns.append(np.array([known.get(value, np.nan) for value in column.tolist()]))
        else:
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return _checked(np.stack(columns, axis=1), n_features)


def _checked(rows: Any, n_features: int) -> FloatArray:
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X has the shape {rows.shape}; the model was fitted on {n_features} features.")
    return np.ascontiguousarray(rows, dtype=np.float32)


def _require_agreement(sums: TreeSum, booster: Any, n_features: int) -> None:
    """Refuse a model whose prediction of a row without values is not what was read."""
    xgboost: Any = import_module("xgboost")

    n_rounds = booster.attr("best_iteration")
    rows = np.full((1, n_features), np.nan, dtype=np.float32)
    given = xgboost.DMatrix(rows, feature_names=booster.feature_names, feature_types=booster.feature_types)
    last = 0 if n_rounds is None or not _is_shortened(sums, booster) else int(n_rounds) + 1
    found = np.ravel(booster.predict(given, output_margin=True, iteration_range=(0, last)))
    wanted = sums.raw(rows, 1)[0]
    if not np.allclose(found, wanted, rtol=1e-4, atol=1e-4 * max(1.0, float(np.abs(found).max()))):
        raise Unsuited(f"What was read of the XGBoost model makes {wanted.tolist()} where it predicts {found.tolist()}.")


def _is_shortened(sums: TreeSum, booster: Any) -> bool:
    return len(sums.store) < len(booster.get_dump())
