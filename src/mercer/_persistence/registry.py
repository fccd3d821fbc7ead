"""Everything that a file may name: classes, functions and types. What is not here can be neither saved nor loaded."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator

from mercer._discovery import is_own_estimator, public_estimators, public_module_names, public_modules
from mercer._exports import own_names
from mercer._lazy import lazy_property
from mercer._persistence import foreign
from mercer._saved import CLASSES, NAMES

Thing = TypeVar("Thing")


# Where to look for classes whose names (see `_saved`) do not say which package they are in. They are the names of the first
# files: they stay, and only the right side changes where a class moves. A new class has a full name and needs no line.
_HOMES = {
    "Certificate": "mercer._trace",
    "Status": "mercer._trace",
    "TreeStore": "mercer._trees.store",
    "Tree": "mercer._trees.store",
    "CategoryCoder": "mercer._trees.categories",
    "MultiwayTree": "mercer.tree._multiway",
    "Bags": "mercer.ensemble._forest.bags",
    "BagDraws": "mercer.ensemble._bagging.draws",
    "BagMembers": "mercer.ensemble._bagging.members",
    "BaggedTrees": "mercer.ensemble._bagging.trees",
    "IsolationDraw": "mercer.ensemble._forest.isolation_forest",
    "LeafRows": "mercer.ensemble._forest.leaf_rows",
    "Risk": "mercer.ensemble._combination.risk",
    "boosting.Start": "mercer.ensemble._gradient_boosting.start",
    "boosting.Objective": "mercer.ensemble._gradient_boosting.objectives",
    "boosting.SquaredObjective": "mercer.ensemble._gradient_boosting.objectives",
    "boosting.QuantileObjective": "mercer.ensemble._gradient_boosting.objectives",
    "boosting.AdaptiveHuber": "mercer.ensemble._gradient_boosting.objectives",
    "boosting.NewtonObjective": "mercer.ensemble._gradient_boosting.objectives",
    "boosting.SoftmaxObjective": "mercer.ensemble._gradient_boosting.objectives",
    "family.Normal": "mercer.linear_model._glm.families",
    "family.Bernoulli": "mercer.linear_model._glm.families",
    "family.Tweedie": "mercer.linear_model._glm.families",
    "family.Poisson": "mercer.linear_model._glm.families",
    "family.Gamma": "mercer.linear_model._glm.families",
    "family.InverseGaussian": "mercer.linear_model._glm.families",
    "link.Identity": "mercer.linear_model._glm.links",
    "link.Log": "mercer.linear_model._glm.links",
    "link.Logit": "mercer.linear_model._glm.links",
    "link.Probit": "mercer.linear_model._glm.links",
    "link.ComplementaryLogLog": "mercer.linear_model._glm.links",
    "link.Inverse": "mercer.linear_model._glm.links",
    "link.Sqrt": "mercer.linear_model._glm.links",
    "OnlineIterate": "mercer.linear_model._online.stochastic",
    "GlmStatistics": "mercer.linear_model._glm.inference",
    "Likelihood": "mercer.linear_model._inference.wald",
    "LikelihoodSums": "mercer.linear_model._logistic.fit",
    "LogisticStatistics": "mercer.linear_model._logistic.summary",
    "RegressionStatistics": "mercer.linear_model._inference.summary",
    "LeastSquaresSolution": "mercer.linear_model._least_squares.solvers",
}

# Modules whose public functions measure or score arrays and do nothing else, so that a file may name them.
_FUNCTION_MODULES = (
    "mercer.feature_selection", "mercer.metrics", "sklearn.feature_selection", "sklearn.metrics", "sklearn.metrics.cluster",
    "sklearn.metrics.pairwise",
)  # fmt: skip

# Functions of one array that transform features or targets, as in FunctionTransformer and TransformedTargetRegressor.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"numpy.{function.__name__}": function for function in (
        np.absolute, np.arcsinh, np.arctan, np.arctanh, np.cbrt, np.ceil, np.cos, np.deg2rad, np.exp, np.exp2, np.expm1,
        np.floor, np.isfinite, np.isnan, np.log, np.log10, np.log1p, np.log2, np.max, np.mean, np.median, np.min, np.negative,
        np.positive, np.rad2deg, np.reciprocal, np.rint, np.sign, np.sin, np.sinh, np.sqrt, np.square, np.tan, np.tanh,
        np.trunc,
    )},
    **{f"scipy.special.{function.__name__}": function for function in (
        scipy.special.boxcox1p, scipy.special.expit, scipy.special.inv_boxcox1p, scipy.special.logit, scipy.special.ndtr,
        scipy.special.ndtri,
    )},
}  # fmt: skip

_NUMPY_TYPES = (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
    np.float64, np.complex64, np.complex128, np.str_, np.bytes_, np.datetime64, np.timedelta64, np.object_, np.number,
    np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating, np.complexfloating, np.character, np.generic,
)  # fmt: skip
_TYPES: dict[str, type] = {
    **{f"numpy.{kind.__name__}": kind for kind in _NUMPY_TYPES},
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, object)},
}


class Names(Generic[Thing]):
    """Things by the names that files have for them, and the other way round.

    To look up a name, `find` imports no more than the family of that one thing. What it does not find is looked for among all
    things, which `collect` imports. `guess` gives the name that a thing would have by where it was made, if that can be told
    without a look at all the others.
    """

    def __init__(
        self,
        find: Callable[[str], Thing | None],
        collect: Callable[[], dict[str, Thing]],
        guess: Callable[[Any], str | None] = lambda thing: None,
    ) -> None:
        self._find, self._collect, self._guess = functools.lru_cache(maxsize=10_000)(find), functools.cache(collect), guess

    def __getitem__(self, name: str) -> Thing:
        found = self._find(name)
        return self._collect()[name] if found is None else found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._find(name) is not None or name in self._collect())

    def __iter__(self) -> Iterator[str]:
        return iter(self._collect())

    def name_of(self, thing: Any) -> str | None:
        if (guess := self._guess(thing)) is not None and self._find(guess) is thing:
            return guess
        return self._names.get(id(thing))

    @lazy_property
    def _names(self) -> dict[int, str]:
        return {id(thing): name for name, thing in reversed(self._collect().items())}  # of several names the first


@dataclass(frozen=True)
class Registry:
    """What files may name, each kind by itself."""

    estimators: Names[type[BaseEstimator]]
    records: Names[type]
    enums: Names[type[Enum]]
    functions: Names[Callable[..., Any]]
    types: Names[type]


@functools.cache
def registry() -> Registry:
    """The one registry. All imports happen here, of modules that this library names: a file can but choose among them."""
    return Registry(
        estimators=Names(_find_estimator, _collect_estimators, foreign.public_name),
        records=Names(_find_record, _collect_records, _own_or_foreign_name),
        enums=Names(_find_enum, lambda: _of_kind(_all_saved(), _find_enum), NAMES.get),
        functions=Names(_find_function, _collect_functions),
        types=Names(_TYPES.get, lambda: _TYPES),
    )


def _own_or_foreign_name(thing: Any) -> str | None:
    return NAMES.get(thing) or foreign.public_name(thing)


@functools.cache
def constructor_fields(record: type) -> tuple[str, ...]:
    """The parameters of a record's constructor: its attributes of these names, or with an underscore before, are its state."""
    parameters = inspect.signature(record).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD)


