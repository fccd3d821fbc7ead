"""What the library makes public, as the suites see it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator

import mercer.hmm
from mercer import _discovery
from mercer._exports import own_names


def public_modules() -> list[ModuleType]:
    return list(_discovery.public_modules())


def public_objects() -> dict[str, Any]:
    """Mercer's own classes and functions by full name; not those passed on from others."""
    return {
        f"{module.__name__}.{name}": found
        for module in public_modules()
        for name in own_names(module)
        if callable(found := getattr(module, name)) and found.__module__.startswith("mercer.")
    }


def all_estimators() -> list[type[BaseEstimator]]:
    """All public estimator classes, each once, in the order of their names.

    Not resamplers, nor the pipeline that has them as steps: a fit of theirs learns nothing, and they have suites of their own
    (tests/test_resampling.py, tests/pipeline). Nor sequences of one column of symbols (tests/hmm). Nor agents and what predicts
    values of their policies: they learn from environments, and have no X (tests/rl).
    """
    learners = {
        cls
        for cls in _discovery.public_estimators().values()
        if not hasattr(cls, "fit_resample") and not cls.__module__.startswith("mercer.rl.")
    }
    learners -= {mercer.hmm.CategoricalHMM}
    return sorted(learners, key=lambda cls: (cls.__module__, cls.__name__))


def peer_of(estimator: type[BaseEstimator]) -> type[BaseEstimator] | None:
    """scikit-learn's class of the same name in the package of the same name, where there is one."""
    package = estimator.__module__.split(".")[1]
    try:
        return getattr(importlib.import_module(f"sklearn.{package}"), estimator.__name__, None)
    except ModuleNotFoundError:
        return None
