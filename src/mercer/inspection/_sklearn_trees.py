"""scikit-learn's tree models as sums of trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._compat import validate_data
from mercer._native import kernels
from mercer.inspection._foreign_trees import ForeignTree, store_of
from mercer.inspection._tree_sum import LOG_ODDS, NUMBERS, OTHER, SHARES, Output, TreeSum, Unsuited


def sum_of(model: Any) -> TreeSum:
    """One of scikit-learn's fitted models as a sum of trees. Raises `Unsuited` where it is none."""
    for kind in type(model).__mro__:
        reader = _READERS.get(kind.__name__) if kind.__module__.startswith("sklearn.") else None
        if reader is not None:
            check_is_fitted(model)
            return reader(model)
    raise Unsuited(f"{type(model).__name__} is no sum of trees that TreeExplainer knows.")


def _single(model: Any, X: Any) -> FloatArray:
    """X as scikit-learn's trees read it: rounded to single precision."""
    return np.asarray(
        validate_data(model, X, reset=False, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan")
        if not hasattr(X, "tocsr")
        else validate_data(model, X.toarray(), reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
    )


def _double(model: Any, X: Any) -> FloatArray:
    return np.asarray(validate_data(model, X, reset=False, dtype=np.float64, ensure_all_finite=False))


def _tree(tree: Any, values: FloatArray, features: Any = None) -> ForeignTree:
    missing = getattr(tree, "missing_go_to_left", None)
    split_on = np.maximum(tree.feature, 0)
    return ForeignTree(
        tree.children_left,
        tree.children_right,
        split_on if features is None else np.asarray(features)[split_on],
        tree.threshold,
        np.zeros(tree.node_count, dtype=bool) if missing is None else missing.astype(bool),
        tree.weighted_n_node_samples,
        values,
    )


def _one_tree(model: Any) -> TreeSum:
    return _averaged(model, [model.tree_])


def _forest(model: Any) -> TreeSum:
    return _averaged(model, [member.tree_ for member in model.estimators_])


def _averaged(model: Any, trees: list[Any]) -> TreeSum:
    shares = [tree.value / len(trees) for tree in trees]
    if is_classifier(model):  # shares of the classes, whatever earlier versions kept
        shares = [each / tree.value.sum(axis=2, keepdims=True) for each, tree in zip(shares, trees, strict=True)]
    store, values = store_of([_tree(tree, each) for tree, each in zip(trees, shares, strict=True)], model.n_features_in_)
    read = partial(_single, model)
    if not is_classifier(model):
        outputs = tuple(Output(np.ascontiguousarray(column)) for column in values[:, :, 0].T)
        is_squared = model.criterion in ("squared_error", "friedman_mse") and len(outputs) == 1
        names = None if len(outputs) == 1 else [f"y{k}" for k in range(len(outputs))]
        return TreeSum(store, outputs, read, model.predict, NUMBERS, "squared" if is_squared else None, names=names)
    if model.n_outputs_ > 1:
        raise Unsuited(f"{type(model).__name__} of several outputs of classes is read from Mercer's models alone.")
    names = [str(label) for label in model.classes_.tolist()]
    is_mirrored = len(names) == 2
    columns = values[:, 0, 1:] if is_mirrored else values[:, 0]
    outputs = tuple(Output(np.ascontiguousarray(column)) for column in columns.T)
    return TreeSum(store, outputs, read, model.predict_proba, SHARES, None, model.classes_, names, is_mirrored)


def _gradient_boosting(model: Any) -> TreeSum:
    if not isinstance(model.init_, (DummyClassifier, DummyRegressor)) and model.init_ != "zero":
        raise Unsuited(f"{type(model).__name__} starts from what init={model.init!r} predicts, which is no sum of trees.")
    n_outputs = model.estimators_.shape[1]
    trees = [member.tree_ for member in model.estimators_.ravel()]
    scaled = [_tree(tree, model.learning_rate * tree.value[:, 0, 0]) for tree in trees]
    store, values = store_of(scaled, model.n_features_in_)
    raw: Callable[[Any], Any] = model.decision_function if is_classifier(model) else model.predict
    is_plain = model.loss == ("log_loss" if is_classifier(model) else "squared_error")
    return _boosted(model, store, values, n_outputs, partial(_single, model), raw, is_plain=is_plain)


def _hist_gradient_boosting(model: Any) -> TreeSum:
    if getattr(model, "is_categorical_", None) is not None:
        raise Unsuited(f"{type(model).__name__} of scikit-learn's with categories; Mercer's model of the same name is read.")
    trees = [_histogram_tree(predictor.nodes) for round_ in model._predictors for predictor in round_]
    store, values = store_of(trees, model.n_features_in_)
    n_outputs = model.n_trees_per_iteration_
    is_plain = model.loss == ("log_loss" if is_classifier(model) else "squared_error")
    raw: Callable[[Any], Any] = model.decision_function if is_classifier(model) else partial(_raw_numbers, model)
    return _boosted(model, store, values, n_outputs, partial(_double, model), raw, is_plain=is_plain)


def _raw_numbers(model: Any, X: Any) -> FloatArray:
    return np.asarray(model._raw_predict(X))


def _histogram_tree(nodes: Any) -> ForeignTree:
    is_leaf = nodes["is_leaf"].astype(bool)
    return ForeignTree(
        np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        nodes["feature_idx"].astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        nodes["missing_go_to_left"].astype(bool),
        nodes["count"].astype(np.float64),
        nodes["value"].astype(np.float64),
    )


def _boosted(
    model: Any, store: Any, values: FloatArray, n_outputs: int, read: Any, raw: Callable[[Any], Any], *, is_plain: bool
) -> TreeSum:
    """Trees that take turns at the outputs. What boosting began with is what the trees lack at a row."""
    trees = np.arange(len(store))
    outputs = tuple(Output(values, 0.0, trees[k::n_outputs]) for k in range(n_outputs))
    probe = np.zeros((1, model.n_features_in_))
    bare = TreeSum(store, outputs, np.asarray, raw)
    base = np.ravel(raw(_named(model, probe))) - bare.raw(probe, 1)[0]
    outputs = tuple(Output(values, float(start), trees[k::n_outputs]) for k, start in enumerate(base))
    if not is_classifier(model):
        return TreeSum(store, outputs, read, raw, NUMBERS if is_plain else OTHER, "squared" if is_plain else None)
    if n_outputs > 1:
        names = [str(label) for label in model.classes_.tolist()]
        return TreeSum(store, outputs, read, raw, OTHER, None, model.classes_, names)
    units, loss = (LOG_ODDS, "log") if is_plain else (OTHER, None)
    return TreeSum(store, outputs, read, raw, units, loss, model.classes_)


def _named(model: Any, rows: FloatArray) -> Any:
    """Rows as a table with the names that a model knows."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def _isolation_forest(model: Any) -> TreeSum:
    trees = []
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        tree = member.tree_
        depths = np.zeros(tree.node_count)
        for node in range(tree.node_count):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    depths[child] = depths[node] + 1
        lengths = [kernels.average_path_length(int(count)) for count in tree.n_node_samples]
        trees.append(_tree(tree, (depths + lengths) / len(model.estimators_), features))
    store, values = store_of(trees, model.n_features_in_)
    read = partial(_single, model)
    return TreeSum(store, (Output(values),), read, partial(_mean_path_lengths, model), OTHER)


def _mean_path_lengths(model: Any, X: Any) -> FloatArray:
    """From the scores: they are minus two to the power of minus the length over its average."""
    return np.asarray(-np.log2(-model.score_samples(X)) * kernels.average_path_length(int(model.max_samples_)))


_READERS: dict[str, Callable[[Any], TreeSum]] = {
    "DecisionTreeClassifier": _one_tree,
    "DecisionTreeRegressor": _one_tree,
    "BaseForest": _forest,
    "BaseGradientBoosting": _gradient_boosting,
    "BaseHistGradientBoosting": _hist_gradient_boosting,
    "IsolationForest": _isolation_forest,
}
