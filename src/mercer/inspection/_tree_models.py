"""Tree models as sums of trees: Mercer's, and who reads those of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FLOATS, FloatArray, check_X
from mercer._native import kernels
from mercer._trees.rows import dense
from mercer._trees.store import FEATURE, TreeStore
from mercer._trees.training import check_query
from mercer.inspection._tree_sum import LOG_ODDS, NUMBERS, OTHER, SHARES, Output, TreeSum, Unsuited
from mercer.losses import Logistic, Squared


def sum_of(model: Any) -> TreeSum:
    """A fitted model of Mercer's or of another package as a sum of trees. Raises `Unsuited` where it is none."""
    kinds = [(kind.__module__.partition(".")[0], kind) for kind in type(model).__mro__]
    own = [_READERS[kind.__name__] for package, kind in kinds if package == "mercer" and kind.__name__ in _READERS]
    if own:
        check_is_fitted(model)
        return own[0](model)
    for package, _ in kinds:
        if package in _PACKAGES:
            return import_module(_PACKAGES[package]).sum_of(model)  # type: ignore[no-any-return]
    raise Unsuited(f"{type(model).__name__} is no sum of trees that TreeExplainer knows.")


# ---- reading X


def _query(model: Any, X: Any) -> FloatArray:
    return _floats(dense(check_query(model, X)))


def _boosting_query(model: Any, X: Any) -> FloatArray:
    return _floats(dense(check_query(model, X, check_input=False)))


def _isolation_query(model: Any, X: Any) -> FloatArray:
    return _floats(dense(check_X(model, X, sparse="csr", finite="allow-nan", reset=False)))


def _own_query(model: Any, X: Any) -> FloatArray:
    return _floats(dense(model._rows(X)))


def _bagging_query(model: Any, X: Any) -> FloatArray:
    return _floats(dense(model._members.query(model, X)))


def _floats(rows: Any) -> FloatArray:
    given: FloatArray = np.asarray(rows)
    return given if given.dtype in FLOATS else given.astype(np.float64)


# ---- models


def _tree(model: Any) -> TreeSum:
    store = part_of(model.tree_._store, model.tree_._index)
    return _averaged(model, store, np.ones(1), partial(_query, model))


def _forest(model: Any) -> TreeSum:
    return _averaged(model, model._trees, model.tree_weights_, partial(_query, model))


def _averaged(model: Any, store: TreeStore, weights: FloatArray, read: Callable[[Any], FloatArray]) -> TreeSum:
    """A weighted mean of trees whose nodes have values: class shares, or numbers of one or several outputs."""
    assert store.values is not None
    scaled = store.values * np.repeat(weights, np.diff(store.starts))[:, None, None]
    if not hasattr(model, "classes_"):
        outputs = tuple(Output(np.ascontiguousarray(values)) for values in scaled[:, :, 0].T)
        names = None if len(outputs) == 1 else [f"y{k}" for k in range(len(outputs))]
        is_squared = getattr(model, "criterion", "squared_error") in ("squared_error", "friedman_mse")
        loss = "squared" if is_squared and len(outputs) == 1 else None
        return TreeSum(store, outputs, read, model.predict, NUMBERS, loss, names=names)
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    if len(classes) == 1 and len(classes[0]) == 2:
        outputs = (Output(np.ascontiguousarray(scaled[:, 0, 1])),)
        return TreeSum(
            store, outputs, read, model.predict_proba, SHARES, None, classes[0], _words(classes[0]), is_mirrored=True
        )
    places = [(output, code) for output, each in enumerate(classes) for code in range(len(each))]
    outputs = tuple(Output(np.ascontiguousarray(scaled[:, output, code])) for output, code in places)
    if len(classes) == 1:
        return TreeSum(store, outputs, read, model.predict_proba, SHARES, None, classes[0], _words(classes[0]))
    names = [f"y{output}={classes[output][code]}" for output, code in places]
    return TreeSum(store, outputs, read, partial(_all_shares, model), SHARES, names=names)


def _all_shares(model: Any, X: Any) -> FloatArray:
    return np.concatenate(model.predict_proba(X), axis=1)


