"""Models of other packages, and what those packages themselves say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree

from mercer.inspection import TreeExplainer
from tests.reference import tree_shapley as reference

_N = 5


def _table(seed: int = 0, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, _N))
    X[:, -1] = random.integers(0, 6, size=n)
    y = X[:, 0] * X[:, 1] + X[:, 2] + (X[:, -1] == 3)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


def _numbers(model: Any) -> Any:
    return model.fit(*_table())


def _classes(model: Any, n_classes: int) -> Any:
    X, y = _table()
    return model.fit(X, np.digitize(y, [0.0] if n_classes == 2 else [-1.0, 1.0]))


_SIZE = {"max_leaf_nodes": 8, "random_state": 0}
_ROUNDS = {"max_iter": 4, "max_leaf_nodes": 6}
SKLEARN: dict[str, Callable[[], Any]] = {
    "tree": lambda: _numbers(sklearn.tree.DecisionTreeRegressor(**_SIZE)),
    "tree of classes": lambda: _classes(sklearn.tree.DecisionTreeClassifier(**_SIZE), 3),
    "forest": lambda: _numbers(sklearn.ensemble.RandomForestRegressor(3, **_SIZE)),
    "forest of two classes": lambda: _classes(sklearn.ensemble.RandomForestClassifier(3, **_SIZE), 2),
    "histogram boosting": lambda: _numbers(sklearn.ensemble.HistGradientBoostingRegressor(**_ROUNDS)),
    "histogram boosting of two classes": lambda: _classes(sklearn.ensemble.HistGradientBoostingClassifier(**_ROUNDS), 2),
    "histogram boosting of three": lambda: _classes(sklearn.ensemble.HistGradientBoostingClassifier(**_ROUNDS), 3),
}


def _game(model: Any, x: np.ndarray, background: np.ndarray) -> reference.Game:
    def value(known: frozenset[int]) -> float:
        mixed = background.copy()
        mixed[:, list(known)] = x[list(known)]
        return float(np.mean(_raw(model, mixed)))

    return value


def _raw(model: Any, X: np.ndarray) -> np.ndarray:
    """Of several classes the last one's."""
    if "Boosting" in type(model).__name__ and hasattr(model, "classes_"):
        raw = model.decision_function(X)
        return raw if raw.ndim == 1 else raw[:, -1]
    return model.predict_proba(X)[:, -1] if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("kind", SKLEARN)
def test_models_of_scikit_learn_are_explained_as_over_all_coalitions(kind):
    model, X = SKLEARN[kind](), _table()[0]
    explanation = TreeExplainer(model, X[50:56])(X[:2])
    assert explanation.additivity_error < 1e-12
    values = explanation.values if explanation.values.ndim == 2 else explanation.values[..., -1]
    for x, found in zip(X[:2], values, strict=True):
        np.testing.assert_allclose(found, reference.values(_game(model, x, X[50:56]), _N), atol=1e-10)
    assert TreeExplainer(model)(X[:40]).additivity_error < 1e-12


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_gradient_boosting_of_scikit_learn_adds_up(n_classes):
    X, y = _table()
    X = np.nan_to_num(X)
    if n_classes:
        model = sklearn.ensemble.GradientBoostingClassifier(n_estimators=4).fit(X, np.digitize(y, [0.0, 1.0][: n_classes - 1]))
    else:
        model = sklearn.ensemble.GradientBoostingRegressor(n_estimators=4).fit(X, y)
    assert TreeExplainer(model)(X).additivity_error < 1e-12
    assert TreeExplainer(model, X[:9])(X).additivity_error < 1e-12


def test_isolation_forests_of_scikit_learn_add_up():
    X = np.nan_to_num(_table()[0])
    model = sklearn.ensemble.IsolationForest(n_estimators=5, max_features=3, random_state=0).fit(X)
    assert TreeExplainer(model)(X[:50]).additivity_error < 1e-9


# ---- shap


