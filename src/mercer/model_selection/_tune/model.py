"""The model under tuning: the steps that prepare rows, and the step that learns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._weighted import fit_weighted
from mercer.model_selection._folds import Table


class Model:
    """An estimator, or a pipeline whose earlier steps are kept apart, so that they are fitted once for many candidates.

    A pipeline is kept whole where the search replaces a step, or where a step resamples: the learner then sees other rows.
    """

    def __init__(self, estimator: Any, searched: Collection[str]) -> None:
        self.estimator = estimator
        self.learner, self._name, self.has_steps = estimator, "", False
        if isinstance(estimator, Pipeline) and _is_divisible(estimator, searched):
            self._name, self.learner = estimator.steps[-1]
            self.has_steps = True

    def own_name(self, parameter: str | None) -> str | None:
        """What the learner calls a parameter; None where the parameter belongs to a step before it."""
        if not self.has_steps or parameter is None:
            return parameter
        step, _, name = parameter.partition("__")
        return name if step == self._name else None

    def full_name(self, parameter: str) -> str:
        return f"{self._name}__{parameter}" if self.has_steps else parameter

    def make_learner(self, params: Mapping[str, Any]) -> Any:
        """The learner, not fitted, with its share of the parameters."""
        own = {name: value for full, value in params.items() if (name := self.own_name(full)) is not None}
        learner = clone(self.learner)
        return learner.set_params(**_cloned(own)) if own else learner

    def preparing_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {full: value for full, value in params.items() if self.own_name(full) is None}

    def make_steps(self, params: Mapping[str, Any]) -> Any:
        """The steps before the learner, not fitted; None where there are none."""
        return clone(self.estimator[:-1]).set_params(**_cloned(params)) if self.has_steps else None

    def assembled(self, steps: Any, learner: Any) -> Any:
        """The fitted whole."""
        return learner if steps is None else Pipeline([*steps.steps, (self._name, learner)])

    def fit_whole(self, params: Mapping[str, Any], rows: Table) -> Any:
        """The estimator with these parameters, fitted."""
        model = clone(self.estimator)
        return fit(model.set_params(**_cloned(params)) if params else model, rows)


def fit(model: Any, rows: Table) -> Any:
    """Fit on rows; the weights go to the last step of a pipeline."""
    return fit_weighted(model, rows.X, rows.y, rows.weight)


def _cloned(params: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are estimators are cloned, so that no two fits share one."""
    return {name: clone(value, safe=False) if hasattr(value, "get_params") else value for name, value in params.items()}


def _is_divisible(pipeline: Pipeline, searched: Collection[str]) -> bool:
    steps = [name for name, _ in pipeline.steps]
    is_within_steps = all(name.partition("__")[0] in steps and "__" in name for name in searched)
    has_learner = hasattr(pipeline.steps[-1][1], "fit")
    keeps_rows = not any(hasattr(step, "fit_resample") for _, step in pipeline.steps)
    is_simple = keeps_rows and getattr(pipeline, "transform_input", None) is None
    return len(steps) > 1 and has_learner and is_within_steps and is_simple
