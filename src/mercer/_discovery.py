"""Finds the library's public estimators, so that nothing keeps a list of them: the command, safe files, the tests."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from sklearn.base import BaseEstimator

import mercer


def public_modules() -> Iterator[ModuleType]:
    """Every module under `mercer` with no underscore on its path."""

    def walk(package: ModuleType) -> Iterator[ModuleType]:
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not found.name.rpartition(".")[2].startswith("_"):
                module = importlib.import_module(found.name)
                yield module
                if found.ispkg:
                    yield from walk(module)

    return walk(mercer)


@functools.cache
def public_estimators() -> dict[str, type[BaseEstimator]]:
    """Mercer's own estimator classes by public name, such as "mercer.cluster.KMeans"; those passed on from others are not."""
    return {
        f"{module.__name__}.{name}": found
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(found := getattr(module, name))
        and issubclass(found, BaseEstimator)
        and found.__module__.startswith("mercer.")
    }
