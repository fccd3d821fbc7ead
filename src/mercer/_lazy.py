"""Attributes that are computed when first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy_property(Generic[Value]):
    """What `functools.cached_property` is from Python 3.12 on: no lock.

    Before, each such property of a class has one lock, held while a value is computed. Fits in several threads then wait for
    each other, and a process forked meanwhile waits for ever. Here two threads may compute the same value: that is harmless.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> lazy_property[Value] | Value:
        if instance is None:
            return self
        value = self._compute(instance)
        vars(instance)[self._name] = value  # found before this descriptor from now on, as it defines no __set__
        return value