def _words(classes: Iterable[Any]) -> list[str]:
    return [str(label) for label in np.asarray(classes).tolist()]


def _bagging(model: Any) -> TreeSum:
    members = model._members
    if hasattr(members, "store"):
        store, weights = members.store, np.full(len(members), 1 / len(members))
        return _averaged(model, store, weights, partial(_bagging_query, model))
    parts = []
    for member, features in zip(members.members, members.features, strict=True):
        try:
            part = sum_of(member)
        except Unsuited as reason:
            raise Unsuited(f"{type(model).__name__} has members that are no trees of Mercer's: {reason}") from None
        if not hasattr(member, "tree_"):
            raise Unsuited(f"{type(model).__name__} of {type(member).__name__} is no sum of single trees.")
        if member._coder.has_any:
            raise Unsuited(f"{type(model).__name__} has members that each number the categories of X in their own way.")
        parts.append(_widened(part.store, features, model.n_features_in_, getattr(member, "classes_", None), members.n_classes))
    weights = np.full(len(parts), 1 / len(parts))
    return _averaged(model, TreeStore.join(parts), weights, partial(_bagging_query, model))


def _widened(store: TreeStore, features: Any, n_features: int, codes: Any, n_classes: int) -> TreeStore:
    """A tree on some of the features, of some of the classes, as one on all."""
    nodes, values = store.trees.nodes.copy(), store.values
    assert values is not None
    if features is not None:
        entries = nodes.view(store.nodes.dtype)[:, 0]
        is_split = entries["right"] > 0
        tags = entries["tag"][is_split]
        entries["tag"][is_split] = (tags & ~np.uint32(FEATURE)) | np.asarray(features, dtype=np.uint32)[tags & FEATURE]
    if codes is not None:
        padded = np.zeros((len(values), 1, n_classes))
        padded[:, :, np.asarray(codes, dtype=np.intp)] = values
        values = padded
    trees = kernels.Trees(nodes, np.array(store.trees.words), *store.counts, n_features)
    return TreeStore(trees, store.impurity, store.n_rows, store.weight, values)


def _gradient_boosting(model: Any) -> TreeSum:
    start, objective = model._start, model._objective
    if start.constant is None:
        raise Unsuited(f"{type(model).__name__} starts from what init={model.init!r} predicts, which is no sum of trees.")
    leaves = _own_values(model._trees) * model._learning_rate
    return _boosted(model, model._trees, leaves, np.ravel(start.constant), objective.loss, partial(_query, model), model._raw)


def _hist_gradient_boosting(model: Any) -> TreeSum:
    loss = Logistic() if hasattr(model, "classes_") else model._loss
    store = model._trees
    counted = TreeStore(store.trees, store.impurity, store.n_rows, store.n_rows.astype(np.float64))
    leaves, base = _own_values(store), np.ravel(model._baseline)
    return _boosted(model, counted, leaves, base, loss, partial(_boosting_query, model), model._raw_predict)


def _boosted(
    model: Any,
    store: TreeStore,
    leaves: FloatArray,
    base: FloatArray,
    loss: Any,
    read: Callable[[Any], FloatArray],
    predict: Callable[[Any], FloatArray],
) -> TreeSum:
    """Trees that take turns at the outputs."""
    trees = np.arange(len(store))
    outputs = tuple(Output(leaves, float(start), trees[k :: len(base)]) for k, start in enumerate(base))
    classes = getattr(model, "classes_", None)
    if classes is None:
        return TreeSum(store, outputs, read, predict, NUMBERS, "squared" if isinstance(loss, Squared) else None)
    if len(outputs) > 1:
        return TreeSum(store, outputs, read, predict, OTHER, None, classes, _words(classes))
    is_logistic = isinstance(loss, Logistic)
    return TreeSum(store, outputs, read, predict, LOG_ODDS if is_logistic else OTHER, "log" if is_logistic else None, classes)


def _isolation_forest(model: Any) -> TreeSum:
    store = model._trees
    outputs = (Output(_own_values(store) / len(store)),)
    return TreeSum(store, outputs, partial(_isolation_query, model), partial(_mean_path_lengths, model), OTHER)


