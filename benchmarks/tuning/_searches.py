"""The two searches, asked alike: the same model, the same lists, five folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer.model_selection import GridSearchCV, tune


class Tune:
    """`mercer.model_selection.tune`, which exploits what the model allows."""

    def __init__(self, model: Any, space: Mapping[str, Any], scoring: str | None, cv: Any) -> None:
        self.model, self.space, self.scoring, self.cv = model, space, scoring, cv

    def run(self, X: Any, y: Any) -> Mapping[str, Any]:
        return tune(self.model, X, y, self.space, scoring=self.scoring, cv=self.cv).best_params


class Grid(Tune):
    """Scikit-learn's `GridSearchCV`, on five folds whatever the model allows."""

    def run(self, X: Any, y: Any) -> Mapping[str, Any]:
        found = GridSearchCV(self.model, dict(self.space), scoring=self.scoring, cv=5).fit(X, y)
        params: Mapping[str, Any] = found.best_params_
        return params