@pytest.mark.parametrize("kind", ["tree", "forest", "forest of two classes", "histogram boosting"])
def test_values_are_those_of_shap(kind):
    shap = pytest.importorskip("shap", reason="the package shap is no part of the development environment")
    model, X = SKLEARN[kind](), np.nan_to_num(_table()[0])
    expected = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    np.testing.assert_allclose(TreeExplainer(model).shap_values(X[:30]), expected.shap_values(X[:30]), atol=1e-10)
    pairs = TreeExplainer(model).shap_interaction_values(X[:10])
    np.testing.assert_allclose(pairs, expected.shap_interaction_values(X[:10]), atol=1e-10)
    if "histogram" not in kind:  # shap's thresholds of these are in single precision
        expected = shap.TreeExplainer(model, X[50:80])
        found = TreeExplainer(model, X[50:80]).shap_values(X[:30])
        np.testing.assert_allclose(found, expected.shap_values(X[:30], check_additivity=False), atol=1e-6)


def test_probabilities_are_explained_as_by_shap():
    shap = pytest.importorskip("shap", reason="the package shap is no part of the development environment")
    X, y = _table()
    X, y = np.nan_to_num(X), (y > 0).astype(int)
    model = sklearn.ensemble.GradientBoostingClassifier(n_estimators=6, max_depth=3, random_state=0).fit(X, y)
    expected = shap.TreeExplainer(model, X[50:70], "probability").shap_values(X[:20], check_additivity=False)
    found = TreeExplainer(model, X[50:70], "probability").shap_values(X[:20])
    np.testing.assert_allclose(found, expected, atol=1e-6)


# ---- XGBoost


def _xgboost(options: dict[str, Any], target: Callable[[np.ndarray], np.ndarray] | None = None) -> tuple[Any, np.ndarray]:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is no part of the development environment")
    X, y = _table()
    y = y if target is None else target(y)
    kind = xgboost.XGBRegressor if target is None or y.dtype.kind == "f" else xgboost.XGBClassifier
    return kind(**{"n_estimators": 8, "n_jobs": 1, **options}).fit(X, y), X


_XGBOOST: dict[str, tuple[dict[str, Any], Any]] = {
    "numbers": ({}, None),
    "two classes": ({}, lambda y: (y > 0).astype(int)),
    "three classes": ({}, lambda y: np.digitize(y, [-1.0, 1.0])),
    "dart": ({"booster": "dart", "rate_drop": 0.5}, None),
    "counts": ({"objective": "count:poisson"}, lambda y: np.abs(y)),
    "parallel trees": ({"num_parallel_tree": 3, "subsample": 0.5}, None),
    "whole numbers": ({"tree_method": "exact"}, lambda y: np.round(y)),
}


@pytest.mark.parametrize("kind", _XGBOOST)
def test_values_are_those_of_xgboost(kind):
    model, X = _xgboost(*_XGBOOST[kind])
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is no part of the development environment")
    given = xgboost.DMatrix(X[:40])
    expected = model.get_booster().predict(given, pred_contribs=True)
    expected = np.moveaxis(expected, 1, -1) if expected.ndim == 3 else expected
    for each in (model, model.get_booster()):
        explanation = TreeExplainer(each)(X[:40])
        np.testing.assert_allclose(explanation.values, expected[:, :-1], atol=1e-5)
        np.testing.assert_allclose(explanation.base_values, expected[:, -1], atol=1e-5)
        assert explanation.additivity_error < 1e-5  # of single precision, in XGBoost's predictions
    pairs = model.get_booster().predict(given, pred_interactions=True)
    if pairs.ndim == 3:
        np.testing.assert_allclose(TreeExplainer(model).shap_interaction_values(X[:40]), pairs[:, :-1, :-1], atol=1e-5)


