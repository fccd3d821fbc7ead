"""Finds the library's public estimators, so that nothing keeps a list of them: the command, safe files, the tests."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator

import mercer
from mercer._exports import own_names


@functools.cache
def public_module_names() -> tuple[str, ...]:
    """Every module under `mercer` with no underscore on its path, found without importing any."""

    def walk(paths: Iterable[str], prefix: str) -> Iterator[str]:
        for found in pkgutil.iter_modules(paths, prefix):
            if not found.name.removeprefix(prefix).startswith("_"):
                yield found.name
                if found.ispkg:
                    spec = found.module_finder.find_spec(found.name, None)
                    yield from walk(spec.submodule_search_locations or (), f"{found.name}.") if spec else ()

    return tuple(walk(mercer.__path__, f"{mercer.__name__}."))


def public_modules() -> Iterator[ModuleType]:
    """Those that have names of Mercer's own, imported."""
    for name in public_module_names():
        # To import a module of this package is to switch something on in scikit-learn.
        if not name.startswith("mercer.experimental.") and own_names(module := importlib.import_module(name)):
            yield module


def is_own_estimator(found: Any) -> bool:
    """Whether a public name stands for an estimator class of Mercer's own."""
    return inspect.isclass(found) and issubclass(found, BaseEstimator) and found.__module__.startswith("mercer.")


@functools.cache
def public_estimators() -> dict[str, type[BaseEstimator]]:
    """Mercer's own estimator classes by public name, such as "mercer.cluster.KMeans"; those passed on from others are not."""
    return {
        f"{module.__name__}.{name}": found
        for module in public_modules()
        for name in own_names(module)
        if is_own_estimator(found := getattr(module, name))
    }
