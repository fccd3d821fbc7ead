"""Finds what the library makes public, so that no suite keeps a list of estimators."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator

import mercer


def public_modules() -> list[ModuleType]:
    """Every module under `mercer` with no underscore on its path. Only what exists on disk counts."""

    def walk(package: ModuleType) -> Iterator[ModuleType]:
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if found.name.rpartition(".")[2].startswith("_"):
                continue
            module = importlib.import_module(found.name)
            yield module
            if found.ispkg:
                yield from walk(module)

    return list(walk(mercer))


def public_objects() -> dict[str, Any]:
    """All classes and functions in the `__all__` of a public module, by full name."""
    return {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if callable(getattr(module, name))
    }


def all_estimators() -> list[type[BaseEstimator]]:
    """All public estimator classes, each once, in the order of their names."""
    found = {obj for obj in public_objects().values() if inspect.isclass(obj) and issubclass(obj, BaseEstimator)}
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


def peer_of(estimator: type[BaseEstimator]) -> type[BaseEstimator] | None:
    """scikit-learn's class of the same name in the package of the same name, where there is one."""
    package = estimator.__module__.split(".")[1]
    try:
        return getattr(importlib.import_module(f"sklearn.{package}"), estimator.__name__, None)
    except ModuleNotFoundError:
        return None