# ---- by name


def _find_estimator(name: str) -> type[BaseEstimator] | None:
    if name.startswith("sklearn."):
        return foreign.find_estimator(name)
    found = _find_public(name)
    return found if is_own_estimator(found) else None


def _find_record(name: str) -> type | None:
    if name.startswith(("sklearn.", "scipy.")):
        return foreign.find_record(name)
    if (found := _find_saved(name)) is not None:
        return None if issubclass(found, Enum) else found
    found = _find_public(name)
    return found if inspect.isclass(found) and _is_record(found) else None


def _find_enum(name: str) -> type[Enum] | None:
    found = _find_saved(name)
    return found if found is not None and issubclass(found, Enum) else None


def _find_saved(name: str) -> type | None:
    """The class that calls itself so, with no more imported than its module, or the package that its name begins with."""
    if name not in CLASSES:
        package = name.rpartition(".")[0]
        if name in _HOMES:
            importlib.import_module(_HOMES[name])
        elif package in public_module_names():
            _import_whole(package)
    return CLASSES.get(name)


@functools.cache
def _import_whole(package: str) -> None:
    """Import all modules of a package with names of our own, so that its classes have said what they are called."""
    whole = importlib.import_module(package)
    if own_names(whole):
        for entry in pkgutil.walk_packages(getattr(whole, "__path__", ()), f"{package}."):
            importlib.import_module(entry.name)


def _find_function(name: str) -> Callable[..., Any] | None:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    module, _, attribute = name.rpartition(".")
    if module not in _FUNCTION_MODULES:
        return None
    found = importlib.import_module(module)
    function = getattr(found, attribute) if attribute in getattr(found, "__all__", ()) else None
    return function if inspect.isfunction(function) else None


def _find_public(name: str) -> Any:
    """What one of Mercer's public modules has of its own under a full name; None if nothing."""
    module, _, attribute = name.rpartition(".")
    if module not in public_module_names():
        return None
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute in own_names(found) else None


# ---- all of them


def _collect_estimators() -> dict[str, type[BaseEstimator]]:
    return {**public_estimators(), **foreign.all_estimators()}


def _collect_records() -> dict[str, type]:
    return {**_of_kind(_all_saved(), _find_record), **_public_classes(_is_record), **foreign.all_records()}


def _all_saved() -> list[str]:
    """The names of all classes that have one."""
    for home in set(_HOMES.values()):
        importlib.import_module(home)
    for package in {name.rpartition(".")[0] for name in public_estimators()}:
        _import_whole(package)
    return list(CLASSES)


def _collect_functions() -> dict[str, Callable[..., Any]]:
    modules = map(importlib.import_module, _FUNCTION_MODULES)
    names = [f"{module.__name__}.{name}" for module in modules for name in getattr(module, "__all__", ())]
    return {**_FUNCTIONS, **_of_kind(names, _find_function)}


def _of_kind(names: Iterable[str], find: Callable[[str], Thing | None]) -> dict[str, Thing]:
    """Those of the names that stand for things of one kind."""
    return {name: found for name in names if (found := find(name)) is not None}


def _public_classes(is_wanted: Callable[[type], bool]) -> dict[str, type]:
    """Classes in the `__all__` of Mercer's public modules, by full name."""
    return {
        f"{module.__name__}.{name}": found
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(found := getattr(module, name)) and is_wanted(found)
    }


def _is_record(found: type) -> bool:
    """Losses, penalties, schedules, what a fit has found out: dataclasses of ours."""
    return found.__module__.startswith("mercer.") and is_dataclass(found) and not inspect.isabstract(found)
