"""Shapley values of tree models: everyone explains the same fitted model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks._case import MERCER, Case, Contender, Data, Quality

SHAP, LIGHTGBM, XGBOOST, WOODELF = "shap", "lightgbm", "xgboost", "woodelf"
_N_TRAIN, _N_FEATURES = 20_000, 30


def cases() -> Iterator[Case]:
    for kind, n_rows, peers in (
        ("forest of 100 deep trees", 1_000, (SHAP,)),
        ("LightGBM, 500 rounds x 31 leaves", 20_000, (LIGHTGBM, SHAP)),
        ("XGBoost, 500 rounds x 31 leaves", 20_000, (XGBOOST,)),
        ("LightGBM, 20 rounds x 31 leaves", 500, (LIGHTGBM, SHAP)),
    ):
        yield _case("path-dependent values", kind, n_rows, 0, peers, is_quick=n_rows == 500)
    for n_background, n_rows, peers in ((100, 1_000, (SHAP, WOODELF)), (5_000, 5_000, (WOODELF,))):
        yield _case("interventional values", "LightGBM, 500 rounds x 31 leaves", n_rows, n_background, peers)
    yield _case("interactions, path-dependent", "LightGBM, 200 rounds x 31 leaves", 1_000, 0, (SHAP,))


def _case(table: str, kind: str, n_rows: int, n_background: int, peers: tuple[str, ...], *, is_quick: bool = False) -> Case:
    way = {"kind": kind, "n_background": n_background, "has_pairs": table.startswith("interactions")}
    background = f", background of {n_background:,}" if n_background else ""
    return Case(
        table,
        f"{kind}, {n_rows:,} rows{background}",
        partial(_rows, n_rows),
        tuple(Contender(who, f"benchmarks.inspection.trees:Of{who.title()}", way) for who in (MERCER, *peers)),
        _run,
        Quality("largest error of a sum", _error_of_sums, atol=1e-6),
        is_quick=is_quick,
    )


@lru_cache(maxsize=1)
def _table() -> Data:
    random = np.random.default_rng(0)
    X = random.normal(size=(_N_TRAIN, _N_FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) * X[:, 3] + X[:, 4:10].sum(axis=1) + random.normal(size=_N_TRAIN)
    return Data(X, y)


def _rows(n_rows: int) -> Data:
    return Data(_table().X[:n_rows])


@lru_cache(maxsize=1)
def _model(kind: str) -> Any:
    X, y = _table().X, _table().y
    n_rounds = int(kind.split(", ")[1].split()[0]) if ", " in kind else 0
    if kind.startswith("LightGBM"):
        import lightgbm

        return lightgbm.LGBMRegressor(n_estimators=n_rounds, num_leaves=31, verbose=-1).fit(X, y)
    if kind.startswith("XGBoost"):
        import xgboost

        options = {"max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
        return xgboost.XGBRegressor(n_estimators=n_rounds, **options).fit(X, y)
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(100, n_jobs=-1, random_state=0).fit(X[:10_000], y[:10_000])


class _Explainer:
    """A fitted model, and who explains it: `values(X)` gives what is timed, from the explainer on."""

    package: str

    def __init__(self, kind: str, n_background: int, has_pairs: bool) -> None:
        __import__(self.package)
        self.model = _model(kind)
        self.background = _table().X[-n_background:] if n_background else None
        self.has_pairs = has_pairs

    def values(self, X: Any) -> tuple[Any, Any]:
        """Values, and the expected value."""
        raise NotImplementedError


class OfMercer(_Explainer):
    package = "mercer.inspection"

    def values(self, X: Any) -> tuple[Any, Any]:
        from mercer.inspection import TreeExplainer

        explainer = TreeExplainer(self.model, self.background)
        found = explainer.shap_interaction_values(X) if self.has_pairs else explainer.shap_values(X)
        return found, explainer.expected_value


class OfShap(_Explainer):
    package = "shap"

    def values(self, X: Any) -> tuple[Any, Any]:
        import shap

        explainer = shap.TreeExplainer(self.model, self.background)
        if self.has_pairs:
            return explainer.shap_interaction_values(X), explainer.expected_value
        return explainer.shap_values(X, check_additivity=False), explainer.expected_value


class OfLightgbm(_Explainer):
    package = "lightgbm"

    def values(self, X: Any) -> tuple[Any, Any]:
        found = self.model.predict(X, pred_contrib=True)
        return found[:, :-1], found[:, -1]


class OfXgboost(_Explainer):
    package = "xgboost"

    def values(self, X: Any) -> tuple[Any, Any]:
        import xgboost

        found = self.model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
        return found[:, :-1], found[:, -1]


class OfWoodelf(_Explainer):
    package = "woodelf"

    def values(self, X: Any) -> tuple[Any, Any]:
        import pandas as pd
        import woodelf

        names = [f"Column_{j}" for j in range(X.shape[1])]
        explainer = woodelf.WoodelfExplainer(self.model, pd.DataFrame(self.background, columns=names))
        return np.asarray(explainer.shap_values(pd.DataFrame(X, columns=names))), explainer.expected_value


def _run(explainer: Any, data: Data) -> Any:
    return explainer.values(data.X)


def _error_of_sums(explainer: Any, outcome: Any, data: Data) -> float:
    values, expected = outcome
    values = np.asarray(values, dtype=np.float64)
    sums = values.sum(axis=tuple(range(1, values.ndim))) + np.ravel(expected)
    return float(np.abs(sums - explainer.model.predict(data.X)).max())
