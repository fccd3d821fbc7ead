"""Everything that a file may name: classes, functions and types. What is not here can be neither saved nor loaded.

The names on the left are those that files hold. They stay when a class moves: then only the right side changes.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator

from mercer._discovery import public_estimators, public_modules

Thing = TypeVar("Thing")

# Objects of the library that are kept in estimators. A file says what their constructor is given. Other dataclasses of packages
# that have estimators are found (see `_dataclasses`); a line is for a class that is none, for two with the same name, and for
# one that was renamed or moved to another package: files keep the old name.
_RECORDS = {
    "Certificate": "mercer._trace:Certificate",
    "Status": "mercer._trace:Status",
    "TreeStore": "mercer._trees.store:TreeStore",
    "Tree": "mercer._trees.store:Tree",
    "CategoryCoder": "mercer._trees.categories:CategoryCoder",
    "MultiwayTree": "mercer.tree._multiway:MultiwayTree",
    "Bags": "mercer.ensemble._forest.bags:Bags",
    "BagDraws": "mercer.ensemble._bagging.draws:BagDraws",
    "BagMembers": "mercer.ensemble._bagging.members:BagMembers",
    "BaggedTrees": "mercer.ensemble._bagging.trees:BaggedTrees",
    "IsolationDraw": "mercer.ensemble._forest.isolation_forest:_Draw",
    "LeafRows": "mercer.ensemble._forest.leaf_rows:LeafRows",
    "Risk": "mercer.ensemble._combination.risk:Risk",
    "boosting.Start": "mercer.ensemble._gradient_boosting.start:Start",
    "boosting.Objective": "mercer.ensemble._gradient_boosting.objectives:Objective",
    "boosting.SquaredObjective": "mercer.ensemble._gradient_boosting.objectives:SquaredObjective",
    "boosting.QuantileObjective": "mercer.ensemble._gradient_boosting.objectives:QuantileObjective",
    "boosting.AdaptiveHuber": "mercer.ensemble._gradient_boosting.objectives:AdaptiveHuber",
    "boosting.NewtonObjective": "mercer.ensemble._gradient_boosting.objectives:NewtonObjective",
    "boosting.SoftmaxObjective": "mercer.ensemble._gradient_boosting.objectives:SoftmaxObjective",
    "family.Normal": "mercer.linear_model._glm.families:Normal",
    "family.Bernoulli": "mercer.linear_model._glm.families:Bernoulli",
    "family.Tweedie": "mercer.linear_model._glm.families:Tweedie",
    "family.Poisson": "mercer.linear_model._glm.families:Poisson",
    "family.Gamma": "mercer.linear_model._glm.families:Gamma",
    "family.InverseGaussian": "mercer.linear_model._glm.families:InverseGaussian",
    "link.Identity": "mercer.linear_model._glm.links:Identity",
    "link.Log": "mercer.linear_model._glm.links:Log",
    "link.Logit": "mercer.linear_model._glm.links:Logit",
    "link.Probit": "mercer.linear_model._glm.links:Probit",
    "link.ComplementaryLogLog": "mercer.linear_model._glm.links:ComplementaryLogLog",
    "link.Inverse": "mercer.linear_model._glm.links:Inverse",
    "link.Sqrt": "mercer.linear_model._glm.links:Sqrt",
    "OnlineIterate": "mercer.linear_model._online.stochastic:Iterate",
    "GlmStatistics": "mercer.linear_model._glm.inference:GlmStatistics",
    "Likelihood": "mercer.linear_model._inference.wald:Likelihood",
    "LikelihoodSums": "mercer.linear_model._logistic.fit:LikelihoodSums",
    "LogisticStatistics": "mercer.linear_model._logistic.summary:Statistics",
    "RegressionStatistics": "mercer.linear_model._inference.summary:Statistics",
    "LeastSquaresSolution": "mercer.linear_model._least_squares.solvers:Solution",
}

# Of scikit-learn: what pipelines are built of, beside all that Mercer's own modules pass on.
_SCIKIT_LEARN = (
    "sklearn.compose:ColumnTransformer",
    "sklearn.compose:TransformedTargetRegressor",
    "sklearn.dummy:DummyClassifier",
    "sklearn.dummy:DummyRegressor",
    "sklearn.impute:KNNImputer",
    "sklearn.impute:MissingIndicator",
    "sklearn.impute:SimpleImputer",
    "sklearn.pipeline:FeatureUnion",
    "sklearn.pipeline:Pipeline",
    "sklearn.preprocessing:Binarizer",
    "sklearn.preprocessing:FunctionTransformer",
    "sklearn.preprocessing:KBinsDiscretizer",
    "sklearn.preprocessing:LabelBinarizer",
    "sklearn.preprocessing:LabelEncoder",
    "sklearn.preprocessing:MaxAbsScaler",
    "sklearn.preprocessing:MinMaxScaler",
    "sklearn.preprocessing:Normalizer",
    "sklearn.preprocessing:OneHotEncoder",
    "sklearn.preprocessing:OrdinalEncoder",
    "sklearn.preprocessing:PolynomialFeatures",
    "sklearn.preprocessing:PowerTransformer",
    "sklearn.preprocessing:QuantileTransformer",
    "sklearn.preprocessing:RobustScaler",
    "sklearn.preprocessing:StandardScaler",
    "sklearn.preprocessing:TargetEncoder",
)
_SCIKIT_LEARN_RECORDS = (
    "sklearn.compose:make_column_selector",
    "sklearn.model_selection:GroupKFold",
    "sklearn.model_selection:GroupShuffleSplit",
    "sklearn.model_selection:KFold",
    "sklearn.model_selection:LeaveOneGroupOut",
    "sklearn.model_selection:LeaveOneOut",
    "sklearn.model_selection:LeavePGroupsOut",
    "sklearn.model_selection:LeavePOut",
    "sklearn.model_selection:PredefinedSplit",
    "sklearn.model_selection:ShuffleSplit",
    "sklearn.model_selection:StratifiedGroupKFold",
    "sklearn.model_selection:StratifiedKFold",
    "sklearn.model_selection:StratifiedShuffleSplit",
    "sklearn.model_selection:TimeSeriesSplit",
)

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
    """Things by the names that files have for them, and the other way round."""

    def __init__(self, things: dict[str, Thing]) -> None:
        self._things = things
        self._names = {id(thing): name for name, thing in reversed(things.items())}  # of several names the first

    def __getitem__(self, name: str) -> Thing:
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Any:
        return iter(self._things)

    def name_of(self, thing: Any) -> str | None:
        return self._names.get(id(thing))


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
    """The one registry, made when first needed: all imports happen here, by names that are written in this library."""
    passed_on = _public_classes(lambda found: issubclass(found, BaseEstimator) and found.__module__.startswith("sklearn."))
    estimators = {
        **public_estimators(),
        **{f"{module}.{name}": _find(module, name) for module, name in (entry.split(":") for entry in _SCIKIT_LEARN)},
        **{_public_name(found): found for found in passed_on.values()},
    }
    own = {name: _find(*entry.split(":")) for name, entry in _RECORDS.items()}
    records = {
        **{name: found for name, found in own.items() if not issubclass(found, Enum)},
        **_public_classes(_is_record),
        **_dataclasses(),
        **{f"{module}.{name}": _find(module, name) for module, name in (entry.split(":") for entry in _SCIKIT_LEARN_RECORDS)},
    }
    enums = {name: found for name, found in own.items() if issubclass(found, Enum)}
    return Registry(Names(estimators), Names(records), Names(enums), Names(_FUNCTIONS), Names(_TYPES))


@functools.cache
def constructor_fields(record: type) -> tuple[str, ...]:
    """The parameters of a record's constructor: its attributes of these names, or with an underscore before, are its state."""
    parameters = inspect.signature(record).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD)


