"""One parameter (or two, for forests) over a list: paths, shared products, stages of boosting, rows out of bag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score

from benchmarks._case import MERCER, Case, Contender, Data, Quality
from benchmarks.tree import _problems as tree_problems
from mercer.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from mercer.linear_model import Lasso, LogisticRegression, Ridge

_WHO = (
    Contender(MERCER, "benchmarks.tuning._searches:Tune"),
    Contender("GridSearchCV", "benchmarks.tuning._searches:Grid"),
)


def linear(n: int, d: int, n_used: int) -> Data:
    """A response that depends on some of the columns, with as much noise as signal."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    signal = X[:, :n_used] @ random.normal(size=n_used)
    return Data(X, signal + signal.std() * random.normal(size=n))


def labels(n: int, d: int, n_used: int) -> Data:
    data = linear(n, d, n_used)
    return Data(data.X, (data.y > 0).astype(int))


@dataclass(frozen=True)
class Search:
    """What is searched."""

    model: Any
    space: Mapping[str, Any]
    scoring: str | None = None
    cv: Any = 5

    def prepare(self, search: Any, data: Data) -> Any:
        return search(self.model, self.space, self.scoring, self.cv)

    def cross_validated(self, search: Any, chosen: Mapping[str, Any], data: Data) -> float:
        """The score of the choice over the same five folds, whoever made it and however."""
        model = type(self.model)(**{**self.model.get_params(), **chosen})
        return float(cross_val_score(model, data.X, data.y, scoring=self.scoring, cv=5).mean())


def _run(search: Any, data: Data) -> Any:
    return search.run(data.X, data.y)


def _searches() -> Iterator[tuple[str, Search, Any]]:
    alphas = np.logspace(-3, 0.5, 50).tolist()
    yield "lasso, alpha, 50 values, 5,000 x 200", Search(Lasso(), {"alpha": alphas}), partial(linear, 5000, 200, 20)
    alphas = np.logspace(-2, 5, 30).tolist()
    yield "ridge, alpha, 30 values, 20,000 x 100", Search(Ridge(), {"alpha": alphas}), partial(linear, 20_000, 100, 30)
    penalties = np.logspace(-4, 3, 20).tolist()
    for scoring in (None, "neg_log_loss"):
        search = Search(LogisticRegression(), {"C": penalties}, scoring)
        yield f"logistic, C, 20 values, 20,000 x 40, {scoring or 'accuracy'}", search, partial(labels, 20_000, 40, 10)
    rounds = list(range(10, 201, 10))
    boosters = {HistGradientBoostingRegressor: tree_problems.numbers, HistGradientBoostingClassifier: tree_problems.classes}
    for booster, problem in boosters.items():
        search = Search(booster(early_stopping=False, random_state=0), {"max_iter": rounds}, None)
        name = booster.__name__.removeprefix("HistGradientBoosting").lower()
        yield f"boosting, rounds, 20 values, 20,000 x 20, {name}", search, partial(problem, 20_000, 20)
    leaves = {"max_depth": [2, 4, 6, 8, 12, 16], "min_samples_leaf": [3, 20, 80]}
    for forest, problem in {
        RandomForestRegressor: tree_problems.numbers,
        RandomForestClassifier: tree_problems.classes,
    }.items():
        search = Search(forest(100, max_features="sqrt", random_state=0), leaves, cv="oob")
        name = forest.__name__.removeprefix("RandomForest").lower()
        yield f"forest, depth x leaf size out of bag, 18 pairs, 10,000 x 20, {name}", search, partial(problem, 10_000, 20)


def cases() -> Iterator[Case]:
    for name, search, data in _searches():
        quality = Quality("score of the choice over five folds", search.cross_validated, atol=0.002, is_lower_better=False)
        yield Case("tune against GridSearchCV", name, data, _WHO, _run, quality, search.prepare)
    search = Search(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]})
    quality = Quality("score of the choice over five folds", search.cross_validated, atol=0.002, is_lower_better=False)
    data = partial(linear, 1000, 20, 5)
    yield Case(
        "tune against GridSearchCV, small", "ridge, 1,000 x 20", data, _WHO, _run, quality, search.prepare, is_quick=True
    )
