"""What an estimator needs of its columns, told from its parameters and tags, so that nothing keeps a list of estimators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sklearn.utils import get_tags

# The parameter by which an estimator that splits categories is told of them; one inside an estimator that passes on X will do.
_CATEGORICAL = re.compile(r"(estimator__)*categorical_features")
_RESERVED_CODES = 2  # for the joined rare categories and for missing ones
_MOST_CODES, _MOST_COLUMNS = 254, 32


@dataclass(frozen=True)
class Needs:
    """How columns are to come."""

    codes_categories: bool  # whole numbers; otherwise a column of zeros and ones for each category
    scales: bool  # numbers of mean 0 and variance 1, dates as points on circles
    keeps_missing: bool  # as NaN; otherwise filled in, with a column that says where
    max_categories: int


def categorical_parameter(estimator: Any) -> str | None:
    """The name of the parameter that takes the categorical columns, if the estimator has one."""
    if not hasattr(estimator, "get_params"):
        return None
    return next((name for name in estimator.get_params(deep=True) if _CATEGORICAL.fullmatch(name)), None)


def needs_of(params: SimpleNamespace) -> Needs:
    """What is said in the parameters, and for "auto" what the estimator says; without one, what suits every estimator."""
    estimator = params.estimator
    splits = takes_missing = False
    max_bins = None
    if estimator is not None:
        inputs = get_tags(estimator).input_tags
        parameter = categorical_parameter(estimator)
        splits = parameter is not None or inputs.categorical
        takes_missing = inputs.allow_nan
        if parameter is not None:
            max_bins = estimator.get_params(deep=True).get(parameter.replace("categorical_features", "max_bins"))
    codes = splits if params.categories == "auto" else params.categories == "codes"
    limit = (_MOST_CODES if codes else _MOST_COLUMNS) if params.max_categories == "auto" else params.max_categories
    if codes and isinstance(max_bins, int):
        limit = max(1, min(limit, max_bins - _RESERVED_CODES))
    return Needs(
        codes_categories=codes,
        scales=not splits if params.scaling == "auto" else params.scaling,
        keeps_missing=takes_missing if params.missing == "auto" else params.missing == "keep",
        max_categories=limit,
    )
