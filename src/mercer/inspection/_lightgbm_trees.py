"""LightGBM's models as sums of trees, from what `dump_model` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._arrays import FloatArray
from mercer.inspection._foreign_trees import ForeignTree, store_of
from mercer.inspection._tree_sum import LOG_ODDS, NUMBERS, OTHER, Output, TreeSum, Unsuited

_ZERO = 1e-35  # what LightGBM takes for zero in single precision, where zeros are missing


def sum_of(model: Any) -> TreeSum:
    """A fitted `lightgbm.Booster`, or an estimator around one, as a sum of trees."""
    booster = model.booster_ if hasattr(model, "booster_") else model
    if not hasattr(booster, "dump_model"):
        raise Unsuited(f"{type(model).__name__} of LightGBM is no model that TreeExplainer reads.")
    dump = booster.dump_model()
    if not dump["tree_info"]:
        raise Unsuited("A LightGBM model without trees has nothing to explain.")
    n_features, n_groups = int(dump["max_feature_idx"]) + 1, int(dump["num_tree_per_iteration"])
    scale = n_groups / len(dump["tree_info"]) if dump["average_output"] else 1.0
    zero_missing = np.zeros(n_features, dtype=bool)
    trees = [_tree(each, scale, zero_missing) for each in dump["tree_info"]]
    store, values = store_of(trees, n_features)
    places = np.arange(len(trees))
    outputs = tuple(Output(values, 0.0, places[k::n_groups]) for k in range(n_groups))
    objective = str(dump.get("objective", "")).split()
    read = partial(_rows_of, dump.get("pandas_categorical") or [], np.flatnonzero(zero_missing), n_features)
    classes = getattr(model, "classes_", None)
    names = [str(label) for label in np.asarray(classes).tolist()] if classes is not None and n_groups > 1 else None
    units, loss = _units_of(objective)
    two = (np.array([0, 1]) if classes is None else np.asarray(classes)) if units == LOG_ODDS else None
    return TreeSum(store, outputs, read, partial(_raw, model, scale), units, loss, two, names)


def _units_of(objective: list[str]) -> tuple[str, str | None]:
    name = objective[0] if objective else ""
    if name == "binary":
        return (LOG_ODDS, "log") if "sigmoid:1" in objective else (OTHER, None)
    if name == "regression" and "sqrt" not in objective:
        return NUMBERS, "squared"
    return OTHER, None


def _raw(model: Any, scale: float, X: Any) -> FloatArray:
    """The sums; LightGBM does not average them where its predictions are means (boosting="rf")."""
    return scale * np.asarray(model.predict(X, raw_score=True), dtype=np.float64)


def _tree(raw: Mapping[str, Any], scale: float, zero_missing: npt.NDArray[np.bool_]) -> ForeignTree:
    nodes = list(_nodes(raw["tree_structure"]))
    n = len(nodes)
    left, right, feature = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=np.int64)
    threshold, cover, values = np.zeros(n), np.ones(n), np.zeros(n)
    missing_left, sets = np.zeros(n, dtype=bool), {}
    for place, (node, right_place) in enumerate(nodes):
        if "split_feature" not in node:
            if "leaf_coeff" in node:
                raise Unsuited("LightGBM's trees with linear models in their leaves (linear_tree=True) are not read.")
            values[place] = scale * node["leaf_value"]
            cover[place] = node.get("leaf_count", 1)
            continue
        left[place], right[place], feature[place] = place + 1, right_place, node["split_feature"]
        cover[place] = node["internal_count"]
        if node["decision_type"] == "==":  # missing values and categories that are not in the set go right
            sets[place] = [int(category) for category in str(node["threshold"]).split("||")]
            continue
        threshold[place] = node["threshold"]
        if node["missing_type"] == "None":  # a missing value counts as zero
            missing_left[place] = threshold[place] >= 0
        else:
            missing_left[place] = node["default_left"]
            zero_missing[node["split_feature"]] |= node["missing_type"] == "Zero"
    return ForeignTree(left, right, feature, threshold, missing_left, cover, values, sets)


def _nodes(root: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The nodes, parents first and left before right, each with the place of its right child (-1: a leaf)."""
    order: list[Mapping[str, Any]] = []
    right_of: dict[int, int] = {}
    open_: list[tuple[Mapping[str, Any], int]] = [(root, -1)]
    while open_:
        node, parent = open_.pop()
        if parent >= 0:
            right_of[parent] = len(order)
        if "split_feature" in node:
            open_ += ((node["right_child"], len(order)), (node["left_child"], -1))
        order.append(node)
    return ((node, right_of.get(place, -1)) for place, node in enumerate(order))


def _rows_of(categories: list[Any], zero_missing: Any, n_features: int, X: Any) -> FloatArray:
    """X as LightGBM reads it: columns of categories as codes, and zeros as missing where they are."""
    if hasattr(X, "columns"):
        if len(X.columns) != n_features:
            raise ValueError(f"X has {len(X.columns)} features; the model was fitted on {n_features} features.")
        given, columns = iter(categories), []
        for j in range(n_features):
            column = X.iloc[:, j]
            if hasattr(column, "cat"):
                codes = column.cat.set_categories(next(given)).cat.codes.to_numpy(dtype=np.float64)
                columns.append(np.where(codes < 0, np.nan, codes))
            else:
                columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        rows: FloatArray = np.stack(columns, axis=1)
    else:
        rows = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X has the shape {rows.shape}; the model was fitted on {n_features} features.")
    if len(zero_missing):
        part = rows[:, zero_missing]
        rows[:, zero_missing] = np.where(np.abs(part) <= _ZERO, np.nan, part)
    return rows
