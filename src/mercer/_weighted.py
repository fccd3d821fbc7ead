"""Weights of rows on their way to who learns from them: the one place that knows how a pipeline hands them on."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

WEIGHTS = "sample_weight"


def weight_name(model: Any) -> str:
    """The name by which `fit` of a model takes weights: in a pipeline they are those of the last step."""
    if isinstance(model, Pipeline) and not sklearn.get_config()["enable_metadata_routing"]:
        name, last = model.steps[-1]
        return f"{name}__{weight_name(last)}"
    return WEIGHTS


def takes_weights(model: Any) -> bool:
    """Whether a model, the last step of a pipeline or every member of an ensemble of named ones learns from weighted rows."""
    if isinstance(model, Pipeline):
        return takes_weights(model.steps[-1][1])
    members = getattr(model, "estimators", None) or []
    named = [member[1] for member in members if isinstance(member, tuple) and not isinstance(member[1], str)]
    return bool(has_fit_parameter(model, WEIGHTS)) and all(map(takes_weights, named))


def fit_weighted(model: Any, X: Any, y: Any, weights: Any) -> Any:
    """Fit a model to rows; None is no weights, which need not be the same to a model as equal ones."""
    params = {} if weights is None else {weight_name(model): weights}
    return model.fit(X, **params) if y is None else model.fit(X, y, **params)