def _mean_path_lengths(model: Any, X: Any) -> FloatArray:
    lengths: FloatArray = model._path_lengths(_isolation_query(model, X)) / len(model._trees)
    return lengths


def _ada_boost_classifier(model: Any) -> TreeSum:
    store: TreeStore | None = model._trees
    if store is None:
        raise Unsuited("AdaBoostClassifier over learners that are not Mercer's trees is no sum that TreeExplainer can read.")
    assert store.values is not None
    weights = model.estimator_weights_ / model.estimator_weights_.sum()
    answers = store.values[:, 0].argmax(axis=1)
    votes = model._votes(answers) * np.repeat(weights, np.diff(store.starts))[:, None]
    classes = model.classes_
    columns = [votes[:, 1] - votes[:, 0]] if len(classes) == 2 else list(votes.T)
    if len(classes) == 1:
        columns = [np.zeros(len(votes))]
    outputs = tuple(Output(np.ascontiguousarray(column)) for column in columns)
    names = None if len(outputs) == 1 else _words(classes)
    return TreeSum(store, outputs, partial(_own_query, model), model.decision_function, OTHER, None, classes, names)


def _ada_boost_regressor(model: Any) -> TreeSum:
    raise Unsuited("AdaBoostRegressor predicts a weighted median of its members, which is no sum of trees.")


def _any_boost(model: Any) -> TreeSum:
    store: TreeStore | None = model._trees
    if store is None:
        raise Unsuited("AnyBoost over learners that are not Mercer's trees is no sum that TreeExplainer can read.")
    assert store.values is not None
    values = store.values[:, 0]
    answers = values[:, 0] if values.shape[1] == 1 else np.array([-1.0, 1.0])[values.argmax(axis=1)]
    steps = np.repeat(model.estimator_weights_, np.diff(store.starts))
    outputs = (Output(np.ascontiguousarray(answers * steps), float(model.init_raw_)),)
    is_numbers = isinstance(model.loss_, Squared)
    is_logistic = isinstance(model.loss_, Logistic)
    units = NUMBERS if is_numbers else LOG_ODDS if is_logistic else OTHER
    loss = "squared" if is_numbers else "log" if is_logistic else None
    return TreeSum(store, outputs, partial(_own_query, model), model._raw, units, loss, getattr(model, "classes_", None))


# ---- parts of stores


def _own_values(store: TreeStore) -> FloatArray:
    """The leaves' own numbers."""
    nodes = store.nodes
    return np.where(nodes["right"] == 0, nodes["threshold"], 0.0)


def part_of(store: TreeStore, index: int) -> TreeStore:
    """One tree of a store as a store."""
    if len(store) == 1:
        return store
    begin, end = store.starts[index : index + 2].tolist()
    first, last = (int(start) for start in store.trees.word_starts[index : index + 2])
    words = np.array(store.trees.words[first:last])
    counts = np.array([end - begin]), np.array([last - first])
    trees = kernels.Trees(store.trees.nodes[begin:end].copy(), words, *counts, store.n_features)
    values = None if store.values is None else store.values[begin:end]
    return TreeStore(trees, store.impurity[begin:end], store.n_rows[begin:end], store.weight[begin:end], values)


# Other packages, and who reads their models.
_PACKAGES = {
    "sklearn": "mercer.inspection._sklearn_trees",
    "xgboost": "mercer.inspection._xgboost_trees",
    "lightgbm": "mercer.inspection._lightgbm_trees",
}

_READERS: dict[str, Callable[[Any], TreeSum]] = {
    "DecisionTreeClassifier": _tree,
    "DecisionTreeRegressor": _tree,
    "ExtraTreeClassifier": _tree,
    "ExtraTreeRegressor": _tree,
    "ForestClassifier": _forest,
    "ForestRegressor": _forest,
    "Bagging": _bagging,
    "GradientBoosting": _gradient_boosting,
    "HistGradientBoosting": _hist_gradient_boosting,
    "IsolationForest": _isolation_forest,
    "AdaBoostClassifier": _ada_boost_classifier,
    "AdaBoostRegressor": _ada_boost_regressor,
    "AnyBoost": _any_boost,
}
