"""Base learners of boosting: any estimator of scikit-learn's kind, fitted anew each round."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from mercer._params import _REFUSED, Rule


class Learner(Rule):
    """An estimator of any library that follows scikit-learn's conventions."""

    def accept(self, value: Any) -> Any:
        is_learner = hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type)
        return value if is_learner else _REFUSED

    def describe(self) -> str:
        return "an estimator (an instance with the methods fit and predict)"


def draw_seed(random: np.random.RandomState) -> int:
    """A member's `random_state`: the draw that scikit-learn's ensembles make."""
    return int(random.randint(np.iinfo(np.int32).max))


def fresh(learner: Any, random: np.random.RandomState) -> Any:
    """An unfitted copy whose every `random_state` is drawn."""
    member = clone(learner)
    names = [name for name in sorted(member.get_params(deep=True)) if name == "random_state" or name.endswith("__random_state")]
    return member.set_params(**{name: draw_seed(random) for name in names})


def takes_weights(learner: Any) -> bool:
    return "sample_weight" in inspect.signature(learner.fit).parameters


def require_weights(owner: str, learner: Any, reason: str) -> None:
    """Refuse a learner that cannot be told what its rows weigh."""
    if not takes_weights(learner):
        raise ValueError(
            f"{owner}: estimator={learner!r} is not valid: {type(learner).__name__} doesn't support sample_weight, and "
            f"{reason}."
        )


def input_tags(learner: Any) -> Any:
    """What a learner says of X; None where it says nothing."""
    return get_tags(learner).input_tags if hasattr(learner, "__sklearn_tags__") else None
