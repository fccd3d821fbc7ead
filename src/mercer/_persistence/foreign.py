"""What files may name of scikit-learn and SciPy: found in their public modules, so that nothing keeps a list of it.

Four kinds: estimators; records, which a constructor makes of its parameters; objects that a public function makes (scorers,
distributions), as their classes are private; and parts, which an estimator keeps in attributes and whose classes stand in the
module of that estimator.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator

from mercer._persistence.errors import FileFormatError

# Modules without estimators, and such as do something when they are imported.
_LEFT_OUT = {"callback", "conftest", "datasets", "exceptions", "experimental", "externals", "inspection", "tests", "utils"}
# Names that are there once a module has been imported.
_EXPERIMENTAL = {
    "sklearn.impute.IterativeImputer": "sklearn.experimental.enable_iterative_imputer",
    "sklearn.model_selection.HalvingGridSearchCV": "sklearn.experimental.enable_halving_search_cv",
    "sklearn.model_selection.HalvingRandomSearchCV": "sklearn.experimental.enable_halving_search_cv",
}
# Records that are neither splitters nor kernels of Gaussian processes.
_RECORDS = ("sklearn.compose.make_column_selector", "scipy.interpolate.BSpline")
_KERNELS = "sklearn.gaussian_process.kernels"


def public_name(found: Any) -> str | None:
    """The name of one of scikit-learn's or SciPy's classes by where it is defined, without what is private of it."""
    if not inspect.isclass(found) or not found.__module__.startswith(("sklearn.", "scipy.")):
        return None
    public = itertools.takewhile(lambda part: not part.startswith("_"), found.__module__.split("."))
    return ".".join([*public, found.__name__])


def has_own_state(kind: type[BaseEstimator]) -> bool:
    """Whether a class of scikit-learn's says what its state is and how to come back from it, as isotonic regression does."""
    return kind.__module__.startswith("sklearn.") and kind.__setstate__ is not BaseEstimator.__setstate__


