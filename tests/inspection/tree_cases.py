"""Models, rows and random trees for the tests of the tree explainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import ensemble, tree
from mercer._native import kernels
from mercer._trees.store import NODE, TreeStore
from mercer.inspection._tree_sum import Output, TreeSum
from tests.reference import tree_shapley as reference

N_FEATURES = 5


def table(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with a column of categories (the last), missing values, and a target that needs interactions."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, N_FEATURES)).round(2)
    X[:, -1] = random.integers(0, 6, size=n)
    y = X[:, 0] * X[:, 1] + X[:, 2] + np.isin(X[:, -1], (1, 4)) + 0.1 * random.normal(size=n)
    X[random.random(X.shape) < 0.08] = np.nan
    return X, y


def _numbers(model: Any) -> Any:
    X, y = table()
    return model.fit(X, y)


def _two_numbers(model: Any) -> Any:
    X, y = table()
    return model.fit(X, np.stack([y, y**2], axis=1))


def _two_classes(model: Any) -> Any:
    X, y = table()
    return model.fit(X, np.where(y > 0.5, "yes", "no"))


def _three_classes(model: Any) -> Any:
    X, y = table()
    return model.fit(X, np.digitize(y, [0.0, 1.0]))


def _two_labels(model: Any) -> Any:
    X, y = table()
    return model.fit(X, np.stack([np.digitize(y, [0.0, 1.0]), (X[:, 0] > 0).astype(int)], axis=1))


def _rows_alone(model: Any) -> Any:
    return model.fit(table()[0])


_SIZE = {"max_leaf_nodes": 8, "random_state": 0}
_CATEGORIES = {"categorical_features": [N_FEATURES - 1]}
_FEW = {**_SIZE, "n_estimators": 3, "n_jobs": 1}
_ROUNDS = {"max_iter": 4, "max_leaf_nodes": 6, "min_samples_leaf": 5, "early_stopping": False}
_BOOST = {"n_estimators": 3, "random_state": 0}

MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: _numbers(tree.DecisionTreeRegressor(**_SIZE, **_CATEGORIES)),
    "tree of two outputs": lambda: _two_numbers(tree.DecisionTreeRegressor(**_SIZE)),
    "tree of classes": lambda: _three_classes(tree.DecisionTreeClassifier(**_SIZE, **_CATEGORIES)),
    "tree of a forest": lambda: _numbers(ensemble.RandomForestRegressor(**_FEW, **_CATEGORIES)).estimators_[1],
    "extra tree": lambda: _two_classes(tree.ExtraTreeClassifier(**_SIZE)),
    "forest": lambda: _numbers(ensemble.RandomForestRegressor(**_FEW, **_CATEGORIES)),
    "forest of two classes": lambda: _two_classes(ensemble.RandomForestClassifier(**_FEW, **_CATEGORIES)),
    "forest of three classes": lambda: _three_classes(ensemble.RandomForestClassifier(**_FEW)),
    "forest of two labels": lambda: _two_labels(ensemble.RandomForestClassifier(**_FEW)),
    "forest with weights": lambda: _three_classes(
        ensemble.RandomForestClassifier(**{**_FEW, "n_estimators": 8}, tree_weights="oob")
    ),
    "extra trees": lambda: _numbers(ensemble.ExtraTreesRegressor(**_FEW)),
    "bagging": lambda: _numbers(ensemble.BaggingRegressor(tree.DecisionTreeRegressor(**_SIZE), 3, random_state=0)),
    "bagging of classes": lambda: _two_classes(
        ensemble.BaggingClassifier(tree.DecisionTreeClassifier(**_SIZE), 3, random_state=0)
    ),
    "bagging of features": lambda: _three_classes(
        ensemble.BaggingClassifier(tree.DecisionTreeClassifier(**_SIZE), 4, max_features=3, max_samples=0.2, random_state=0)
    ),
    "boosting": lambda: _numbers(ensemble.GradientBoostingRegressor(**_BOOST, **_CATEGORIES)),
    "boosting of classes": lambda: _three_classes(ensemble.GradientBoostingClassifier(**_BOOST)),
    "histogram boosting": lambda: _numbers(ensemble.HistGradientBoostingRegressor(**_ROUNDS, **_CATEGORIES)),
    "histogram boosting of two classes": lambda: _two_classes(ensemble.HistGradientBoostingClassifier(**_ROUNDS)),
    "histogram boosting of three": lambda: _three_classes(ensemble.HistGradientBoostingClassifier(**_ROUNDS, **_CATEGORIES)),
    "adaptive boosting": lambda: _two_classes(
        ensemble.AdaBoostClassifier(tree.DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0)
    ),
    "adaptive boosting of three": lambda: _three_classes(
        ensemble.AdaBoostClassifier(tree.DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0)
    ),
    "any boosting": lambda: _numbers(ensemble.AnyBoost(n_estimators=4)),
    "isolation forest": lambda: _rows_alone(ensemble.IsolationForest(n_estimators=4, max_samples=20, random_state=0)),
}


def trees_of(sums: TreeSum, k: int) -> list[Any]:
    """The trees of an output as the oracle has them."""
    output, starts = sums.outputs[k], sums.store.starts
    chosen = range(len(sums.store)) if output.trees is None else output.trees.tolist()
    return [reference.nodes_of(sums.store[t], output.values[starts[t] : starts[t + 1]]) for t in chosen]


def random_sum(seed: int, n_features: int, depth: int, n_trees: int = 1, *, spread: float = 0.2) -> TreeSum:
    """Trees that no fit made: a long way down with short ways off it, features at random (so that many come again), some covers
    of zero."""
    random = np.random.default_rng(seed)
    nodes: list[tuple[float, int, int]] = []
    cover: list[float] = []

    def grow(level: int, weight: float, root: int) -> None:
        if level >= depth or weight == 0:
            nodes.append((float(random.normal()), 0, 0))
            cover.append(weight)
            return
        place = len(nodes)
        nodes.append((0.0, 0, 0))
        cover.append(weight)
        share = 0.0 if random.random() < 0.02 else random.uniform(0.02, 0.98)
        is_long_left = random.random() < 0.5
        short = depth if random.random() > spread else max(depth - 2, level + 1)
        grow(level + 1 if is_long_left else short, weight * share, root)
        right = len(nodes) - root
        grow(short if is_long_left else level + 1, weight * (1 - share), root)
        missing = int(random.integers(0, 2)) << 31
        nodes[place] = (float(random.normal()), missing | int(random.integers(0, n_features)), right)

    counts = []
    for _ in range(n_trees):
        before = len(nodes)
        grow(0, 1000.0, before)
        counts.append(len(nodes) - before)
    array = np.array(nodes, dtype=NODE)
    trees = kernels.Trees(
        array.view(np.uint8).reshape(-1, NODE.itemsize).copy(), np.empty(0, np.uint32), np.array(counts),
        np.zeros(n_trees, np.int64), n_features,
    )  # fmt: skip
    weights = np.array(cover)
    store = TreeStore(trees, np.zeros(len(weights)), np.zeros(len(weights), np.int64), weights)
    values = np.where(array["right"] == 0, array["threshold"], 0.0)
    return TreeSum(store, (Output(values),), np.asarray, np.asarray)
