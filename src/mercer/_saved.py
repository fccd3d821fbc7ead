"""Classes of Mercer's own that saved files hold, by the names that files have for them. The names stay when a class moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

Kind = TypeVar("Kind", bound=type)

_classes: dict[str, type] = {}
_names: dict[type, str] = {}

CLASSES: Mapping[str, type] = MappingProxyType(_classes)  # those whose modules are imported
NAMES: Mapping[type, str] = MappingProxyType(_names)
_models: set[type] = set()


def saved(name: str, *, is_model: bool = False) -> Callable[[Kind], Kind]:
    """Have files hold objects of the decorated class under `name`: they say what its constructor was given.

    The name of a new class is that of its public package and its own, such as "mercer.calibration.SigmoidMap": a file that
    names it then imports that package and no other. No two classes may have one name, which is an error when they are imported.
    `is_model` says that an object may be all of a file, as estimators are: a search tree, say.
    """

    def register(kind: Kind) -> Kind:
        holder = _classes.get(name)
        if holder is not None and (holder.__module__, holder.__qualname__) != (kind.__module__, kind.__qualname__):
            one, other = (f"{each.__module__}.{each.__qualname__}" for each in (holder, kind))
            raise TypeError(f"{other} is to be saved as {name!r}, as {one} is already; it must have a name of its own.")
        _classes[name], _names[kind] = kind, name
        if is_model:
            _models.add(kind)
        return kind

    return register


def may_be_alone(thing: object) -> bool:
    """Whether an object that is no estimator may be all of a file."""
    return type(thing) in _models