def check_support_vectors(machine: BaseEstimator, attributes: Mapping[str, Any]) -> None:
    """Arrays of scikit-learn's support vector machines fit one another: libsvm reads them without a look at their lengths."""
    is_classifier = machine._impl in ("c_svc", "nu_svc")
    expected = {"_n_support": np.int32, "support_": np.int32, "_intercept_": float, "_probA": float, "_probB": float}
    for name, dtype in expected.items():
        if not isinstance(array := attributes.get(name), np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise FileFormatError(f"{name} is not an array of type {np.dtype(dtype)} with one axis.")
    vectors: Any = attributes.get("support_vectors_")
    coef: Any = attributes.get("_dual_coef_")
    kind = sp.csr_matrix if attributes.get("_sparse") else np.ndarray
    if type(vectors) is not kind or type(coef) is not kind or vectors.ndim != 2 or coef.ndim != 2:
        raise FileFormatError("support vectors and their coefficients are not matrices of one kind.")
    n_support, n_vectors = attributes["_n_support"], len(attributes["support_"])
    n_classes = len(n_support) if is_classifier else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    n_rows = attributes.get("shape_fit_", (0, 0))[0]
    fits = (
        n_classes >= 2
        and coef.size == (n_classes - 1) * n_vectors
        and (not n_vectors or 0 <= attributes["support_"].min() <= attributes["support_"].max() < n_rows)
        and len(n_support) == n_classes
        and n_support.min() >= 0
        and (not is_classifier or n_support.sum(dtype=np.int64) == n_vectors)
        and len(attributes["_intercept_"]) == (n_pairs if is_classifier else 1)
        and {len(attributes["_probA"]), len(attributes["_probB"])} <= {0, n_pairs}
        # With a kernel that is computed outside, vectors are places among the rows.
        and (
            machine.kernel == "precomputed"
            or callable(machine.kernel)
            or vectors.shape == (n_vectors, attributes.get("n_features_in_"))
        )
    )
    if not fits:
        raise FileFormatError("support vectors, coefficients and counts do not fit one another.")


# ---- by name


def find_estimator(name: str) -> type[BaseEstimator] | None:
    found = _find(name)
    return found if _is_estimator(found) else None


def find_record(name: str) -> type | None:
    if name in _RECORDS:
        module, _, attribute = name.rpartition(".")
        listed: type = getattr(importlib.import_module(module), attribute)
        return listed
    found = _find(name)
    return found if _is_record(found) else None


def find_part(owner: type[BaseEstimator], name: str) -> type | None:
    """A class of what scikit-learn's estimators of a class keep in them, from the modules that define the estimators."""
    modules = (base.__module__ for base in owner.__mro__ if base.__module__.startswith("sklearn."))
    found = (getattr(sys.modules[module], name, None) for module in modules)
    return next((part for part in found if _is_part(part)), None)


def _find(name: str) -> Any:
    """What a public module of scikit-learn has under a name; None if nothing."""
    module, _, attribute = name.rpartition(".")
    if module not in _modules() or attribute.startswith("_"):
        return None
    if name in _EXPERIMENTAL:
        importlib.import_module(_EXPERIMENTAL[name])
    return getattr(importlib.import_module(module), attribute, None)


@functools.cache
def _modules() -> frozenset[str]:
    """The public modules of scikit-learn that have estimators, found without importing any."""

    def walk(paths: Iterable[str], prefix: str) -> Iterator[str]:
        for found in pkgutil.iter_modules(paths, prefix):
            last = found.name.removeprefix(prefix)
            if not last.startswith("_") and last not in _LEFT_OUT:
                yield found.name
                spec = found.module_finder.find_spec(found.name, None) if found.ispkg else None
                yield from walk(spec.submodule_search_locations or (), f"{found.name}.") if spec else ()

    return frozenset(walk(sklearn.__path__, "sklearn."))


def _is_estimator(found: Any) -> bool:
    return (
        inspect.isclass(found)
        and issubclass(found, BaseEstimator)
        and found is not BaseEstimator
        and found.__module__.startswith("sklearn.")
        and not inspect.isabstract(found)
    )


def _is_record(found: Any) -> bool:
    """Splitters and kernels: what their constructor is given is all that they are."""
    if not inspect.isclass(found) or not found.__module__.startswith("sklearn.") or inspect.isabstract(found):
        return False
    is_splitter = found.__module__.startswith("sklearn.model_selection.") and hasattr(found, "split")
    return is_splitter or (found.__module__ == _KERNELS and hasattr(found, "get_params"))


def _is_part(found: Any) -> bool:
    """Plain objects of scikit-learn's: nothing but attributes, and no code of their own to make them or to set these."""
    return (
        inspect.isclass(found)
        and found.__module__.startswith("sklearn.")
        and found.__new__ is object.__new__
        and found.__reduce__ is object.__reduce__
        and found.__reduce_ex__ is object.__reduce_ex__
        and found.__setattr__ is object.__setattr__
        and found.__dictoffset__ != 0
        and not inspect.isabstract(found)
    )


# ---- all of them


def all_estimators() -> dict[str, type[BaseEstimator]]:
    return {name: found for name, found in _public_classes() if _is_estimator(found)}


def all_records() -> dict[str, type]:
    listed = {name: found for name in _RECORDS if (found := find_record(name)) is not None}
    return {**listed, **{name: found for name, found in _public_classes() if _is_record(found)}}


def _public_classes() -> Iterator[tuple[str, type]]:
    """Classes of scikit-learn's public modules by the name that `public_name` gives, each once."""
    for enabling in _EXPERIMENTAL.values():
        importlib.import_module(enabling)
    for module in map(importlib.import_module, sorted(_modules())):
        for attribute, found in sorted(vars(module).items()):
            if not attribute.startswith("_") and public_name(found) == f"{module.__name__}.{attribute}":
                yield f"{module.__name__}.{attribute}", found


# ---- objects that functions make


@dataclass(frozen=True)
class Maker:
    """A public function whose results are of a private class, and the arguments that give such an object again."""

    make: Callable[..., Any]
    is_result: Callable[[Any], bool]
    arguments: Callable[[Any], dict[str, Any] | None]  # None: of an object that has been changed since


def maker_of(value: Any) -> tuple[str, dict[str, Any]] | None:
    """The name of the function that makes such an object, and its arguments."""
    for name, maker in makers().items():
        if maker.is_result(value):
            arguments = maker.arguments(value)
            return None if arguments is None else (name, arguments)
    return None


@functools.cache
def makers() -> dict[str, Maker]:
    """By the names that files have for them. Few models need them, so that their modules are imported here."""
    from sklearn.metrics import accuracy_score, check_scoring, make_scorer
    from sklearn.model_selection import check_cv

    def scored_by(score_func: Any, sign: int, kwargs: dict[str, Any], response_method: Any) -> Any:
        return make_scorer(score_func, greater_is_better=sign > 0, response_method=response_method, **kwargs)

    scorer = make_scorer(accuracy_score)
    by_estimator = check_scoring(_Scored())
    splits = check_cv([((), ())])
    return {
        "scorer": Maker(scored_by, lambda value: type(value) is type(scorer), functools.partial(_scorer_arguments, scorer)),
        "own_score": Maker(
            check_scoring,
            lambda value: type(value) is type(by_estimator),
            lambda value: {"estimator": next(iter(vars(value).values()))} if len(vars(value)) == 1 else None,
        ),
        "splits": Maker(check_cv, lambda value: type(value) is type(splits), lambda value: {"cv": list(value.split())}),
        "distribution": Maker(_make_distribution, _is_distribution, _distribution_arguments),
        "multivariate_normal": Maker(_make_normal, _is_normal, _normal_arguments),
    }


class _Scored(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What `check_scoring` takes."""

    def fit(self) -> None: ...

    def score(self) -> None: ...


def _scorer_arguments(pattern: Any, scorer: Any) -> dict[str, Any] | None:
    state = {name.removeprefix("_"): value for name, value in vars(scorer).items()}
    return state if vars(scorer).keys() == vars(pattern).keys() else None


def _is_distribution(value: Any) -> bool:
    """A distribution of `scipy.stats` with its parameters, such as uniform(0, 1)."""
    return (
        type(value).__module__.startswith("scipy.stats.") and {"dist", "args", "kwds"} <= getattr(value, "__dict__", {}).keys()
    )


def _distribution_arguments(value: Any) -> dict[str, Any] | None:
    name = getattr(value.dist, "name", None)
    return {"name": name, "args": value.args, "kwds": value.kwds} if name in _distributions() else None


def _make_distribution(name: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> Any:
    return _distributions()[name](*args, **kwds)


def _is_normal(value: Any) -> bool:
    """A normal distribution of several features, with its mean and covariance."""
    return type(value).__module__.startswith("scipy.stats.") and type(value).__name__ == "multivariate_normal_frozen"


def _normal_arguments(value: Any) -> dict[str, Any]:
    return {"mean": value.mean, "cov": value.cov, "allow_singular": value.allow_singular}


def _make_normal(mean: Any, cov: Any, allow_singular: bool) -> Any:
    return importlib.import_module("scipy.stats").multivariate_normal(mean, cov, allow_singular)


@functools.cache
def _distributions() -> dict[str, Any]:
    stats = importlib.import_module("scipy.stats")
    kinds = (stats.rv_continuous, stats.rv_discrete)
    return {name: found for name, found in vars(stats).items() if isinstance(found, kinds) and found.name == name}