def _find(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _public_classes(is_wanted: Callable[[type], bool]) -> dict[str, type]:
    """Classes in the `__all__` of Mercer's public modules, by full name."""
    return {
        f"{module.__name__}.{name}": found
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(found := getattr(module, name)) and is_wanted(found)
    }


def _dataclasses() -> dict[str, type]:
    """The dataclasses in packages with estimators, as "mercer.<package>.<class>"; where two have the same name, neither."""
    found: dict[str, list[type]] = defaultdict(list)
    for package in sorted({name.rpartition(".")[0] for name in public_estimators()}):
        for entry in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            for name, value in vars(importlib.import_module(entry.name)).items():
                if inspect.isclass(value) and value.__module__ == entry.name and _is_record(value):
                    found[f"{package}.{name}"].append(value)
    return {name: classes[0] for name, classes in found.items() if len(classes) == 1}


def _is_record(found: type) -> bool:
    """Losses, penalties, schedules, what a fit has found out: dataclasses of ours."""
    return found.__module__.startswith("mercer.") and is_dataclass(found) and not inspect.isabstract(found)


def _public_name(found: type) -> str:
    """scikit-learn's public name of a class: without the private module at the end."""
    parts = [part for part in found.__module__.split(".") if not part.startswith("_")]
    return ".".join([*parts, found.__name__])