@pytest.mark.parametrize("as_words", [False, True])
def test_categories_of_xgboost_are_followed(as_words):
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is no part of the development environment")
    pandas = pytest.importorskip("pandas", reason="frames of pandas")
    X, y = _table()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    codes = np.where(np.isnan(X[:, -1]), -1, np.nan_to_num(X[:, -1])).astype(int)
    frame["e"] = pandas.Categorical.from_codes(codes, list("uvwxyz") if as_words else [10, 20, 30, 40, 50, 60])
    model = xgboost.XGBRegressor(n_estimators=8, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1).fit(frame, y)
    expected = model.get_booster().predict(xgboost.DMatrix(frame[:40], enable_categorical=True), pred_contribs=True)
    found = TreeExplainer(model)(frame[:40])
    np.testing.assert_allclose(found.values, expected[:, :-1], atol=1e-5)
    assert np.abs(found[:, "e"].values).max() > 0


def test_xgboost_models_that_are_no_sums_of_trees_say_why():
    linear, _ = _xgboost({"booster": "gblinear"})
    assert "gblinear" in str(TreeExplainer.unsuited(linear, None))
    other, _ = _xgboost({"missing": -1.0})
    assert "missing" in str(TreeExplainer.unsuited(other, None))


def test_rounds_after_the_best_are_left_out_as_xgboost_leaves_them_out():
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is no part of the development environment")
    X, y = _table()
    noise = np.random.default_rng(1).normal(size=len(y))
    model = xgboost.XGBRegressor(n_estimators=60, early_stopping_rounds=5, learning_rate=0.8, n_jobs=1)
    model.fit(X[:150], (y + noise)[:150], eval_set=[(X[150:], (y + noise)[150:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    assert TreeExplainer(model)(X).additivity_error < 1e-5


# ---- LightGBM

_LIGHTGBM: dict[str, tuple[dict[str, Any], Any]] = {
    "numbers": ({}, None),
    "two classes": ({}, lambda y: (y > 0).astype(int)),
    "three classes": ({}, lambda y: np.digitize(y, [-1.0, 1.0])),
    "dart": ({"boosting_type": "dart"}, None),
    "zeros are missing": ({"zero_as_missing": True}, None),
    "nothing is missing": ({"use_missing": False}, None),
}


@pytest.mark.parametrize("kind", _LIGHTGBM)
def test_values_are_those_of_lightgbm(kind):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is no part of the development environment")
    options, target = _LIGHTGBM[kind]
    X, y = _table()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = 0.0
    y = y if target is None else target(y)
    model_kind = lightgbm.LGBMRegressor if target is None else lightgbm.LGBMClassifier
    model = model_kind(n_estimators=8, n_jobs=1, verbose=-1, **options).fit(X, y)
    expected = model.predict(X[:40], pred_contrib=True).reshape(40, -1, _N + 1)
    expected = expected[:, 0] if expected.shape[1] == 1 else np.moveaxis(expected, 1, -1)
    for each in (model, model.booster_):
        explanation = TreeExplainer(each)(X[:40])
        np.testing.assert_allclose(explanation.values, expected[:, :-1], atol=1e-10)
        np.testing.assert_allclose(explanation.base_values, expected[:, -1], atol=1e-10)
        assert explanation.additivity_error < 1e-12


def test_categories_and_forests_of_lightgbm_add_up():
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is no part of the development environment")
    pandas = pytest.importorskip("pandas", reason="frames of pandas")
    X, y = _table()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    codes = np.where(np.isnan(X[:, -1]), -1, np.nan_to_num(X[:, -1])).astype(int)
    frame["e"] = pandas.Categorical.from_codes(codes, list("uvwxyz"))
    options = {"n_estimators": 8, "n_jobs": 1, "verbose": -1, "min_data_per_group": 5}
    model = lightgbm.LGBMRegressor(**options).fit(frame, y)
    explanation = TreeExplainer(model)(frame)
    assert explanation.additivity_error < 1e-12
    np.testing.assert_allclose(explanation.values, model.predict(frame, pred_contrib=True)[:, :-1], atol=1e-10)
    assert np.abs(explanation[:, "e"].values).max() > 0
    forest = lightgbm.LGBMRegressor(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5, **options).fit(X, y)
    assert TreeExplainer(forest)(X).additivity_error < 1e-12
    linear = lightgbm.LGBMRegressor(linear_tree=True, **options).fit(np.nan_to_num(X), y)
    assert "linear_tree" in str(TreeExplainer.unsuited(linear, None))
