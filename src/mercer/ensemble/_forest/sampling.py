"""The parameters of forests, and what those that draw rows ask of each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer._params import Bool, Function, Integer, Null, NumberOfJobs, OneOf, RandomState, Real, Rule, Verbosity
from mercer._trees.categories import CATEGORICAL_RULE, UNSEEN_RULE
from mercer._trees.growth import GROWTH_RULES, MONOTONE_RULE

SAMPLING_RULES: dict[str, Rule] = {
    "n_estimators": Integer(1),
    "bootstrap": Bool(),
    "oob_score": Bool() | Function(),
    "max_samples": Null() | Integer(1) | Real(above=0),
    "n_jobs": NumberOfJobs(),
    "random_state": RandomState(),
    "verbose": Verbosity(),
    "warm_start": Bool(),
}
FOREST_RULES: dict[str, Rule] = {
    **GROWTH_RULES,
    **SAMPLING_RULES,
    "monotonic_cst": MONOTONE_RULE,
    "categorical_features": CATEGORICAL_RULE,
    "unseen": UNSEEN_RULE,
    "tree_weights": Null() | OneOf("oob"),
    "oob_importance": Bool(),
}


def needs_left_out(params: Any) -> bool:
    """Whether a fit looks at the rows that each tree has not seen."""
    return bool(params.oob_score or params.tree_weights == "oob" or params.oob_importance)


def check_sampling(params: Any) -> None:
    """What needs rows that are left out needs a bootstrap."""
    if params.bootstrap:
        return
    if params.max_samples is not None:
        raise ValueError(
            f"max_samples={params.max_samples!r} cannot be set if bootstrap=False. Either switch to bootstrap=True or set "
            "max_samples=None."
        )
    needs: Mapping[str, bool] = {
        "oob_score": bool(params.oob_score),
        "tree_weights": params.tree_weights is not None,
        "oob_importance": params.oob_importance,
    }
    for name, is_asked in needs.items():
        if is_asked:
            raise ValueError(
                f"{name}={getattr(params, name)!r} is not valid: Out of bag estimation only available if bootstrap=True."
            )


def class_weight_of_all(params: Any) -> Any:
    """The class weights that hold for all trees alike."""
    class_weight = getattr(params, "class_weight", None)
    if isinstance(class_weight, str) and class_weight == "balanced_subsample":
        return None if params.bootstrap else "balanced"
    return class_weight
